/* Bounds by betting: searches for the least mean from which all are rejected. wealth_process.c
 * makes the bets. */
#include "statistics/betting_bounds.h"
#include "statistics/wealth_process.h"
#include "statistics/normal.h"

void cr_betting_add_pilot(cr_betting_problem *bet, double value)
{
    if (!(value >= bet->lo && value <= bet->hi)) return;
    const double y = (value - bet->lo) / (bet->hi - bet->lo);
    bet->pilot.count += 1;
    bet->pilot.sum += y;
    bet->pilot.square += y * y;
}

typedef struct bracket { /* means, by their distance from the center */
    double center;
    double low;  /* not known to be rejected */
    double high; /* rejected, or the end of the range */
} bracket;

/* The first pass tries means around the guess, later passes divide the bracket. */
static void choose_means(const bracket *b, double guess, int first, cr_candidate_means *t)
{
    static const double factor[CR_CAPITAL_LANES] = {0.75, 0.95, 1.15, 1.5};
    const double low = fmax(b->low, 0), span = b->high - low;
    for (int k = 0; k < CR_CAPITAL_LANES; k++) {
        double d = low + span * (k + 1) / (CR_CAPITAL_LANES + 1);
        if (first && guess * 1.5 < b->high) d = guess * factor[k];
        else if (low > 0 && b->high > 4 * low)
            d = low * pow(b->high / low, (k + 1.0) / (CR_CAPITAL_LANES + 1));
        t->mean[k] = fmin(fmax(b->center + d, 0x1p-60), 1 - 0x1p-40);
    }
}

/* Distance of the bound from the mean by the normal or the Poisson approximation. */
static double guess_of(const cr_wealth *g, double mean, double square)
{
    const double n = (double)g->bet->count, z = cr_normal_quantile_sf(fmin(g->alpha, 0.4)),
                 rare = -log(g->alpha) / n;
    cr_running_moments all = cr_wealth_pilot(g);
    all = (cr_running_moments){all.count + n, all.sum + n * mean, all.square + square};
    const double c = z * z * cr_wealth_spread(&all) / n; /* d^2 = c (mean + d)(1 - mean - d) */
    const double half = 0.5 * c * (1 - 2 * mean),
                 d = (half + sqrt(half * half + (1 + c) * c * mean * (1 - mean))) / (1 + c);
    return fmax(d, fmin(rare, 0.7 * (1 - mean))) * (g->anytime ? 1.5 : 1);
}

static double search(const cr_wealth *g, double mean, double square)
{
    cr_candidate_means t;
    bracket b = {mean, 0, 1 - mean};
    const double guess = guess_of(g, mean, square);
    for (int pass = 0;
         pass < 12 && b.high - b.low > b.high / 512 && !cr_deadline_late(g->bet->watch); pass++) {
        choose_means(&b, guess, pass == 0, &t);
        cr_wealth_try(g, &t);
        for (int k = CR_CAPITAL_LANES - 1; k >= 0 && t.rejected[k]; k--) b.high = t.mean[k] - mean;
        for (int k = 0; k < CR_CAPITAL_LANES; k++)
            if (!t.rejected[k] && t.mean[k] - mean > b.low && t.mean[k] - mean < b.high)
                b.low = t.mean[k] - mean;
    }
    return b.high < 1 - mean ? mean + b.high : 1; /* all means that are tried are below 1 */
}

/* Distance from a rejected mean beyond which rounding cannot spare a mean; see wealth_process.c. */
static double gap_of(size_t count)
{
    return 0x1p-34 + 0x1p-42 * sqrt((double)count);
}

/* Sets mean and sum of squares of the values. Non-zero: no bound, because a value is out of range
 * or time ran out. */
static int says_nothing(const cr_wealth *g, double *mean, double *square)
{
    const double n = (double)g->bet->count;
    *mean = *square = 0;
    for (size_t i = 0; cr_wealth_has(g, i); i++) {
        const double y = cr_wealth_share(g, i);
        if (!(y >= 0 && y <= 1)) return 1;
        *mean += y / n;
        *square += y * y;
    }
    return cr_deadline_late(g->bet->watch);
}

static int is_hopeless(const cr_betting_problem *bet, double alpha)
{
    return !(bet->hi > bet->lo) || !isfinite(bet->hi - bet->lo) || !(alpha > 0 && alpha < 1) ||
           !bet->count;
}

/* Returns the bound as a fraction of the range; 1: nothing is proved. */
static double bound_share(const cr_betting_problem *bet, double alpha, int anytime, int mirrored)
{
    cr_wealth g;
    double mean, square;
    if (is_hopeless(bet, alpha)) return 1;
    cr_wealth_begin(&g, bet, alpha, anytime, mirrored);
    if (says_nothing(&g, &mean, &square)) return 1;
    return fmin(1, search(&g, fmin(mean, 1), square) + gap_of(bet->count));
}

/* Two roundings of the conversion to the unit of the values. */
static double margin(const cr_betting_problem *b)
{
    return 0x1p-51 * fmax(fabs(b->lo), fabs(b->hi));
}

static double upper_of(const cr_betting_problem *bet, double part)
{
    if (part >= 1) return bet->hi;
    return fmin(bet->hi, bet->lo + part * (bet->hi - bet->lo) + margin(bet));
}

static double lower_of(const cr_betting_problem *bet, double part)
{
    if (part >= 1) return bet->lo;
    return fmax(bet->lo, bet->hi - part * (bet->hi - bet->lo) - margin(bet));
}

double cr_betting_upper(const cr_betting_problem *bet, double alpha, int anytime)
{
    return upper_of(bet, bound_share(bet, alpha, anytime, 0));
}

double cr_betting_lower(const cr_betting_problem *bet, double alpha, int anytime)
{
    return lower_of(bet, bound_share(bet, alpha, anytime, 1));
}

/* ---- expectations */
static double expected_share(const cr_betting_problem *bet, double alpha, int anytime, int mirrored)
{
    const cr_wealth g = {.bet = bet, .alpha = alpha, .anytime = anytime, .mirrored = mirrored};
    const cr_running_moments pilot = cr_wealth_pilot(&g);
    if (is_hopeless(bet, alpha) || !(pilot.count > 0)) return 1;
    const double mean = pilot.sum / pilot.count,
                 square = (double)bet->count * pilot.square / pilot.count;
    return mean + guess_of(&g, mean, square);
}

double cr_betting_expected_upper(const cr_betting_problem *bet, double alpha, int anytime)
{
    return upper_of(bet, expected_share(bet, alpha, anytime, 0));
}

double cr_betting_expected_lower(const cr_betting_problem *bet, double alpha, int anytime)
{
    return lower_of(bet, expected_share(bet, alpha, anytime, 1));
}
