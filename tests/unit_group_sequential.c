/* Tests of a probability that may be looked at more than once: the mixture of likelihood ratios, at
 * any number of trials, and the group-sequential test, at some. Against integrals, and by following
 * all paths in long double. */
#include "statistics/binomial.h"
#include "statistics/group_sequential.h"
#include "support/suite.h"

/* ======== the mixture */
/* The evidence as an integral. With s = sin^2 t the prior is uniform in t on (0, asin sqrt q). */
static long double evidence(long double k, long double n, long double q)
{
    enum { PANELS = 20000 };
    const long double end = asinl(sqrtl(q)), h = end / PANELS;
    long double sum = 0;
    for (int i = 0; i <= PANELS; i++) {
        const long double sine = sinl(h * i), s = sine * sine;
        const long double weight = i == 0 || i == PANELS ? 1 : i % 2 ? 4 : 2;
        const long double log_term =
            (k > 0 ? k * logl(s / q) : 0) + (n - k) * (log1pl(-s) - log1pl(-q));
        if (s > 0 || k == 0) sum += weight * expl(log_term);
    }
    return sum * h / 3 / end;
}

static const struct {
    uint64_t k, n;
    double q;
} evidences[] = {{0, 10, 0.5},      {0, 100, 0.04},  {1, 100, 0.08}, {3, 40, 0.4},  {20, 100, 0.35},
                 {200, 1000, 0.25}, {5, 2000, 0.01}, {45, 50, 0.98}, {0, 30, 0.999}};

TEST_ROWS(mixture_rejects_exactly_if_the_integral_exceeds_1_over_alpha, evidences)
{
    const uint64_t k = evidences[_i].k, n = evidences[_i].n;
    const double truth = (double)logl(evidence((long double)k, (long double)n, evidences[_i].q));
    ck_assert_double_gt(truth, log(2));
    const double slack = 1e-7 * (1 + truth); /* of the rule above and of the margin of the test */
    ck_assert(cr_mixture_rejects(k, n, evidences[_i].q, exp(-truth + slack)));
    ck_assert(!cr_mixture_rejects(k, n, evidences[_i].q, exp(-truth - 1e-9)));
}

static const uint64_t sizes[] = {1, 2, 5, 17, 100, 1000, 100000};

TEST_ROWS(mixture_rejects_all_from_the_upper_bound_on, sizes)
{
    const double levels[] = {0.5, 0.05, 1e-9, 1e-100};
    const uint64_t n = sizes[_i];
    for (int l = 0; l < KIT_ROWS(levels); l++)
        for (uint64_t k = 0; k <= n; k = 2 * k + 1) {
            const double upper = cr_mixture_upper(k, n, levels[l]);
            ck_assert_double_le(upper, cr_mixture_upper(k + 1, n, levels[l]));
            ck_assert_double_ge(upper, cr_mixture_upper(k, n + 1, levels[l]));
            if (upper == 1) continue;
            ck_assert_double_gt(upper, (double)k / (double)n);
            ck_assert(!cr_mixture_rejects(k, n, upper * (1 - 1e-9), levels[l]));
            for (int s = 0; s < 50; s++)
                ck_assert(
                    cr_mixture_rejects(k, n, upper + (1 - 0x1p-50 - upper) * s / 50, levels[l]));
        }
}

/* k failures of n trials: of the share q, if it is not 0, or of any */
static const struct {
    uint64_t k, n;
    double alpha, q;
} nothing[] = {{0, 0, 0.05, 0},   {10, 10, 0.05, 0}, {1, 100, 0, 0},      {1, 100, 0.6, 0},
               {1, 100, NAN, 0},  {11, 10, 0.05, 0}, {0, 100, 0.05, NAN}, {0, 100, 0.05, -0.5},
               {0, 100, 0.05, 1}, {0, 100, 0, 0.5}};

TEST_ROWS(mixture_rejects_nothing_without_trials_or_at_a_bad_level, nothing)
{
    ck_assert(!cr_mixture_rejects(nothing[_i].k, nothing[_i].n, nothing[_i].q, nothing[_i].alpha));
    if (nothing[_i].q == 0)
        ck_assert_double_eq(cr_mixture_upper(nothing[_i].k, nothing[_i].n, nothing[_i].alpha), 1);
}

/* ---- its coverage at all times, exactly */
enum { TRIALS = 600 };

