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

/* ---- Effect of a shift of normal noise on a probability, or on a mean (theory 2.1). Radii are
 * in units of sigma. Support for another distribution of noise begins here. */
/* An event has probability p without the shift. Its level is Phi^-1(p), which a shift of length r
 * changes by r at most (Neyman and Pearson); its slope is the derivative of p by the level. */
double cr_shift_probit(double p);
double cr_shift_slope(double p);
/* Returns the minimum probability after the shift, rounded down even if r was rounded to a
 * neighbour. */
double cr_shift_min_probability(double p, double r);
/* Returns the longest shift, of at most max_radius, after which an event of at most this
 * probability is rarer than the threshold, rounded down; 0 if there is none. */
double cr_shift_max_radius(double probability, double threshold, double max_radius);

/* For forecasts, not rounded outward: the shortest shift that can raise a probability (negative if
 * it falls), and the shortest that can lower the mean of a function without a range by `drop`. */
double cr_shift_radius(double probability, double target);
double cr_shift_radius_of_mean(double drop, double variance);

#endif
