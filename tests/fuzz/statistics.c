/* Bounds and orders against what they are made of: binomial sums, every sequence of a few coins,
 * sorted values. One topic for each input, so that each of them is cheap. */
#include "fuzz/fuzz.h"
#include "statistics/betting.h"
#include "statistics/beta.h"
#include "statistics/binomial.h"
#include "intervals/intervals.h"
#include "statistics/location.h"
#include "statistics/moments.h"
#include "statistics/normal.h"
#include "statistics/order.h"
#include "statistics/weights.h"
#include "statistics/group.h"
#include "statistics/mixture.h"
#include <certreg/solver.h>

const size_t fuzz_most_bytes = 200;
enum { SLOW = 64 };

void fuzz_prepare(void)
{
}

static double level(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    const double x = fmin(fmax(fuzz_share(b), 1e-5), 1 - 1e-5);
    return kind < 160 ? x : pow(10, -20 * x);
}

/* ---- binomial */
enum { MOST_TRIALS = 80 };

/* P(X = i), i to n. */
static void chances(unsigned n, long double p, long double *chance)
{
    chance[0] = 1;
    for (unsigned k = 1; k <= n; k++) chance[k] = 0;
    for (unsigned j = 1; j <= n; j++) /* one trial more; sums of what is positive lose no digits */
        for (unsigned k = j + 1; k--;)
            chance[k] = chance[k] * (1 - p) + (k ? chance[k - 1] * p : 0);
}

static long double at_most(unsigned k, unsigned n, long double p)
{
    long double chance[MOST_TRIALS + 1], sum = 0;
    chances(n, p, chance);
    for (unsigned i = 0; i <= k && i <= n; i++) sum += chance[i];
    return sum;
}

static void try_binomial(fuzz_bytes *b)
{
    const unsigned n = 1 + fuzz_below(b, MOST_TRIALS), k = fuzz_below(b, n + 2);
    const double p = fuzz_share(b), alpha = level(b);
    const long double exact = at_most(k, n, p);
    const double cdf = cr_binomial_cdf(k, n, p);
    const long double tail = k < n * p ? exact : fmaxl(1 - exact, 0),
                      share = 1e-13 + 1e-14 * sqrt(n) - 3.5e-15 * logl(fmaxl(tail, 0x1p-1100L));
    MUST(fabsl(cdf - exact) <= share * tail + 3e-16L * exact + 0x1p-1000L,
         "P(X <= %u of %u; %.17g) is %.17g, want %.20Lg", k, n, p, cdf, exact);
    const double upper = cr_binomial_upper(k, n, alpha);
    if (k < n) {
        const double less = upper * (1 - 1e-10);
        MUST(at_most(k, n, upper) <= alpha * (1 + 1e-17L), "%u of %u, alpha %.17g: %.17g", k, n,
             alpha, upper);
        MUST(at_most(k, n, less) > alpha * (1 - 1e-12L) * (1 - 1e-30L), "%u of %u: %.17g is loose",
             k, n, upper);
    } else MUST(upper == 1, "%g", upper);
    const int64_t critical = cr_binomial_critical(n, p, alpha);
    MUST(critical >= -1 && critical <= (int64_t)n, "%lld", (long long)critical);
    if (critical >= 0)
        MUST(at_most((unsigned)critical, n, p) <= alpha * (1 + 1e-17L), "critical %lld of %u",
             (long long)critical, n);
    if (critical < (int64_t)n)
        MUST(at_most((unsigned)(critical + 1), n, p) > alpha * (1 - 1e-9L), "critical %lld of %u",
             (long long)critical, n);
}

