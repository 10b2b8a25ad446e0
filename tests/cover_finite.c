/* Bounds without normality keep their promise at every number of samples, on laws made to break
 * intervals, and, any time, at the moment that suits them worst. Outputs follow a known law; scores
 * are about a given prediction, so that the moments of every score are sums over the law's
 * quantiles. */
#include "support/coverage.h"
#include "support/problems.h"

enum { GRID = 20000, CAPACITY = 600, FIXED_RUNS = 1500, ANYTIME_RUNS = 300 };
static const double range = 100, alpha = 0.1;

/* ---- laws of the output, by quantiles */
static double rare_low(double u)
{
    return u < 1.0 / CAPACITY ? -100 : 0.5;
}
static double rare_high(double u)
{
    return u > 1 - 1.0 / CAPACITY ? 100 : -0.2;
}
static double coin(double u)
{
    return u < 0.5 ? -1 : 1;
}
static double seldom(double u)
{
    return u < 0.02 ? -3 : 0.9;
}
static double uniform(double u)
{
    return 4 * u - 2;
}
static double heavy(double u)
{
    return fmax(-range, fmin(tan(3.14159265358979 * (u - 0.5)), range));
}
static double skewed(double u)
{
    return fmin(-log1p(-u), range) - 1;
}
static double tail_left(double u)
{
    return fmax(1 - 0.05 / (u + 1e-9), -range);
}

static double (*const laws[])(double) = {rare_low, rare_high, coin,   seldom,
                                         uniform,  heavy,     skewed, tail_left};
static const char *const name[] = {"rare low", "rare high", "coin",   "seldom",
                                   "uniform",  "heavy",     "skewed", "long left tail"};

typedef struct asked {
    int32_t statistic, center, side;
    uint32_t constraints;
    double width;
} asked;

static const asked questions[] = {
    {CERTREG_STATISTIC_HUBER, CERTREG_CENTER_PREDICTION, CERTREG_SIDE_UPPER, 0, 0.5},
    {CERTREG_STATISTIC_HUBER, CERTREG_CENTER_PREDICTION, CERTREG_SIDE_LOWER, 0, 2},
    {CERTREG_STATISTIC_HUBER, CERTREG_CENTER_PREDICTION, CERTREG_SIDE_UPPER,
     CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE, 0.5},
    {CERTREG_STATISTIC_MEAN, CERTREG_CENTER_PREDICTION, CERTREG_SIDE_LOWER, 0, 0},
    {CERTREG_STATISTIC_MEAN, CERTREG_CENTER_TRUE_MEAN, CERTREG_SIDE_LOWER, 0, 0},
    {CERTREG_STATISTIC_HUBER, CERTREG_CENTER_PREDICTION, CERTREG_SIDE_UPPER, CERTREG_CONSTRAINTS_C,
     0.5},
    {CERTREG_STATISTIC_MEAN, CERTREG_CENTER_TRUE_MEAN, CERTREG_SIDE_UPPER, CERTREG_CONSTRAINTS_C,
     0}};
enum { LAWS = KIT_ROWS(laws), QUESTIONS = KIT_ROWS(questions) };
#define LEVEL (0.01 / (LAWS * QUESTIONS))

static double score_of(const asked *a, double y)
{
    if (a->center == CERTREG_CENTER_TRUE_MEAN) return y;
    const double t = (a->side == CERTREG_SIDE_LOWER ? y : -y) + 1; /* prediction 0, tolerance 1 */
    return a->statistic == CERTREG_STATISTIC_MEAN ? t : fmax(-1, fmin(t / a->width, 1));
}

typedef struct truth {
    double mean, square;
} truth;

static truth truth_of(const asked *a, double (*law)(double))
{
    truth t = {0, 0};
    for (int i = 0; i < GRID; i++) {
        const double u = score_of(a, (double)(float)law((i + 0.5) / GRID));
        t.mean += u / GRID;
        t.square += u * u / GRID;
    }
    return t;
}

/* ---- runs */
static int no_model(void *user, const certreg_batch *b)
{
    (void)user, (void)b;
    return 1;
}

static certreg_estimator *make(size_t pilot)
{
    const double lo = -range, hi = range;
    const certreg_model model =
        MODEL(.eval = no_model, .inputs = 1, .outputs = 1, .lo = &lo, .hi = &hi);
    const certreg_plan plan =
        PLAN(.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                            CERTREG_CONSTRAINT_RANGE,
             .max_samples = CAPACITY, .pilot = pilot);
    return kit_create(NULL, &model, &plan);
}

/* Draws from the grid's own points, so that the truth above is exact. */
static void draw(double (*law)(double), dice *d, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = (float)law((floor(dice_between(d, 0, 1) * GRID * 0.9999999) + 0.5) / GRID);
}

static void record(certreg_estimator *e, const float *y, size_t count)
{
    coverage_begin(e, 1);
    KIT_OK(e, certreg_estimator_record(e, 0, count, y));
}

static int is_wrong(certreg_estimator *e, const asked *a, int32_t method, const truth *t)
{
    const certreg_question q = QUESTION(.statistic = a->statistic, .method = method,
                                        .center = a->center, .constraints = a->constraints,
                                        .tolerance = 1, .huber_width = a->width, .alpha = alpha,
                                        .prediction = asks_prediction(0));
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(e, certreg_estimator_bounds(e, &q, a->side, &b));
    const double size = 1e-9 * (1 + fabs(t->mean)), moment = t->square -
                                                             2 * b.moment_center * t->mean +
                                                             b.moment_center * b.moment_center;
    if (b.constraints & CERTREG_CONSTRAINT_MOMENT && b.moment_hi < moment - size) return 1;
    if (b.constraints & CERTREG_CONSTRAINT_VARIANCE &&
        b.variance_hi < t->square - t->mean * t->mean - size)
        return 1;
    return b.mean_lo > t->mean + size || b.mean_hi < t->mean - size;
}

