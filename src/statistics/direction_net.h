/* Directions along which a vector is certified: built-in sets for two and three outputs, and any
 * number of outputs in blocks of two or three (theory 7.3). */
#ifndef CR_STATISTICS_DIRECTION_NET_H
#define CR_STATISTICS_DIRECTION_NET_H
#include "base/deadline.h"
#include <stddef.h>

#define CR_NET_MAX_BLOCK 3u       /* outputs of a direction, at most */
#define CR_NET_MAX_PROJECTIONS 5u /* directions of projections for each output, at most */

typedef enum cr_net {
    CR_NET_COORDINATES, /* blocks of one output */
    CR_NET_MEANS,       /* every vector is nearly along one of them */
    CR_NET_PROJECTIONS  /* few, evenly spread: the axes of a projection median */
} cr_net;

typedef struct cr_direction {
    size_t block, first, outputs;         /* outputs first .. first+outputs-1 of the vector */
    double unit_vector[CR_NET_MAX_BLOCK]; /* v, each number rounded to double; {1} of one */
    /* Of PROJECTIONS and COORDINATES: the sum of weight * v v' is the identity. */
    double weight;
} cr_direction;

size_t cr_direction_net_blocks(cr_net, size_t outputs); /* number of blocks */
size_t cr_direction_net_size(cr_net, size_t outputs);   /* number of directions, of all blocks */
/* Returns direction 0 <= index < cr_direction_net_size. */
cr_direction cr_direction_net_direction(cr_net, size_t outputs, size_t index);
/* Sets the first output of a block, and returns its number of outputs. */
size_t cr_direction_net_block(cr_net, size_t outputs, size_t block, size_t *first);
/* Returns the tolerance of every direction, as a fraction of the tolerance of its block of 1 to 3
 * outputs, rounded down. MEANS: if all |v.x| are less than the fraction, then ||x|| < 1.
 * PROJECTIONS and COORDINATES: if each median is nearer than the fraction to v.psi, then the
 * projection median is nearer than 1 to psi. */
double cr_direction_net_fraction(cr_net, size_t outputs);
/* Returns the factor that turns these proportions of tolerances, one for each direction of a block
 * of PROJECTIONS, into fractions of the block's tolerance, rounded down; any number if the deadline
 * has passed. */
double cr_direction_net_scale(size_t outputs, const double *proportions, cr_deadline *deadline);

#endif