/* Probability that the bound is ever below p within TRIALS trials. */
static double ever_missed(double p, double alpha)
{
    static double share[TRIALS + 1];
    double missed = 0;
    int out = 0; /* with so many failures or more the bound is not below p */
    memset(share, 0, sizeof share);
    share[0] = 1;
    for (int n = 1; n <= TRIALS; n++) {
        for (int k = n; k > 0; k--) share[k] = share[k] * (1 - p) + share[k - 1] * p;
        share[0] *= 1 - p;
        if (out > 0) out--; /* the bound is monotone in k; look again from a little below */
        while (out < n && cr_mixture_upper((uint64_t)out, (uint64_t)n, alpha) < p) out++;
        for (int k = 0; k < out; k++) missed += share[k], share[k] = 0;
    }
    return missed;
}

TEST_TIMES(mixture_bound_is_ever_too_low_with_at_most_alpha, 6 * 3)
{
    static const double truths[] = {0.02, 0.1, 0.16, 0.31, 0.5, 0.75}, nominal[] = {0.5, 0.1, 0.01};
    const double p = truths[_i % 6], alpha = nominal[_i / 6], missed = ever_missed(p, alpha);
    ck_assert_msg(missed <= alpha, "at %g: ever missed with %g of %g", p, missed, alpha);
    if (p >= 0.1) ck_assert_double_gt(missed, 0.1 * alpha); /* it can happen */
}

/* ======== the group-sequential test */
enum { ROOM = 4096, MOST_LOOKS = 128, MOST_TRIALS = 2000 };
static double work[ROOM];

static void make_tests(const uint64_t *looks, size_t count, double q, double alpha,
                       double *room_for, size_t room, int64_t *critical)
{
    const cr_group_design design = {looks, count, q, alpha};
    cr_group_search s;
    cr_group_search_init(&s, count, alpha);
    while (!cr_group_search_step(&s, &design, room_for, room, critical)) continue;
}

static double crossing_of(const uint64_t *looks, size_t count, double q, const int64_t *critical)
{
    return cr_group_crossing_probability(looks, count, q, critical, work, ROOM);
}

/* ---- paths by other means */
static long double paths_crossing(const uint64_t *looks, size_t count, double q,
                                  const int64_t *critical)
{
    static long double share[MOST_TRIALS + 1];
    long double crossed = 0;
    uint64_t trial = 0;
    memset(share, 0, sizeof share);
    share[0] = 1;
    for (size_t j = 0; j < count; j++) {
        for (; trial < looks[j]; trial++)
            for (uint64_t k = trial + 1; k <= trial + 1; k--)
                share[k] =
                    share[k] * (1 - (long double)q) + (k ? share[k - 1] * (long double)q : 0);
        for (int64_t k = 0; k <= critical[j] && (uint64_t)k <= trial; k++)
            crossed += share[k], share[k] = 0;
    }
    return crossed;
}

static const struct {
    uint64_t looks[6];
    size_t count;
    int64_t critical[6];
} small_tests[] = {
    {{1}, 1, {0}},
    {{1, 2, 3}, 3, {-1, -1, 1}},
    {{3, 7, 12}, 3, {-1, 1, 3}},
    {{2, 4, 6, 8, 10, 12}, 6, {-1, 0, 0, 1, 2, 2}},
    {{5, 6, 14}, 3, {0, 0, 6}},
    {{1, 14}, 2, {0, 14}}, /* passed whatever comes */
    {{4, 9}, 2, {0, -1}},  /* not ascending: only what the last look allows is asked for */
    {{10, 14}, 2, {9, 9}},
};

TEST_ROWS(group_crossing_is_that_of_all_paths_rounded_up, small_tests)
{
    const double shares[] = {0.003, 0.1, 0.37, 0.5, 0.9};
    const uint64_t *looks = small_tests[_i].looks;
    const int64_t *critical = small_tests[_i].critical;
    const size_t count = small_tests[_i].count;
    for (int s = 0; s < KIT_ROWS(shares); s++) {
        const double got = crossing_of(looks, count, shares[s], critical);
        const long double want =
            critical[count - 1] < 0 ? 0 : paths_crossing(looks, count, shares[s], critical);
        ck_assert_msg((long double)got >= want * (1 - 1e-18L) &&
                          (long double)got <= want * (1 + 1e-12L),
                      "%g: %.17g, want %.17Lg", shares[s], got, want);
    }
}

/* ---- designs */
typedef struct group_case {
    uint64_t looks[MOST_LOOKS];
    size_t count;
    double q, alpha;
} group_case;

