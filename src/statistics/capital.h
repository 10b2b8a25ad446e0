/* The capital of a bettor in one pass over the values (a test martingale): does it grow so far
 * that these means are rejected? */
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
    double mean[CR_CAPITAL_LANES]; /* in (0, 1): shares of the range from its lower end, or mirrored
                                    */
    int rejected[CR_CAPITAL_LANES];
} cr_trial;

void cr_capital_begin(cr_capital *, const cr_bet *, double alpha, int anytime, int mirrored);
/* Whether "the mean is this one, or more" is rejected. If one is, so are all that exceed it by the
 * gap of betting.c, or more. */
void cr_capital_try(const cr_capital *, cr_trial *);

/* The pilot's values, from the end that is measured from. */
cr_seen cr_capital_pilot(const cr_capital *);
/* Variance as a part of the greatest that values in [0, 1] with this mean can have; in (0, 1]. */
double cr_capital_spread(const cr_seen *);

/* Value i of the bet as a share of the range. */
static inline double cr_capital_share(const cr_capital *g, size_t i)
{
    const cr_bet *b = g->bet;
    const double value = b->value(b->of, b->first + i);
    return (g->mirrored ? b->hi - value : value - b->lo) / (b->hi - b->lo);
}

/* Whether there is a value i, and time for it. */
static inline int cr_capital_has(const cr_capital *g, size_t i)
{
    return i < g->bet->count && !cr_watch_ends(g->bet->watch, i);
}

#endif
