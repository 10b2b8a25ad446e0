/* Bounds of a mean by bets, against closed forms, the exact binomial bounds and the normal
 * interval; and the bound from the whole law of a score, against the function that a shift harms
 * most: the one that rises along it. */
#include "statistics/betting_bounds.h"
#include "statistics/binomial.h"
#include "statistics/distribution_bound.h"
#include "statistics/normal.h"
#include "support/simulate.h"
#include "support/suite.h"

/* ======== bets */
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
typedef double (*value_law)(simulate_source *);
static const value_law all_laws[] = {uniform, coin, rare_coin, rare_any, narrow, narrow_high, jump};

static void fill(double *to, size_t count, value_law of, uint64_t seed)
{
    simulate_source source;
    simulate_seed(&source, seed);
    for (size_t i = 0; i < count; i++) to[i] = of(&source);
}

/* ---- how near they come */
/* values, pilot of so many of them, level, and the most over the least that a bound can be (theory
 * 6.5): for zeros the exact bound */
static const struct {
    double all;
    size_t count, pilot;
    double alpha, most;
} equals[] = {
    {0, 10, 0, 0.2, 1.05},     {0, 10, 0, 1e-3, 1.05},      {0, 50, 0, 0.05, 1.01},
    {0, 350, 0, 0.0125, 1.01}, {0, 8500, 0, 0.2, 1.01},     {0, 8500, 0, 1e-3, 1.01},
    {0.25, 30, 5, 0.05, 1.05}, {0.25, 100, 16, 0.05, 1.05}, {0.25, 1000, 166, 0.05, 1.05},
    {0.75, 30, 5, 0.05, 1.05}, {0.75, 100, 16, 0.05, 1.05}, {0.75, 1000, 166, 0.05, 1.05}};

TEST_ROWS(betting_on_equal_values_is_near_the_least_bound, equals)
{
    const size_t count = equals[_i].count;
    const double all = equals[_i].all,
                 least = (1 - all) * (1 - pow(equals[_i].alpha, 1 / (double)count));
    for (size_t i = 0; i < count; i++) values[i] = all;
    const cr_betting_problem bet =
        with_pilot(bet_on(0, 1, values, count), values, equals[_i].pilot);
    const double got = cr_betting_upper(&bet, equals[_i].alpha, 0) - all;
    ck_assert_double_ge(got, least);
    ck_assert_double_le(got, least * equals[_i].most);
}

TEST(betting_bounds_are_near_binomial_ones_at_tiny_alpha)
{
    static const double alphas[] = {1e-6, 1e-20, 1e-100, 1e-300};
    for (size_t i = 0; i < MOST; i++) values[i] = (double)(i % 2);
    for (size_t a = 0; a < 4; a++) {
        const double exact = cr_binomial_upper(MOST / 2, MOST, alphas[a]) - 0.5,
                     got = upper(values, MOST, alphas[a], 0) - 0.5;
        ck_assert(got > 0.95 * exact && got < 1.1 * exact);
        ck_assert_double_lt(upper(values, MOST, alphas[a], 1) - 0.5, 1.6 * exact);
    }
}

/* The most of their width over that of the normal interval */
static const struct {
    value_law of;
    size_t count;
    int anytime;
    double most;
} widths[] = {{uniform, 350, 0, 1.08}, {uniform, 8500, 0, 1.03}, {narrow, 850, 0, 1.2},
              {narrow, 8500, 0, 1.04}, {rare_any, 850, 0, 1.25}, {rare_any, 8500, 0, 1.08},
              {uniform, 850, 1, 1.7},  {rare_any, 8500, 1, 1.7}};

TEST_ROWS(betting_is_near_the_normal_interval_for_other_laws, widths)
{
    const size_t count = widths[_i].count;
    double width = 0, normal = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fill(values, count, widths[_i].of, 100 + seed);
        fill(others, count / 6, widths[_i].of, 200 + seed);
        const cr_betting_problem bet = with_pilot(bet_on(0, 1, values, count), others, count / 6);
        double sum = 0, square = 0;
        for (size_t i = 0; i < count; i++) sum += values[i], square += values[i] * values[i];
        const double n = (double)count, mean = sum / n;
        width += cr_betting_upper(&bet, 0.0125, widths[_i].anytime) - mean;
        normal += cr_normal_quantile_sf(0.0125) * sqrt((square / n - mean * mean) / n);
    }
    ck_assert_double_lt(width, widths[_i].most * normal);
}

