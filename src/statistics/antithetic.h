/* Serving from antithetic pairs (theory 1.5): a request takes N' outputs, of M independent pairs z
 * + delta +- noise, and of one noisy sample more if N' is odd. It fails if min_outside or more of
 * them are out, or failed. Nothing is used but the probability p of being out at z. */
#ifndef CR_STATISTICS_ANTITHETIC_H
#define CR_STATISTICS_ANTITHETIC_H
#include <stdint.h>

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
