/* Certified against true radii of the synthetic functions of the paper in two dimensions, found
 * without the library: a promise is broken at a shift where the mean score about an end of the
 * promised interval changes its sign (theory 1). That mean is integrated by Gauss-Legendre panels
 * cut at every kink. Slice and sandwich see the first coordinate alone; the square of the norm sees
 * the distance from the origin, whose law is Rice's. The search walks outward in steps and needs no
 * monotonicity. */
#include "support/coverage.h"
#include "support/names.h"

enum { FUNCTIONS = 3, POINTS = 10, SAMPLES = 2000 };
static const double sigma = 0.3, pi = 3.14159265358979323846;
static const double alpha = 0.25;

typedef struct target {
    const char *name;
    double (*value)(double); /* of the first coordinate, or of the distance from the origin */
    int radial;
    double tolerance, lo, hi;
} target;

/* ---- functions of the first coordinate, or of the distance from the origin */
static double squared(double r)
{
    return r * r;
}

static double slice(double x)
{
    return fmax(0, x);
}

static double sandwich(double x)
{
    return fmin(fmax(0, x), 1);
}

static const target targets[FUNCTIONS] = {
    {"quadratic", squared, 1, 0.5, 0, INFINITY},
    {"slice", slice, 0, 0.2, 0, INFINITY},
    {"sandwich", sandwich, 0, 0.2, 0, 1},
};

/* ---- the law of the outputs at an input that the function sees at `at`, by closed forms */
static double normal_tail(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* E max(x - t, 0) of the normal coordinate. */
static double normal_excess(double at, double t)
{
    const double s = (at - t) / sigma;
    return (at - t) * normal_tail(-s) + sigma * exp(-0.5 * s * s) / sqrt(2 * pi);
}

/* The squared norm is 2 sigma^2 times a gamma variable of shape 1 + K, with K Poisson. P(y > t) =
 * sum of P(K = k) Q_k, Q_k = P(Poisson(x) <= k), and E max(y - t, 0) of its integrals. */
static void square_tail(double at, double t, double *tail, double *excess)
{
    const double unit = 2 * sigma * sigma, mean = at * at / unit, x = fmax(0, t) / unit;
    double here = exp(-mean), term = exp(-x), below = term, beyond = term;
    /* beyond: the sum of Q_j over j <= k, which is the integral of Q_k from x on */
    *tail = *excess = 0;
    for (int k = 0; k < 40 || (double)k < 3 * mean + 3 * x; k++) {
        *tail += here * below, *excess += here * beyond * unit;
        here *= mean / (k + 1), term *= x / (k + 1), below += term, beyond += below;
    }
    *excess += fmin(t, 0) * -1;
}

/* P(output > t), and E max(output - t, 0). */
static void upper_tail(const target *f, double at, double t, double *tail, double *excess)
{
    if (f->radial) {
        square_tail(at, t, tail, excess);
        return;
    }
    const double low = fmax(t, 0), top = f->hi;
    *tail = t < 0 ? 1 : t >= top ? 0 : normal_tail((t - at) / sigma);
    *excess = t >= top ? 0 : normal_excess(at, low) + (low - t);
    if (t < top && isfinite(top)) *excess -= normal_excess(at, top);
}

/* Mean score of the outputs about theta. Width 0 is the sign, whose ends count as out on the side
 * `side`; infinite, the difference itself. */
static double mean_score(const target *f, double at, double theta, double width, int side)
{
    double tail, excess, beyond, none;
    const double least = f->lo - 1; /* below all outputs */
    if (isinf(width)) {
        upper_tail(f, at, least, &none, &excess);
        return excess + least - theta;
    }
    if (width > 0) {
        upper_tail(f, at, theta - width, &none, &excess);
        upper_tail(f, at, theta + width, &none, &beyond);
        return (excess - beyond) / width - 1;
    }
    /* nearby, where an output of a positive probability counts as out */
    upper_tail(f, at, side < 0 ? theta : nextafter(theta, -INFINITY), &tail, &none);
    return 2 * tail - 1;
}

/* ---- the true radius */
static const double reach = 10.5 * 0.3; /* beyond it no radius is certified */

static int holds(const target *t, double at, double lo, double hi, double width)
{
    if (t->radial) at = fabs(at);
    return mean_score(t, at, lo, width, -1) > 0 && mean_score(t, at, hi, width, 1) < 0;
}

/* First distance from `at` in one direction where the promise breaks; the input reaches no
 * distance below zero from the origin. */
static double first_break(const target *t, double at, int direction, double lo, double hi,
                          double width)
{
    const double step = 0.1 * sigma;
    double good = 0, bad = step;
    for (;; good = bad, bad += step) {
        if (good > reach || (t->radial && at + direction * good < 0)) return INFINITY;
        if (!holds(t, at + direction * bad, lo, hi, width)) break;
    }
    for (int i = 0; i < 28; i++) {
        const double middle = 0.5 * (good + bad);
        if (holds(t, at + direction * middle, lo, hi, width)) good = middle;
        else bad = middle;
    }
    return bad;
}

static double true_radius(const target *t, double at, double prediction, double width)
{
    const double lo = prediction - t->tolerance, hi = prediction + t->tolerance;
    if (!holds(t, at, lo, hi, width)) return 0;
    return fmin(first_break(t, at, -1, lo, hi, width), first_break(t, at, 1, lo, hi, width));
}

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
    double expected; /* of runs, at all points together */
} asked;

