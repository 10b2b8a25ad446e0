/* What replays of the noise found is kept: it is that of the same scores, samples and noise only,
 * and questions that share a sweep are answered as if each had its own. And the finite-sample bound
 * of the gradient norm from them: how close it comes, and when it says nothing. */
#include "bounds/bounds.h"
#include "estimator/estimator.h"
#include "record/record.h"
#include "statistics/normal.h"
#include "support/api_kit.h"

static const cr_score output = {.kind = CR_SCORE_OUTPUT};

/* ======== sums that are kept */
enum { INPUTS = 300, OUTPUTS = 4, SAMPLES = 700 }; /* more features than a tile has */
static const float at[INPUTS] = {1, 2, 3};
static const double lo[OUTPUTS] = {-4, -4, -4, -4}, hi[OUTPUTS] = {4, 4, 4, 4};

KIT_EVAL(wave, fmaxf(-4, fminf(4, x[k] - x[k + 1] * x[INPUTS - 1])))

static certreg_estimator *create(certreg_backend *backend)
{
    certreg_model m = KIT_MODEL(wave, NULL, INPUTS, OUTPUTS, .lo = lo, .hi = hi);
    certreg_plan p = kit_plan(SAMPLES);
    return kit_create(backend, &m, &p);
}

static certreg_estimator *sampled(uint64_t noise_id)
{
    certreg_estimator *e = create(NULL);
    KIT_OK(e, certreg_estimator_begin(e, at, 0.5, noise_id));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    return e;
}

static cr_samples samples_of(certreg_estimator *e, int32_t k, size_t first, double center)
{
    return cr_view_samples(&e->record, &output, k, first, SAMPLES - first, center);
}

static const cr_sweep_function *request(certreg_estimator *e, cr_samples s)
{
    return cr_noise_sums_request(&e->replay, &s, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS);
}

static const cr_sweep_function *found(certreg_estimator *e, int32_t k, size_t first, double center)
{
    const cr_sweep_function *f = NULL;
    const cr_samples s = samples_of(e, k, first, center);
    KIT_OK(e, cr_noise_sums_get(&e->replay, &s, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS, &f));
    return f;
}

static double length_of(const cr_sweep_function *f)
{
    return f->norms[CR_CUMULATIVE_BLOCKS];
}

TEST(noise_sums_request_sweeps_equal_scores_once)
{
    certreg_estimator *e = sampled(1);
    const cr_sweep_function *f = found(e, 0, 100, 0.25);
    const cr_samples same = samples_of(e, 0, 100, 0.25);
    ck_assert_ptr_eq(request(e, same), f);
    ck_assert(!cr_noise_sums_pending(&e->replay));
    const cr_samples others[] = {samples_of(e, 1, 100, 0.25), samples_of(e, 0, 101, 0.25),
                                 samples_of(e, 0, 100, 0.26)};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_ptr_ne(request(e, others[i]), f);
        ck_assert(cr_noise_sums_pending(&e->replay));
        KIT_OK(e, cr_noise_sums_compute(&e->replay));
    }
    ck_assert_ptr_ne(cr_noise_sums_request(&e->replay, &same, CR_SUMS_TOTAL, 1), f);
}

TEST(noise_sums_computed_together_have_the_bits_of_each_alone)
{
    certreg_estimator *together = sampled(1), *alone = sampled(1);
    for (int32_t k = 0; k < OUTPUTS; k++)
        ck_assert_ptr_nonnull(request(together, samples_of(together, k, 50 * (size_t)k + 1, 0)));
    KIT_OK(together, cr_noise_sums_compute(&together->replay));
    for (int32_t k = 0; k < OUTPUTS; k++) {
        cr_noise_sums_clear(&alone->replay);
        const cr_sweep_function *a = found(together, k, 50 * (size_t)k + 1, 0),
                                *b = found(alone, k, 50 * (size_t)k + 1, 0);
        ck_assert_mem_eq(a->dots, b->dots, a->count * sizeof *a->dots);
        ck_assert_mem_eq(a->norms, b->norms, (CR_CUMULATIVE_BLOCKS + 1) * sizeof *a->norms);
        ck_assert_mem_eq(cr_noise_sums_squared_norms(&together->replay, a),
                         cr_noise_sums_squared_norms(&alone->replay, b), a->count * sizeof(double));
    }
}