/* At any size more failures, fewer trials and a smaller alpha raise the bound. */
static void try_large_binomial(fuzz_bytes *b)
{
    const uint64_t n = 1 + fuzz_word(b) % 1000000000u, k = fuzz_word(b) % n;
    const double alpha = level(b), upper = cr_binomial_upper(k, n, alpha);
    MUST(upper > (double)k / (double)n * (alpha < 0.4 ? 1 : 0) && upper <= 1, "%g", upper);
    MUST(cr_binomial_upper(k + 1, n, alpha) >= upper, "%llu of %llu", (unsigned long long)k,
         (unsigned long long)n);
    MUST(cr_binomial_upper(k, n + 1, alpha) <= upper * (1 + 1e-9), "%llu of %llu",
         (unsigned long long)k, (unsigned long long)n);
    MUST(cr_binomial_upper(k, n, alpha / 2) >= upper * (1 - 1e-12), "%g", alpha);
    MUST(cr_binomial_cdf(k, n, upper) <= alpha * (1 + 1e-8), "%.17g, alpha %.17g",
         cr_binomial_cdf(k, n, upper), alpha);
    MUST(upper == 1 || cr_binomial_cdf(k, n, upper * (1 - 1e-6)) >= alpha * (1 - 1e-8), "%g",
         alpha);
}

/* ---- the normal and Student's distribution */
static void try_normal(fuzz_bytes *b)
{
    const double x = 76 * (fuzz_share(b) - 0.5) + fuzz_share(b), p = level(b);
    const long double half = sqrtl(0.5L), cdf = 0.5L * erfcl(-x * half),
                      sf = 0.5L * erfcl(x * half);
    MUST(fabsl(cr_normal_cdf(x) - cdf) <= 1e-14L * cdf + 1e-320L, "cdf at %.17g", x);
    MUST(fabsl(cr_normal_sf(x) - sf) <= 1e-14L * sf + 1e-320L, "sf at %.17g", x);
    const double low = cr_normal_quantile(p), high = cr_normal_quantile_sf(p);
    MUST(fabsl(0.5L * erfcl(-low * half) - p) <= 1e-13L * p, "quantile of %.17g: %.17g", p, low);
    MUST(fabsl(0.5L * erfcl(high * half) - p) <= 1e-13L * p, "quantile of %.17g: %.17g", p, high);
    const double one = cr_beta_student(p, 1), two = cr_beta_student(p, 2);
    const long double turn = 4 * atanl(1), r = sqrtl(2 + (long double)two * two);
    MUST(fabsl(atan2l(1, one) / turn - p) <= 1e-10L * p, "Student's of %.17g: %.17g", p, one);
    MUST(fabsl((two > 0 ? 1 / (r * (r + two)) : (r - two) / (2 * r)) - p) <= 1e-10L * p,
         "Student's of %.17g: %.17g", p, two);
    const double degrees = exp2(20 * fuzz_share(b));
    MUST(p >= 0.5 || cr_beta_student(p, degrees) >= high * (1 - 1e-12), "%g degrees", degrees);
    MUST(p >= 0.5 || cr_beta_student(p, 2 * degrees) <= cr_beta_student(p, degrees) * (1 + 1e-10),
         "%g degrees", degrees);
}

/* ---- betting: the probability of a miss, over every sequence of values on two or three places */
enum { MOST_TURNS = 6, MOST_PLACES = 3 };

typedef struct gamble {
    double place[MOST_PLACES], chance[MOST_PLACES], lo, hi, alpha, mean;
    int places, turns, anytime, lower;
    double value[MOST_TURNS];
    cr_seen pilot;
} gamble;

static double value_of(const void *of, size_t i)
{
    return ((const double *)of)[i];
}

static int misses(const gamble *g, size_t count)
{
    const cr_bet bet = {.value = value_of,
                        .of = g->value,
                        .lo = g->lo,
                        .hi = g->hi,
                        .count = count,
                        .pilot = g->pilot};
    const double bound = g->lower ? cr_betting_lower(&bet, g->alpha, g->anytime)
                                  : cr_betting_upper(&bet, g->alpha, g->anytime);
    MUST(bound >= g->lo && bound <= g->hi, "bound %g", bound);
    const double unsure = 1e-12 * (g->hi - g->lo); /* of the mean, which is rounded */
    return g->lower ? bound > g->mean + unsure : bound < g->mean - unsure;
}