static void add_looks(group_case *c, double from, double add, double times, uint64_t last)
{
    for (double n = from; n < (double)last && c->count + 1 < MOST_LOOKS;
         n = fmax(n + add, ceil(n * times)))
        c->looks[c->count++] = (uint64_t)n;
    c->looks[c->count++] = last;
}

static const struct {
    double from, add, times;
    uint64_t last;
} plans[] = {
    {1, 1, 1, 100}, {1, 1, 1.1, 1500}, {64, 64, 1, 640}, {7, 293, 1, 300}, {400, 1, 1, 400}};
static const double shares[] = {0.5, 0.31, 0.16, 0.05, 0.011}, levels[] = {0.5, 0.05, 1e-6};
enum { GRID = 3 * 5 * KIT_ROWS(plans) };

static group_case case_of(int i)
{
    group_case c = {.q = shares[i % 5], .alpha = levels[i / 5 % 3]};
    add_looks(&c, plans[i / 15].from, plans[i / 15].add, plans[i / 15].times, plans[i / 15].last);
    return c;
}

/* They use most of alpha, and beat the union bound. */
TEST_TIMES(group_tests_pass_with_at_most_alpha_from_their_share_on, GRID)
{
    const group_case c = case_of(_i);
    int64_t critical[MOST_LOOKS];
    make_tests(c.looks, c.count, c.q, c.alpha, work, ROOM, critical);
    long double before = 2, at_share = 0;
    for (int s = 0; s <= 10; s += 1 + s / 3) {
        const double q = c.q + (1 - c.q) * 0.1 * s * s / 10;
        const long double crossing = paths_crossing(c.looks, c.count, q, critical);
        ck_assert_msg(crossing <= c.alpha, "at %g: %Lg > %g", q, crossing, c.alpha);
        ck_assert(crossing <= before * (1 + 1e-15L));
        before = crossing, at_share = s ? at_share : crossing;
        const double claimed = crossing_of(c.looks, c.count, q, critical);
        ck_assert_msg((long double)claimed >= crossing * (1 - 1e-17L) - 1e-300L,
                      "%.17g, in truth %.17Lg", claimed, crossing);
    }
    for (size_t j = 0; j < c.count; j++) {
        ck_assert(critical[j] >= cr_binomial_critical(c.looks[j], c.q, c.alpha / (double)c.count));
        ck_assert(j == 0 || critical[j] >= critical[j - 1]);
    }
    if (c.count == 1) /* the binomial test at the whole of alpha */
        ck_assert(critical[0] == cr_binomial_critical(c.looks[0], c.q, c.alpha));
    /* some are too coarse to be filled */
    if ((double)c.looks[c.count - 1] * c.q >= 50 && c.count >= 3)
        ck_assert_msg(at_share > 0.6 * c.alpha, "%Lg of %g", at_share, c.alpha);
}

/* The shares are close together, so that their numbers do not come in order by themselves. */
TEST_TIMES(group_nest_orders_the_tests_and_keeps_them_valid, GRID)
{
    enum { TESTS = 6 };
    const group_case c = case_of(_i);
    double q[TESTS];
    int64_t critical[TESTS][MOST_LOOKS];
    for (int t = 0; t < TESTS; t++) {
        q[t] = t ? q[t - 1] * (t == 3 ? 1.2 : 1.001) : c.q;
        make_tests(c.looks, c.count, q[t], c.alpha, work, t == 2 ? 2 : ROOM, critical[t]);
    }
    for (int t = TESTS; --t > 0;) cr_group_nest(critical[t - 1], critical[t], c.count);
    for (int t = 0; t < TESTS; t++) {
        for (size_t j = 0; t && j < c.count; j++) ck_assert(critical[t][j] >= critical[t - 1][j]);
        for (size_t j = 1; j < c.count; j++) ck_assert(critical[t][j] >= critical[t][j - 1]);
        ck_assert(paths_crossing(c.looks, c.count, q[t], critical[t]) <= c.alpha);
    }
}

