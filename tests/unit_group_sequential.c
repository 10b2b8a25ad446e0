/* The group-sequential test of a probability, against enumeration and dynamic programming in long
 * double. */
#include "support/api_kit.h"
#include "statistics/binomial.h"
#include "statistics/group_sequential.h"

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

/* ---- looks */
static size_t every_look(uint64_t *looks, uint64_t from, uint64_t by, uint64_t last)
{
    size_t count = 0;
    for (uint64_t n = from; n < last && count + 1 < MOST_LOOKS; n += by) looks[count++] = n;
    looks[count++] = last;
    return count;
}

static size_t growing_looks(uint64_t *looks, double by, uint64_t last)
{
    size_t count = 0;
    for (double n = 1; n < (double)last && count + 1 < MOST_LOOKS; n = fmax(n + 1, ceil(n * by)))
        looks[count++] = (uint64_t)n;
    looks[count++] = last;
    return count;
}

/* ---- enumeration */
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

/* Probability that the sequence of the bits of `word` passes: 1 or 0. */
static int passes(unsigned word, const uint64_t *looks, size_t count, const int64_t *critical)
{
    for (size_t j = 0; j < count; j++)
        if (__builtin_popcount(word & ((1u << looks[j]) - 1)) <= critical[j]) return 1;
    return 0;
}

static long double enumerate(const uint64_t *looks, size_t count, double q, const int64_t *critical)
{
    const unsigned trials = (unsigned)looks[count - 1];
    long double sum = 0;
    for (unsigned word = 0; word < 1u << trials; word++) {
        const int failures = __builtin_popcount(word);
        if (passes(word, looks, count, critical))
            sum += powl(q, failures) * powl(1 - (long double)q, (int)trials - failures);
    }
    return sum;
}

TEST_ROWS(group_crossing_is_that_of_all_sequences_rounded_up, small_tests)
{
    const double shares[] = {0.003, 0.1, 0.37, 0.5, 0.9};
    const size_t count = small_tests[_i].count;
    for (int s = 0; s < KIT_ROWS(shares); s++) {
        const double got = cr_group_crossing_probability(small_tests[_i].looks, count, shares[s],
                                                         small_tests[_i].critical, work, ROOM);
        const long double want =
            small_tests[_i].critical[count - 1] < 0
                ? 0
                : enumerate(small_tests[_i].looks, count, shares[s], small_tests[_i].critical);
        ck_assert_msg((long double)got >= want * (1 - 1e-18L) &&
                          (long double)got <= want * (1 + 1e-12L),
                      "%g: %.17g, want %.17Lg", shares[s], got, want);
    }
}

/* ---- dynamic programming by other means */
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

static const double shares[] = {0.5, 0.31, 0.16, 0.05, 0.011}, levels[] = {0.5, 0.05, 1e-6};
enum { PLANS = 5, GRID = 3 * 5 * PLANS };

typedef struct group_case {
    uint64_t looks[MOST_LOOKS];
    size_t count;
    double q, alpha;
} group_case;

static group_case case_of(int i)
{
    group_case c = {.q = shares[i % 5], .alpha = levels[i / 5 % 3]};
    switch (i / 15) {
    case 0: c.count = every_look(c.looks, 1, 1, 100); break;
    case 1: c.count = growing_looks(c.looks, 1.1, 1500); break;
    case 2: c.count = every_look(c.looks, 64, 64, 640); break;
    case 3: c.count = every_look(c.looks, 7, 293, 300); break;
    default: c.count = every_look(c.looks, 400, 1, 400); break;
    }
    return c;
}

