/* One side at one mean with the second order (theory 8): tightens a point that was solved without
 * it. */
#ifndef CR_SOLVER_HESSIAN_H
#define CR_SOLVER_HESSIAN_H
#include "solver/point.h"

/* Below this radius the second order is lost in the first: there it is not used, but at this radius
 * (bound.c). */
#define CR_LEAST_HESSIAN_RADIUS 1e-2

void cr_hessian_use(const cr_rise *rise, double gain, cr_point *point);

#endif
