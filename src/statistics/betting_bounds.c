/* Bounds of the mean of a bounded sequence by betting (theory 6.5): the wealth of a bettor, and
 * bounds from it. */
#include "statistics/betting_bounds.h"
#include "statistics/normal.h"
#include <string.h>

/* ======== The bets: stakes against "the mean is m", and the wealth that they make of the values
 * (theory 6.5; Lemma 6d: larger m are rejected too). The second part chooses m. Values are
 * mapped to y in [0, 1]; x becomes F = x + a (m - y), a >= 0. Fixed count n: x_0 = (1 - SURPLUS)
 * alpha, and m is rejected at x = 1 - SURPLUS, since the last steps need not be perfect. The
 * stake is a = min(g(x)/s, x/(1 + THETA - m)), with g(x) = pdf(quantile(x)), here a concave
 * function through points of it, and s^2 = remaining * spread * m (1 - m). The spread, the
 * variance as a fraction of its maximum m (1 - m), comes from the pilot and earlier values. Any
 * time: a = x min(lambda, 1/(1 + THETA - m)), by several strategies with lambda from large to
 * small among which the initial wealth is divided; their sum is the martingale. Rounding. The
 * computed stake a is the stake. The computed F differs from x + a (m - y) by 2^-53 (F + 2 a |m
 * - y|) at most. The expectation of that is below 2^-50 x, since a E|m - y| <= 2 x: so x (1 -
 * 2^-50)^t is a supermartingale, and x_0, or else the target, allows for that. F need be
 * monotone only from m to m + GAP, and m + GAP is what is returned. F at the two, each with the
 * rounding of its own stake, is known up to 2^-52 (F + 11 a |m - y|). Here a |m - y| <= max(x,
 * F) and x <= 1025 F. Below the target F_x > 2^-11, so a larger x outweighs its larger error. At
 * equal x the smaller m is behind by GAP a/2 or more with the first stake and with fixed
 * fractions (a/x >= .5/sqrt(n), resp. .001), and by GAP F/1.001 with the second. GAP = 2^-34 +
 * 2^-42 sqrt(n) exceeds these requirements, and covers the error 2^-51 of y. */
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

#define STRATEGIES 18 /* any time */
#define THETA 0x1p-10
#define SURPLUS 0.15
/* Values at the ends of the range that are added to those observed: 1 costs the bettor most, and
 * with both the spread is 1 for values that are all at the ends. */
#define VALUES_AT_1 1
#define VALUES_AT_0 0.05
/* The hedge ends before the last values. The pilot counts at most as this fraction of all. */
#define LAST_VALUES 2
#define PILOT_FRACTION 0.25
/* A smaller wealth is no longer staked: it will not recover, and its arithmetic gets slow. */
#define MIN_WEALTH 1e-306
/* Chords of g: two per octave down to 2^-FINE, then one for every COARSE octaves. */
#define FINE 24
#define COARSE 8

/* ---- stakes */
static double knot(int k)
{
    return ldexp(k % 2 ? 1.5 : 1, k / 2 - FINE);
}

static double normal_profile(double x)
{
    return cr_normal_pdf(cr_normal_quantile(x));
}

static void set_chord(cr_stake_function *g, int k, double lower, double upper)
{
    const double lower_value = lower > 0 ? normal_profile(lower) : 0,
                 upper_value = normal_profile(upper);
    g->slope[k] = (upper_value - lower_value) / (upper - lower);
    g->intercept[k] = lower > 0 ? fmax(0, lower_value - g->slope[k] * lower) : 0;
}

/* Chords go down to 2^-16 alpha; further below stakes are proportional. */
static void make_stakes(cr_stake_function *g, double alpha)
{
    g->fine = 2 * (FINE - 1);
    for (int k = 0; k < g->fine; k++) set_chord(g, k, knot(k), knot(k + 1));
    double upper = ldexp(1, -FINE);
    g->count = g->fine;
    while (upper > ldexp(alpha, -16) && g->count < CR_STAKE_CHORDS - 1) {
        set_chord(g, g->count++, ldexp(upper, -COARSE), upper);
        upper = ldexp(upper, -COARSE);
    }
    set_chord(g, g->count++, 0, upper);
}

static inline double stake(const cr_stake_function *g, double x)
{
    const double y = x > 0.5 ? 1 - x : x;
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    int k = (int)(bits >> 51) - 2 * (1023 - FINE); /* half octaves above 2^-FINE */
    if (k < 0) {
        k = g->fine + (-k - 1) / (2 * COARSE);
        if (k >= g->count) k = g->count - 1;
    } else if (k >= g->fine) k = g->fine - 1;
    return g->intercept[k] + g->slope[k] * y;
}

/* ---- one pass over the values */
/* Returns the variance as a fraction of the maximum variance of values in [0, 1] with the same
 * mean; in (0, 1]. */
static double cr_wealth_variance_ratio(const cr_running_moments *moments)
{
    const double sum = moments->sum + VALUES_AT_1,
                 mean = sum / (moments->count + VALUES_AT_1 + VALUES_AT_0);
    return fmin(1, (moments->square + VALUES_AT_1 - mean * sum) / (sum - mean * sum));
}

