/* Serving from antithetic pairs (theory 1.5): M independent pairs z + delta +- noise, and one noisy
 * sample more where N' is odd. A request fails if `out` or more of its N' outputs are out, or
 * failed. Nothing but the probability p of being out at z is used. */
#ifndef CR_STATISTICS_PAIRS_H
#define CR_STATISTICS_PAIRS_H
#include <stdint.h>

#define CR_PAIRS_LEAST 11   /* samples: below, pairs are worth less than what they cost */
#define CR_PAIRS_MOST 10001 /* beyond, the sums take long */

typedef struct cr_pairs {
    uint64_t samples, out; /* 0 < samples <= CR_PAIRS_MOST */
    double rate;           /* a request may fail with this probability, in (0, 1) */
} cr_pairs;

/* P(out or more of N' are out) where both, or neither, of a pair are out with these probabilities.
 * Rounded up, and never below what it is at a lesser `both` or a greater `neither`. */
double cr_pairs_tail(const cr_pairs *, double both, double neither);
/* Whether no event of probability p without the shift makes requests fail more often than `rate`
 * within r, in units of sigma. Zero in doubt. */
int cr_pairs_hold(const cr_pairs *, double p, double r);
/* The greatest r at which they hold, rounded down; 0: none. `likely` is tried first. */
double cr_pairs_radius(const cr_pairs *, double p, double likely);
/* What the mean of a score of -1, out, and 1 has to stay above at the shifted input, if it is at
 * least `mean` at z, so that a search by that gives the same radius, rounded down. */
double cr_pairs_threshold(const cr_pairs *, double mean, double likely);
/* The greatest p at which they hold, rounded down; 0: none. */
double cr_pairs_share(const cr_pairs *, double r);

#endif
