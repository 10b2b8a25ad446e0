/* The finite-sample bound of the gradient norm: how close it comes, what it does not depend on,
 * and when it says nothing. */
#include "statistics/normal.h"
#include "bounds/bounds.h"
#include "estimator/estimator.h"
#include "support/api_kit.h"

enum { PILOT = 600, MAIN = 4000, ALL = PILOT + MAIN };

typedef struct setting {
    size_t inputs;
    const float *scale;
    double unit; /* outputs are multiples of it, within -unit .. unit */
    uint32_t flags;
} setting;

static certreg_estimator *make(const setting *s)
{
    const double lo = -s->unit, hi = s->unit;
    certreg_model m = kit_model(NULL, NULL, s->inputs, 1);
    m.scale = s->scale, m.lo = &lo, m.hi = &hi;
    certreg_plan p = kit_plan(ALL);
    p.pilot = PILOT, p.seed = 5, p.flags = s->flags;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    float *z = calloc(s->inputs, sizeof *z);
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 0));
    free(z);
    return e;
}

/* Draws all samples and records `law` of each; the record of a second estimator gets the same
 * outputs times a unit. */
static void fill(certreg_estimator *from, certreg_estimator *to, size_t inputs, float unit,
                 float (*law)(const float *x, size_t d))
{
    enum { BATCH = 200 };
    float *x = malloc(BATCH * inputs * sizeof *x), y[BATCH];
    for (size_t i = 0; i < ALL; i += BATCH) {
        KIT_OK(from, certreg_estimator_draw(from, i, BATCH, x));
        for (size_t k = 0; k < BATCH; k++) y[k] = unit * law(x + k * inputs, inputs);
        KIT_OK(to, certreg_estimator_record(to, i, BATCH, y));
    }
    free(x);
}

static const cr_score output = {.kind = CR_SCORE_OUTPUT};

static cr_martingale_problem job_about(double center, double second)
{
    return (cr_martingale_problem){
        .samples = {.score = &output, .center = center, .first = PILOT, .count = MAIN},
        .second_moment_hi = second,
        .cap = INFINITY,
        .alpha = 0.05};
}

static double bound(certreg_estimator *e, const cr_martingale_problem *job)
{
    const cr_samples *s = &job->samples;
    cr_martingale_problem of_e = *job;
    double upper = NAN;
    of_e.samples = cr_view_samples(&e->record, s->score, 0, s->first, s->count, s->center);
    cr_score_range(s->score, e->record.model.lo, e->record.model.hi, &of_e.range_lo,
                   &of_e.range_hi);
    ck_assert_int_eq(cr_gradient_martingale_upper(&e->replay, &of_e, &upper), CERTREG_OK);
    return upper;
}

/* A half-space, missed with probability .1: mean .8, second moment about it .36, gradient 2
 * pdf(1.2816). */
static float half_space(const float *x, size_t d)
{
    (void)d;
    return x[0] > -1.2816f ? 1 : -1;
}

static float linear(const float *x, size_t d)
{
    (void)d;
    return fmaxf(-1, fminf(x[0] / 6, 1));
}

static float constant(const float *x, size_t d)
{
    (void)x, (void)d;
    return 0.5f;
}

static float failing(const float *x, size_t d)
{
    (void)d;
    return x[0] > -1.2816f ? 1 : NAN;
}

TEST_TIMES(martingale_upper_of_half_spaces_is_close_in_every_dimension, 4)
{
    static const size_t dimensions[] = {1, 10, 100, 784};
    const setting s = {.inputs = dimensions[_i], .unit = 1};
    certreg_estimator *e = make(&s);
    fill(e, e, s.inputs, 1, half_space);
    const cr_martingale_problem job = job_about(0.8, 0.36);
    const double truth = 2 * cr_normal_pdf(1.2816), found = bound(e, &job);
    ck_assert_double_gt(found, truth);
    ck_assert_double_lt(found, 1.27 * truth); /* the variance alone: 1.71 */
}

