/* Minimises the dual. Whatever it returns is a bound; `converged` says that it is also tight. */
#ifndef CR_SOLVER_NEWTON_H
#define CR_SOLVER_NEWTON_H
#include "solver/dual.h"

typedef struct cr_descent {
    cr_multipliers at;
    cr_regions regions; /* of `at`, or of the point one step before it: a warm start */
    cr_sums sums;       /* likewise */
    double value;       /* D likewise, to draft accuracy */
    int steps, converged;
    int tight; /* and the worst function at `at` has the given constraints, so that D is next to the
                  least */
    int impossible; /* no function has these constraints: D has no least value, and the descent was
                       left below 0 */
} cr_descent;

#define CR_ROUGH_GAIN 1e-9 /* from here on, closed forms are good enough (dual.h) */

/* From descent->at (lambda > 0) downhill until one more step can gain no more than `gain` of the
 * value, or the effort is spent. */
void cr_newton_descend(const cr_problem *problem, double gain, cr_descent *descent);
/* From the end of a descent (lambda > 0) by the fine rule, as long as the worst function comes
 * closer to the given constraints. D is stationary there and hardly gains; the function does. */
void cr_newton_finish(const cr_problem *problem, cr_multipliers *at, cr_regions *regions);

#endif