TEST_TIMES(bounds_of_a_fixed_count_miss_no_more_than_alpha, LAWS *QUESTIONS)
{
    const asked *a = questions + _i % QUESTIONS;
    const int law = _i / QUESTIONS;
    const truth t = truth_of(a, laws[law]);
    static const size_t counts[] = {40, 600};
    for (int k = 0; k < 2; k++) {
        certreg_estimator *e = make(k ? SIZE_MAX : 12);
        dice d = dice_of((uint64_t)_i * 7 + (uint64_t)k);
        uint64_t wrong = 0;
        const uint64_t runs = k ? FIXED_RUNS / 5 : FIXED_RUNS;
        for (uint64_t run = 0; run < runs; run++) {
            float y[CAPACITY];
            draw(laws[law], &d, y, counts[k]);
            record(e, y, counts[k]);
            wrong += (uint64_t)is_wrong(e, a, CERTREG_METHOD_FINITE, &t);
        }
        coverage_check(name[law], wrong, runs, alpha, LEVEL, 0);
    }
}

/* Wrong at any number of samples counts: that is where an adversary would stop. */
static int is_ever_wrong(certreg_estimator *e, const asked *a, const truth *t, const float *y)
{
    for (size_t n = 24; n <= CAPACITY; n += 1 + n / 4) {
        record(e, y, n);
        if (is_wrong(e, a, CERTREG_METHOD_ANYTIME, t)) return 1;
    }
    return 0;
}

TEST_TIMES(bounds_at_any_time_miss_no_more_than_alpha_at_the_worst_moment, LAWS *QUESTIONS)
{
    const asked *a = questions + _i % QUESTIONS;
    const int law = _i / QUESTIONS;
    const truth t = truth_of(a, laws[law]);
    certreg_estimator *e = make(12);
    dice d = dice_of((uint64_t)_i * 11 + 3);
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < ANYTIME_RUNS; run++) {
        float y[CAPACITY];
        draw(laws[law], &d, y, CAPACITY);
        wrong += (uint64_t)is_ever_wrong(e, a, &t, y);
    }
    coverage_check(name[law], wrong, ANYTIME_RUNS, alpha, LEVEL, 0);
}

/* ---- radii */
/* Every symmetric location of an affine model moves with the shift: the true radius is the
 * tolerance. */
TEST_TIMES(radii_of_affine_models_exceed_the_tolerance_no_more_often_than_alpha, 6)
{
    static const struct {
        int32_t method;
        uint32_t constraints;
    } ways[] = {{CERTREG_METHOD_FINITE, 0},
                {CERTREG_METHOD_ANYTIME, 0},
                {CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECGM}};
    const double lo = -range, hi = range;
    const certreg_model model =
        MODEL(.eval = kit_identity, .inputs = 3, .outputs = 1, .lo = &lo, .hi = &hi, .batch = 200);
    const certreg_plan plan =
        PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = 1000, .seed = 5);
    const certreg_question q =
        QUESTION(.statistic = _i % 2 ? CERTREG_STATISTIC_HUBER : CERTREG_STATISTIC_MEDIAN,
                 .method = ways[_i / 2].method, .constraints = ways[_i / 2].constraints,
                 .tolerance = 1, .huber_width = _i % 2 ? 0.5 : 0, .alpha = alpha,
                 .prediction = asks_prediction(0));
    certreg_estimator *e = kit_create(NULL, &model, &plan);
    uint64_t wrong = 0, claims = 0;
    for (uint64_t run = 0; run < 200; run++) {
        const double radius = coverage_ask(e, run, 1000, q).radius;
        wrong += radius > 1;
        claims += radius > 0.6;
    }
    coverage_check("affine", wrong, 200, alpha, LEVEL, 0);
    ck_assert_uint_gt(claims, 190); /* and it claims something */
}

/* (C) and (C,G) know no mean, and still say something. */
TEST_TIMES(families_without_the_mean_keep_their_promise, 2)
{
    static const uint32_t constraints[] = {CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG};
    const certreg_model model =
        MODEL(.eval = kit_identity, .inputs = 3, .outputs = 1, .batch = 200);
    const certreg_plan plan =
        PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = 2000, .seed = 6);
    const certreg_question q = QUESTION(.statistic = CERTREG_STATISTIC_HUBER,
                                        .constraints = constraints[_i], .tolerance = 1,
                                        .huber_width = 2, .alpha = alpha,
                                        .prediction = asks_prediction(0));
    certreg_estimator *e = kit_create(NULL, &model, &plan);
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < 100; run++) {
        const certreg_certificate c = coverage_ask(e, run, 2000, q);
        ck_assert_uint_eq(c.constraints, constraints[_i]);
        ck_assert_double_gt(c.radius, 0.6);
        wrong += c.radius > 1;
    }
    coverage_check(_i ? "(C,G)" : "(C)", wrong, 100, alpha, LEVEL, 0);
}

KIT_MAIN("bounds without normality")
