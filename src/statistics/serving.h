/* Serving (theory 1.5): how far above zero the mean of a score must stay, so that an estimate from
 * N' fresh samples fails with probability at most beta in (0, 1). */
#ifndef CR_STATISTICS_SERVING_H
#define CR_STATISTICS_SERVING_H
#include "statistics/score.h"
#include <stdint.h>

/* Returns the minimum mean of a score of -1 and 1, rounded up, for an estimate that fails if at
 * most this fraction of the N' values are 1: exact, by the binomial tail. */
double cr_serving_binomial(uint64_t samples, double fraction, double beta);
/* Returns the number of values in this fraction of N', rounded down. */
uint64_t cr_serving_count(uint64_t samples, double fraction);
/* The same for an estimate that fails if more than max_outside of the N' values are -1; -infinite
 * if it cannot fail. */
double cr_serving_binomial_count(uint64_t samples, uint64_t max_outside, double beta);
/* Returns the minimum mean, rounded up, of N' values in [min_value, max_value], for an estimate
 * that fails if their sum is <= 0 (Chernoff). Infinite if there is none, -infinite if all values
 * are positive. For antithetic pairs pass half of the number of samples. */
double cr_serving_bounded(double samples, double min_value, double max_value, double beta);

/* ---- trimmed means (theory 9.2) */
/* Returns the number of N' outputs that are cut off at each end for a fraction `trim` in [0, 0.5);
 * at least one remains. */
uint64_t cr_serving_trim_count(uint64_t samples, double trim);
/* Returns the number of N' outputs that may be out, at `core` or farther from the prediction, while
 * the mean of the remaining outputs stays nearer than the tolerance. core is in (0, tolerance]; no
 * output is farther than max_distance, which may be infinite. */
uint64_t cr_serving_max_outside(uint64_t samples, double trim, double tolerance, double core,
                                double max_distance);

/* ---- Serving from antithetic pairs (theory 1.5): a request takes N' outputs, of M independent
 * pairs z + delta +- noise, and of one noisy sample more if N' is odd. It fails if min_outside
 * or more of them are out, or failed. Nothing is used but the probability p of being out at z. */
#define CR_ANTITHETIC_MIN_SAMPLES 11    /* samples: with fewer, pairs gain less than they cost */
#define CR_ANTITHETIC_MAX_SAMPLES 10001 /* with more, the sums take long */

typedef struct cr_antithetic {
    uint64_t samples, min_outside; /* 0 < samples <= CR_ANTITHETIC_MAX_SAMPLES */
    double failure_rate;           /* accepted probability that a request fails, in (0, 1) */
} cr_antithetic;

/* Returns P(min_outside or more of N' are out), rounded up, if both of a pair are out with
 * probability `both` and neither with probability `neither`. Never below this probability at a
 * smaller `both` or a larger `neither`. */
double cr_antithetic_tail(const cr_antithetic *, double both, double neither);
/* Returns 1 if requests fail with at most failure_rate at every shift up to r >= 0, in units of
 * sigma, for every event "out" of probability p without a shift; 0 in doubt, and for p > 0.999. */
int cr_antithetic_holds(const cr_antithetic *, double p, double r);
/* Returns the largest r at which pairs hold, rounded down, or 0. `guess` is tried first. */
double cr_antithetic_radius(const cr_antithetic *, double p, double guess);
/* Returns the largest p at which pairs hold within r, rounded down, or 0. */
double cr_antithetic_max_probability(const cr_antithetic *, double r);

#endif