/* ---- what they do not depend on */
TEST_TIMES(betting_bounds_follow_the_unit_and_mirror_each_other, 2)
{
    fill(values, 300, rare_any, 1);
    const double up = upper(values, 300, 0.05, _i), low = lower(values, 300, 0.05, _i);
    for (size_t i = 0; i < 300; i++) others[i] = -7 + 12 * values[i];
    const cr_betting_problem bet = bet_on(-7, 5, others, 300);
    ck_assert_double_eq_tol(cr_betting_upper(&bet, 0.05, _i), -7 + 12 * up, 1e-8);
    ck_assert_double_eq_tol(cr_betting_lower(&bet, 0.05, _i), -7 + 12 * low, 1e-8);
    for (size_t i = 0; i < 300; i++) others[i] = 1 - values[i];
    ck_assert_double_eq_tol(low, 1 - upper(others, 300, 0.05, _i), 1e-9);
}

/* range, count, level, and the 71st value if it is not 0 */
static const struct {
    double lo, hi;
    size_t count;
    double alpha, odd;
} trivial[] = {{0, 1, 0, 0.05, 0},       {0, 1, 1, 1e-9, 0},          {0, 1, 100, 0, 0},
               {0, 1, 100, 1, 0},        {0, 1, 100, NAN, 0},         {0, INFINITY, 100, 0.05, 0},
               {0.5, 0.5, 100, 0.05, 0}, {0, 0.5, 100, 0.05, 0},      {0, 1, 100, 0.05, NAN},
               {0, 1, 100, 0.05, -0.1},  {0, 1, 100, 0.05, 1 + 1e-12}};

TEST_ROWS(betting_bounds_are_trivial_if_nothing_is_known, trivial)
{
    fill(values, 100, uniform, 4);
    if (trivial[_i].odd != 0) values[70] = trivial[_i].odd;
    const cr_betting_problem bet =
        bet_on(trivial[_i].lo, trivial[_i].hi, values, trivial[_i].count);
    for (int anytime = 0; anytime < 2; anytime++) {
        ck_assert_double_eq(cr_betting_upper(&bet, trivial[_i].alpha, anytime), trivial[_i].hi);
        ck_assert_double_eq(cr_betting_lower(&bet, trivial[_i].alpha, anytime), trivial[_i].lo);
    }
}

TEST(betting_pilot_leaves_out_values_outside_the_range)
{
    const double pilot[] = {NAN, 3, -INFINITY, 1};
    const cr_betting_problem bet = with_pilot(bet_on(-2, 2, values, 0), pilot, 4);
    ck_assert_double_eq(bet.pilot_moments.count, 1);
    ck_assert_double_eq(bet.pilot_moments.sum, 0.75);
}

