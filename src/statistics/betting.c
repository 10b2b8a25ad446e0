/* Betting against "the mean is m" (Waudby-Smith and Ramdas; theory 6).
 *
 * Values are mapped to y in [0, 1]. A player owns x and stakes a >= 0 on every value being small: x
 * becomes F = x + a (m - y). If the mean is m, or more, x is a supermartingale as long as F >= 0,
 * so it ever grows from x_0 to x_0/alpha with probability at most alpha (Ville). m is rejected when
 * it has; the upper bound is the least m from which on all are rejected.
 *
 * The search may stop at any m that is rejected if larger ones are rejected too. So x must not fall
 * in m, at any time, whatever the values: by induction it suffices that F increases in x and in m,
 * with dF/dx = 1 + a_x (m - y) and dF/dm = a + a_m (m - y), both linear in y and so decided at y =
 * 0 and y = 1.
 *
 * Fixed count n. The fastest growing capital is not the one that most probably reaches its target
 * by a given time. That one is the price of a bet that pays 1 if the mean is rejected and 0 if not,
 * a share x of 1 now: for increments of standard deviation s over all values that remain, x =
 * Phi(h), and its dependence on the next value is a = pdf(h)/s =: g(x)/s. So the stakes follow x:
 * whoever is behind stakes more. With s^2 = remaining * spread * m (1 - m), where spread, the
 * variance as a part of the greatest one m (1 - m) there is, comes from the pilot and earlier
 * values, that is nearly the exact binomial test for values 0 and 1, and the normal one in the
 * limit. Target is x = 1 from x_0 = (1 - SURPLUS) alpha, and x = 1 - SURPLUS suffices: the last
 * steps need not be perfect. In full a = min(g(x)/s, x/(1 + THETA - m), (1 - x)/m). The second
 * keeps F > 0, the third keeps F <= 1, and both keep F increasing in x: g is concave with g(0) =
 * g(1) = 0. Where the first is the least, a_x <= a/x <= 1/(1 - m) and a_x >= -a/(1 - x) >= -1/m,
 * which is what y = 1 and y = 0 ask for; the other two are lines with slopes below and at these. In
 * m: of the first, dF/dm is a/(2 (1 - m)) at y = 0, a/(2 m) at y = 1, hence
 * >= a/2. Of the second F = x (1 + THETA - y)/(1 + THETA - m); of the third F = 1 - (1 - x) y/m.
 *
 * Any time. Fixed fractions of the capital are staked, a = x min(lambda, 1/(1 + THETA - m)), by
 * several players with lambda from large to small among whom the initial capital is divided; their
 * sum is the martingale. No stake depends on the count.
 *
 * Rounding. The computed stake a is the stake. What is computed differs from x + a (m - y) by 2^-53
 * (F + 2 a |m - y|) at most, of which the expectation is below 2^-50 x, since a E|m - y| <= 2 x: so
 * x (1 - 2^-50)^t is a supermartingale, and x_0, or else the target, allows for that. Monotone it
 * need only be from m to m + GAP, which is what is returned. F at the two, each with the rounding
 * of its own stake, is known up to 2^-52 (F + 11 a |m - y|); here a |m - y| <= max(x, F) and x <=
 * 1025 F, and since F_x > 2^-11 wherever y > m, a larger x outweighs its larger error. At equal x
 * the smaller m is behind by GAP a/2 or more with the first stake and with fixed fractions (a/x >=
 * .5/sqrt(n), resp. .001), GAP F/1.001 with the second, and GAP SURPLUS with the third as long as
 * the target is not reached. GAP = 2^-34 + 2^-42 sqrt(n) exceeds what each of them asks for; the
 * 2^-51 by which the shares y of the range are off is in it too. */
#include "statistics/betting.h"
#include "statistics/normal.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 4    /* means that are tried side by side */
#define PLAYERS 18 /* any time */
#define THETA 0x1p-10
#define SURPLUS 0.15
#define UNSEEN                                                                                 \
    0.5 /* of a value at the far end of the range, added to what the values so far tell of the \
           spread */
