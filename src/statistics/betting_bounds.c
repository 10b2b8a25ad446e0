/* Bounds by betting: searches for the least mean from which all are rejected. wealth_process.c
 * makes the bets. */
#include "statistics/betting_bounds.h"
#include "statistics/wealth_process.h"
#include "statistics/normal.h"

void cr_betting_add_pilot(cr_betting_problem *bet, double value)
{
    if (!(value >= bet->lo && value <= bet->hi)) return;
    const double y = (value - bet->lo) / (bet->hi - bet->lo);
    bet->pilot_moments.count += 1;
    bet->pilot_moments.sum += y;
    bet->pilot_moments.square += y * y;
}

typedef struct mean_bracket { /* means, by their distance from the center */
    double center;
    double low;  /* not known to be rejected */
    double high; /* rejected, or the end of the range */
} mean_bracket;

/* The first pass tries means around the guess, later passes divide the bracket. */
static void choose_means(const mean_bracket *bracket, double guess, int is_first_pass,
                         cr_candidate_means *candidates)
{
    static const double factor[CR_WEALTH_LANES] = {0.75, 0.95, 1.15, 1.5};
    const double low = fmax(bracket->low, 0), span = bracket->high - low;
    for (int k = 0; k < CR_WEALTH_LANES; k++) {
        double distance = low + span * (k + 1) / (CR_WEALTH_LANES + 1);
        if (is_first_pass && guess * 1.5 < bracket->high) distance = guess * factor[k];
        else if (low > 0 && bracket->high > 4 * low)
            distance = low * pow(bracket->high / low, (k + 1.0) / (CR_WEALTH_LANES + 1));
        candidates->mean[k] = fmin(fmax(bracket->center + distance, 0x1p-60), 1 - 0x1p-40);
    }
}

/* Distance of the bound from the mean by the normal approximation, and at least that of equal
 * values, at each of which all wealth is staked. */
static double guess_distance(const cr_wealth *wealth, double mean, double square)
{
    const double n = (double)wealth->bet->count,
                 z = cr_normal_quantile_sf(fmin(wealth->alpha, 0.4)),
                 least_distance = -(1 - mean) * expm1(log(wealth->alpha) / n);
    cr_running_moments totals = cr_wealth_pilot(wealth);
    totals = (cr_running_moments){totals.count + n, totals.sum + n * mean, totals.square + square};
    /* The distance d solves d^2 = c (mean + d)(1 - mean - d). */
    const double c = z * z * cr_wealth_variance_ratio(&totals) / n;
    const double center_shift = 0.5 * c * (1 - 2 * mean),
                 distance = (center_shift +
                             sqrt(center_shift * center_shift + (1 + c) * c * mean * (1 - mean))) /
                            (1 + c);
    return fmax(distance, least_distance) * (wealth->anytime ? 1.5 : 1);
}

static double search_bound(const cr_wealth *wealth, double mean, double square)
{
    cr_candidate_means candidates;
    mean_bracket bracket = {mean, 0, 1 - mean};
    const double guess = guess_distance(wealth, mean, square);
    for (int pass = 0; pass < 12 && bracket.high - bracket.low > bracket.high / 512 &&
                       !cr_deadline_expired(wealth->bet->deadline);
         pass++) {
        choose_means(&bracket, guess, pass == 0, &candidates);
        cr_wealth_test(wealth, &candidates);
        for (int k = CR_WEALTH_LANES - 1; k >= 0 && candidates.rejected[k]; k--)
            bracket.high = candidates.mean[k] - mean;
        for (int k = 0; k < CR_WEALTH_LANES; k++)
            if (!candidates.rejected[k] && candidates.mean[k] - mean > bracket.low &&
                candidates.mean[k] - mean < bracket.high)
                bracket.low = candidates.mean[k] - mean;
    }
    /* All means that are tried are below 1. */
    return bracket.high < 1 - mean ? mean + bracket.high : 1;
}

/* Distance from a rejected mean beyond which rounding cannot spare a mean; see wealth_process.c. */
static double rounding_gap(size_t count)
{
    return 0x1p-34 + 0x1p-42 * sqrt((double)count);
}

/* Sets mean and sum of squares of the values. Non-zero: no bound, because a value is out of range
 * or time ran out. */
static int sum_values(const cr_wealth *wealth, double *mean, double *square)
{
    const double n = (double)wealth->bet->count;
    *mean = *square = 0;
    for (size_t i = 0; cr_wealth_has(wealth, i); i++) {
        const double y = cr_wealth_scaled_value(wealth, i);
        if (!(y >= 0 && y <= 1)) return 1;
        *mean += y / n;
        *square += y * y;
    }
    return cr_deadline_expired(wealth->bet->deadline);
}

static int is_invalid(const cr_betting_problem *bet, double alpha)
{
    return !(bet->hi > bet->lo) || !isfinite(bet->hi - bet->lo) || !(alpha > 0 && alpha < 1) ||
           !bet->count;
}

/* Returns the bound as a fraction of the range; 1: nothing is proved. */
static double bound_fraction(const cr_betting_problem *bet, double alpha, int anytime, int mirrored)
{
    cr_wealth wealth;
    double mean, square;
    if (is_invalid(bet, alpha)) return 1;
    cr_wealth_init(&wealth, bet, alpha, anytime, mirrored);
    if (sum_values(&wealth, &mean, &square)) return 1;
    return fmin(1, search_bound(&wealth, fmin(mean, 1), square) + rounding_gap(bet->count));
}

/* Two roundings of the conversion to the unit of the values. */
static double rounding_margin(const cr_betting_problem *bet)
{
    return 0x1p-51 * fmax(fabs(bet->lo), fabs(bet->hi));
}

static double upper_from_fraction(const cr_betting_problem *bet, double fraction)
{
    if (fraction >= 1) return bet->hi;
    return fmin(bet->hi, bet->lo + fraction * (bet->hi - bet->lo) + rounding_margin(bet));
}

static double lower_from_fraction(const cr_betting_problem *bet, double fraction)
{
    if (fraction >= 1) return bet->lo;
    return fmax(bet->lo, bet->hi - fraction * (bet->hi - bet->lo) - rounding_margin(bet));
}

double cr_betting_upper(const cr_betting_problem *bet, double alpha, int anytime)
{
    return upper_from_fraction(bet, bound_fraction(bet, alpha, anytime, 0));
}

double cr_betting_lower(const cr_betting_problem *bet, double alpha, int anytime)
{
    return lower_from_fraction(bet, bound_fraction(bet, alpha, anytime, 1));
}

/* ---- expectations */
static double expected_fraction(const cr_betting_problem *bet, double alpha, int anytime,
                                int mirrored)
{
    const cr_wealth wealth = {.bet = bet, .alpha = alpha, .anytime = anytime, .mirrored = mirrored};
    const cr_running_moments pilot = cr_wealth_pilot(&wealth);
    if (is_invalid(bet, alpha) || !(pilot.count > 0)) return 1;
    const double mean = pilot.sum / pilot.count,
                 square = (double)bet->count * pilot.square / pilot.count;
    return mean + guess_distance(&wealth, mean, square);
}

double cr_betting_expected_upper(const cr_betting_problem *bet, double alpha, int anytime)
{
    return upper_from_fraction(bet, expected_fraction(bet, alpha, anytime, 0));
}

double cr_betting_expected_lower(const cr_betting_problem *bet, double alpha, int anytime)
{
    return lower_from_fraction(bet, expected_fraction(bet, alpha, anytime, 1));
}
