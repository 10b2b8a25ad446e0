/* Closed-form bounds: without a range (theory 2.1), and from the ends of the range. */
#ifndef CR_SOLVER_CLOSED_FORM_BOUND_H
#define CR_SOLVER_CLOSED_FORM_BOUND_H
#include "solver/fixed_mean_dual.h"

/* Returns sup over the box of V(m) + weight*m without the range, rounded up. weight is 0 or 1.
 * *growth is the derivative in r. */
double cr_closed_form_bound(const cr_one_sided *rise, double weight, double *growth);
/* Returns a bound of V(m) + weight*m over the box: no function exceeds the range. */
double cr_formula_cap(const cr_one_sided *rise, double weight);
/* Sets *out to the point that attains cr_closed_form_bound with weight 0. Returns 0 if none does.
 */
int cr_formula_point(const cr_one_sided *rise, cr_fixed_mean_dual *out);

#endif
