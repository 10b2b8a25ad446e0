/* Betting bounds against closed forms, the exact binomial bounds and the normal interval; what
 * they say where nothing is known. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "statistics/betting_bounds.h"
#include "support/simulate.h"
#include "support/suite.h"

enum { MOST = 8500 };

static double values[MOST], others[MOST];

static double element(const void *of, size_t i)
{
    return ((const double *)of)[i];
}

static cr_betting_problem bet_on(double lo, double hi, const double *of, size_t count)
{
    return (cr_betting_problem){
        .value = element, .context = of, .lo = lo, .hi = hi, .count = count};
}

static cr_betting_problem with_pilot(cr_betting_problem bet, const double *pilot, size_t count)
{
    for (size_t i = 0; i < count; i++) cr_betting_add_pilot(&bet, pilot[i]);
    return bet;
}

static double upper(const double *of, size_t count, double alpha, int anytime)
{
    const cr_betting_problem bet = bet_on(0, 1, of, count);
    return cr_betting_upper(&bet, alpha, anytime);
}

static double lower(const double *of, size_t count, double alpha, int anytime)
{
    const cr_betting_problem bet = bet_on(0, 1, of, count);
    return cr_betting_lower(&bet, alpha, anytime);
}

static void fill(double *to, size_t count, double (*law)(simulate_source *), uint64_t seed)
{
    simulate_source source;
    simulate_seed(&source, seed);
    for (size_t i = 0; i < count; i++) to[i] = law(&source);
}

#define LAW(name, value)                   \
    static double name(simulate_source *s) \
    {                                      \
        return value;                      \
    }
LAW(uniform, simulate_uniform(s))
LAW(coin, simulate_uniform(s) < 0.5)
LAW(rare_coin, simulate_uniform(s) < 0.02)
LAW(rare_any, simulate_uniform(s) < 0.1 ? simulate_uniform(s) : 0)
LAW(narrow, 0.4 + 0.2 * simulate_uniform(s))
LAW(narrow_high, 0.7 + 0.1 * simulate_uniform(s))
LAW(jump, simulate_uniform(s) < 0.02 ? 1 : 0.2 + 0.1 * simulate_uniform(s))

TEST(betting_on_equal_values_is_near_the_exact_bound)
{
    static const size_t counts[] = {10, 50, 350, 8500};
    static const double alphas[] = {0.2, 0.05, 0.0125, 1e-3};
    for (size_t a = 0; a < 4; a++)
        for (size_t c = 0; c < 4; c++) {
            for (size_t i = 0; i < counts[c]; i++) values[i] = 0;
            const double exact = 1 - pow(alphas[a], 1 / (double)counts[c]),
                         got = upper(values, counts[c], alphas[a], 0);
            ck_assert_double_ge(got, exact);
            ck_assert_double_le(got, exact * (counts[c] < 50 ? 1.05 : 1.01));
        }
}

TEST(betting_on_two_values_is_near_the_binomial_bound)
{
    static double (*const laws[])(simulate_source *) = {coin, rare_coin};
    for (size_t l = 0; l < 2; l++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            fill(values, 850, laws[l], seed);
            uint64_t ones = 0;
            for (size_t i = 0; i < 850; i++) ones += values[i] > 0;
            const double mean = (double)ones / 850,
                         exact = cr_binomial_upper(ones, 850, 0.05) - mean;
            ck_assert_double_lt(upper(values, 850, 0.05, 0) - mean, exact * 1.15);
            ck_assert_double_lt(mean - lower(values, 850, 0.05, 0),
                                (mean - 1 + cr_binomial_upper(850 - ones, 850, 0.05)) * 1.25);
        }
}

/* No bound can be lower (theory 6.5); a pilot like the values brings the bettor near it. */
TEST(betting_on_equal_values_is_near_the_least_bound)
{
    static const double all[] = {0, 0.25, 0.5, 0.75};
    static const size_t counts[] = {30, 100, 1000};
    for (size_t v = 0; v < 4; v++)
        for (size_t c = 0; c < 3; c++) {
            for (size_t i = 0; i < counts[c]; i++) values[i] = all[v];
            const cr_betting_problem bet =
                with_pilot(bet_on(0, 1, values, counts[c]), values, counts[c] / 6);
            const double least = (1 - all[v]) * (1 - pow(0.05, 1 / (double)counts[c])),
                         got = cr_betting_upper(&bet, 0.05, 0) - all[v];
            ck_assert_double_ge(got, least);
            ck_assert_double_le(got, least * 1.05);
        }
}

