/* Bounds of the mean of a bounded sequence by test martingales: valid at every number of samples,
 * for any distribution (theory 6.5). */
#ifndef CR_STATISTICS_BETTING_BOUNDS_H
#define CR_STATISTICS_BETTING_BOUNDS_H
#include "base/deadline.h"
#include <math.h>
#include <stddef.h>

typedef struct cr_running_moments { /* sums over values, each as a fraction of the range */
    double count, sum, square;
} cr_running_moments;

typedef struct cr_betting_problem {
    /* The value of a sample, in [lo, hi], both finite. The bounds are of its mean, which must be
     * the same for every sample, given the earlier ones. */
    double (*value)(const void *context, size_t sample);
    const void *context;
    double lo, hi;
    size_t first, count; /* the bets are on samples first .. first+count-1 */
    /* Values that are known before the first sample. They decide the stakes, hence how tight a
     * bound is, never its validity. */
    cr_running_moments pilot_moments;
    cr_deadline *deadline; /* Once expired, the search ends with the bound so far. NULL: none */
} cr_betting_problem;

/* Adds a value of the pilot, in the unit of the values; ignores it if it is out of range. */
void cr_betting_add_pilot(cr_betting_problem *, double value);

/* One-sided bounds of the mean, in [lo, hi], each wrong with probability at most alpha in (0, 1),
 * rounded outward (theory 6.5). anytime = 0: valid at this count, fixed beforehand; nearly as tight
 * as Clopper and Pearson's bound for values at both ends of the range, within a few per cent of the
 * normal interval, if that is valid, and nearly as tight as possible for equal values. anytime = 1:
 * wrong at any count ever with probability at most alpha; the stakes do not depend on the count,
 * and the bound is about 1.5 times as wide. Returns the end of the range if a value is NaN or out
 * of range, the range is not finite, or alpha is outside (0, 1). Linear time, no memory. */
double cr_betting_upper(const cr_betting_problem *, double alpha, int anytime);
double cr_betting_lower(const cr_betting_problem *, double alpha, int anytime);

/* The same bounds approximately, if `count` samples are like the pilot. Reads no value, and gives
 * no guarantee. */
double cr_betting_expected_upper(const cr_betting_problem *, double alpha, int anytime);
double cr_betting_expected_lower(const cr_betting_problem *, double alpha, int anytime);

/* ---- One pass of bets over the values: the wealth of a bettor, a test martingale, against each
 * of a few means (theory 6.5). */
#define CR_WEALTH_LANES 4 /* means that are tried side by side */
#define CR_STAKE_CHORDS 192

/* g(x) = intercept + slope x between knots, a concave function through points of pdf(quantile(x))
 * for x <= 1/2; g(x) = g(1 - x). */
typedef struct cr_stake_function {
    double intercept[CR_STAKE_CHORDS], slope[CR_STAKE_CHORDS];
    int fine, count;
} cr_stake_function;

typedef struct cr_wealth {
    const cr_betting_problem *bet;
    double alpha;
    int anytime;
    int mirrored; /* values are measured from the upper end of the range */
    cr_stake_function stakes;
} cr_wealth;

typedef struct cr_candidate_means {
    double mean[CR_WEALTH_LANES]; /* in (0, 1): fractions of the range from its lower end, or
                                      mirrored */
    int rejected[CR_WEALTH_LANES];
} cr_candidate_means;

/* Sets up bets at level alpha in (0, 1). Keeps the pointer to the bet. */
void cr_wealth_init(cr_wealth *, const cr_betting_problem *, double alpha, int anytime,
                    int mirrored);
/* Sets rejected[k] to 1 if "the mean is mean[k], or more" is rejected. Then every mean is rejected
 * that exceeds mean[k] by the gap of betting_bounds.c. */
void cr_wealth_test(const cr_wealth *, cr_candidate_means *);

#endif
