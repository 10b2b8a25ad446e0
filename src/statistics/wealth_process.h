/* One pass of bets over the values: the wealth of a bettor, a test martingale, against each of a
 * few means (theory 6.5). */
#ifndef CR_STATISTICS_WEALTH_PROCESS_H
#define CR_STATISTICS_WEALTH_PROCESS_H
#include "statistics/betting_bounds.h"
#include <math.h>

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

/* Returns the sums over the pilot, mirrored if the values are. */
cr_running_moments cr_wealth_pilot(const cr_wealth *);
/* Returns the variance as a fraction of the maximum variance of values in [0, 1] with the same
 * mean; in (0, 1]. */
double cr_wealth_variance_ratio(const cr_running_moments *);

/* Returns value i of the bet as a fraction of the range. */
static inline double cr_wealth_scaled_value(const cr_wealth *wealth, size_t i)
{
    const cr_betting_problem *bet = wealth->bet;
    const double value = bet->value(bet->context, bet->first + i);
    return (wealth->mirrored ? bet->hi - value : value - bet->lo) / (bet->hi - bet->lo);
}

/* Returns 1 if there is a value i and the deadline has not passed. */
static inline int cr_wealth_has(const cr_wealth *wealth, size_t i)
{
    return i < wealth->bet->count && !cr_deadline_ends(wealth->bet->deadline, i);
}

#endif