/* Mean width over that of the normal interval. */
static double relative_width(double (*law)(simulate_source *), size_t count, double alpha,
                             int anytime)
{
    double width = 0, normal = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fill(values, count, law, 100 + seed);
        fill(others, count / 6, law, 200 + seed);
        const cr_betting_problem bet = with_pilot(bet_on(0, 1, values, count), others, count / 6);
        double sum = 0, square = 0;
        for (size_t i = 0; i < count; i++) sum += values[i], square += values[i] * values[i];
        const double n = (double)count, mean = sum / n;
        width += cr_betting_upper(&bet, alpha, anytime) - mean;
        normal += cr_normal_quantile_sf(alpha) * sqrt((square / n - mean * mean) / n);
    }
    return width / normal;
}

TEST(betting_is_near_the_normal_interval_for_other_laws)
{
    ck_assert_double_lt(relative_width(uniform, 350, 0.0125, 0), 1.08);
    ck_assert_double_lt(relative_width(uniform, 8500, 0.0125, 0), 1.03);
    ck_assert_double_lt(relative_width(narrow, 850, 0.0125, 0), 1.2);
    ck_assert_double_lt(relative_width(narrow, 8500, 0.0125, 0), 1.04);
    ck_assert_double_lt(relative_width(rare_any, 850, 0.0125, 0), 1.25);
    ck_assert_double_lt(relative_width(rare_any, 8500, 0.0125, 0), 1.08);
    ck_assert_double_lt(relative_width(uniform, 850, 0.0125, 1), 1.7);
    ck_assert_double_lt(relative_width(rare_any, 8500, 0.0125, 1), 1.7);
}

static double mean_width(double (*law)(simulate_source *), size_t count, int anytime,
                         cr_running_moments pilot)
{
    double width = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        fill(values, count, law, 300 + seed);
        cr_betting_problem bet = bet_on(0, 1, values, count);
        bet.pilot_moments = pilot;
        width += cr_betting_upper(&bet, 0.05, anytime) - cr_betting_lower(&bet, 0.05, anytime);
    }
    return width / 40;
}

static double (*const all_laws[])(simulate_source *) = {uniform, coin,        rare_coin, rare_any,
                                                        narrow,  narrow_high, jump};

TEST_ROWS(betting_at_a_fixed_count_is_narrower_than_at_any_time, all_laws)
{
    static const size_t counts[] = {30, 50, 100, 200};
    const cr_running_moments none = {0};
    for (size_t c = 0; c < 4; c++)
        ck_assert_double_lt(mean_width(all_laws[_i], counts[c], 0, none),
                            mean_width(all_laws[_i], counts[c], 1, none));
}

/* 200 equal values are far from all laws. */
TEST_ROWS(betting_with_a_misleading_pilot_is_at_most_twice_as_wide, all_laws)
{
    static const double wrong[] = {0.05, 0.3, 0.9};
    const cr_running_moments none = {0};
    for (size_t w = 0; w < 3; w++) {
        const cr_running_moments pilot = {200, 200 * wrong[w], 200 * wrong[w] * wrong[w]};
        ck_assert_double_lt(mean_width(all_laws[_i], 85, 0, pilot),
                            2 * mean_width(all_laws[_i], 85, 0, none));
    }
}

TEST(betting_lower_mirrors_upper)
{
    fill(values, 300, rare_any, 1);
    for (size_t i = 0; i < 300; i++) others[i] = 1 - values[i];
    for (int anytime = 0; anytime < 2; anytime++)
        ck_assert_double_eq_tol(lower(values, 300, 0.05, anytime),
                                1 - upper(others, 300, 0.05, anytime), 1e-9);
}

TEST(betting_bounds_follow_the_unit)
{
    fill(values, 300, uniform, 2);
    for (size_t i = 0; i < 300; i++) others[i] = -7 + 12 * values[i];
    const cr_betting_problem bet = bet_on(-7, 5, others, 300);
    ck_assert_double_eq_tol(cr_betting_upper(&bet, 0.05, 0), -7 + 12 * upper(values, 300, 0.05, 0),
                            1e-8);
    ck_assert_double_eq_tol(cr_betting_lower(&bet, 0.05, 1), -7 + 12 * lower(values, 300, 0.05, 1),
                            1e-8);
}

TEST(betting_anytime_bound_never_rises_with_the_count)
{
    fill(values, 600, rare_any, 3);
    double least = 1;
    for (size_t n = 50; n <= 600; n += 50) {
        const double got = upper(values, n, 0.05, 1);
        /* what was rejected stays rejected; the search stops within its tolerance */
        ck_assert_double_le(got, least * 1.01);
        least = fmin(least, got);
    }
}

static void expect_trivial(double lo, double hi, const double *of, size_t count, double alpha)
{
    const cr_betting_problem bet = bet_on(lo, hi, of, count);
    for (int anytime = 0; anytime < 2; anytime++) {
        ck_assert_double_eq(cr_betting_upper(&bet, alpha, anytime), hi);
        ck_assert_double_eq(cr_betting_lower(&bet, alpha, anytime), lo);
    }
}

