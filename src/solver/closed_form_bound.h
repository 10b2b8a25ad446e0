/* Closed-form bounds: without a range (theory 2.1), and from the ends of the range. */
#ifndef CR_SOLVER_CLOSED_FORM_BOUND_H
#define CR_SOLVER_CLOSED_FORM_BOUND_H
#include "solver/fixed_mean_dual.h"

/* Returns sup over the means of V(m) + weight*m without the range, rounded up. weight is 0 or 1.
 * Sets *radius_slope to its derivative in r. */
double cr_closed_form_bound(const cr_one_sided *rise, double weight, double *radius_slope);
/* Returns a bound of V(m) + weight*m over the means: no function exceeds the range. */
double cr_range_bound(const cr_one_sided *rise, double weight);
/* Sets *out to a solution that attains cr_closed_form_bound with weight 0. Returns 0 if none does.
 */
int cr_closed_form_solution(const cr_one_sided *rise, cr_fixed_mean_dual *out);

#endif
