/* Simulated coverage of the betting bounds on laws chosen to break them: values that are hardly
 * ever seen, tails of every weight within the range, laws that answer to what was drawn before.
 * Both ends, at a count fixed beforehand and at all counts together. */
#include "statistics/betting.h"
#include "statistics/capital.h"
#include "support/coverage.h"

enum { MOST = 2000, SIZES = 3 };

typedef struct law {
    const char *name;
    double mean;
    /* before: sum of earlier values less their mean */
    double (*value)(simulate_source *, size_t i, size_t n, double before);
} law;

static double once_in_n(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)before;
    return simulate_uniform(s) < 1 / (double)n;
}

static double thrice_in_n(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)before;
    return simulate_uniform(s) < 3 / (double)n;
}

/* Scatter that the pilot knows, and a jump that it has hardly ever seen. */
static double scatter_and_jump(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)before;
    return simulate_uniform(s) < 2 / (double)n ? 1 : 0.05 * simulate_uniform(s);
}

static double coin(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)n, (void)before;
    return simulate_uniform(s) < 0.5;
}

static double uniform(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)n, (void)before;
    return simulate_uniform(s);
}

/* P(Y > y) = (y/least)^(-1/2) up to 1: the mean is that of rare large values. */
static double heavy(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)n, (void)before;
    const double u = simulate_uniform(s), y = 1e-4 / (u * u);
    return fmin(y, 1);
}

static double narrow(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)n, (void)before;
    return 0.5 + 0.01 * (simulate_uniform(s) - 0.5);
}

/* Mean 1/2 whatever came before, but its scatter is large exactly when the bettor is ahead, or
 * behind. */
static double wild_when_low(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i;
    const double reach = before < -0.3 * sqrt((double)n) ? 0.5 : 0.02;
    return simulate_uniform(s) < 0.5 ? 0.5 - reach : 0.5 + reach;
}

static double wild_when_high(simulate_source *s, size_t i, size_t n, double before)
{
    (void)i, (void)n;
    const double reach = before >= 0 ? 0.5 : 0.05;
    return simulate_uniform(s) < 0.5 ? 0.5 - reach : 0.5 + reach;
}

/* Quiet at first, wild at the end. */
static double wild_late(simulate_source *s, size_t i, size_t n, double before)
{
    (void)before;
    const double reach = 10 * i > 9 * n ? 0.5 : 0.001;
    return simulate_uniform(s) < 0.5 ? 0.5 - reach : 0.5 + reach;
}

static law get_law(int k, size_t n)
{
    const double share = 1 / (double)n, heavy_mean = 2 * 0.01 - 1e-4;
    const law laws[] = {{"once in n", share, once_in_n},
                        {"thrice in n", 3 * share, thrice_in_n},
                        {"scatter and jump", 2 * share + (1 - 2 * share) * 0.025, scatter_and_jump},
                        {"coin", 0.5, coin},
                        {"uniform", 0.5, uniform},
                        {"heavy", heavy_mean, heavy},
                        {"narrow", 0.5, narrow},
                        {"wild when low", 0.5, wild_when_low},
                        {"wild when high", 0.5, wild_when_high},
                        {"wild late", 0.5, wild_late}};
    return laws[k];
}

enum { LAWS = 10, ENDS = 4 };
static const size_t sizes[SIZES] = {50, 350, MOST};
static const uint64_t trials[SIZES] = {3000, 1500, 250};
static const double alphas[SIZES] = {0.05, 0.0125, 0.2};
static const char *const ends[ENDS] = {"upper", "lower", "upper, any time", "lower, any time"};
#define LEVEL                                                                          \
    (0.01 / (LAWS * SIZES * ENDS)) /* 1 % for all comparisons of this program together \
                                    */

static double element(const void *of, size_t i)
{
    return ((const double *)of)[i];
}

/* Whether a bound misses at this count, or with `anytime` at any look up to it. */
static int misses(const cr_bet *bet, const double *values, size_t n, double alpha, double mean,
                  int upper, int anytime)
{
    for (size_t count = anytime ? 1 : n; count <= n;
         count = count < n && count * 2 > n ? n : count * 2) {
        cr_bet now = *bet;
        now.of = values, now.count = count;
        const double bound = upper ? cr_betting_upper(&now, alpha, anytime)
                                   : cr_betting_lower(&now, alpha, anytime);
        if (upper ? bound < mean : bound > mean) return 1;
    }
    return 0;
}

static void run(const law *l, size_t n, double alpha, simulate_source *source, uint64_t count[ENDS])
{
    static double values[MOST];
    cr_bet bet = {.value = element, .hi = 1};
    for (size_t i = 0; i < n / 6; i++) cr_betting_add_pilot(&bet, l->value(source, i, n, 0));
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        values[i] = l->value(source, i, n, before);
        before += values[i] - l->mean;
    }
    for (int k = 0; k < ENDS; k++)
        count[k] += (uint64_t)misses(&bet, values, n, alpha, l->mean, k % 2 == 0, k / 2);
}

TEST_TIMES(misses_stay_below_nominal, LAWS *SIZES)
{
    const int size = _i % SIZES;
    const size_t n = sizes[size];
    const law l = get_law(_i / SIZES, n);
    uint64_t count[ENDS] = {0};
    simulate_source source;
    simulate_seed(&source, 7000 + (uint64_t)_i);
    for (uint64_t t = 0; t < trials[size]; t++) run(&l, n, alphas[size], &source, count);
    for (int k = 0; k < ENDS; k++) {
        printf("n %4zu, %-15s: ", n, ends[k]);
        coverage_check(l.name, count[k], trials[size], alphas[size], LEVEL, 0);
    }
}

/* A pilot that knows nothing of the values that count may cost width, never validity. */
TEST(misses_stay_below_nominal_after_a_misleading_pilot)
{
    static double values[350];
    uint64_t missed = 0;
    simulate_source source;
    simulate_seed(&source, 7999);
    for (uint64_t t = 0; t < 2500; t++) {
        cr_bet bet = {.value = element, .hi = 1};
        for (size_t i = 0; i < 1500; i++) cr_betting_add_pilot(&bet, 0.5);
        for (size_t i = 0; i < 350; i++) values[i] = simulate_uniform(&source) < 0.5;
        missed += (uint64_t)misses(&bet, values, 350, 0.05, 0.5, 1, 0);
    }
    coverage_check("a misleading pilot", missed, 2500, 0.05, LEVEL, 0);
}

TEST_MAIN("coverage of betting bounds")
