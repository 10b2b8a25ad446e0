/* Weights for prediction intervals under attack (theory 12): how much it counts that so many scores
 * of a calibration point are above the threshold, so that the truth is missed with probability at
 * most alpha. */
#ifndef CR_INTERVALS_WEIGHTS_H
#define CR_INTERVALS_WEIGHTS_H
#include "intervals/majorant.h"
#include <stdint.h>

enum { CR_WEIGHTS_LEVELS = CR_MAJORANT_TAILS };

typedef struct cr_weights_setting {
    double alpha;         /* in (0, 1) */
    double shift;         /* radius/sigma >= 0 */
    uint64_t points;      /* m >= 1 */
    uint64_t calibration; /* n' >= 1 */
    uint64_t samples;     /* n >= 1 */
} cr_weights_setting;

typedef struct cr_weights {
    double floor;                   /* of a point that is above no level */
    double step[CR_WEIGHTS_LEVELS]; /* what it grows by at each level; 0 beyond the last */
    uint64_t sample;                /* k; 0: there are no weights */
    uint64_t least_points;          /* fewer have none; 0: no number of points has them */
} cr_weights;

/* n and n' go up to here, where a tail is still exact to 1e-10. */
#define CR_WEIGHTS_MOST_SAMPLES 10000000u

/* How many levels there are for so many samples. A point is above level l if at least above[l] of
 * its scores, which rises with l, are above the threshold. */
int cr_weights_levels(uint64_t samples, uint64_t above[CR_WEIGHTS_LEVELS]);
cr_weights cr_weights_choose(const cr_weights_setting *);
/* least_points of cr_weights, whatever `points` is. */
uint64_t cr_weights_least_points(const cr_weights_setting *);
/* What the points may weigh together where they are above the threshold, without the floor.
 * Negative: no threshold is high enough. */
double cr_weights_budget(const cr_weights *, double alpha, uint64_t points);

#endif
