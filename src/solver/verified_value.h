/* The number that is returned as a bound: D at the multipliers found, computed twice by different
 * rules, and rounded outward (theory 3.2). */
#ifndef CR_SOLVER_VERIFIED_VALUE_H
#define CR_SOLVER_VERIFIED_VALUE_H
#include "solver/dual.h"

typedef struct cr_verified_value {
    double value; /* not below D at these multipliers, hence not below V; output units */
    double slope; /* dD/dm at these multipliers */
    double slope_error;
    double slack; /* what was added for rounding and misplaced edges */
    int doubtful; /* the two values disagree beyond their errors: nothing is proved */
} cr_verified_value;

/* Proves D with the supremum over the coefficient in [low, high]. *warm: edges to begin with;
 * becomes the exact ones. */
void cr_verify_dual_value(const cr_problem *problem, double low, double high,
                          const cr_multipliers *at, cr_clip_regions *warm, cr_verified_value *out);

#endif
