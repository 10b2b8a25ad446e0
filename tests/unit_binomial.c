/* The normal and the binomial distribution, the incomplete beta function and Student's quantiles,
 * against known answers (tests/data/make_normal.py, make_binomial.py); and what a server of
 * antithetic pairs misses, against exact sums over all counts of pairs and against events. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "statistics/serving.h"
#include "support/suite.h"
/* after the types that they need */
#include "data/binomial.inc"
#include "data/normal.inc"

static double relative(double got, double want)
{
    return fabs(got - want) / fmax(fabs(want), DBL_MIN);
}

/* ======== the normal distribution */
static void expect(const char *what, double at, double got, double want, double most)
{
    const double unit = fabs(want) > DBL_MIN ? fabs(want) * DBL_EPSILON : DBL_TRUE_MIN;
    ck_assert_msg(got == want || fabs(got - want) <= most * unit, "%s at %.17g: %.17g, want %.17g",
                  what, at, got, want);
}

TEST(normal_functions_agree_with_sixty_digits)
{
    for (int i = 0; i < KIT_ROWS(point_rows); i++) {
        const double x = point_rows[i].x;
        expect("density", x, cr_normal_pdf(x), point_rows[i].pdf, 4);
        expect("cdf", x, cr_normal_cdf(x), point_rows[i].cdf, 8);
        expect("upper tail", x, cr_normal_sf(x), point_rows[i].sf, 8);
    }
    for (int i = 0; i < KIT_ROWS(quantile_rows); i++) {
        const double p = quantile_rows[i].p;
        expect("quantile", p, cr_normal_quantile(p), quantile_rows[i].x, 8);
        ck_assert_double_eq(cr_normal_quantile_sf(p), -cr_normal_quantile(p));
    }
}

TEST(normal_cdf_never_falls_and_quantile_undoes_it)
{
    for (double x = -41; x < 41; x += 0.003) {
        const double p = cr_normal_cdf(x),
                     /* near 1 a double no longer tells the points apart */
            lost = p > 0.5 ? DBL_EPSILON / cr_normal_pdf(x) : 0;
        ck_assert_msg(cr_normal_cdf(x + 0.003) >= p, "at %g", x);
        if (x > -37 && x < 6.9)
            ck_assert_double_eq_tol(cr_normal_quantile(p), x, 1e-13 * fmax(1, fabs(x)) + lost);
    }
}

TEST(normal_functions_are_exact_at_the_ends_and_nan_beyond)
{
    static const struct {
        double x, pdf, cdf;
    } ends[] = {{-INFINITY, 0, 0}, {-100, 0, 0}, {100, 0, 1}, {INFINITY, 0, 1}};
    static const double wrong[] = {-1e-300, -1, 1 + DBL_EPSILON, 2, INFINITY, -INFINITY, NAN};
    for (int i = 0; i < KIT_ROWS(ends); i++) {
        ck_assert_double_eq(cr_normal_pdf(ends[i].x), ends[i].pdf);
        ck_assert_double_eq(cr_normal_cdf(ends[i].x), ends[i].cdf);
        ck_assert_double_eq(cr_normal_sf(-ends[i].x), ends[i].cdf);
    }
    ck_assert_double_eq(cr_normal_quantile(0), -INFINITY);
    ck_assert_double_eq(cr_normal_quantile(1), INFINITY);
    ck_assert_double_eq(cr_normal_quantile(0.5), 0);
    for (int i = 0; i < KIT_ROWS(wrong); i++)
        ck_assert(isnan(cr_normal_quantile(wrong[i])) && isnan(cr_normal_quantile_sf(wrong[i])));
    ck_assert(isnan(cr_normal_pdf(NAN)) && isnan(cr_normal_cdf(NAN)) && isnan(cr_normal_sf(NAN)));
}

