/* Bounds that need no search: without a range (theory 3.3), and from the ends of the range. */
#ifndef CR_SOLVER_FORMULA_H
#define CR_SOLVER_FORMULA_H
#include "solver/point.h"

/* Without a range: sup over the box of V(m) + weight*m, rounded up; *growth: its derivative in r.
 * weight is 0 or 1. */
double cr_formula_bound(const cr_rise *rise, double weight, double *growth);
/* Over the box of means: V(m) + weight*m is at most this, since no function exceeds the upper end
 * of its range. */
double cr_formula_cap(const cr_rise *rise, double weight);
/* The function that attains cr_formula_bound with weight 0: a problem, a mean and multipliers. 0
 * where there is none. */
int cr_formula_point(const cr_rise *rise, cr_point *out);

#endif
