/* One pass of bets over the values: the capital of a bettor, a test martingale, against each of a
 * few means (theory 6.5). */
#ifndef CR_STATISTICS_CAPITAL_H
#define CR_STATISTICS_CAPITAL_H
#include "statistics/betting.h"
#include <math.h>

#define CR_CAPITAL_LANES 4 /* means that are tried side by side */
#define CR_CAPITAL_CHORDS 192

/* g(x) = intercept + slope x between knots, a concave function through points of pdf(quantile(x))
 * for x <= 1/2; g(x) = g(1 - x). */
typedef struct cr_stakes {
    double intercept[CR_CAPITAL_CHORDS], slope[CR_CAPITAL_CHORDS];
    int fine, count;
} cr_stakes;

typedef struct cr_capital {
    const cr_bet *bet;
    double alpha;
    int anytime;
    int mirrored; /* values are measured from the upper end of the range */
    cr_stakes stakes;
} cr_capital;

typedef struct cr_trial {
    double mean[CR_CAPITAL_LANES]; /* in (0, 1): fractions of the range from its lower end, or
                                      mirrored */
    int rejected[CR_CAPITAL_LANES];
} cr_trial;

/* Sets up bets at level alpha in (0, 1). Keeps the pointer to the bet. */
void cr_capital_begin(cr_capital *, const cr_bet *, double alpha, int anytime, int mirrored);
/* Sets rejected[k] to 1 if "the mean is mean[k], or more" is rejected. Then every mean is rejected
 * that exceeds mean[k] by the gap of betting.c. */
void cr_capital_try(const cr_capital *, cr_trial *);

/* Returns the sums over the pilot, mirrored if the values are. */
cr_seen cr_capital_pilot(const cr_capital *);
/* Returns the variance as a fraction of the greatest variance of values in [0, 1] with the same
 * mean; in (0, 1]. */
double cr_capital_spread(const cr_seen *);

/* Returns value i of the bet as a fraction of the range. */
static inline double cr_capital_share(const cr_capital *g, size_t i)
{
    const cr_bet *b = g->bet;
    const double value = b->value(b->of, b->first + i);
    return (g->mirrored ? b->hi - value : value - b->lo) / (b->hi - b->lo);
}

/* Returns 1 if there is a value i and the deadline has not passed. */
static inline int cr_capital_has(const cr_capital *g, size_t i)
{
    return i < g->bet->count && !cr_watch_ends(g->bet->watch, i);
}

#endif