/* ======== the binomial distribution */
TEST_ROWS(binomial_cdf_agrees_with_sixty_digits_and_tails_add_to_one, cdf_rows)
{
    const uint64_t k = cdf_rows[_i].k, n = cdf_rows[_i].n;
    const double p = cdf_rows[_i].p, got = cr_binomial_cdf(k, n, p), loss = 1e-14 * sqrt((double)n);
    ck_assert_msg(relative(got, cdf_rows[_i].cdf) < 1e-13 + loss, "%.17g, want %.17g", got,
                  cdf_rows[_i].cdf);
    ck_assert_double_eq_tol(got + cr_binomial_cdf(n - k - 1, n, 1 - p), 1, 1e-12 + loss);
}

/* What exceeds a lower bound of the successes lies below an upper one of the failures. A bound's
 * tail may be off by 1e-13 + 1e-14 sqrt(n) of itself; how far that moves the bound depends on its
 * slope, at least min(k, n - k) + 1 over the bound, or over its complement. */
TEST_ROWS(binomial_upper_is_outside_the_true_bound_within_its_margin, bound_rows)
{
    const uint64_t k = bound_rows[_i].k, n = bound_rows[_i].n;
    for (int i = 0; i < ALPHAS; i++) {
        if (!(bound_rows[_i].upper[i] > 0)) continue; /* not computed */
        const double upper = bound_rows[_i].upper[i], lower = bound_rows[_i].lower[i],
                     high = cr_binomial_upper(k, n, alphas[i]),
                     failures = cr_binomial_upper(n - k, n, alphas[i]),
                     allowed = 4 * (1e-13 + 1e-14 * sqrt((double)n));
        ck_assert_msg(high >= upper && failures >= 1 - lower, "level %g: %.17g, want %.17g",
                      alphas[i], high, upper);
        ck_assert_msg(high <= upper * (1 + allowed) + 2 * DBL_EPSILON * (high > 0.5),
                      "level %g: %.17g, want %.17g", alphas[i], high, upper);
        ck_assert_msg(1 - failures >= lower * (1 - allowed) - 2 * DBL_EPSILON,
                      "level %g: %.17g, want %.17g", alphas[i], 1 - failures, lower);
    }
}

/* Without a success the chance of none, in closed form, is at most alpha. */
TEST(binomial_upper_holds_at_levels_next_to_nothing)
{
    for (uint64_t n = 1; n <= 300; n++)
        for (int digits = 1; digits < 300; digits += 3) {
            const double alpha = pow(10, -digits), p = cr_binomial_upper(0, n, alpha);
            ck_assert_msg(powl(1 - (long double)p, (long double)n) <= alpha, "%d of 1e-%d: %.17g",
                          (int)n, digits, p);
        }
    ck_assert_double_eq_tol(cr_binomial_upper(0, 1000, 0.05), -expm1(log(0.05) / 1000), 1e-14);
}

TEST(beta_cdf_and_student_quantile_agree_with_sixty_digits)
{
    for (int i = 0; i < KIT_ROWS(student_rows) * SHARES; i++) {
        const double q = student_shares[i % SHARES], degrees = student_rows[i / SHARES].degrees,
                     want = student_rows[i / SHARES].t[i % SHARES],
                     got = cr_student_quantile(q, degrees);
        ck_assert_msg(relative(got, want) < 1e-12, "%g of %g: %.17g, want %.17g", q, degrees, got,
                      want);
        if (q > 1e-3) /* symmetric */
            ck_assert_double_eq_tol(cr_student_quantile(1 - q, degrees), -got, 1e-10 * (1 + got));
    }
    for (int i = 0; i < KIT_ROWS(beta_rows); i++) {
        const double got =
            cr_beta_cdf(beta_rows[i].a, beta_rows[i].b, beta_rows[i].x, 1 - beta_rows[i].x);
        ck_assert_msg(relative(got, beta_rows[i].value) < 1e-12, "row %d: %.17g, want %.17g", i,
                      got, beta_rows[i].value);
    }
}

static const uint64_t critical_sizes[] = {1, 7, 64, 1000, 100000};

