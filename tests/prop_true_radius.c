/* Certified against true radii (support/true_radius.h). A certified radius may exceed the true
 * one in a share alpha of the records; more than chance allows at one per cent fails. */
#include "support/api_kit.h"
#include "support/names.h"
#include "support/simulate.h"
#include "support/true_radius.h"

enum { POINTS = 10, SAMPLES = 2000 };
static const double alpha = 0.05;

static int evaluate(void *user, const certreg_batch *b)
{
    const target *t = user;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[2 * i], y = (double)b->x[2 * i + 1];
        b->y[i] = (float)t->value(t->radial ? hypot(x, y) : x);
    }
    return 0;
}

/* ---- certificates */
typedef struct asked {
    const char *name;
    int32_t statistic, method, center;
    uint32_t constraints;
} asked;

static const asked questions[] = {
    {"median, finite", MEDIAN, FINITE, PREDICTION, 0},
    {"median, asymptotic", MEDIAN, ASYMPTOTIC, PREDICTION, 0},
    {"Huber, asymptotic", HUBER, ASYMPTOTIC, PREDICTION, 0},
    {"mean, prediction", MEAN, ASYMPTOTIC, PREDICTION, 0},
    {"mean (E,C,G)+M", MEAN, ASYMPTOTIC, TRUE_MEAN, ECGM},
    {"paper (E,C,G)+M", MEAN, PAPER, TRUE_MEAN, ECGM},
    {"mean (C), prediction", MEAN, ASYMPTOTIC, PREDICTION, C},
    {"Huber (E,C)+M", HUBER, ASYMPTOTIC, PREDICTION, ECM},
    {"mean (C)", MEAN, ASYMPTOTIC, TRUE_MEAN, C},
    {"mean (C,G)", MEAN, ASYMPTOTIC, TRUE_MEAN, CG},
    {"mean (E,C)+M", MEAN, ASYMPTOTIC, TRUE_MEAN, ECM},
    {"paper (C)", MEAN, PAPER, TRUE_MEAN, C},
    {"paper (C,G)", MEAN, PAPER, TRUE_MEAN, CG},
    {"paper (E,C)+M", MEAN, PAPER, TRUE_MEAN, ECM},
};
enum { STRONGEST = 6 /* the first six, which use all constraints */, MOVING = 4 };

static float point[POINTS][2];
static certreg_estimator *estimator[FUNCTIONS];

static void setup(void)
{
    simulate_source source;
    simulate_seed(&source, 2026);
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < 2; j++) point[i][j] = (float)(2 * simulate_uniform(&source) - 1);
    for (int f = 0; f < FUNCTIONS; f++) {
        certreg_model m = kit_model(evaluate, (void *)(uintptr_t)&targets[f], 2, 1);
        certreg_plan p = kit_plan(SAMPLES);
        m.lo = &targets[f].lo, m.hi = &targets[f].hi, p.seed = 5;
        estimator[f] = kit_create(NULL, &m, &p);
    }
}

static double seen_at(const target *t, int i)
{
    return t->radial ? hypot((double)point[i][0], (double)point[i][1]) : (double)point[i][0];
}

static certreg_certificate certify(int f, int i, uint64_t stream, const asked *a)
{
    certreg_question q = kit_question(targets[f].tolerance);
    q.statistic = a->statistic, q.method = a->method, q.center = a->center;
    q.constraints = a->constraints, q.alpha = alpha;
    if (q.method == PAPER && !(targets[f].hi < INFINITY)) /* no M without a range */
        q.constraints &= ~(uint32_t)CERTREG_CONSTRAINT_RANGE;
    if (q.statistic == HUBER) q.huber_width = 0.5 * targets[f].tolerance;
    KIT_OK(estimator[f], certreg_estimator_begin(estimator[f], point[i], sigma, stream));
    return kit_ask(estimator[f], SAMPLES, q);
}

/* The true radius of a certificate's promise; that about the true mean does not depend on the
 * record. */
static double truth_of(int f, int i, const certreg_certificate *c)
{
    static double known[FUNCTIONS][POINTS];
    const target *t = &targets[f];
    const double at = seen_at(t, i), width = c->statistic == MEAN    ? INFINITY
                                             : c->statistic == HUBER ? 0.5 * t->tolerance
                                                                     : 0;
    if (c->center == PREDICTION) return true_radius(t, at, c->prediction, width);
    if (known[f][i] == 0)
        known[f][i] = true_radius(t, at, mean_score(t, at, 0, INFINITY, 1), INFINITY);
    return known[f][i];
}

