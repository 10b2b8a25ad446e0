/* Binomial tails and bounds, exact (theory 6.1) and at all numbers of trials together (6.8), and
 * the incomplete beta function. */
#ifndef CR_STATISTICS_BINOMIAL_H
#define CR_STATISTICS_BINOMIAL_H
#include <stdint.h>

/* ---- The regularised incomplete beta function, and the quantile of Student's distribution. */
/* Returns I_x(a, b) for a, b > 0 and x in [0, 1]; NaN for other arguments. y = 1 - x is a parameter
 * of its own, so that neither end loses digits. Relative error below 1e-12 for a + b up to 1e4 and
 * values up to one half. */
double cr_beta_cdf(double a, double b, double x, double y);

/* Returns log of x^a y^b Gamma(a + b)/(Gamma(a) Gamma(b)) for a, b > 0 and x + y = 1. */
double cr_beta_log_term(double a, double b, double x, double y);

/* Returns the t with P(T > t) = q for Student's T, accurate for tiny q. NaN unless q is in (0, 1)
 * and degrees > 0. */
double cr_student_quantile(double q, double degrees);

/* ---- Exact binomial tails and bounds (theory 6.1). */
/* Returns P(X <= k) for X ~ Binomial(n, p); NaN for p outside [0, 1]. The relative error is below
 * 1e-13 + 1e-14 sqrt(n) left of the mean, however small the tail is; right of the mean, that is the
 * error relative to 1 - P. */
double cr_binomial_cdf(uint64_t k, uint64_t n, double p);

/* Returns the upper Clopper-Pearson bound of p after k successes in n trials, wrong with
 * probability at most alpha in (0, 1). Rounded up: never below BetaInv(1 - alpha; k + 1, n - k). 1
 * if k >= n or alpha is outside (0, 1). Intended for alpha from 1e-20 and n up to 1e9. */
double cr_binomial_upper(uint64_t k, uint64_t n, double alpha);

/* Returns the largest k with P(X <= k) <= alpha for X ~ Binomial(n, p), or -1 if there is none.
 * Rounded towards -1 in doubt. */
int64_t cr_binomial_critical(uint64_t n, double p, double alpha);

/* ---- Test and bound of a probability that hold at all numbers of trials together (theory 6.8). */
/* After k failures in n trials: rejects returns 1 if "the probability is q" is rejected, upper the
 * least q from which all are, rounded up, or 1 if none is. The test averages likelihood ratios
 * against q over Beta(1/2, 1/2) on (0, q). If the probability is q or more, q is ever rejected,
 * over all n, with probability at most alpha. No q is rejected if alpha is outside (0, 1/2]. */
int cr_mixture_rejects(uint64_t k, uint64_t n, double q, double alpha);
double cr_mixture_upper(uint64_t k, uint64_t n, double alpha);

#endif