TEST_ROWS(binomial_critical_is_the_largest_count_within_the_level, critical_sizes)
{
    const double shares[] = {0.02, 0.3, 0.5, 0.9}, levels[] = {0.3, 0.05, 1e-6};
    const uint64_t n = critical_sizes[_i];
    for (int s = 0; s < 4; s++)
        for (int l = 0; l < 3; l++) {
            const int64_t k = cr_binomial_critical(n, shares[s], levels[l]);
            if (k >= 0) ck_assert_double_le(cr_binomial_cdf((uint64_t)k, n, shares[s]), levels[l]);
            ck_assert_double_gt(cr_binomial_cdf((uint64_t)(k + 1), n, shares[s]),
                                levels[l] * (1 - 1e-10));
        }
    ck_assert(cr_binomial_critical(n, 0.5, 1e-9) >= -1 && cr_binomial_critical(n, NAN, 0.1) == -1);
}

TEST(binomial_functions_of_certain_impossible_or_no_shares)
{
    ck_assert_double_eq(cr_binomial_cdf(3, 10, 0), 1);
    ck_assert_double_eq(cr_binomial_cdf(3, 10, 1), 0);
    ck_assert_double_eq(cr_binomial_cdf(10, 10, 1), 1);
    ck_assert_double_eq(cr_beta_cdf(2, 3, 0, 1), 0);
    ck_assert_double_eq(cr_beta_cdf(2, 3, 1, 0), 1);
    ck_assert_double_eq(cr_student_quantile(0.5, 63), 0);
    static const double no_share[] = {-0.1, 1.5, NAN}, no_level[] = {0, 1, -1, NAN};
    for (int i = 0; i < KIT_ROWS(no_share); i++)
        ck_assert_double_nan(cr_binomial_cdf(1, 10, no_share[i]));
    for (int i = 0; i < KIT_ROWS(no_level); i++) {
        ck_assert_double_eq(cr_binomial_upper(1, 10, no_level[i]), 1);
        ck_assert_double_nan(cr_student_quantile(no_level[i], 5));
    }
    ck_assert_double_eq(cr_binomial_upper(0, 0, 0.05), 1);
    ck_assert_double_eq(cr_binomial_upper(10, 10, 0.05), 1);
    ck_assert_double_eq(cr_binomial_upper(11, 10, 0.1), 1);
    ck_assert_double_nan(cr_student_quantile(0.1, 0));
    ck_assert_double_nan(cr_beta_cdf(0, 1, 0.5, 0.5));
    ck_assert(cr_binomial_critical(10, 0.5, 1e-9) == -1);
}

TEST(binomial_upper_grows_with_the_count_and_falls_with_alpha)
{
    for (uint64_t k = 0; k < 64; k++) {
        const double upper = cr_binomial_upper(k, 64, 0.05);
        ck_assert_double_lt(upper, cr_binomial_upper(k + 1, 64, 0.05));
        ck_assert_double_le(upper, cr_binomial_upper(k, 64, 0.01));
        ck_assert_double_gt(upper + cr_binomial_upper(64 - k, 64, 0.05), 1);
    }
}

/* ======== antithetic pairs */
static double above(double x)
{
    return 0.5 * erfc(x * 0.70710678118654752440);
}

/* ---- what their server misses, by sums over all counts of pairs */
static double ways(unsigned M, unsigned two, unsigned one)
{
    return lgamma(M + 1.0) - lgamma(two + 1.0) - lgamma(one + 1.0) - lgamma(M - two - one + 1.0);
}

static double power_log(unsigned n, double p)
{
    return n ? n * log(p) : 0;
}

static double sum_of(unsigned M, double both, double neither, int count)
{
    const double one = fmax(0, 1 - both - neither);
    double sum = 0;
    for (unsigned two = 0; two <= M; two++)
        for (unsigned k = 0; k <= M - two; k++)
            if ((int)(2 * two + k) >= count)
                sum += exp(ways(M, two, k) + power_log(two, both) + power_log(k, one) +
                           power_log(M - two - k, neither));
    return fmin(1, sum);
}

static double tail_of(const cr_antithetic *pairs, double both, double neither)
{
    const unsigned M = (unsigned)(pairs->samples / 2);
    const int out = (int)pairs->min_outside;
    const double q = 0.5 * (1 + both - neither);
    if (pairs->samples % 2 == 0) return sum_of(M, both, neither, out);
    return (1 - q) * sum_of(M, both, neither, out) + q * sum_of(M, both, neither, out - 1);
}

