/* Serving (theory 1.5): how far above zero the mean of a score must stay, so that an estimate from
 * N' fresh samples fails with probability at most beta in (0, 1). */
#ifndef CR_STATISTICS_SERVING_BOUNDS_H
#define CR_STATISTICS_SERVING_BOUNDS_H
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

#endif
