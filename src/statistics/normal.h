/* The standard normal distribution, accurate to a few ulp, in the far tails as well. NaN for a
 * NaN. */
#ifndef CR_STATISTICS_NORMAL_H
#define CR_STATISTICS_NORMAL_H
#include "base/platform_checks.h"

double cr_normal_pdf(double x); /* density */
double cr_normal_cdf(double x); /* P(t <= x) */
double cr_normal_sf(double x);  /* P(t > x) */
/* Returns the x with P(t <= x) = p: -inf at 0, inf at 1, NaN outside [0, 1]. */
double cr_normal_quantile(double p);
/* Returns the x with P(t > x) = q, accurate even if 1 - q rounds to 1. */
double cr_normal_quantile_sf(double q);

#endif
