/* Exact binomial tails and bounds (theory 6.1). */
#ifndef CR_STATISTICS_BINOMIAL_H
#define CR_STATISTICS_BINOMIAL_H
#include <stdint.h>

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

#endif