#define DEAD \
    1e-306 /* capital that will not come back: out of the game, before its arithmetic gets slow */
#define FINE                                                                             \
    24 /* chords of g: two per octave down to 2^-FINE, then one for every COARSE octaves \
        */
#define COARSE 8
#define CHORDS 192

typedef struct sample { /* values as shares of the range, from the end whose distance is bounded */
    const cr_bet *bet;
    const cr_series *values;
    double alpha;
    int mirrored;
} sample;

/* g(x) = intercept + slope x between knots, a concave function through points of pdf(quantile(x))
 * for x <= 1/2; g(x) = g(1 - x). */
typedef struct stakes {
    double intercept[CHORDS], slope[CHORDS];
    int fine, count;
} stakes;

typedef struct trial {
    double mean[LANES];
    int rejected[LANES];
} trial;

void cr_betting_start(cr_bet *bet, double lo, double hi)
{
    *bet = (cr_bet){.lo = lo, .hi = hi};
}

void cr_betting_learn(cr_bet *bet, double value)
{
    if (!(value >= bet->lo && value <= bet->hi)) return;
    const double y = (value - bet->lo) / (bet->hi - bet->lo);
    bet->count += 1;
    bet->sum += y;
    bet->square += y * y;
}

static double share(const sample *s, size_t i)
{
    const double value = s->values->value(s->values->of, i), lo = s->bet->lo, hi = s->bet->hi;
    return (s->mirrored ? hi - value : value - lo) / (hi - lo);
}

/* ---- the price of the rest of the game */
static double knot(int k)
{
    return ldexp(k % 2 ? 1.5 : 1, k / 2 - FINE);
}

static double price(double x)
{
    return cr_normal_pdf(cr_normal_quantile(x));
}

static void set_chord(stakes *g, int k, double left, double right)
{
    const double low = left > 0 ? price(left) : 0, high = price(right);
    g->slope[k] = (high - low) / (right - left);
    g->intercept[k] = left > 0 ? fmax(0, low - g->slope[k] * left) : 0;
}

/* Down to 2^-16 alpha; further below stakes are proportional. */
static void make_stakes(stakes *g, double alpha)
{
    g->fine = 2 * (FINE - 1);
    for (int k = 0; k < g->fine; k++) set_chord(g, k, knot(k), knot(k + 1));
    double right = ldexp(1, -FINE);
    g->count = g->fine;
    while (right > ldexp(alpha, -16) && g->count < CHORDS - 1) {
        set_chord(g, g->count++, ldexp(right, -COARSE), right);
        right = ldexp(right, -COARSE);
    }
    set_chord(g, g->count++, 0, right);
}

static inline double stake(const stakes *g, double x)
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
typedef struct memory { /* of the values so far: no stake depends on later ones */
    double count, sum, square;
} memory;

/* Variance as a part of the greatest that values in [0, 1] with this mean can have; in (0, 1]. */
static double spread(const memory *m)
{
    const double mean = m->count > 0 ? m->sum / m->count : 0;
    const double most = fmax(0, m->sum - mean * m->sum), seen = fmax(0, m->square - mean * m->sum);
    return fmin(1, (UNSEEN + seen) / (UNSEEN + most));
}

static memory pilot_of(const sample *s)
{
    const cr_bet *b = s->bet;
    if (!s->mirrored) return (memory){b->count, b->sum, b->square};
    return (memory){b->count, b->count - b->sum, b->count - 2 * b->sum + b->square};
}

typedef struct lane { /* one mean's game: its capital and what its stakes are limited by */
    double x, mean, per_spread, most, inverse;
} lane;

static inline void play(lane *p, const stakes *g, double per_deviation, double y)
{
    if (p->x >= 1 - SURPLUS || p->x < DEAD) return;
    const double priced = stake(g, p->x) * (per_deviation * p->per_spread);
    const double a = fmin(fmin(priced, p->x * p->most), (1 - p->x) * p->inverse);
    p->x += a * (p->mean - y);
}

