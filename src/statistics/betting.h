/* Bounds of the mean of a bounded sequence by test martingales: valid at every number of samples,
 * whatever the law (theory 6). */
#ifndef CR_STATISTICS_BETTING_H
#define CR_STATISTICS_BETTING_H
#include "base/watch.h"
#include <stddef.h>

/* What is known before the first value that counts. It decides how much is staked, hence how tight
 * a bound is; never whether it holds. */
typedef struct cr_bet {
    double lo, hi;             /* range of the values, finite */
    double count, sum, square; /* of the pilot's values, as shares of the range */
    cr_watch *watch; /* NULL: no hurry. Where it gets late the bounds are those of the search so far
                      */
} cr_bet;

typedef struct cr_series { /* values in index order; each one given the earlier ones has the mean
                              that is bounded */
    double (*value)(const void *of, size_t i);
    const void *of;
    size_t count;
} cr_series;

void cr_betting_start(cr_bet *bet, double lo, double hi);
/* A value of the pilot. One that is no number of the range is left out. */
void cr_betting_learn(cr_bet *bet, double value);

/* One-sided bounds of the mean, each wrong with probability at most alpha in (0, 1), rounded
 * outward, within [lo, hi]. anytime = 0: of this count, fixed beforehand. As tight as Clopper and
 * Pearson's for values at both ends of the range, and for others within a few per cent of the
 * normal interval where that is valid. anytime = 1: wrong at any count ever with probability at
 * most alpha; the stakes do not depend on the count. About 1.5 times as wide. The end of the range
 * itself: where a value is NaN or outside, the range not finite, alpha outside (0, 1). Linear time,
 * no memory. */
double cr_betting_upper(const cr_bet *bet, const cr_series *values, double alpha, int anytime);
double cr_betting_lower(const cr_bet *bet, const cr_series *values, double alpha, int anytime);
/* The test behind the upper bound: whether every mean from this one on is rejected. */
int cr_betting_rejects(const cr_bet *bet, const cr_series *values, double alpha, int anytime,
                       double mean);

#endif