static const asked questions[] = {
    {"median, finite", MEDIAN, FINITE, PREDICTION, 0, 0.128},
    {"median, asymptotic", MEDIAN, ASYMPTOTIC, PREDICTION, 0, 0.073},
    {"Huber, asymptotic", HUBER, ASYMPTOTIC, PREDICTION, 0, 0.028},
    {"mean, prediction", MEAN, ASYMPTOTIC, PREDICTION, 0, 0.005},
    {"mean (E,C,G)+M", MEAN, ASYMPTOTIC, TRUE_MEAN, ECGM, 0.005},
    {"paper (E,C,G)+M", MEAN, PAPER, TRUE_MEAN, ECGM, 0.005},
    {"mean (C), prediction", MEAN, ASYMPTOTIC, PREDICTION, C, 0.005},
    {"Huber (E,C)+M", HUBER, ASYMPTOTIC, PREDICTION, ECM, 0.022},
    {"mean (C)", MEAN, ASYMPTOTIC, TRUE_MEAN, C, 0.005},
    {"mean (C,G)", MEAN, ASYMPTOTIC, TRUE_MEAN, CG, 0.005},
    {"mean (E,C)+M", MEAN, ASYMPTOTIC, TRUE_MEAN, ECM, 0.005},
    {"paper (C)", MEAN, PAPER, TRUE_MEAN, C, 0.005},
    {"paper (C,G)", MEAN, PAPER, TRUE_MEAN, CG, 0.005},
    {"paper (E,C)+M", MEAN, PAPER, TRUE_MEAN, ECM, 0.008},
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

static certreg_certificate certify(int f, int i, uint64_t stream, const asked *a, double spend)
{
    certreg_question q = kit_question(targets[f].tolerance);
    q.statistic = a->statistic, q.method = a->method, q.center = a->center;
    q.constraints = a->constraints, q.alpha = alpha * spend;
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

/* ---- runs */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 5, MANY_SEEDS = 20 }; /* the statistics are those of the plain build */
#else
enum { SEEDS = 20, MANY_SEEDS = 300 };
#endif

typedef struct bench {
    const asked *asked;
    int f, i;      /* -1: every one in turn */
    double factor; /* 1, but where the test itself is tested */
    uint64_t certified;
} bench;

static unsigned run_one(void *of, uint64_t run, double spend)
{
    bench *b = of;
    const int f = b->f < 0 ? (int)(run % FUNCTIONS) : b->f,
              i = b->i < 0 ? (int)(run / FUNCTIONS % POINTS) : b->i;
    const certreg_certificate c = certify(f, i, run, b->asked, spend);
    if (c.outcome == CERTREG_OUTCOME_ABSTAINED) return 0;
    b->certified++;
    return b->factor * c.radius > truth_of(f, i, &c) * (1 + 1e-6);
}

TEST_ROWS(certified_radii_exceed_true_radii_as_often_as_expected, questions)
{
    const uint64_t runs = FUNCTIONS * POINTS * SEEDS;
    bench b = {questions + _i, -1, -1, 1, 0};
    coverage_row(alpha, questions[_i].expected, runs, run_one, &b, "%s", questions[_i].name);
    ck_assert_uint_gt(b.certified, runs / 2); /* or nothing was tested */
}

/* A pool of points may hide a bad one: each function at its first point of interest, many
 * records. */
static const double alone[STRONGEST][FUNCTIONS] = {{0.005, 0.153, 0.153}, {0.005, 0.080, 0.080},
                                                   {0.005, 0.047, 0.047}, {0.005, 0.005, 0.005},
                                                   {0.005, 0.005, 0.005}, {0.005, 0.005, 0.005}};

TEST_TIMES(certified_radii_of_a_single_input_miss_as_often_as_expected, FUNCTIONS *STRONGEST)
{
    bench b = {questions + _i / FUNCTIONS, _i % FUNCTIONS, 0, 1, 0};
    /* where the function is neither flat nor far */
    while (fabs(seen_at(&targets[b.f], b.i) - 0.5) > 0.25) b.i++;
    coverage_row(alpha, alone[_i / FUNCTIONS][b.f], MANY_SEEDS, run_one, &b, "%s, %s",
                 b.asked->name, targets[b.f].name);
}

TEST_TIMES(certified_radii_a_sixth_too_large_would_be_noticed, 3)
{
    bench b = {questions + _i, 1, -1, 1 + 1.0 / 6, 0};
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < POINTS * SEEDS; run++) wrong += run_one(&b, run * FUNCTIONS, 1);
    ck_assert_uint_gt(wrong, simulate_most_misses(POINTS * SEEDS, alpha, 0.01));
}

/* About inputs all around, and beyond where the certificate ends. */
TEST_TIMES(move_certificate_of_true_ones_is_true, FUNCTIONS *MOVING)
{
    const target *t = &targets[_i % FUNCTIONS];
    int true_ones = 0;
    for (int i = 0; i < POINTS; i++) {
        const certreg_certificate c = certify(_i % FUNCTIONS, i, 77, questions + _i / FUNCTIONS, 1);
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
            sum +=
                mass * fmin(fmax((t->value(t->radial ? hypot(u, v) : u) - theta) / width, -1), 1);
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
