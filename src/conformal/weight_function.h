/* Weights for prediction intervals under attack (theory 12.3): a calibration point counts by the
 * number of its scores above the threshold, so that the truth is missed with probability at most
 * alpha. */
#ifndef CR_CONFORMAL_WEIGHT_FUNCTION_H
#define CR_CONFORMAL_WEIGHT_FUNCTION_H
#include "conformal/tail_majorant.h"
#include <stdint.h>

enum { CR_WEIGHTS_LEVELS = CR_MAJORANT_TAILS };

typedef struct cr_weights_setting {
    double alpha;         /* in (0, 1) */
    double shift;         /* radius/sigma >= 0 */
    uint64_t points;      /* m >= 1 */
    uint64_t calibration; /* n' >= 1 */
    uint64_t samples;     /* n >= 1 */
} cr_weights_setting;

typedef struct cr_weight_function {
    double floor;                   /* weight of a point above no level */
    double step[CR_WEIGHTS_LEVELS]; /* increase of the weight at each level; 0 beyond the last */
    uint64_t sample_rank;           /* k; 0: there are no weights */
    uint64_t min_points;            /* fewest points that have weights; 0: no number has */
} cr_weight_function;

/* Greatest n and n': up to here a tail is exact to 1e-10. */
#define CR_WEIGHTS_MAX_SAMPLES 10000000u

/* Sets the levels of this number of samples, and returns their number. A point is above level l if
 * at least above[l] of its scores, which rises with l, are above the threshold. */
int cr_weights_levels(uint64_t samples, uint64_t above[CR_WEIGHTS_LEVELS]);
/* Returns the weights for a setting, without regard to any score; proved (tail_majorant.h).
 * sample_rank is 0 if there are too few points. */
cr_weight_function cr_weights_choose(const cr_weights_setting *);
/* Returns min_points of the weights for a setting, for any `points`. */
uint64_t cr_weights_min_points(const cr_weights_setting *);
/* Returns the weight, without the floor, that all points above the threshold may have together;
 * negative if no threshold is high enough. */
double cr_weights_budget(const cr_weight_function *, double alpha, uint64_t points);

#endif