/* The outputs come from an import, so that scores are equal and noise is not. */
TEST(noise_sums_get_sweeps_other_noise_anew)
{
    certreg_estimator *e = create(NULL);
    const float y[SAMPLES][OUTPUTS] = {{1}, {2}, {-1}, {3}};
    double length[2];
    for (uint64_t id = 0; id < 2; id++) {
        KIT_OK(e, certreg_estimator_begin(e, at, 0.5, id));
        KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES, y[0]));
        length[id] = length_of(found(e, 0, 0, 0.5));
        ck_assert_double_gt(length[id], 0);
    }
    ck_assert_double_ne(length[0], length[1]);
}

static double late(void *of)
{
    return *(double *)of;
}

TEST(noise_sums_get_that_is_late_leaves_nothing)
{
    certreg_estimator *e = sampled(1);
    double now = 5;
    const cr_samples s = samples_of(e, 0, 1, 0);
    const cr_deadline usual = *e->record.deadline;
    const cr_sweep_function *f;
    *e->record.deadline = (cr_deadline){.now = late, .clock_context = &now, .expires_at = 4};
    ck_assert_int_eq(
        cr_noise_sums_get(&e->replay, &s, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS, &f),
        CERTREG_E_DEADLINE);
    *e->record.deadline = usual;
    ck_assert_uint_eq(e->replay.sums_cache.count, 0);
    ck_assert_double_gt(length_of(found(e, 0, 1, 0)), 0);
}

/* ---- through the interface */
static size_t questions_of(certreg_question *q)
{
    static const int32_t statistics[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_MEAN},
                         methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ASYMPTOTIC};
    size_t count = 0;
    for (int32_t k = 0; k < OUTPUTS; k++) {
        for (int i = 0; i < 4; i++)
            q[count++] = QUESTION(.tolerance = 1 + 0.2 * i, .output = k,
                                  .statistic = statistics[i / 2], .method = methods[i % 2],
                                  .constraints = CERTREG_CONSTRAINTS_ECGM);
        q[count++] = QUESTION(.tolerance = 1, .output = k, .statistic = CERTREG_STATISTIC_MEAN,
                              .center = CERTREG_CENTER_TRUE_MEAN, .method = CERTREG_METHOD_PAPER);
    }
    q[count++] = QUESTION(.tolerance = 3, .output = CERTREG_ALL_OUTPUTS,
                          .statistic = CERTREG_STATISTIC_MEDIAN,
                          .constraints = CERTREG_CONSTRAINTS_ECGM);
    q[count++] = QUESTION(.tolerance = 2, .output = 1, .output_count = 2,
                          .statistic = CERTREG_STATISTIC_MEAN,
                          .constraints = CERTREG_CONSTRAINTS_ECGM);
    return count;
}

/* More of them than fit into a sweep, with any number of threads. */
TEST_TIMES(noise_sums_shared_by_questions_change_no_certificate, 3)
{
    certreg_question q[32];
    certreg_certificate all[32], one[32];
    const size_t count = questions_of(q);
    certreg_estimator *e = create(kit_backend(1 + _i)), *other = create(NULL);
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        all[i] = one[i] = kit_certificate();
        KIT_OK(other, certreg_estimator_begin(other, at, 0.5, 3));
        KIT_OK(other, certreg_certify(other, SAMPLES, q + i, 1, one + i));
        most = fmax(most, one[i].radius);
    }
    KIT_OK(e, certreg_estimator_begin(e, at, 0.5, 3));
    KIT_OK(e, certreg_certify(e, SAMPLES, q, count, all));
    for (size_t i = 0; i < count; i++) ck_assert_mem_eq(all + i, one + i, sizeof *all);
    ck_assert_double_gt(most, 0);
}

static int failing_wave(void *user, const certreg_batch *b)
{
    wave(user, b);
    for (size_t i = 0; i < b->rows; i++)
        if (b->x[i * b->inputs] > 1.5f) b->y[i * b->columns] = NAN;
    return 0;
}

/* What a call keeps is what it swept. */
static const struct {
    certreg_eval model;
    int32_t statistic, method;
    double huber_width, radius; /* 0: a certificate, not bounds */
    int sweeps;
} uses[] = {{wave, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0, 1},
            {failing_wave, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0, 0},
            {wave, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0.5, 0.1, 1},
            {wave, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0.1, 0}};

TEST_ROWS(noise_sums_are_computed_only_if_an_answer_uses_them, uses)
{
    certreg_model m = kit_model(uses[_i].model, NULL, INPUTS, 1);
    certreg_plan p = kit_plan(SAMPLES);
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    const certreg_question one = QUESTION(.tolerance = 1, .statistic = uses[_i].statistic,
                                          .method = uses[_i].method,
                                          .huber_width = uses[_i].huber_width,
                                          .constraints = CERTREG_CONSTRAINTS_ECGM),
                           q[] = {one, one};
    m.lo = lo, m.hi = hi, p.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *e = kit_begun(m, p, at, 0.5, 1);
    KIT_OK(e, uses[_i].radius > 0 ? certreg_output_bounds(e, SAMPLES, q, 2, uses[_i].radius, c)
                                  : certreg_certify(e, SAMPLES, q, 2, c));
    ck_assert_int_eq(e->replay.sums_cache.count > 0, uses[_i].sweeps);
}

