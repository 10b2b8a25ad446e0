/* Directions along which a vector is certified: built-in sets for two and three outputs, and any
 * number of outputs in blocks of these (theory 7.3). */
#ifndef CR_STATISTICS_NET_H
#define CR_STATISTICS_NET_H
#include "base/watch.h"
#include <stddef.h>

#define CR_NET_BLOCK 3u     /* outputs of a direction, at most */
#define CR_NET_PROJECTED 5u /* directions of projections for each output, at most */

typedef enum cr_net {
    CR_NET_COORDINATES, /* blocks of one output */
    CR_NET_MEANS,       /* every vector is nearly along one of them */
    CR_NET_PROJECTIONS  /* few, evenly spread: the axes of a projection median */
} cr_net;

typedef struct cr_direction {
    size_t block, first, outputs; /* outputs first .. first+outputs-1 of the vector */
    double along[CR_NET_BLOCK];   /* a unit vector, each number rounded to double; {1} of one */
    double weight;                /* of PROJECTIONS and COORDINATES: weight * along along' adds up
                                     to the identity */
} cr_direction;

size_t cr_net_blocks(cr_net, size_t outputs);
size_t cr_net_size(cr_net, size_t outputs); /* directions of all blocks */
cr_direction cr_net_direction(cr_net, size_t outputs, size_t index);
/* The first output of a block, and how many it has. */
size_t cr_net_block(cr_net, size_t outputs, size_t block, size_t *first);
/* The tolerance of a block of so many outputs, as a part of which each direction's is certified:
 * MEANS: if all |v.x| are less than the part, then ||x|| < 1. The others: if each median is nearer
 * than the part to v.psi, then the projection median is nearer than 1 to psi. Rounded down. */
double cr_net_part(cr_net, size_t outputs);
/* The same for PROJECTIONS whose directions have different tolerances, in these proportions: what
 * each of them is multiplied by, rounded down. Of at most a block. Where it gets late it is any
 * number. */
double cr_net_scale(size_t outputs, const double *proportions, cr_watch *watch);

#endif
