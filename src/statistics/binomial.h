/* Exact binomial bounds. */
#ifndef CR_STATISTICS_BINOMIAL_H
#define CR_STATISTICS_BINOMIAL_H
#include <stdint.h>

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

#endif