static const uint64_t sizes[] = {11, 12, 25, 60, 101};

TEST_ROWS(antithetic_tail_is_the_exact_sum_rounded_up, sizes)
{
    static const double shares[] = {0, 1e-6, 0.05, 0.3, 0.5, 0.7, 1};
    cr_antithetic pairs = {.samples = sizes[_i], .failure_rate = 0.01};
    for (pairs.min_outside = 1; pairs.min_outside <= pairs.samples;
         pairs.min_outside += 1 + pairs.min_outside / 5)
        for (int i = 0; i < KIT_ROWS(shares) * KIT_ROWS(shares); i++) {
            const double both = shares[i % KIT_ROWS(shares)],
                         neither = fmin(shares[i / KIT_ROWS(shares)], 1 - both),
                         found = cr_antithetic_tail(&pairs, both, neither),
                         truth = tail_of(&pairs, both, neither);
            ck_assert_msg(found >= truth * (1 - 1e-10) && found <= truth * (1 + 1e-9) + 1e-11,
                          "%zu of %zu: %.17g for %.17g at %g, %g", (size_t)pairs.min_outside,
                          (size_t)pairs.samples, found, truth, both, neither);
        }
}

/* ---- events: sets of intervals along one input, whose pairs have exact probabilities */
enum { ENDS = 6 };
typedef struct event { /* out beyond the last end, and between every second two before it */
    double end[ENDS];
    int count;
} event;

static int is_out(const event *e, double x)
{
    int beyond = 0;
    for (int i = 0; i < e->count; i++) beyond += e->end[i] >= x;
    return beyond % 2 == 0;
}

/* Without a shift. */
static double share_of(const event *e)
{
    double share = e->count % 2 ? 0 : 1;
    for (int i = 0; i < e->count; i++) share += ((e->count - i) % 2 ? 1 : -1) * above(e->end[i]);
    return share;
}

/* How often more of the outputs than allowed are out, after a shift of length r. */
static double misses_of(const cr_antithetic *pairs, const event *e, double r)
{
    double t[ENDS + 2] = {0, 40}, both = 0, neither = 0;
    for (int i = 0; i < e->count; i++) t[i + 2] = fabs(e->end[i] - r);
    kit_sort(t, (size_t)e->count + 2);
    for (int i = 0; i <= e->count; i++) {
        const double middle = 0.5 * (t[i] + t[i + 1]), mass = 2 * (above(t[i]) - above(t[i + 1]));
        const int out = is_out(e, r + middle) + is_out(e, r - middle);
        if (out == 2) both += mass;
        if (out == 0) neither += mass;
    }
    return tail_of(pairs, both, neither);
}

static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static event random_event(double r)
{
    event e = {.count = 1 + (int)(ENDS * uniform())};
    for (int i = 0; i < e.count; i++) e.end[i] = r + 6 * uniform() - 3.5;
    if (e.count == 2) e.end[1] = 2 * r - e.end[0]; /* even about the shifted input */
    kit_sort(e.end, (size_t)e.count);
    return e;
}

TEST(antithetic_hold_is_false_for_events_that_miss_more)
{
    int tried = 0;
    for (int i = 0; i < 4000; i++) {
        cr_antithetic pairs = {.samples = sizes[i % KIT_ROWS(sizes)]};
        const double r = 0.02 + 2.5 * uniform(), shorter = uniform() < 0.5 ? r : r * uniform();
        const event e = random_event(shorter);
        const double p = share_of(&e);
        pairs.min_outside = i % 3 ? (pairs.samples + 1) / 2
                                  : 1 + (uint64_t)((double)pairs.samples * uniform());
        const double misses = misses_of(&pairs, &e, shorter);
        if (misses < 1e-8 || misses > 0.9 || p > 0.9) continue;
        pairs.failure_rate = misses * (1 - 1e-6);
        ck_assert_msg(!cr_antithetic_holds(&pairs, p, r), "event %d of share %g: %g at %g of %g", i,
                      p, misses, shorter, r);
        tried++;
    }
    ck_assert_int_gt(tried, 1000);
}