/* Returns the sums over the pilot, mirrored if the values are. */
static cr_running_moments cr_wealth_pilot(const cr_wealth *wealth)
{
    const cr_betting_problem *bet = wealth->bet;
    const cr_running_moments *p = &bet->pilot_moments;
    const double sum = wealth->mirrored ? p->count - p->sum : p->sum,
                 square = wealth->mirrored ? p->count - 2 * p->sum + p->square : p->square,
                 weight = fmin(1, PILOT_FRACTION * (double)bet->count / fmax(1, p->count));
    return (cr_running_moments){weight * p->count, weight * sum, weight * square};
}

typedef struct mean_candidate { /* one mean: its wealth, and the limits of its stakes */
    double wealth, mean, inverse_deviation, max_stake_ratio;
} mean_candidate;

static inline void bet_on_value(mean_candidate *candidate, const cr_stake_function *g,
                                double stake_scale, double y)
{
    if (candidate->wealth >= 1 - SURPLUS || candidate->wealth < MIN_WEALTH) return;
    const double hedge_stake =
        stake(g, candidate->wealth) * (stake_scale * candidate->inverse_deviation);
    const double max_stake = candidate->wealth * candidate->max_stake_ratio,
                 chosen_stake = hedge_stake < max_stake ? hedge_stake : max_stake;
    candidate->wealth += chosen_stake * (candidate->mean - y);
}

static void test_fixed_count(const cr_wealth *wealth, cr_candidate_means *candidates)
{
    const size_t count = wealth->bet->count;
    mean_candidate lane[CR_WEALTH_LANES];
    cr_running_moments moments = cr_wealth_pilot(wealth);
    double stake_scale = 0;
    for (int k = 0; k < CR_WEALTH_LANES; k++) {
        const double m = candidates->mean[k];
        lane[k] = (mean_candidate){wealth->alpha * (1 - SURPLUS) * (1 - 0x1p-50 * (double)count), m,
                                   1 / sqrt(m * (1 - m)), 1 / (1 + THETA - m)};
    }
    for (size_t i = 0; cr_wealth_has(wealth, i); i++) {
        const size_t remaining = count - i;
        if (i % 8 == 0 || remaining < 64)
            stake_scale = 1 / sqrt(fmax(0.5, (double)remaining - LAST_VALUES) *
                                   cr_wealth_variance_ratio(&moments));
        const double y = cr_wealth_scaled_value(wealth, i);
        for (int k = 0; k < CR_WEALTH_LANES; k++)
            bet_on_value(lane + k, &wealth->stakes, stake_scale, y);
        moments = (cr_running_moments){moments.count + 1, moments.sum + y, moments.square + y * y};
    }
    for (int k = 0; k < CR_WEALTH_LANES; k++)
        candidates->rejected[k] = lane[k].wealth >= 1 - SURPLUS;
}

typedef struct strategy_mix { /* the strategies against one mean */
    double wealth[STRATEGIES], fraction[STRATEGIES];
} strategy_mix;

static void init_mix(strategy_mix *mix, double mean, double initial_wealth)
{
    double total = 0;
    for (int j = 0; j < STRATEGIES; j++) total += 1 / (j + 1.5);
    for (int j = 0; j < STRATEGIES; j++) {
        mix->wealth[j] = initial_wealth / ((j + 1.5) * total);
        mix->fraction[j] = fmin(4 * exp2(-0.7 * j), 1 / (1 + THETA - mean));
    }
}

static double bet_on_gain(strategy_mix *mix, double gain)
{
    double total = 0;
    for (int j = 0; j < STRATEGIES; j++) {
        const double wealth = mix->wealth[j] + mix->wealth[j] * mix->fraction[j] * gain;
        mix->wealth[j] = wealth < MIN_WEALTH ? 0 : wealth;
        total += mix->wealth[j];
    }
    return total;
}

static void test_anytime(const cr_wealth *wealth, cr_candidate_means *candidates)
{
    strategy_mix mixes[CR_WEALTH_LANES];
    for (int k = 0; k < CR_WEALTH_LANES; k++) {
        init_mix(mixes + k, candidates->mean[k], wealth->alpha * (1 - 0x1p-48));
        candidates->rejected[k] = 0;
    }
    for (size_t i = 0; cr_wealth_has(wealth, i); i++) {
        const double y = cr_wealth_scaled_value(wealth, i), target = 1 + 0x1p-50 * (double)(i + 1);
        for (int k = 0; k < CR_WEALTH_LANES; k++)
            if (!candidates->rejected[k])
                candidates->rejected[k] = bet_on_gain(mixes + k, candidates->mean[k] - y) >= target;
    }
}

void cr_wealth_init(cr_wealth *wealth, const cr_betting_problem *bet, double alpha, int anytime,
                    int mirrored)
{
    *wealth = (cr_wealth){.bet = bet, .alpha = alpha, .anytime = anytime, .mirrored = mirrored};
    if (!anytime) make_stakes(&wealth->stakes, alpha);
}

void cr_wealth_test(const cr_wealth *wealth, cr_candidate_means *candidates)
{
    if (wealth->anytime) test_anytime(wealth, candidates);
    else test_fixed_count(wealth, candidates);
}

/* ======== Bounds by betting: searches for the least mean from which all are rejected. */
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

/* Distance from a rejected mean beyond which rounding cannot spare a mean; see the bets above. */
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
