/* The bound of a one-sided problem, with and without the second order. */
#ifndef CR_SOLVER_BOUND_H
#define CR_SOLVER_BOUND_H
#include "solver/box.h"
#include "solver/subsets.h"

#define CR_FINAL_GAIN 1e-12 /* share of the value that one more Newton step could gain */

/* sup over the box of V(m) + weight*m, proven and rounded up; `wanted` and what is returned as for
 * cr_ask. box[0] is of the search without the second order, which it starts as in box.h, and box[1]
 * of that with it. */
int cr_bound_find(const cr_rise *rise, double weight, int wanted, cr_box box[2], double *bound);

#endif