static double chance_of_a_miss(gamble *g, int turn)
{
    if ((turn == g->turns || g->anytime) && turn && misses(g, (size_t)turn)) return 1;
    if (turn == g->turns) return 0;
    double sum = 0;
    for (int i = 0; i < g->places; i++)
        if (g->chance[i] > 0) {
            g->value[turn] = g->place[i];
            sum += g->chance[i] * chance_of_a_miss(g, turn + 1);
        }
    return sum;
}

static void try_betting(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    gamble g = {.lo = kind & 1 ? 0 : -1, .hi = kind & 2 ? 1 : 3.7, .anytime = kind >> 2 & 1};
    g.lower = kind >> 3 & 1, g.places = kind & 16 ? 2 : 3;
    g.turns = 1 + (int)fuzz_below(b, g.places == 2 ? MOST_TURNS : 3), g.alpha = level(b);
    double left = 1;
    for (int i = 0; i < g.places; i++) {
        const uint8_t at = fuzz_byte(b);
        const double share = at < 64 ? 0 : at < 128 ? 1 : fuzz_share(b);
        g.place[i] = fmin(fmax(g.lo + share * (g.hi - g.lo), g.lo), g.hi);
        g.chance[i] = i + 1 < g.places ? left * fuzz_share(b) : left;
        left -= g.chance[i], g.mean += g.chance[i] * g.place[i];
    }
    cr_bet pilot = {.lo = g.lo, .hi = g.hi};
    for (uint32_t i = fuzz_below(b, 8); i--;)
        cr_betting_add_pilot(&pilot, g.lo + fuzz_share(b) * (g.hi - g.lo));
    g.pilot = pilot.pilot;
    const double missed = chance_of_a_miss(&g, 0);
    MUST(missed <= g.alpha * (1 + 1e-9), "missed by %.17g, alpha %.17g", missed, g.alpha);
}

/* ---- tests that look more than once: the probability that one is passed, path by path */
static long double crossing(const int *rejects, unsigned n, long double q)
{
    long double alive[MOST_TRIALS + 1] = {1}, crossed = 0; /* rejects[j]: up to so many failures */
    for (unsigned j = 1; j <= n; j++) {
        for (unsigned k = j + 1; k--;) alive[k] = alive[k] * (1 - q) + (k ? alive[k - 1] * q : 0);
        for (int k = 0; k <= rejects[j]; k++) crossed += alive[k], alive[k] = 0;
    }
    return crossed;
}

/* The evidence against q: the mean of (s/q)^k ((1-s)/(1-q))^(n-k) over s = sin^2 t, t uniform where
 * s < q. By Boole's rule in t. */
static long double evidence(unsigned k, unsigned n, long double q)
{
    enum { PANELS = 32 };
    static const int weight[] = {14, 32, 12, 32};
    const long double end = asinl(sqrtl(q));
    long double sum = 0;
    for (int i = 0; i <= 4 * PANELS; i++) {
        const long double s = powl(sinl(end * i / (4 * PANELS)), 2),
                          term = powl(s / q, k) * powl((1 - s) / (1 - q), n - k);
        sum += term * (i % (4 * PANELS) ? weight[i % 4] : 7);
    }
    return sum / (90 * PANELS);
}

/* A q is rejected where the evidence exceeds 1/alpha, and not before; evidence has mean 1 where q
 * is the probability. So alpha is what Ville's inequality says. */
static void try_evidence(fuzz_bytes *b)
{
    const unsigned n = 1 + fuzz_below(b, 30), k = fuzz_below(b, n + 1);
    const double q = fmin(fmax(fuzz_share(b), 1e-2), 0.99);
    const long double found = evidence(k, n, q);
    const double least = (double)(1 / found * (1 - 1e-8L)),
                 most = (double)(1 / found * (1 + 1e-6L));
    MUST(!(least < 0.5) || !cr_mixture_rejects(k, n, q, least),
         "%u of %u, q %.17g: rejected at %.17g, evidence %.20Lg", k, n, q, least, found);
    MUST(!(most < 0.5) || n * q < k + 0.500001 || cr_mixture_rejects(k, n, q, most),
         "%u of %u, q %.17g: not rejected at %.17g, evidence %.20Lg", k, n, q, most, found);
    if (fuzz_byte(b) % 64) return;
    long double chance[MOST_TRIALS + 1], mean = 0;
    chances(n, q, chance);
    for (unsigned i = 0; i <= n; i++) mean += chance[i] * evidence(i, n, q);
    MUST(fabsl(mean - 1) < 1e-8L, "q %.17g: the evidence of %u has mean %.20Lg", q, n, mean);
}