TEST(betting_bounds_are_trivial_if_nothing_is_known)
{
    fill(values, 100, uniform, 4);
    expect_trivial(0, 1, values, 0, 0.05);
    expect_trivial(0, 1, values, 1, 1e-9);
    expect_trivial(0, 1, values, 100, 0);
    expect_trivial(0, 1, values, 100, 1);
    expect_trivial(0, 1, values, 100, NAN);
    expect_trivial(0, INFINITY, values, 100, 0.05);
    expect_trivial(0.5, 0.5, values, 100, 0.05);
    expect_trivial(0, 0.5, values, 100, 0.05);
    values[70] = NAN;
    expect_trivial(0, 1, values, 100, 0.05);
    values[70] = 1 + 1e-12;
    expect_trivial(0, 1, values, 100, 0.05);
}

TEST(betting_pilot_leaves_out_values_outside_the_range)
{
    cr_betting_problem bet = bet_on(0, 2, values, 0);
    cr_betting_add_pilot(&bet, NAN);
    cr_betting_add_pilot(&bet, 3);
    cr_betting_add_pilot(&bet, -INFINITY);
    ck_assert_double_eq(bet.pilot_moments.count, 0);
    cr_betting_add_pilot(&bet, 1);
    ck_assert_double_eq(bet.pilot_moments.count, 1);
    ck_assert_double_eq(bet.pilot_moments.sum, 0.5);
}

TEST(betting_bounds_hold_at_tiny_alpha)
{
    static const double alphas[] = {1e-6, 1e-20, 1e-100, 1e-300};
    for (size_t i = 0; i < MOST; i++) values[i] = (double)(i % 2);
    for (size_t a = 0; a < 4; a++) {
        const double exact = cr_binomial_upper(MOST / 2, MOST, fmax(alphas[a], 1e-300)),
                     got = upper(values, MOST, alphas[a], 0);
        ck_assert_double_gt(got, 0.5 + 0.95 * (exact - 0.5));
        ck_assert_double_lt(got, 0.5 + 1.1 * (exact - 0.5));
        ck_assert_double_lt(upper(values, MOST, alphas[a], 1), 0.5 + 1.6 * (exact - 0.5));
    }
}

/* Whether the test behind the upper bound rejects this mean; values are in [0, 1]. */
static int rejects(const cr_betting_problem *bet, double alpha, int anytime, double mean)
{
    cr_wealth capital;
    cr_candidate_means t;
    cr_wealth_init(&capital, bet, alpha, anytime, 0);
    for (int k = 0; k < CR_WEALTH_LANES; k++) t.mean[k] = fmin(mean, 1 - 0x1p-40);
    cr_wealth_test(&capital, &t);
    return t.rejected[0];
}

/* What lets the search stop anywhere: once a mean is rejected, so are all larger ones. */
TEST_TIMES(wealth_rejects_all_means_from_one_point_on, 28)
{
    double (*const law)(simulate_source *) = all_laws[_i % 7];
    const int anytime = _i / 7 % 2;
    const size_t count = _i < 14 ? 200 : 30;
    for (uint64_t seed = 0; seed < 10; seed++) {
        fill(values, count, law, seed);
        fill(others, 30, law, 50 + seed);
        const cr_betting_problem bet =
            with_pilot(bet_on(0, 1, values, count), others, seed % 2 ? 30 : 0);
        const double bound = cr_betting_upper(&bet, 0.1, anytime), least = fmax(0, 2 * bound - 1);
        int rejected = 0;
        for (int k = 1; k < 200; k++) {
            const int now = rejects(&bet, 0.1, anytime, least + (bound - least) * k / 100);
            ck_assert_msg(now >= rejected, "mean %g is not rejected, but a smaller one was",
                          least + (bound - least) * k / 100);
            rejected = now;
        }
        ck_assert_int_eq(rejected, 1);
    }
}

/* A value of the order of the ulp of the range's ends must not put the bound inside. */
TEST(betting_bounds_stay_outward_far_from_zero)
{
    const double lo = 1e15, hi = 1e15 + 4;
    for (size_t i = 0; i < 200; i++) values[i] = lo + (double)(i % 2 ? 4 : 0);
    const cr_betting_problem bet = bet_on(lo, hi, values, 200);
    for (int anytime = 0; anytime < 2; anytime++) {
        ck_assert_double_ge(cr_betting_upper(&bet, 0.05, anytime), lo + 2);
        ck_assert_double_le(cr_betting_lower(&bet, 0.05, anytime), lo + 2);
        ck_assert_double_le(cr_betting_upper(&bet, 0.05, anytime), hi);
    }
}

TEST_MAIN("betting bounds")
