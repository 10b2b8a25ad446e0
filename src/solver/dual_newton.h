/* Minimises the dual by Newton's method. Every result is a bound; a tight one is near the least. */
#ifndef CR_SOLVER_DUAL_NEWTON_H
#define CR_SOLVER_DUAL_NEWTON_H
#include "solver/dual.h"

typedef struct cr_newton_state {
    cr_multipliers at;
    cr_clip_regions regions;   /* of `at`, or of the point one step before it: a warm start */
    cr_dual_expectations sums; /* of the same point */
    double value;              /* D there, to draft accuracy */
    int steps, converged;
    int tight;      /* D is near the least: the worst function at `at` nearly has the constraints */
    int impossible; /* no function has the constraints: D fell below 0, without a least value */
} cr_newton_state;

#define CR_ROUGH_GAIN 1e-9 /* for this gain and larger ones closed forms will do (dual.h) */

/* Descends from descent->at (lambda > 0) until a step can gain at most the share `gain` of the
 * value, or the effort is spent. */
void cr_newton_descend(const cr_problem *problem, double gain, cr_newton_state *descent);
/* Goes on from the end of a descent (lambda > 0) by the fine rule, as long as the worst function
 * comes closer to the constraints. D is stationary there and hardly gains, the function does. */
void cr_newton_finish(const cr_problem *problem, cr_multipliers *at, cr_clip_regions *regions);

#endif
