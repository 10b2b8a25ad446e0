/* Bounds of the mean of one score, and asymptotic ones of its variance. */
#ifndef CR_BOUNDS_MEANS_H
#define CR_BOUNDS_MEANS_H
#include "conditions/conditions.h"

/* Where hardly any score differs from the others, neither the normal approximation nor block means
 * know what the rest looks like. */
int cr_means_are_sparse(cr_view *, const cr_conditions *, const cr_condition *);
/* Mean of a two-valued score. Returns an upper bound of the probability of a miss. */
double cr_means_exact(cr_view *, const cr_conditions *, const cr_condition *, double alpha,
                      certreg_bounds *);
/* Mean and variance as theory 5.1 has them; sparse scores have a mean by counting, and a variance
 * only where both ends of the mean are counted. Non-zero: the interval says nothing. */
int cr_means_asymptotic(cr_view *, const cr_conditions *, const cr_condition *, certreg_bounds *);

#endif
