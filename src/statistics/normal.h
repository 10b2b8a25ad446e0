/* The standard normal distribution, accurate to a few ulp, in the far tails as well. */
#ifndef CR_STATISTICS_NORMAL_H
#define CR_STATISTICS_NORMAL_H
#include "base/platform.h"

double cr_normal_pdf(double x); /* density */
double cr_normal_cdf(double x); /* P(t <= x) */
double cr_normal_sf(double x);  /* P(t > x) */
/* The x with P(t <= x) = p: -inf at 0, inf at 1, NaN outside [0, 1]. */
double cr_normal_quantile(double p);
/* The x with P(t > x) = q; keeps its accuracy where 1 - q would have lost q. */
double cr_normal_quantile_sf(double q);

#endif
