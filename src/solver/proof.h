/* The number that is given out: D at the multipliers that were found, computed twice by unlike
 * rules, and rounded outward. */
#ifndef CR_SOLVER_PROOF_H
#define CR_SOLVER_PROOF_H
#include "solver/dual.h"

typedef struct cr_proof {
    double value; /* not below D at these multipliers, hence not below V; output units */
    double slope; /* dD/dm at these multipliers */
    double slope_error;
    double slack; /* what was added for rounding and misplaced edges */
    int doubtful; /* the two values disagree beyond their stated errors: there is no number */
} cr_proof;

/* The coefficient lies anywhere in [low, high]: the supremum over it is taken. */
void cr_proof_make(const cr_problem *problem, double low, double high, const cr_multipliers *at,
                   cr_regions *warm, cr_proof *out);

#endif