TEST(martingale_upper_does_not_exceed_the_cap_or_the_range)
{
    const setting s = {.inputs = 20, .unit = 1};
    certreg_estimator *e = make(&s);
    fill(e, e, s.inputs, 1, linear);
    cr_martingale_problem job = job_about(0, 1.0 / 36); /* kappa is 1/6 but for 1e-9 */
    ck_assert_double_eq_tol(bound(e, &job), 1.0 / 6, 1e-3 / 6);
    job.cap = 0.1;
    ck_assert_double_eq(bound(e, &job), 0.1);
    job.cap = 0;
    ck_assert_double_eq(bound(e, &job), 0);
    job = job_about(0, 0);
    ck_assert_double_eq(bound(e, &job), 0);
    job = job_about(0.25, INFINITY);
    ck_assert_double_le(bound(e, &job), nextafter(1.25, 2));
    job.samples.count = 63;
    ck_assert_double_eq(bound(e, &job), nextafter(1.25, 2));
    job = job_about(0, 1);
    job.cap = 0.3, job.alpha = 0;
    ck_assert_double_eq(bound(e, &job), 0.3);
}

TEST(martingale_upper_is_trivial_without_a_range)
{
    const setting s = {.inputs = 3, .unit = INFINITY};
    certreg_estimator *e = make(&s);
    fill(e, e, 3, 1, linear);
    cr_martingale_problem job = job_about(0, INFINITY);
    ck_assert_double_eq(bound(e, &job), INFINITY);
    job.cap = 0.5;
    ck_assert_double_eq(bound(e, &job), 0.5);
}

TEST(martingale_upper_follows_the_unit_of_the_outputs)
{
    const setting one = {.inputs = 30, .unit = 1}, big = {.inputs = 30, .unit = 0x1p60},
                  small = {.inputs = 30, .unit = 0x1p-60};
    certreg_estimator *e = make(&one), *b = make(&big), *t = make(&small);
    fill(e, e, 30, 1, half_space);
    fill(e, b, 30, 0x1p60f, half_space);
    fill(e, t, 30, 0x1p-60f, half_space);
    const cr_martingale_problem job = job_about(0.8, 0.36),
                                of_big = job_about(0.8 * 0x1p60, 0.36 * 0x1p120);
    const cr_martingale_problem of_small = job_about(0.8 * 0x1p-60, 0.36 * 0x1p-120);
    const double found = bound(e, &job);
    ck_assert_double_eq_tol(bound(b, &of_big) * 0x1p-60 / found, 1, 1e-12);
    ck_assert_double_eq_tol(bound(t, &of_small) * 0x1p60 / found, 1, 1e-12);
}

TEST(martingale_upper_leaves_out_features_without_noise)
{
    enum { WIDE = 900 };
    float scale[WIDE] = {0};
    for (size_t j = 0; j < 8; j++) scale[j] = 1;
    const setting s = {.inputs = WIDE, .scale = scale, .unit = 1};
    certreg_estimator *e = make(&s);
    fill(e, e, WIDE, 1, half_space);
    const cr_martingale_problem job = job_about(0.8, 0.36);
    const double truth = 2 * cr_normal_pdf(1.2816), found = bound(e, &job);
    ck_assert_double_gt(found, truth);
    ck_assert_double_lt(found, 1.27 * truth);
}

TEST(martingale_upper_of_constant_outputs_is_small)
{
    const setting s = {.inputs = 50, .unit = 1};
    certreg_estimator *e = make(&s);
    fill(e, e, 50, 1, constant);
    const cr_martingale_problem job = job_about(0.5, 1e-3);
    ck_assert_double_le(bound(e, &job), 0.9 * sqrt(1e-3));
}

TEST(martingale_upper_counts_failed_outputs_as_the_least_score)
{
    const setting s = {.inputs = 20, .unit = 10, .flags = CERTREG_PLAN_COUNT_FAILURES};
    const cr_score sign = {.kind = CR_SCORE_SIGN, .side = 1, .prediction = 1, .tolerance = 0.5};
    certreg_estimator *e = make(&s);
    fill(e, e, 20, 1, failing);
    cr_martingale_problem job = job_about(0.8, 0.36);
    job.samples.score = &sign;
    const double found = bound(e, &job), truth = 2 * cr_normal_pdf(1.2816);
    ck_assert_double_gt(found, truth);
    ck_assert_double_lt(found, 1.27 * truth);
    job.samples.score = &output; /* the output itself has no value there */
    job.second_moment_hi = INFINITY;
    ck_assert_double_eq(bound(e, &job), nextafter(10.8, 11));
}

KIT_MAIN("finite-sample gradient norm")