static void try_fixed(const sample *s, const stakes *g, trial *t)
{
    const size_t count = s->values->count;
    lane lanes[LANES];
    memory seen = pilot_of(s);
    double per_deviation = 0;
    for (int k = 0; k < LANES; k++) {
        const double m = t->mean[k];
        lanes[k] = (lane){s->alpha * (1 - SURPLUS) * (1 - 0x1p-50 * (double)count), m,
                          1 / sqrt(m * (1 - m)), 1 / (1 + THETA - m), 1 / m};
    }
    for (size_t i = 0; i < count && !cr_watch_ends(s->bet->watch, i); i++) {
        const size_t left = count - i;
        if (i % 8 == 0 || left < 64) per_deviation = 1 / sqrt((double)left * spread(&seen));
        const double y = share(s, i);
        for (int k = 0; k < LANES; k++) play(lanes + k, g, per_deviation, y);
        seen = (memory){seen.count + 1, seen.sum + y, seen.square + y * y};
    }
    for (int k = 0; k < LANES; k++) t->rejected[k] = lanes[k].x >= 1 - SURPLUS;
}

typedef struct table { /* players at one mean */
    double x[PLAYERS], fraction[PLAYERS];
} table;

static void seat(table *players, double mean, double capital)
{
    double total = 0;
    for (int j = 0; j < PLAYERS; j++) total += 1 / (j + 1.5);
    for (int j = 0; j < PLAYERS; j++) {
        players->x[j] = capital / ((j + 1.5) * total);
        players->fraction[j] = fmin(4 * exp2(-0.7 * j), 1 / (1 + THETA - mean));
    }
}

static double play_all(table *players, double gain)
{
    double total = 0;
    for (int j = 0; j < PLAYERS; j++) {
        const double x = players->x[j] + players->x[j] * players->fraction[j] * gain;
        players->x[j] = x < DEAD ? 0 : x;
        total += players->x[j];
    }
    return total;
}

static void try_anytime(const sample *s, trial *t)
{
    table tables[LANES];
    const size_t count = s->values->count;
    for (int k = 0; k < LANES; k++) {
        seat(tables + k, t->mean[k], s->alpha * (1 - 0x1p-48));
        t->rejected[k] = 0;
    }
    for (size_t i = 0; i < count && !cr_watch_ends(s->bet->watch, i); i++) {
        const double y = share(s, i), target = 1 + 0x1p-50 * (double)(i + 1);
        for (int k = 0; k < LANES; k++)
            if (!t->rejected[k]) t->rejected[k] = play_all(tables + k, t->mean[k] - y) >= target;
    }
}

/* ---- search */
typedef struct bracket { /* distances from the center: high is rejected (or the end of the range),
                            low is not known to be */
    double center, low, high;
} bracket;

/* The first pass looks around what the normal and the Poisson approximation say, later ones divide
 * the bracket. */
static void choose_means(const bracket *b, double guess, int first, trial *t)
{
    static const double factor[LANES] = {0.75, 0.95, 1.15, 1.5};
    const double low = fmax(b->low, 0), span = b->high - low;
    for (int k = 0; k < LANES; k++) {
        double d = low + span * (k + 1) / (LANES + 1);
        if (first && guess * 1.5 < b->high) d = guess * factor[k];
        else if (low > 0 && b->high > 4 * low)
            d = low * pow(b->high / low, (k + 1.0) / (LANES + 1));
        t->mean[k] = fmin(fmax(b->center + d, 0x1p-60), 1 - 0x1p-40);
    }
}

static double guess_of(const sample *s, double mean, double square)
{
    const double n = (double)s->values->count, z = cr_normal_quantile_sf(fmin(s->alpha, 0.4)),
                 rare = -log(s->alpha) / n;
    memory all = pilot_of(s);
    all = (memory){all.count + n, all.sum + n * mean, all.square + square};
    const double c = z * z * spread(&all) / n; /* d^2 = c (mean + d)(1 - mean - d) */
    const double half = 0.5 * c * (1 - 2 * mean),
                 d = (half + sqrt(half * half + (1 + c) * c * mean * (1 - mean))) / (1 + c);
    return fmax(d, fmin(rare, 0.7 * (1 - mean)));
}