/* ---- tests */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 5, MANY_SEEDS = 20 }; /* the statistics are those of the plain build */
#else
enum { SEEDS = 20, MANY_SEEDS = 400 };
#endif

typedef struct tally {
    uint64_t cases, violations, certified;
    double share; /* of the true radius, summed over finite ones */
    uint64_t finite;
} tally;

/* factor 1 but where the test itself is tested. */
static void count(int f, int i, uint64_t stream, const asked *a, double factor, tally *all)
{
    const certreg_certificate c = certify(f, i, stream, a);
    all->cases++;
    if (c.outcome == CERTREG_OUTCOME_ABSTAINED) return;
    const double truth = truth_of(f, i, &c);
    all->certified++;
    all->violations += factor * c.radius > truth * (1 + 1e-6);
    if (isfinite(truth) && truth > 0) all->share += c.radius / truth, all->finite++;
}

TEST_ROWS(certified_radii_exceed_true_radii_with_at_most_alpha, questions)
{
    const asked *a = questions + _i;
    tally all = {0};
    for (int f = 0; f < FUNCTIONS; f++)
        for (int i = 0; i < POINTS; i++)
            for (int seed = 0; seed < SEEDS; seed++)
                count(f, i, (uint64_t)(100000 * f + 1000 * i + seed), a, 1, &all);
    const uint64_t most = simulate_most_misses(all.cases, alpha, 0.01);
    printf(
        "%-22s %3llu of %llu too large (at most %llu), %llu certified, %.3f of the true radius\n",
        a->name, (unsigned long long)all.violations, (unsigned long long)all.cases,
        (unsigned long long)most, (unsigned long long)all.certified,
        all.share / (double)all.finite);
    ck_assert_uint_le(all.violations, most);
    ck_assert_uint_gt(all.certified, all.cases / 2); /* or nothing was tested */
}

/* A pool of points may hide a bad one: each function at its first point of interest, many
 * records. */
TEST_TIMES(certified_radii_of_a_single_input_miss_with_at_most_alpha, FUNCTIONS *STRONGEST)
{
    const asked *a = questions + _i / FUNCTIONS;
    const int f = _i % FUNCTIONS;
    int i = 0;
    /* where the function is neither flat nor far */
    while (fabs(seen_at(&targets[f], i) - 0.5) > 0.25) i++;
    tally all = {0};
    for (int seed = 0; seed < MANY_SEEDS; seed++)
        count(f, i, (uint64_t)(5000000 + 1000 * f + seed), a, 1, &all);
    const uint64_t most = simulate_most_misses(all.cases, alpha, 0.01);
    printf("%-22s %-10s %3llu of %llu too large (at most %llu), %.3f of the true radius\n", a->name,
           targets[f].name, (unsigned long long)all.violations, (unsigned long long)all.cases,
           (unsigned long long)most, all.share / (double)all.finite);
    ck_assert_uint_le(all.violations, most);
}

TEST_TIMES(certified_radii_a_sixth_too_large_would_be_noticed, 3)
{
    tally all = {0};
    for (int i = 0; i < POINTS; i++)
        for (int seed = 0; seed < SEEDS; seed++)
            count(1, i, (uint64_t)(100000 + 1000 * i + seed), questions + _i, 1 + 1.0 / 6, &all);
    ck_assert_uint_gt(all.violations, simulate_most_misses(all.cases, alpha, 0.01));
}

/* About inputs all around, and beyond where the certificate ends. */
TEST_TIMES(move_certificate_of_true_ones_is_true, FUNCTIONS *MOVING)
{
    const target *t = &targets[_i % FUNCTIONS];
    int true_ones = 0;
    for (int i = 0; i < POINTS; i++) {
        const certreg_certificate c = certify(_i % FUNCTIONS, i, 77, questions + _i / FUNCTIONS);
        const double width = c.statistic == MEAN    ? INFINITY
                             : c.statistic == HUBER ? 0.5 * t->tolerance
                                                    : 0;
        if (c.radius > truth_of(_i % FUNCTIONS, i, &c)) continue;
        true_ones++;
        for (int k = 0; k < 10; k++) {
            const double way = c.radius * (k % 4 + 1) / 3.5, angle = pi * k / 5;
            const float to[2] = {(float)((double)point[i][0] + way * cos(angle)),
                                 (float)((double)point[i][1] + way * sin(angle))};
            certreg_certificate m = kit_certificate();
            ck_assert_int_eq(certreg_move_certificate(&c, 2, NULL, point[i], to, NULL, &m),
                             CERTREG_OK);
            if (m.radius == 0) continue;
            const double at = t->radial ? hypot((double)to[0], (double)to[1]) : (double)to[0];
            ck_assert_double_le(m.radius, true_radius(t, at, c.prediction, width) * (1 + 1e-6));
        }
    }
    ck_assert_int_gt(true_ones, POINTS / 2);
}