static void try_mixture(fuzz_bytes *b)
{
    const unsigned n = 1 + fuzz_below(b, 30);
    const double q = fmin(fmax(fuzz_share(b), 1e-4), 0.9999), alpha = 0.5 * level(b);
    int rejects[MOST_TRIALS + 1];
    for (unsigned j = 1; j <= n; j++) {
        rejects[j] = -1;
        for (unsigned k = 0; k <= j && cr_mixture_rejects(k, j, q, alpha); k++) rejects[j] = (int)k;
    }
    const long double crossed = crossing(rejects, n, q);
    MUST(crossed <= alpha, "rejected by %.20Lg, alpha %.17g", crossed, alpha);
    const unsigned k = fuzz_below(b, n + 1);
    const double upper = cr_mixture_upper(k, n, alpha);
    MUST(upper >= (double)k / n && upper <= 1, "upper %g", upper);
    MUST((q > upper * (1 + 1e-9)) <= (cr_mixture_rejects(k, n, q, alpha) != 0),
         "upper %.17g, q %.17g", upper, q);
    MUST(q >= upper || !cr_mixture_rejects(k, n, q, alpha), "upper %.17g, q %.17g", upper, q);
}

static void try_group(fuzz_bytes *b)
{
    uint64_t looks[5], n = 0;
    int64_t critical[5];
    double work[2048];
    const size_t count = 1 + fuzz_below(b, 5);
    for (size_t i = 0; i < count; i++) looks[i] = n += 1 + fuzz_below(b, 12);
    const double q = fmin(fmax(fuzz_share(b), 1e-4), 0.9999), alpha = level(b);
    const size_t room = fuzz_below(b, 2048);
    cr_group_search s;
    cr_group_begin(&s, count, alpha);
    int steps = 0;
    while (!cr_group_step(&s, looks, count, q, alpha, work, room, critical))
        MUST(steps++ < 10000, "no end");
    int rejects[MOST_TRIALS + 1];
    for (unsigned j = 0; j <= n; j++) rejects[j] = -1;
    for (size_t i = 0; i < count; i++) {
        MUST(critical[i] >= -1 && critical[i] <= (int64_t)looks[i], "critical %lld",
             (long long)critical[i]);
        rejects[looks[i]] = (int)critical[i];
    }
    const long double crossed = crossing(rejects, (unsigned)n, q);
    MUST(crossed <= alpha * (1 + 1e-15L), "passed by %.20Lg, alpha %.17g", crossed, alpha);
    const double told = cr_group_crossing(looks, count, q, critical, work, room);
    MUST(!(told < (double)(crossed * (1 - 1e-12L))), "%.17g, want %.20Lg", told, crossed);
}

/* ---- orders and locations, against sorting */
enum { MOST_VALUES = 24 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static float any_float(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    float x;
    if (kind < 128) return (float)(kind % 16) - 8;
    if (kind < 200) return (float)(8 * fuzz_share(b) - 4);
    fuzz_take(b, &x, sizeof x);
    return x;
}

static double pull(const double *x, size_t count, double theta, double width)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fmin(fmax((x[i] - theta) / width, -1), 1);
    return sum;
}

