/* The number that is returned as a bound: D at the multipliers found, computed twice by different
 * rules, and rounded outward (theory 3.2). */
#ifndef CR_SOLVER_PROOF_H
#define CR_SOLVER_PROOF_H
#include "solver/dual.h"

typedef struct cr_proof {
    double value; /* not below D at these multipliers, hence not below V; output units */
    double slope; /* dD/dm at these multipliers */
    double slope_error;
    double slack; /* what was added for rounding and misplaced edges */
    int doubtful; /* the two values disagree beyond their errors: nothing is proved */
} cr_proof;

/* Proves D with the supremum over the coefficient in [low, high]. *warm: edges to begin with;
 * becomes the exact ones. */
void cr_proof_make(const cr_problem *problem, double low, double high, const cr_multipliers *at,
                   cr_regions *warm, cr_proof *out);

#endif
