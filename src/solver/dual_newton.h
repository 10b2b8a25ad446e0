/* Minimises the dual by Newton's method. Every result is a bound; a tight one is near the least. */
#ifndef CR_SOLVER_DUAL_NEWTON_H
#define CR_SOLVER_DUAL_NEWTON_H
#include "solver/dual.h"

typedef struct cr_newton_state {
    cr_multipliers multipliers;
    cr_clip_regions regions; /* of these multipliers, or of those one step earlier: a warm start */
    cr_dual_expectations expectations; /* at the multipliers of `regions` */
    double value;                      /* D at the multipliers, to draft accuracy */
    int steps, converged;
    int tight;      /* D is near its minimum: the worst function nearly satisfies the constraints */
    int infeasible; /* no function satisfies the constraints: D fell below 0, without a minimum */
} cr_newton_state;

#define CR_ROUGH_GAIN 1e-9 /* from this min_gain on, closed forms suffice (dual.h) */

/* Descends from state->multipliers (lambda > 0) until a step can lower the value by at most the
 * fraction min_gain of it, or the budget is exhausted. */
void cr_newton_descend(const cr_problem *problem, double min_gain, cr_newton_state *state);
/* Goes on from the end of a descent (lambda > 0) by the fine rule, as long as the worst function
 * comes closer to the constraints. D is stationary there and hardly improves, but the function
 * does. */
void cr_newton_finish(const cr_problem *problem, cr_multipliers *mult, cr_clip_regions *regions);

#endif