static void try_location(fuzz_bytes *b)
{
    float y[2 * MOST_VALUES];
    double sorted[MOST_VALUES], sum = 0, size = 0;
    const size_t count = fuzz_below(b, MOST_VALUES + 1), step = 1 + fuzz_below(b, 2);
    const double width = exp2(16 * fuzz_share(b) - 8);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        y[i * step] = any_float(b);
        if (isfinite(y[i * step])) sorted[n++] = (double)y[i * step];
    }
    qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 0; i < n; i++) sum += sorted[i], size += fabs(sorted[i]);
    const cr_values v = {.y = y, .count = count, .step = step};
    MUST(cr_location_count(&v) == n, "%zu values", n);
    for (size_t i = 0; i <= n; i++) {
        const double got = cr_location_order(&v, i);
        MUST(i < n ? got == sorted[i] : isnan(got), "value %zu of %zu: %g", i, n, got);
    }
    if (!n) return;
    const double median = cr_location_median(&v), mean = cr_location_mean(&v),
                 middle = 0.5 * sorted[(n - 1) / 2] + 0.5 * sorted[n / 2],
                 huber = cr_location_huber(&v, width), slack = 1e-12 * (size + width);
    MUST(fabs(median - middle) <= 1e-15 * fabs(middle), "median %.17g, want %.17g", median, middle);
    MUST(fabs(mean - sum / (double)n) <= 1e-14 * size, "mean %.17g, want %.17g", mean,
         sum / (double)n);
    MUST(pull(sorted, n, huber - slack, width) >= -1e-9 &&
             pull(sorted, n, huber + slack, width) <= 1e-9,
         "Huber's %.17g of width %g", huber, width);
    const size_t cut = fuzz_below(b, (uint32_t)n);
    if (2 * cut >= n) return;
    double kept = 0;
    for (size_t i = cut; i < n - cut; i++) kept += sorted[i] / (double)(n - 2 * cut);
    MUST(fabs(cr_location_trimmed_mean(&v, cut) - kept) <= 1e-14 * size, "trimmed %g", kept);
}

static void try_order(fuzz_bytes *b)
{
    double x[MOST_VALUES], own[MOST_VALUES], sorted[MOST_VALUES];
    const size_t count = fuzz_below(b, MOST_VALUES + 1);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = fuzz_double(b);
        if (!isnan(x[i])) own[n] = sorted[n] = x[i], n++;
    }
    qsort(sorted, n, sizeof *sorted, ascending), cr_order_sort(own, n);
    const cr_order order = {.value = value_of, .of = x, .count = count};
    for (size_t i = 0; i <= n; i++) {
        const double got = cr_order_select(&order, i);
        MUST(i < n ? got == sorted[i] && own[i] == got : isnan(got), "value %zu of %zu: %g", i, n,
             got);
    }
}

/* ---- the points in so many intervals, against counting at every end and between them */
static size_t depth_at(const double *lo, const double *hi, size_t count, double x)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) depth += lo[i] <= x && x <= hi[i];
    return depth;
}

static void try_cover(fuzz_bytes *b)
{
    double lo[MOST_VALUES], hi[MOST_VALUES], from[MOST_VALUES], to[MOST_VALUES],
        at[4 * MOST_VALUES];
    const size_t count = 1 + fuzz_below(b, MOST_VALUES), depth = 1 + fuzz_below(b, (uint32_t)count);
    size_t places = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = fuzz_byte(b) % 32, y = x + fuzz_byte(b) % 16;
        lo[i] = from[i] = x, hi[i] = to[i] = y;
        at[places++] = x, at[places++] = y, at[places++] = x - 0.5, at[places++] = y + 0.5;
    }
    const size_t pieces = cr_cover_line(from, to, count, depth);
    MUST(pieces <= count, "%zu pieces", pieces);
    for (size_t i = 0; i < pieces; i++)
        MUST(from[i] <= to[i] && (!i || to[i - 1] < from[i]), "piece %zu", i);
    for (size_t i = 0; i < places; i++)
        MUST(depth_at(from, to, pieces, at[i]) == (depth_at(lo, hi, count, at[i]) >= depth),
             "%g is counted otherwise", at[i]);
}