/* ---- the table of docs/theory/01-guarantee.md: what a median of so many samples loses of the
 * radius at a share, alone and in pairs, at a rate of 0.01 for both sides */
static const struct {
    uint64_t samples;
    double share, independent, pairs;
} lost[] = {{51, 0.001, 0.451, 0.226},   {51, 0.01, 0.451, 0.243},   {51, 0.1, 0.451, 0.296},
            {101, 0.001, 0.321, 0.138},  {101, 0.01, 0.321, 0.149},  {101, 0.1, 0.321, 0.181},
            {1001, 0.001, 0.102, 0.028}, {1001, 0.01, 0.102, 0.030}, {1001, 0.1, 0.102, 0.037}};

TEST_ROWS(antithetic_radius_has_the_numbers_of_theory_1, lost)
{
    const uint64_t n = lost[_i].samples;
    const cr_antithetic pairs = {.samples = n, .min_outside = (n + 1) / 2, .failure_rate = 0.005};
    const double alone = 0.5 * (1 - cr_serving_binomial(n, 0.5, 0.005)),
                 level = cr_shift_radius(lost[_i].share, 0.5);
    ck_assert_double_eq_tol(cr_shift_radius(alone, 0.5), lost[_i].independent, 6e-4);
    const double r = cr_antithetic_radius(&pairs, lost[_i].share, 0);
    ck_assert_double_eq_tol(level - r, lost[_i].pairs, 6e-4);
    ck_assert_double_eq_tol(cr_antithetic_max_probability(&pairs, r) / lost[_i].share, 1, 1e-3);
    ck_assert(!cr_antithetic_holds(&pairs, lost[_i].share, r + 0.003));
}

/* By how much a server of the other kind exceeds its rate at the end of the radius. */
static const struct {
    uint64_t samples;
    int in_pairs; /* as served */
    double rate, times;
} other_kind[] = {{51, 1, 0.01, 3.49},   {51, 1, 0.001, 10.3},  {101, 0, 0.01, 13.4},
                  {1001, 0, 0.01, 24.2}, {101, 0, 0.001, 59.1}, {1001, 0, 0.001, 163.9}};

TEST_ROWS(antithetic_tail_of_the_other_kind_of_server_is_larger, other_kind)
{
    const uint64_t n = other_kind[_i].samples;
    const double rate = other_kind[_i].rate;
    const cr_antithetic pairs = {
        .samples = n, .min_outside = (n + 1) / 2, .failure_rate = 0.5 * rate};
    const double alone = 0.5 * (1 - cr_serving_binomial(n, 0.5, 0.5 * rate)),
                 r = cr_antithetic_radius(&pairs, 0.001, 0),
                 share = cr_normal_sf(cr_normal_quantile_sf(0.001) - r),
                 misses = other_kind[_i].in_pairs ? cr_antithetic_tail(&pairs, alone, 1 - alone)
                                                  : cr_binomial_cdf(n / 2, n, 1 - share);
    ck_assert_double_eq_tol(misses / rate, other_kind[_i].times, 0.1);
}

TEST(antithetic_radius_that_proves_nothing_is_zero)
{
    const cr_antithetic pairs = {.samples = 11, .min_outside = 6, .failure_rate = 1e-9},
                        most = {.samples = 11, .min_outside = 6, .failure_rate = 0.01};
    ck_assert_double_eq(cr_antithetic_radius(&pairs, 0.2, 0), 0);
    ck_assert_double_eq(cr_antithetic_radius(&most, 1, 0), 0);
    ck_assert_double_eq(cr_antithetic_max_probability(&most, 1e3), 0);
    ck_assert(!cr_antithetic_holds(&most, NAN, 1) && !cr_antithetic_holds(&most, 0.01, NAN));
    ck_assert(cr_antithetic_holds(&most, 0, 1));
}

TEST_MAIN("binomial tails, and normal ones")