/* ---- how long it takes, on a clock that counts how often it is looked at */
static double counted(void *looks)
{
    return (double)++*(size_t *)looks;
}

static size_t looks_at(certreg_estimator *e, const certreg_question *q, size_t count, uint64_t id)
{
    certreg_certificate c[32];
    size_t looks = 0;
    for (size_t i = 0; i < count; i++) c[i] = kit_certificate();
    KIT_OK(e, certreg_estimator_begin(e, at, 0.5, id));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    e->record.deadline->now = counted, e->record.deadline->clock_context = &looks;
    KIT_OK(e, certreg_estimator_set_deadline(e, 1e9));
    KIT_OK(e, certreg_certify(e, SAMPLES, q, count, c));
    return looks;
}

TEST(noise_sums_of_vectors_that_fail_early_take_no_longer)
{
    certreg_question q[6];
    for (int i = 0; i < 6; i++)
        q[i] = QUESTION(.tolerance = 1e-6 * (1 + i), .output = CERTREG_ALL_OUTPUTS,
                        .statistic = CERTREG_STATISTIC_MEAN,
                        .constraints = CERTREG_CONSTRAINTS_ECGM);
    certreg_estimator *e = create(NULL);
    const size_t alone = looks_at(e, q, 1, 1), together = looks_at(e, q, 6, 2);
    ck_assert_uint_gt(alone, 10);
    ck_assert_uint_le(together, 6 * alone);
}

/* Else the next input would have too little time left for its answer. */
TEST(noise_sums_that_were_kept_do_not_lower_the_answer_cost)
{
    const certreg_question q = QUESTION(.tolerance = 1, .constraints = CERTREG_CONSTRAINTS_ECGM);
    certreg_estimator *e = create(NULL);
    certreg_certificate c = kit_certificate();
    size_t looks = 0;
    looks_at(e, &q, 1, 1);
    const double known = e->clock.costs[0].seconds_per_sample;
    ck_assert_double_gt(known, 0);
    e->record.deadline->clock_context = &looks;
    for (int i = 0; i < 40; i++) KIT_OK(e, certreg_certify(e, SAMPLES, &q, 1, &c));
    ck_assert_double_ge(e->clock.costs[0].seconds_per_sample, 0.99 * known);
}

/* ======== the bound of the gradient norm */
enum { PILOT = 600, MAIN = 4000, ALL = PILOT + MAIN, MOST_INPUTS = 900 };

/* A half-space, missed with probability .1: mean .8, second moment about it .36, gradient 2
 * pdf(1.2816). */
static float half_space(const float *x)
{
    return x[0] > -1.2816f ? 1 : -1;
}

static float linear(const float *x)
{
    return fmaxf(-1, fminf(x[0] / 6, 1));
}

static float constant(const float *x)
{
    (void)x;
    return 0.5f;
}

static float failing(const float *x)
{
    return x[0] > -1.2816f ? 1 : NAN;
}

/* Outputs of a law of all samples, times a unit, within -range .. range. */
static certreg_estimator *filled(float (*law)(const float *x), size_t inputs, const float *scale,
                                 double range, float unit)
{
    enum { BATCH = 200 };
    static float x[BATCH * MOST_INPUTS];
    static const float z[MOST_INPUTS];
    const double least = -range, greatest = range;
    float y[BATCH];
    certreg_model m = kit_model(NULL, NULL, inputs, 1);
    certreg_plan p = kit_plan(ALL);
    m.scale = scale, m.lo = &least, m.hi = &greatest;
    p.pilot = PILOT, p.seed = 5, p.flags = law == failing ? CERTREG_PLAN_COUNT_FAILURES : 0;
    certreg_estimator *e = kit_begun(m, p, z, 1, 0);
    for (size_t i = 0; i < ALL; i += BATCH) {
        KIT_OK(e, certreg_estimator_draw(e, i, BATCH, x));
        for (size_t k = 0; k < BATCH; k++) y[k] = unit * law(x + k * inputs);
        KIT_OK(e, certreg_estimator_record(e, i, BATCH, y));
    }
    return e;
}

static cr_martingale_problem job_about(double center, double second)
{
    return (cr_martingale_problem){
        .samples = {.score = &output, .center = center, .first = PILOT, .count = MAIN},
        .second_moment_hi = second,
        .cap = INFINITY,
        .alpha = 0.05};
}