/* Without room, half of alpha is for the last look. And beyond the room nothing is touched. */
TEST_TIMES(group_tests_with_little_room_are_valid_and_touch_no_more, GRID)
{
    const group_case c = case_of(_i);
    const size_t last = c.count - 1;
    int64_t critical[MOST_LOOKS];
    double guarded[64];
    for (size_t room = 0; room < 60; room += room < 12 ? 3 : 16) {
        for (int i = 0; i < 64; i++) guarded[i] = -7;
        make_tests(c.looks, c.count, c.q, c.alpha, guarded, room, critical);
        for (size_t i = room; i < 64; i++) ck_assert_double_eq(guarded[i], -7);
        ck_assert(paths_crossing(c.looks, c.count, c.q, critical) <= c.alpha);
        for (size_t j = 0; !room && j < c.count; j++) {
            const double interim = 0.5 * c.alpha / (double)(last ? last : 1),
                         level = j < last ? interim
                                 : last   ? 0.5 * c.alpha
                                          : c.alpha;
            ck_assert(critical[j] >= cr_binomial_critical(c.looks[j], c.q, level));
        }
    }
}

/* So long that the paths cannot be followed any more: then the sum over the looks must not
 * exceed alpha. */
TEST_TIMES(group_tests_of_any_length_keep_alpha_and_a_strong_last_look, 3)
{
    const uint64_t lasts[] = {20000, 200000, 5000000};
    group_case c = {.q = 0.3264, .alpha = 0.05};
    int64_t critical[MOST_LOOKS];
    add_looks(&c, 1, 1, 1.2, lasts[_i]);
    make_tests(c.looks, c.count, c.q, c.alpha, work, ROOM, critical);
    const double crossing = crossing_of(c.looks, c.count, c.q, critical);
    double sum = 0;
    for (size_t j = 0; j < c.count; j++)
        if (critical[j] >= 0) sum += cr_binomial_cdf((uint64_t)critical[j], c.looks[j], c.q);
    ck_assert_msg(crossing <= c.alpha || sum <= c.alpha * (1 + 1e-9), "%g, sum %g", crossing, sum);
    /* of some 45 to 80 looks, of which the early ones have more */
    ck_assert(critical[c.count - 1] >= cr_binomial_critical(lasts[_i], c.q, c.alpha / 40));
}

TEST(group_crossing_of_long_stretches_loses_no_paths)
{
    const uint64_t looks[] = {100000, 850000};
    const double q = 1e-3;
    int64_t critical[2];
    make_tests(looks, 2, q, 0.05, work, ROOM, critical);
    double both = 0; /* by the number of failures at the first look */
    for (uint64_t k = 0; k <= (uint64_t)critical[1]; k++) {
        const double here =
            cr_binomial_cdf(k, looks[0], q) - (k ? cr_binomial_cdf(k - 1, looks[0], q) : 0);
        both += here * ((int64_t)k <= critical[0]
                            ? 1
                            : cr_binomial_cdf((uint64_t)critical[1] - k, looks[1] - looks[0], q));
    }
    ck_assert_double_le(both, 0.05);
    ck_assert_double_eq_tol(crossing_of(looks, 2, q, critical), both, 1e-8);
}

/* Where all paths fail too often before the first look there is none to follow, whatever lies in
 * the room. */
TEST(group_search_does_not_depend_on_the_contents_of_its_room)
{
    uint64_t looks[48];
    int64_t clean[48], poisoned[48];
    for (int j = 0; j < 48; j++) looks[j] = 1004 + (uint64_t)j;
    memset(work, 0, sizeof work);
    make_tests(looks, 48, 0.49999999969901399, 2.13e-131, work, ROOM, clean);
    memset(work, 0xc0, sizeof work);
    make_tests(looks, 48, 0.49999999969901399, 2.13e-131, work, ROOM, poisoned);
    ck_assert_mem_eq(clean, poisoned, sizeof clean);
    memset(work, 0xc0, sizeof work);
    const double crossing = crossing_of(looks, 48, 0.49999999969901399, clean);
    ck_assert(crossing >= 0 && crossing <= 1e-25);
}

TEST(group_tests_that_are_hopeless_are_never_passed)
{
    const uint64_t looks[] = {10, 20};
    int64_t critical[2];
    make_tests(looks, 2, 1e-9, 0.05, work, ROOM, critical);
    ck_assert(critical[0] == -1 && critical[1] == -1);
    ck_assert_double_eq(crossing_of(looks, 2, 0.3, critical), 0);
    ck_assert_double_eq(crossing_of(looks, 0, 0.3, critical), 0);
    critical[1] = 15;
    ck_assert_double_nan(cr_group_crossing_probability(looks, 2, 0.3, critical, work, 15));
    ck_assert_double_nan(cr_group_crossing_probability(looks, 2, 0.3, critical, work, 0));
}

TEST_MAIN("tests at several looks")
