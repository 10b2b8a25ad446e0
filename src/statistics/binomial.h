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

/* P(X <= k) and P(X >= k) for X ~ Binomial(n, p). Relative error below 1e-13 + 1e-14 sqrt(n) of
 * the one that is left (right) of the mean, however small it is. p outside [0, 1]: NaN. */
double cr_binomial_cdf(uint64_t k, uint64_t n, double p);
double cr_binomial_sf(uint64_t k, uint64_t n, double p);

/* One-sided Clopper-Pearson bounds on p after k successes in n trials, each wrong with probability
 * at most alpha in (0, 1). Rounded outward: upper is never below BetaInv(1 - alpha; k + 1, n - k),
 * lower never above BetaInv(alpha; k, n - k + 1). Upper is 1 for k >= n, lower is 0 for k = 0; an
 * alpha outside (0, 1) gives the trivial bound. Intended for alpha from 1e-20 and n up to 1e9. */
double cr_binomial_upper(uint64_t k, uint64_t n, double alpha);
double cr_binomial_lower(uint64_t k, uint64_t n, double alpha);

/* Largest k with P(X <= k) <= alpha for X ~ Binomial(n, p); -1 if there is none. Rounded towards -1
 * in doubt. */
int64_t cr_binomial_critical(uint64_t n, double p, double alpha);

/* Student t: the point above which a share q lies (q in (0, 1), accurate for tiny q), and the usual
 * quantile. degrees > 0. */
double cr_student_quantile_sf(double q, double degrees);
double cr_student_quantile(double p, double degrees);

#endif
