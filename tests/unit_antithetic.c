/* Serving from antithetic pairs, against exact sums over all counts of pairs, and against events of
 * all kinds: sets of intervals, whose pairs have exact probabilities. */
#include "support/coverage.h"
#include "support/pair_events.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "statistics/serving.h"

static const uint64_t sizes[] = {11, 12, 25, 60, 101};

TEST_ROWS(antithetic_tail_is_the_exact_sum_rounded_up, sizes)
{
    static const double shares[] = {0, 1e-6, 0.05, 0.3, 0.5, 0.7, 1};
    cr_antithetic pairs = {.samples = sizes[_i], .failure_rate = 0.01};
    for (pairs.min_outside = 1; pairs.min_outside <= pairs.samples;
         pairs.min_outside += 1 + pairs.min_outside / 5)
        for (int i = 0; i < KIT_ROWS(shares); i++)
            for (int k = 0; k < KIT_ROWS(shares); k++) {
                const double both = shares[i], neither = fmin(shares[k], 1 - both),
                             found = cr_antithetic_tail(&pairs, both, neither),
                             truth = tail_of(&pairs, both, neither);
                ck_assert_msg(found >= truth * (1 - 1e-10) && found <= truth * (1 + 1e-9) + 1e-11,
                              "%zu of %zu: %.17g for %.17g at %g, %g", (size_t)pairs.min_outside,
                              (size_t)pairs.samples, found, truth, both, neither);
            }
}

/* ---- events */
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

/* The events that the proof finds attain it. */
TEST_ROWS(antithetic_radius_is_attained_by_an_event, sizes)
{
    static const double shares[] = {1e-4, 0.01, 0.1};
    cr_antithetic pairs = {.samples = sizes[_i], .failure_rate = 0.005};
    const uint64_t n = pairs.samples,
                   outs[] = {(n + 1) / 2, n - (uint64_t)(0.55 * (double)n), (n + 1) / 2 + n / 6};
    for (int k = 0; k < KIT_ROWS(shares) * KIT_ROWS(outs); k++) {
        const double p = shares[k / KIT_ROWS(outs)];
        pairs.min_outside = outs[k % KIT_ROWS(outs)];
        const double r = cr_antithetic_radius(&pairs, p, 0);
        double most = 0;
        event e;
        for (double a = 0; a < r + 3; a += 0.002)
            if (make_worst(&e, r, p, a)) most = fmax(most, misses_of(&pairs, &e, r));
        if (!(r > 0)) continue;
        ck_assert_msg(most <= 0.005 && most > 0.97 * 0.005, "%g at %g, %d", most, r, k);
        ck_assert_double_eq_tol(cr_antithetic_max_probability(&pairs, r), p, 1e-3 * p);
        ck_assert(!cr_antithetic_holds(&pairs, p, r + 0.003));
    }
}

/* ---- the numbers of docs/theory/01-guarantee.md, at a rate of 0.01 for both sides */
static const struct {
    uint64_t samples;
    double share, independent, pairs;
} lost[] = {{51, 0.001, 0.451, 0.226},   {51, 0.01, 0.451, 0.243},   {51, 0.1, 0.451, 0.296},
            {101, 0.001, 0.321, 0.138},  {101, 0.01, 0.321, 0.149},  {101, 0.1, 0.321, 0.181},
            {1001, 0.001, 0.102, 0.028}, {1001, 0.01, 0.102, 0.030}, {1001, 0.1, 0.102, 0.037}};

static cr_antithetic median_of(uint64_t samples)
{
    return (cr_antithetic){
        .samples = samples, .min_outside = (samples + 1) / 2, .failure_rate = 0.005};
}

static double independent_share(uint64_t samples)
{
    return 0.5 * (1 - cr_serving_binomial(samples, 0.5, 0.005));
}

TEST_ROWS(antithetic_radius_has_the_numbers_of_theory_1, lost)
{
    const cr_antithetic pairs = median_of(lost[_i].samples);
    const double level = cr_shift_radius(lost[_i].share, 0.5),
                 at = cr_shift_radius(independent_share(pairs.samples), 0.5);
    ck_assert_double_eq_tol(at, lost[_i].independent, 6e-4);
    ck_assert_double_eq_tol(level - cr_antithetic_radius(&pairs, lost[_i].share, 0), lost[_i].pairs,
                            6e-4);
}

TEST(antithetic_tail_of_the_other_kind_of_server_is_larger)
{
    const uint64_t samples[] = {101, 1001};
    const double rates[] = {0.01, 0.001}, of_pairs[] = {3.49, 10.3},
                 most[][2] = {{13.4, 24.2}, {59.1, 163.9}};
    for (int k = 0; k < 2; k++) {
        const cr_antithetic few = {
            .samples = 51, .min_outside = 26, .failure_rate = 0.5 * rates[k]};
        const double share = 0.5 * (1 - cr_serving_binomial(51, 0.5, few.failure_rate));
        ck_assert_double_eq_tol(cr_antithetic_tail(&few, share, 1 - share) / rates[k], of_pairs[k],
                                0.05);
        for (int i = 0; i < 2; i++) {
            const uint64_t n = samples[i];
            const cr_antithetic pairs = {
                .samples = n, .min_outside = (n + 1) / 2, .failure_rate = few.failure_rate};
            const double at =
                cr_normal_sf(cr_normal_quantile_sf(0.001) - cr_antithetic_radius(&pairs, 0.001, 0));
            ck_assert_double_eq_tol(cr_binomial_cdf(n / 2, n, 1 - at) / rates[k], most[k][i], 0.1);
        }
    }
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

/* ---- servers at the end of a radius */
/* 9 where it is out, else 0. */
static int evaluate(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) b->y[i] = is_out(user, (double)b->x[i]) ? 9 : 0;
    return 0;
}

static uint64_t misses_served(event *law, const certreg_serving *serving, uint64_t requests)
{
    const float z = 0.9817408f; /* up to which an event of this share misses in 5% of the cases */
    certreg_model m = kit_model(evaluate, law, 1, 1);
    certreg_plan p = kit_plan(serving->samples);
    p.pilot = SIZE_MAX, p.flags = serving->pairs ? CERTREG_PLAN_PAIRS : 0;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    const certreg_question q = QUESTION(.tolerance = 1, .serving = serving);
    uint64_t misses = 0;
    for (uint64_t request = 0; request < requests; request++) {
        double median;
        KIT_OK(e, certreg_estimator_begin(e, &z, 1, request));
        KIT_OK(e, certreg_estimator_sample(e, 0, serving->samples));
        KIT_OK(e, certreg_estimator_estimate(e, &q, &median));
        misses += fabs(median) >= 1;
    }
    return misses;
}

TEST(antithetic_server_misses_as_promised_another_more_often)
{
    enum { REQUESTS = 2000 };
    event law = {{0.919540297602, 1.055540297602, 1.485674451437}, 3};
    certreg_serving serving = {
        .struct_size = sizeof serving, .pairs = 1, .samples = 21, .failure_rate = 0.1};
    const uint64_t paired = misses_served(&law, &serving, REQUESTS);
    serving.pairs = 0;
    const uint64_t alone = misses_served(&law, &serving, REQUESTS);
    coverage_check("a server of pairs", paired, REQUESTS, 0.05, 1e-3, 0.8);
    ck_assert_uint_gt(3 * alone, 4 * paired);
}

KIT_MAIN("pairs")
