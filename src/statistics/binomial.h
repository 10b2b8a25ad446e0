/* Exact binomial bounds and Student quantiles, all through one regularised incomplete beta
 * function. */
#ifndef CR_STATISTICS_BINOMIAL_H
#define CR_STATISTICS_BINOMIAL_H
#include <stdint.h>

/* I_x(a, b) for a, b > 0 and x in [0, 1]; y = 1 - x is passed too, so that neither end loses
 * digits. Relative error below 1e-12 for a + b up to 1e4 wherever the value is at most one half. */
double cr_beta_lower(double a, double b, double x, double y);

/* log of x^a y^b Gamma(a + b)/(Gamma(a) Gamma(b)). */
double cr_beta_log_term(double a, double b, double x, double y);

/* P(X <= k) for X ~ Binomial(n, p). Left of the mean its relative error is below 1e-13 + 1e-14
 * sqrt(n), however small it is; right of the mean this holds for what it lacks to 1. p outside
 * [0, 1]: NaN. */
double cr_binomial_cdf(uint64_t k, uint64_t n, double p);

/* Upper Clopper-Pearson bound on p after k successes in n trials, wrong with probability at most
 * alpha in (0, 1). Rounded up: never below BetaInv(1 - alpha; k + 1, n - k). 1 for k >= n, and for
 * an alpha outside (0, 1). Intended for alpha from 1e-20 and n up to 1e9. */
double cr_binomial_upper(uint64_t k, uint64_t n, double alpha);

/* Largest k with P(X <= k) <= alpha for X ~ Binomial(n, p); -1 if there is none. Rounded towards -1
 * in doubt. */
int64_t cr_binomial_critical(uint64_t n, double p, double alpha);

/* Student t: the point above which a share q lies, accurate for tiny q. q in (0, 1), degrees > 0,
 * else NaN. */
double cr_student_quantile_sf(double q, double degrees);

#endif