/* ---- moments in one pass, against two */
static void try_moments(fuzz_bytes *b)
{
    double x[MOST_VALUES];
    long double mean = 0, square = 0, size = 0;
    const size_t count = 2 + fuzz_below(b, MOST_VALUES - 1);
    const double scale = exp2(fuzz_below(b, 60) - 30.0), place = exp2(fuzz_below(b, 40) - 10.0);
    cr_moments m;
    const double center = place * fuzz_share(b);
    cr_moments_start(&m, center), size = center;
    for (size_t i = 0; i < count; i++) {
        x[i] = place + scale * (fuzz_share(b) - 0.5);
        cr_moments_add(&m, x[i]), mean += (x[i] - place) / (long double)count, size += fabs(x[i]);
    }
    for (size_t i = 0; i < count; i++) square += (x[i] - place - mean) * (x[i] - place - mean);
    mean += place;
    const long double variance = square / (long double)(count - 1),
                      off = 1e-18L * (long double)count * place; /* of the sums here */
    MUST(fabsl(cr_moments_mean(&m) - mean) <= 1e-15L * size + off,
         "mean %.17g, want %.20Lg of %.20Lg", cr_moments_mean(&m), mean, size);
    MUST(fabsl(cr_moments_variance(&m) - variance) <=
             cr_moments_rounding(&m) + 1e-14L * variance + off * off,
         "variance %.17g, want %.20Lg, rounding %g", cr_moments_variance(&m), variance,
         cr_moments_rounding(&m));
    certreg_bounds bounds = {.struct_size = sizeof bounds};
    if (cr_moments_asymptotic(&m, -INFINITY, INFINITY, 0.02, 0.02, 0.01, &bounds)) return;
    /* Ends are rounded to nearest: an interval shorter than that may be a single number. */
    const long double nearest = 0x1p-51L * fabsl(mean) + off;
    MUST(bounds.mean_lo <= mean + nearest && bounds.mean_hi >= mean - nearest,
         "%.17g to %.17g, mean %.20Lg", bounds.mean_lo, bounds.mean_hi, mean);
    MUST(bounds.variance_hi >= (double)variance, "%.17g, variance %.20Lg", bounds.variance_hi,
         variance);
}

/* ---- weights: what is chosen is at least what is missed (theory 12.2) */
static long double tail_at(uint64_t samples, uint64_t least, long double t)
{
    const long double p = 0.5L * erfcl(-t * sqrtl(0.5L));
    return 1 - at_most((unsigned)(least - 1), (unsigned)samples, p);
}

static void try_weights(fuzz_bytes *b)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    cr_weights_setting s = {.alpha = level(b), .shift = 2 * fuzz_share(b)};
    s.points = 1 + fuzz_below(b, 40), s.calibration = 1 + fuzz_below(b, 12);
    s.samples = 1 + fuzz_below(b, 12);
    if (fuzz_byte(b) % 4 == 0) s.shift = 0;
    const cr_weights w = cr_weights_choose(&s);
    MUST((w.sample != 0) == (w.least_points && w.least_points <= s.points), "least %llu of %llu",
         (unsigned long long)w.least_points, (unsigned long long)s.points);
    if (!w.sample) return;
    MUST(w.sample <= s.samples && w.floor >= 0, "%llu", (unsigned long long)w.sample);
    MUST(cr_weights_budget(&w, s.alpha, s.points) >= 0, "no budget");
    const int levels = cr_weights_levels(s.calibration, above);
    const double offset = fuzz_share(b);
    for (int i = 0; i < 60; i++) {
        const long double t = (i + (long double)offset) / 6 - 5,
                          missed = tail_at(s.samples, s.samples - w.sample + 1,
                                           t + (long double)s.shift);
        long double weight = (long double)w.floor;
        for (int l = 0; l < levels; l++)
            weight += (long double)w.step[l] * tail_at(s.calibration, above[l], t);
        MUST(missed <= weight + 1e-15L, "at %Lg missed %.20Lg, weight %.20Lg", t, missed, weight);
    }
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    static void (*const topic[])(fuzz_bytes *) = {
        try_binomial, try_large_binomial, try_normal, try_betting, try_mixture, try_group,
        try_location, try_order,          try_cover,  try_moments, try_weights, try_evidence};
    fuzz_bytes b = {bytes, size};
    const size_t which = fuzz_byte(&b) % (sizeof topic / sizeof *topic);
    if (topic[which] == try_weights && !fuzz_one_of(SLOW, bytes, size)) return;
    topic[which](&b);
}
