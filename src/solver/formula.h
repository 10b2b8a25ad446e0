/* Closed-form bounds: without a range (theory 2.1), and from the ends of the range. */
#ifndef CR_SOLVER_FORMULA_H
#define CR_SOLVER_FORMULA_H
#include "solver/point.h"

/* Returns sup over the box of V(m) + weight*m without the range, rounded up. weight is 0 or 1.
 * *growth is the derivative in r. */
double cr_formula_bound(const cr_rise *rise, double weight, double *growth);
/* Returns a bound of V(m) + weight*m over the box: no function exceeds the range. */
double cr_formula_cap(const cr_rise *rise, double weight);
/* Sets *out to the point that attains cr_formula_bound with weight 0. Returns 0 if none does. */
int cr_formula_point(const cr_rise *rise, cr_point *out);

#endif