/* They use most of alpha, and beat the union bound. */
TEST_TIMES(group_tests_pass_with_at_most_alpha_from_their_share_on, GRID)
{
    const group_case c = case_of(_i);
    int64_t critical[MOST_LOOKS];
    make_tests(c.looks, c.count, c.q, c.alpha, work, ROOM, critical);
    long double before = 2, at_share = 0;
    for (int s = 0; s <= 10; s++) {
        const double q = c.q + (1 - c.q) * 0.1 * s * s / 10;
        const long double crossing = paths_crossing(c.looks, c.count, q, critical);
        ck_assert_msg(crossing <= c.alpha, "at %g: %Lg > %g", q, crossing, c.alpha);
        ck_assert(crossing <= before * (1 + 1e-15L));
        before = crossing, at_share = s ? at_share : crossing;
        const double claimed =
            cr_group_crossing_probability(c.looks, c.count, q, critical, work, ROOM);
        ck_assert_msg((long double)claimed >= crossing * (1 - 1e-17L) - 1e-300L,
                      "%.17g, in truth %.17Lg", claimed, crossing);
    }
    for (size_t j = 1; j < c.count; j++) ck_assert(critical[j] >= critical[j - 1]);
    for (size_t j = 0; j < c.count; j++)
        ck_assert(critical[j] >= cr_binomial_critical(c.looks[j], c.q, c.alpha / (double)c.count));
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
    group_case c = case_of(_i);
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

static void assert_spent(const group_case *c, const int64_t *critical)
{
    const double interim = 0.5 * c->alpha / fmax(1, (double)c->count - 1);
    for (size_t j = 0; j + 1 < c->count; j++)
        ck_assert(critical[j] >= cr_binomial_critical(c->looks[j], c->q, interim));
    const size_t last = c->count - 1;
    ck_assert(critical[last] >=
              cr_binomial_critical(c->looks[last], c->q, last ? 0.5 * c->alpha : c->alpha));
}

/* And beyond the room nothing is touched. */
TEST_TIMES(group_tests_with_little_room_are_valid_and_touch_no_more, GRID)
{
    const group_case c = case_of(_i);
    int64_t critical[MOST_LOOKS];
    double guarded[64];
    for (size_t room = 0; room < 60; room += room < 12 ? 3 : 7) {
        for (int i = 0; i < 64; i++) guarded[i] = -7;
        make_tests(c.looks, c.count, c.q, c.alpha, guarded, room, critical);
        for (size_t i = room; i < 64; i++) ck_assert_double_eq(guarded[i], -7);
        ck_assert(paths_crossing(c.looks, c.count, c.q, critical) <= c.alpha);
        if (!room) assert_spent(&c, critical);
    }
}

/* So long that the paths cannot be followed any more: then the sum over the looks must not
 * exceed alpha. */
TEST_TIMES(group_tests_of_any_length_keep_alpha_and_a_strong_last_look, 3)
{
    const uint64_t lasts[] = {20000, 200000, 5000000};
    group_case c = {.q = 0.3264, .alpha = 0.05};
    int64_t critical[MOST_LOOKS];
    c.count = growing_looks(c.looks, 1.2, lasts[_i]);
    make_tests(c.looks, c.count, c.q, c.alpha, work, ROOM, critical);
    const double crossing =
        cr_group_crossing_probability(c.looks, c.count, c.q, critical, work, ROOM);
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
    const double crossing = cr_group_crossing_probability(looks, 2, q, critical, work, ROOM);
    const double first = cr_binomial_cdf((uint64_t)critical[0], looks[0], q),
                 second = cr_binomial_cdf((uint64_t)critical[1], looks[1], q);
    ck_assert_double_le(crossing, 0.05);
    ck_assert_double_ge(crossing, fmax(first, second));
    ck_assert_double_le(crossing, first + second);
    double both = 0; /* by the number of failures at the first look */
    for (uint64_t k = 0; k <= (uint64_t)critical[1]; k++) {
        const double here =
            cr_binomial_cdf(k, looks[0], q) - (k ? cr_binomial_cdf(k - 1, looks[0], q) : 0);
        both += here * ((int64_t)k <= critical[0]
                            ? 1
                            : cr_binomial_cdf((uint64_t)critical[1] - k, looks[1] - looks[0], q));
    }
    ck_assert_double_eq_tol(crossing, both, 1e-8);
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
    for (int j = 0; j < 48; j++) ck_assert_int_eq(clean[j], poisoned[j]);
    memset(work, 0xc0, sizeof work);
    const double crossing =
        cr_group_crossing_probability(looks, 48, 0.49999999969901399, clean, work, ROOM);
    ck_assert(crossing >= 0 && crossing <= 1e-25);
}

TEST(group_tests_that_are_hopeless_are_never_passed)
{
    const uint64_t looks[] = {10, 20};
    int64_t critical[2];
    make_tests(looks, 2, 1e-9, 0.05, work, ROOM, critical);
    ck_assert(critical[0] == -1 && critical[1] == -1);
    ck_assert_double_eq(cr_group_crossing_probability(looks, 2, 0.3, critical, work, ROOM), 0);
    ck_assert_double_eq(cr_group_crossing_probability(looks, 0, 0.3, critical, work, ROOM), 0);
    critical[1] = 15;
    ck_assert_double_nan(cr_group_crossing_probability(looks, 2, 0.3, critical, work, 15));
}

TEST_MAIN("group-sequential test")
