/* The bets: stakes against "the mean is m", and the capital that they make of the values (theory
 * 6.5; Lemma 6d: larger m are rejected too). betting_bounds.c chooses m. Values are mapped to y in
 * [0, 1]; x becomes F = x + a (m - y), a >= 0.
 *
 * Fixed count n: x_0 = (1 - SURPLUS) alpha, and m is rejected at x = 1 - SURPLUS, since the last
 * steps need not be perfect. The stake is a = min(g(x)/s, x/(1 + THETA - m), (1 - x)/m), with g(x)
 * = pdf(quantile(x)), here a concave function through points of it, and s^2 = remaining * spread *
 * m (1 - m). The spread, the variance as a fraction of its maximum m (1 - m), comes from the pilot
 * and earlier values.
 *
 * Any time: a = x min(lambda, 1/(1 + THETA - m)), by several strategies with lambda from large
 * to small among which the initial capital is divided; their sum is the martingale.
 *
 * Rounding. The computed stake a is the stake. The computed F differs from x + a (m - y) by 2^-53
 * (F + 2 a |m - y|) at most. The expectation of that is below 2^-50 x, since a E|m - y| <= 2 x: so
 * x (1 - 2^-50)^t is a supermartingale, and x_0, or else the target, allows for that. F need be
 * monotone only from m to m + GAP, and m + GAP is what is returned. F at the two, each with the
 * rounding of its own stake, is known up to 2^-52 (F + 11 a |m - y|). Here a |m - y| <= max(x, F)
 * and x <= 1025 F, and since F_x > 2^-11 wherever y > m, a larger x outweighs its larger error. At
 * equal x the smaller m is behind by GAP a/2 or more with the first stake and with fixed fractions
 * (a/x >= .5/sqrt(n), resp. .001), GAP F/1.001 with the second, and GAP SURPLUS with the third as
 * long as the target is not reached. GAP = 2^-34 + 2^-42 sqrt(n) exceeds these requirements, and
 * covers the error 2^-51 of y. */
#include "statistics/wealth_process.h"
#include "statistics/normal.h"
#include <string.h>

#define STRATEGIES 18 /* any time */
#define THETA 0x1p-10
#define SURPLUS 0.15
/* Fraction of a value at the far end of the range that is added to the observed spread. */
#define UNSEEN 0.5
/* Less capital is left alone: it will not recover, and its arithmetic gets slow. */
#define DEAD 1e-306
/* Chords of g: two per octave down to 2^-FINE, then one for every COARSE octaves. */
#define FINE 24
#define COARSE 8

/* ---- stakes */
static double knot(int k)
{
    return ldexp(k % 2 ? 1.5 : 1, k / 2 - FINE);
}

static double price(double x)
{
    return cr_normal_pdf(cr_normal_quantile(x));
}

static void set_chord(cr_stake_function *g, int k, double left, double right)
{
    const double low = left > 0 ? price(left) : 0, high = price(right);
    g->slope[k] = (high - low) / (right - left);
    g->intercept[k] = left > 0 ? fmax(0, low - g->slope[k] * left) : 0;
}