static double bound(certreg_estimator *e, cr_martingale_problem job)
{
    const cr_samples s = job.samples;
    double upper = NAN;
    job.samples = cr_view_samples(&e->record, s.score, 0, s.first, s.count, s.center);
    cr_score_range(s.score, e->record.model.lo, e->record.model.hi, &job.range_lo, &job.range_hi);
    ck_assert_int_eq(cr_gradient_martingale_upper(&e->replay, &job, &upper), CERTREG_OK);
    return upper;
}

/* Outputs times a unit, of which a power of two changes no digit. */
static const struct {
    size_t inputs, still; /* the last features, without noise */
    float unit;
} half_spaces[] = {{1, 0, 1},   {10, 0, 1},       {100, 0, 1},      {784, 0, 1},
                   {8, 892, 1}, {30, 0, 0x1p60f}, {30, 0, 0x1p-60f}};

TEST_ROWS(martingale_upper_of_half_spaces_is_close_in_every_dimension, half_spaces)
{
    const double unit = (double)half_spaces[_i].unit, truth = 2 * cr_normal_pdf(1.2816);
    const size_t noisy = half_spaces[_i].inputs, inputs = noisy + half_spaces[_i].still;
    float scale[MOST_INPUTS] = {0};
    for (size_t j = 0; j < noisy; j++) scale[j] = 1;
    certreg_estimator *e = filled(half_space, inputs, scale, unit, half_spaces[_i].unit);
    const double upper = bound(e, job_about(0.8 * unit, 0.36 * unit * unit)) / unit;
    ck_assert(upper > truth && upper < 1.27 * truth); /* the variance alone: 1.71 */
    if (unit == 1) return;
    certreg_estimator *plain = filled(half_space, inputs, scale, 1, 1);
    ck_assert_double_eq_tol(upper / bound(plain, job_about(0.8, 0.36)), 1, 1e-12);
}

/* center, second moment, cap, level, samples, and the bound of a slope of 1/6 within -1 .. 1 */
static const struct {
    double center, second, cap, alpha;
    size_t samples;
    double upper, tolerance;
} limits[] = {
    {0, 1.0 / 36, INFINITY, 0.05, MAIN, 1.0 / 6, 1e-3 / 6}, /* kappa is that but for 1e-9 */
    {0, 1.0 / 36, 0.1, 0.05, MAIN, 0.1, 0},
    {0, 1.0 / 36, 0, 0.05, MAIN, 0, 0},
    {0, 0, INFINITY, 0.05, MAIN, 0, 0},
    {0.25, INFINITY, INFINITY, 0.05, MAIN, 0.625, 0.625 + 1e-15},
    {0.25, INFINITY, INFINITY, 0.05, 63, 1.25 + 0x1p-52, 0}, /* one above the farther end */
    {0, 1, 0.3, 0, MAIN, 0.3, 0},
};

TEST_ROWS(martingale_upper_does_not_exceed_the_cap_or_the_range, limits)
{
    cr_martingale_problem job = job_about(limits[_i].center, limits[_i].second);
    job.cap = limits[_i].cap, job.alpha = limits[_i].alpha, job.samples.count = limits[_i].samples;
    ck_assert_double_le(fabs(bound(filled(linear, 20, NULL, 1, 1), job) - limits[_i].upper),
                        limits[_i].tolerance);
}

TEST(martingale_upper_without_range_of_constants_and_of_failures)
{
    cr_martingale_problem job = job_about(0, INFINITY);
    certreg_estimator *e = filled(linear, 3, NULL, INFINITY, 1);
    ck_assert_double_eq(bound(e, job), INFINITY);
    job.cap = 0.5;
    ck_assert_double_eq(bound(e, job), 0.5);
    ck_assert_double_le(bound(filled(constant, 50, NULL, 1, 1), job_about(0.5, 1e-3)),
                        0.9 * sqrt(1e-3));
    /* a failed output is the least score, and has no value itself */
    const cr_score sign = {.kind = CR_SCORE_SIGN, .side = 1, .prediction = 1, .tolerance = 0.5};
    e = filled(failing, 20, NULL, 10, 1), job = job_about(0.8, 0.36), job.samples.score = &sign;
    const double upper = bound(e, job), truth = 2 * cr_normal_pdf(1.2816);
    ck_assert(upper > truth && upper < 1.27 * truth);
    job.samples.score = &output, job.second_moment_hi = INFINITY;
    ck_assert_double_eq(bound(e, job), nextafter(10.8, 11));
}

KIT_MAIN("sweeps of the noise")
