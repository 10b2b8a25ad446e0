/* Bounds of the mean of a bounded sequence by test martingales: valid at every number of samples,
 * for any distribution (theory 6). */
#ifndef CR_STATISTICS_BETTING_H
#define CR_STATISTICS_BETTING_H
#include "base/watch.h"
#include <stddef.h>

typedef struct cr_seen { /* values so far, as shares of the range */
    double count, sum, square;
} cr_seen;

typedef struct cr_bet {
    /* A number of each sample, in [lo, hi], both finite. Each sample that is bet upon has, given
     * the earlier ones, the mean that is bounded. */
    double (*value)(const void *of, size_t sample);
    const void *of;
    double lo, hi;
    size_t first, count; /* bet upon are samples first .. first+count-1 */
    /* What is known before the first of them. It decides how much is staked, hence how tight a
     * bound is; never whether it holds. */
    cr_seen pilot;
    cr_watch *watch; /* NULL: no hurry. Once late, the bounds are those of the search so far */
} cr_bet;

/* A value of the pilot, as a number. One that is not in the range is left out. */
void cr_betting_add_pilot(cr_bet *, double value);

/* One-sided bounds of the mean, each wrong with probability at most alpha in (0, 1), rounded
 * outward, within [lo, hi]. anytime = 0: for this count, fixed beforehand. As tight as Clopper and
 * Pearson's for values at both ends of the range, and for others within a few per cent of the
 * normal interval where that is valid. anytime = 1: wrong at any count ever with probability at
 * most alpha; the stakes do not depend on the count. About 1.5 times as wide. The end of the range
 * itself where a value is NaN or outside, the range is not finite, or alpha is outside (0, 1).
 * Linear time, no memory. */
double cr_betting_upper(const cr_bet *, double alpha, int anytime);
double cr_betting_lower(const cr_bet *, double alpha, int anytime);

/* About where they will be if `count` samples are as the pilot. No value is asked for. */
double cr_betting_expected_upper(const cr_bet *, double alpha, int anytime);
double cr_betting_expected_lower(const cr_bet *, double alpha, int anytime);

#endif