static void try_means(const sample *s, const stakes *g, trial *t)
{
    if (g) try_fixed(s, g, t);
    else try_anytime(s, t);
}

static double search(const sample *s, double mean, double square, int anytime)
{
    stakes g;
    trial t;
    bracket b = {mean, 0, 1 - mean};
    const double guess = guess_of(s, mean, square) * (anytime ? 1.5 : 1);
    if (!anytime) make_stakes(&g, s->alpha);
    int proven = 0;
    for (int pass = 0; pass < 12 && b.high - b.low > b.high / 512 && !cr_watch_late(s->bet->watch);
         pass++) {
        choose_means(&b, guess, pass == 0, &t);
        try_means(s, anytime ? NULL : &g, &t);
        for (int k = LANES - 1; k >= 0 && t.rejected[k]; k--) b.high = t.mean[k] - mean, proven = 1;
        for (int k = 0; k < LANES; k++)
            if (!t.rejected[k] && t.mean[k] - mean > b.low && t.mean[k] - mean < b.high)
                b.low = t.mean[k] - mean;
    }
    return proven ? mean + b.high : 1;
}

static double gap_of(const cr_series *values)
{
    return 0x1p-34 + 0x1p-42 * sqrt((double)values->count);
}

/* Non-zero: alpha, range and values are such that nothing can be said. */
static int says_nothing(const sample *s, double *mean, double *square)
{
    const cr_bet *b = s->bet;
    const size_t count = s->values->count;
    if (!(b->hi > b->lo) || !isfinite(b->hi - b->lo) || !(s->alpha > 0 && s->alpha < 1) || !count)
        return 1;
    *mean = *square = 0;
    for (size_t i = 0; i < count; i++) {
        const double y = share(s, i);
        if (cr_watch_ends(b->watch, i)) return 1;
        if (!(y >= 0 && y <= 1)) return 1;
        *mean += y / (double)count;
        *square += y * y;
    }
    return 0;
}

/* Share of the range that the mean does not exceed; 1: nothing is known. */
static double bound_share(const sample *s, int anytime)
{
    double mean, square;
    if (says_nothing(s, &mean, &square)) return 1;
    return fmin(1, search(s, fmin(mean, 1), square, anytime) + gap_of(s->values));
}

int cr_betting_rejects(const cr_bet *bet, const cr_series *values, double alpha, int anytime,
                       double mean)
{
    const sample s = {bet, values, alpha, 0};
    stakes g;
    trial t;
    double unused[2];
    if (says_nothing(&s, unused, unused + 1)) return 0;
    const double m = (mean - bet->lo) / (bet->hi - bet->lo) - gap_of(values);
    if (!(m > 0 && m < 1)) return m >= 1;
    for (int k = 0; k < LANES; k++) t.mean[k] = fmin(m, 1 - 0x1p-40);
    if (!anytime) make_stakes(&g, alpha);
    try_means(&s, anytime ? NULL : &g, &t);
    return t.rejected[0];
}

/* Two roundings of the step back to the unit of the values. */
static double margin(const cr_bet *b)
{
    return 0x1p-51 * fmax(fabs(b->lo), fabs(b->hi));
}

double cr_betting_upper(const cr_bet *bet, const cr_series *values, double alpha, int anytime)
{
    const sample s = {bet, values, alpha, 0};
    const double part = bound_share(&s, anytime);
    if (part >= 1) return bet->hi;
    return fmin(bet->hi, bet->lo + part * (bet->hi - bet->lo) + margin(bet));
}

double cr_betting_lower(const cr_bet *bet, const cr_series *values, double alpha, int anytime)
{
    const sample s = {bet, values, alpha, 1};
    const double part = bound_share(&s, anytime);
    if (part >= 1) return bet->lo;
    return fmax(bet->lo, bet->hi - part * (bet->hi - bet->lo) - margin(bet));
}
