/* The number that is returned as a bound: D at the multipliers found, computed twice by different
 * rules, and rounded outward (theory 3.2). */
#ifndef CR_SOLVER_VERIFIED_VALUE_H
#define CR_SOLVER_VERIFIED_VALUE_H
#include "solver/dual.h"

typedef struct cr_verified_value {
    double value;      /* not below D at these multipliers, hence not below V; output units */
    double mean_slope; /* dD/dm at these multipliers */
    double mean_slope_error;
    double margin;  /* what was added for rounding and misplaced edges */
    int unverified; /* the two values disagree beyond their errors: nothing is proved */
} cr_verified_value;

/* Proves D with the supremum over the correlation in [correlation_lo, correlation_hi]. *regions:
 * edges to begin with; becomes the exact ones. */
void cr_verify_dual_value(const cr_problem *problem, double correlation_lo, double correlation_hi,
                          const cr_multipliers *mult, cr_clip_regions *regions,
                          cr_verified_value *out);

#endif
