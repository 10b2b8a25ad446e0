/* Bounds of the mean of a score without betting: exact for two-valued scores, hence for the median
 * (theory 6.2), and asymptotic ones of mean and variance (theory 5.1). */
#ifndef CR_BOUNDS_MEAN_BOUNDS_H
#define CR_BOUNDS_MEAN_BOUNDS_H
#include "conditions/conditions.h"

/* Returns 1 if fewer than plan.blocks of the main scores differ from the most common one: normal
 * approximation and block means are then unreliable (theory 5.1). */
int cr_scores_are_sparse(cr_view *, const cr_conditions *, const cr_condition *);
/* Returns an upper bound at level alpha of the probability that a two-valued score is -1: binomial
 * (theory 6.1), by the looks of a target radius (6.7), or at any time (6.8). Sets the mean that
 * follows from it, rounded outward. */
double cr_mean_bounds_binomial(cr_view *, const cr_conditions *, const cr_condition *, double alpha,
                               certreg_bounds *);
/* Sets mean and variance, at their fractions of the question's alpha (theory 5.1). Sparse scores
 * have a mean by counting, and a variance only if both ends of the mean are counted. Non-zero:
 * there is no bound, because all scores are equal or have no finite range. */
int cr_mean_bounds_asymptotic(cr_view *, const cr_conditions *, const cr_condition *,
                              certreg_bounds *);

#endif