TEST(true_radius_quadrature_agrees_with_closed_forms)
{
    for (double at = 0; at < 4; at += 0.17) {
        const double tail = 0.5 * erfc(-at / sigma * sqrt(0.5)),
                     peak = exp(-0.5 * at * at / sigma / sigma) / sqrt(2 * pi);
        ck_assert_double_eq_tol(mean_score(&targets[0], at, 0, INFINITY, 1),
                                at * at + 2 * sigma * sigma, 1e-7);
        ck_assert_double_eq_tol(mean_score(&targets[1], at, 0, INFINITY, 1),
                                at * tail + sigma * peak, 1e-9);
        const double beyond = 0.5 * erfc(-(at - 1) / sigma * sqrt(0.5)),
                     edge = exp(-0.5 * (at - 1) * (at - 1) / sigma / sigma) / sqrt(2 * pi);
        ck_assert_double_eq_tol(mean_score(&targets[2], at, 0, INFINITY, 1),
                                at * tail + sigma * peak - (at - 1) * beyond - sigma * edge, 1e-9);
        ck_assert_double_eq_tol(mean_score(&targets[0], at, -1, 0, 1), 1, 1e-7); /* the whole law */
        ck_assert_double_eq_tol(mean_score(&targets[1], at, at, 0, 1), at > 0 ? 0 : 1, 1e-9);
    }
    /* exponential */
    ck_assert_double_eq_tol(mean_score(&targets[0], 0, 0.1, 0, 1),
                            2 * exp(-0.1 / (2 * sigma * sigma)) - 1, 1e-9);
}

TEST(true_radius_agrees_with_closed_forms)
{
    const target *t = &targets[1];
    /* the median of the slice is max(0, x) */
    ck_assert_double_eq_tol(true_radius(t, 0.5, 0.55, 0), 0.15, 1e-7);
    /* it cannot fall below 0 */
    ck_assert_double_eq_tol(true_radius(t, -0.5, 0.05, 0), 0.75, 1e-7);
    /* broken where it stands */
    ck_assert_double_eq(true_radius(t, 0.5, 0.75, 0), 0);
    ck_assert_double_eq_tol(true_radius(&targets[2], 0.9, 0.95, 0), 0.15, 1e-7);
    /* of the quadratic: outward, where the mean has grown by the tolerance */
    const double mean = 0.25 + 2 * sigma * sigma;
    ck_assert_double_eq_tol(true_radius(&targets[0], 0.5, mean, INFINITY), sqrt(0.75) - 0.5, 1e-6);
    ck_assert_double_eq(true_radius(&targets[2], 0.5, 0.5, INFINITY) > 0.2, 1);
}

/* Mean score at an input of the plane, by a sum over a grid of the noise: no use is made of what
 * the function sees. */
static double mean_score_in_plane(const target *t, double x, double y, double theta, double width)
{
    double sum = 0, all = 0;
    for (int i = -60; i <= 60; i++)
        for (int j = -60; j <= 60; j++) {
            const double mass = exp(-0.5 * (i * i + j * j) / 100.0), u = x + sigma * 0.1 * i,
                         v = y + sigma * 0.1 * j;
            sum += mass * score(t->value(t->radial ? hypot(u, v) : u) - theta, width, 1);
            all += mass;
        }
    return sum / all;
}

TEST_TIMES(true_radius_is_that_of_every_direction_of_the_plane, FUNCTIONS)
{
    const target *t = &targets[_i];
    for (int i = 0; i < POINTS; i++) {
        const double x = (double)point[i][0], y = (double)point[i][1], width = 0.5 * t->tolerance;
        const double prediction = t->value(seen_at(t, i)) + 0.3 * t->tolerance,
                     radius = true_radius(t, seen_at(t, i), prediction, width);
        const double lo = prediction - t->tolerance, hi = prediction + t->tolerance;
        if (radius == 0) continue;
        for (int k = 0; k < 24; k++) {
            const double near = fmin(radius, 2) * 0.98, u = x + near * cos(pi * k / 12),
                         v = y + near * sin(pi * k / 12);
            ck_assert_double_gt(mean_score_in_plane(t, u, v, lo, width), 0);
            ck_assert_double_lt(mean_score_in_plane(t, u, v, hi, width), 0);
        }
    }
}

FIXTURE(setup, NULL)
KIT_MAIN("true radius")