/* Chords go down to 2^-16 alpha; further below stakes are proportional. */
static void make_stakes(cr_stake_function *g, double alpha)
{
    g->fine = 2 * (FINE - 1);
    for (int k = 0; k < g->fine; k++) set_chord(g, k, knot(k), knot(k + 1));
    double right = ldexp(1, -FINE);
    g->count = g->fine;
    while (right > ldexp(alpha, -16) && g->count < CR_CAPITAL_CHORDS - 1) {
        set_chord(g, g->count++, ldexp(right, -COARSE), right);
        right = ldexp(right, -COARSE);
    }
    set_chord(g, g->count++, 0, right);
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
double cr_wealth_spread(const cr_running_moments *seen)
{
    const double mean = seen->count > 0 ? seen->sum / seen->count : 0;
    const double most = fmax(0, seen->sum - mean * seen->sum),
                 found = fmax(0, seen->square - mean * seen->sum);
    return fmin(1, (UNSEEN + found) / (UNSEEN + most));
}

cr_running_moments cr_wealth_pilot(const cr_wealth *g)
{
    const cr_running_moments *p = &g->bet->pilot;
    if (!g->mirrored) return *p;
    return (cr_running_moments){p->count, p->count - p->sum, p->count - 2 * p->sum + p->square};
}

typedef struct lane { /* one mean: its capital, and the limits of its stakes */
    double x, mean, per_spread, most, inverse;
} lane;

static inline void take_step(lane *p, const cr_stake_function *g, double per_deviation, double y)
{
    if (p->x >= 1 - SURPLUS || p->x < DEAD) return;
    const double priced = stake(g, p->x) * (per_deviation * p->per_spread);
    const double most = p->x * p->most, rest = (1 - p->x) * p->inverse,
                 lesser = priced < most ? priced : most, a = lesser < rest ? lesser : rest;
    p->x += a * (p->mean - y);
}

static void try_fixed(const cr_wealth *g, cr_candidate_means *t)
{
    const size_t count = g->bet->count;
    lane lanes[CR_CAPITAL_LANES];
    cr_running_moments seen = cr_wealth_pilot(g);
    double per_deviation = 0;
    for (int k = 0; k < CR_CAPITAL_LANES; k++) {
        const double m = t->mean[k];
        lanes[k] = (lane){g->alpha * (1 - SURPLUS) * (1 - 0x1p-50 * (double)count), m,
                          1 / sqrt(m * (1 - m)), 1 / (1 + THETA - m), 1 / m};
    }
    for (size_t i = 0; cr_wealth_has(g, i); i++) {
        const size_t left = count - i;
        if (i % 8 == 0 || left < 64)
            per_deviation = 1 / sqrt((double)left * cr_wealth_spread(&seen));
        const double y = cr_wealth_share(g, i);
        for (int k = 0; k < CR_CAPITAL_LANES; k++)
            take_step(lanes + k, &g->stakes, per_deviation, y);
        seen = (cr_running_moments){seen.count + 1, seen.sum + y, seen.square + y * y};
    }
    for (int k = 0; k < CR_CAPITAL_LANES; k++) t->rejected[k] = lanes[k].x >= 1 - SURPLUS;
}

typedef struct mix { /* the strategies against one mean */
    double x[STRATEGIES], fraction[STRATEGIES];
} mix;

static void divide(mix *all, double mean, double capital)
{
    double total = 0;
    for (int j = 0; j < STRATEGIES; j++) total += 1 / (j + 1.5);
    for (int j = 0; j < STRATEGIES; j++) {
        all->x[j] = capital / ((j + 1.5) * total);
        all->fraction[j] = fmin(4 * exp2(-0.7 * j), 1 / (1 + THETA - mean));
    }
}

static double take_steps(mix *all, double gain)
{
    double total = 0;
    for (int j = 0; j < STRATEGIES; j++) {
        const double x = all->x[j] + all->x[j] * all->fraction[j] * gain;
        all->x[j] = x < DEAD ? 0 : x;
        total += all->x[j];
    }
    return total;
}

static void try_anytime(const cr_wealth *g, cr_candidate_means *t)
{
    mix mixes[CR_CAPITAL_LANES];
    for (int k = 0; k < CR_CAPITAL_LANES; k++) {
        divide(mixes + k, t->mean[k], g->alpha * (1 - 0x1p-48));
        t->rejected[k] = 0;
    }
    for (size_t i = 0; cr_wealth_has(g, i); i++) {
        const double y = cr_wealth_share(g, i), target = 1 + 0x1p-50 * (double)(i + 1);
        for (int k = 0; k < CR_CAPITAL_LANES; k++)
            if (!t->rejected[k]) t->rejected[k] = take_steps(mixes + k, t->mean[k] - y) >= target;
    }
}

void cr_wealth_begin(cr_wealth *g, const cr_betting_problem *bet, double alpha, int anytime,
                     int mirrored)
{
    *g = (cr_wealth){.bet = bet, .alpha = alpha, .anytime = anytime, .mirrored = mirrored};
    if (!anytime) make_stakes(&g->stakes, alpha);
}

void cr_wealth_try(const cr_wealth *g, cr_candidate_means *t)
{
    if (g->anytime) try_anytime(g, t);
    else try_fixed(g, t);
}