/* A value of the order of the ulp of the range's ends must not put the bound inside. */
TEST_TIMES(betting_bounds_stay_outward_far_from_zero, 2)
{
    const double lo = 1e15, hi = 1e15 + 4;
    for (size_t i = 0; i < 200; i++) values[i] = lo + (double)(i % 2 ? 4 : 0);
    const cr_betting_problem bet = bet_on(lo, hi, values, 200);
    ck_assert_double_ge(cr_betting_upper(&bet, 0.05, _i), lo + 2);
    ck_assert_double_le(cr_betting_lower(&bet, 0.05, _i), lo + 2);
    ck_assert_double_le(cr_betting_upper(&bet, 0.05, _i), hi);
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
TEST_TIMES(wealth_rejects_all_means_from_one_point_on, 7 * 2 * 2)
{
    const int anytime = _i / 7 % 2;
    const size_t count = _i < 14 ? 200 : 30;
    for (uint64_t seed = 0; seed < 10; seed++) {
        fill(values, count, all_laws[_i % 7], seed);
        fill(others, 30, all_laws[_i % 7], 50 + seed);
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

/* ======== the whole law */
enum { VALUES = 12, SAMPLES = 400 };

typedef struct scores { /* a law of so many values, in order */
    int count;
    double value[VALUES], share[VALUES];
} scores;

static simulate_source dice;

static double roll(void)
{
    return simulate_uniform(&dice);
}

/* Some values are rare. They are floats, as outputs are. */
static scores random_scores(double least)
{
    scores s = {.count = 2 + (int)((VALUES - 1) * roll())};
    double sum = 0;
    for (int i = 0; i < s.count; i++) {
        s.value[i] = (float)(least + 2 * roll() * roll());
        s.share[i] = pow(roll(), 4) + 1e-6;
        sum += s.share[i];
    }
    if (roll() < 0.5) s.value[0] = least;
    kit_sort(s.value, (size_t)s.count);
    for (int i = 0; i < s.count; i++) s.share[i] /= sum;
    return s;
}

static double mean_of(const scores *s, const cr_distribution_bound *law)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++)
        sum += s->share[i] * cr_distribution_bound_value(law, s->value[i]);
    return sum;
}

/* The least mean after a shift of length r of any function with this law. */
static double least_mean(const scores *s, double r)
{
    double mean = s->value[0], above = 1;
    for (int i = 1; i < s->count; i++) {
        above -= s->share[i - 1];
        mean += (s->value[i] - s->value[i - 1]) * cr_shift_min_probability(fmax(above, 0), r);
    }
    return mean;
}

/* A score that is the output itself. */
static const cr_score as_it_is = {.kind = CR_SCORE_OUTPUT, .side = 1};

static cr_score_histogram cells_of(const scores *s, double least)
{
    static float y[SAMPLES];
    cr_score_histogram cells;
    int k = 0;
    double below = s->share[0];
    for (int i = 0; i < SAMPLES; i++) { /* quantiles, so that a fit knows the law */
        while (k + 1 < s->count && (i + 0.5) / SAMPLES > below) below += s->share[++k];
        y[i * 37 % SAMPLES] = (float)s->value[k];
    }
    const cr_samples samples = {.y = y, .stride = 1, .count = SAMPLES, .score = &as_it_is};
    if (!cr_score_histogram_make(&cells, &samples, least)) cells.cell_width = 0;
    return cells;
}

TEST(distribution_bound_is_at_most_the_least_mean)
{
    static const double shifts[] = {0, 0.01, 0.3, 1, 2.5, 9};
    int tried = 0;
    double nearest = INFINITY;
    simulate_seed(&dice, 1);
    for (int i = 0; i < 3000; i++) {
        const double least = 10 * roll() - 5, fitted = 0.02 + 3 * roll();
        const scores of = random_scores(least), like = i % 2 ? of : random_scores(least);
        const cr_score_histogram cells = cells_of(&like, least);
        const double mean = least_mean(&of, 0);
        cr_distribution_bound law = {.max_value = least + 2, .bounds_change = i % 5 == 0};
        if (!(cells.cell_width > 0)) continue;
        cr_distribution_bound_fit(
            &law, &cells, i % 3 ? CR_HISTOGRAM_FOLDS : (size_t)(i % CR_HISTOGRAM_FOLDS), fitted);
        for (int k = 0; k < KIT_ROWS(shifts); k++) {
            const double fall = law.bounds_change ? mean : 0,
                         found = cr_distribution_bound_shifted(&law, mean_of(&of, &law), shifts[k]),
                         truth = least_mean(&of, shifts[k]) - fall;
            ck_assert_msg(found <= truth, "law %d after %g: %.17g for %.17g", i, shifts[k], found,
                          truth);
            if (shifts[k] >= 0.3) nearest = fmin(nearest, truth - found);
        }
        tried++;
    }
    ck_assert_int_gt(tried, 2000);
    ck_assert_double_lt(nearest, 1e-4); /* so that a bound that is a little longer fails */
}

TEST(distribution_bound_range_and_radius_are_those_of_the_law)
{
    simulate_seed(&dice, 2);
    for (int i = 0; i < 500; i++) {
        const double least = 10 * roll() - 5;
        const scores s = random_scores(least);
        const cr_score_histogram cells = cells_of(&s, least);
        cr_distribution_bound law = {.max_value = least + 3, .bounds_change = i % 2};
        cr_betting_problem bet = {.count = 100};
        if (!(cells.cell_width > 0)) continue;
        cr_distribution_bound_fit(&law, &cells, CR_HISTOGRAM_FOLDS, 2 * roll());
        cr_distribution_bound_range(&law, &bet);
        for (int k = 0; k < 100; k++) {
            const double value = cr_distribution_bound_value(&law, least + 3 * (k / 99.0));
            ck_assert(value >= bet.lo && value <= bet.hi);
        }
        cr_distribution_bound_add_pilot(&law, &cells, CR_HISTOGRAM_FOLDS, &bet);
        const double mean = mean_of(&s, &law);
        ck_assert_double_eq(bet.pilot_moments.count, SAMPLES);
        ck_assert_double_eq_tol(bet.lo + (bet.hi - bet.lo) * bet.pilot_moments.sum / SAMPLES, mean,
                                0.01 * (bet.hi - bet.lo));
        if (law.bounds_change) continue;
        const double threshold = least + 0.9 * (least_mean(&s, 0.5) - least),
                     r = cr_distribution_bound_radius(&law, mean, threshold, 4);
        if (r > 0) ck_assert_double_gt(cr_distribution_bound_shifted(&law, mean, r), threshold);
        if (r < 4)
            ck_assert_double_le(cr_distribution_bound_shifted(&law, mean, r * (1 + 1e-8) + 1e-8),
                                threshold);
    }
}

TEST(distribution_bound_count_refuses_few_or_equal_scores)
{
    const float y[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
    cr_samples s = {.y = y, .stride = 1, .count = 20, .score = &as_it_is};
    cr_score_histogram cells;
    ck_assert(cr_score_histogram_make(&cells, &s, 0));
    ck_assert(!cr_score_histogram_make(&cells, &s, -INFINITY));
    s.count = 19;
    ck_assert(!cr_score_histogram_make(&cells, &s, 0));
    s.first = 10, s.count = 10;
    ck_assert(!cr_score_histogram_make(&cells, &s, 0));
}

TEST_MAIN("betting bounds")
