/* What replays of the noise found is kept: it is that of the same scores, samples and noise only,
 * and questions that share a sweep are answered as if each had its own. */
#include "estimator/estimator.h"
#include "record/record.h"
#include "support/api_kit.h"

enum { INPUTS = 300, OUTPUTS = 4, SAMPLES = 700 }; /* more features than a tile has */
static const float at[INPUTS] = {1, 2, 3};
static const double lo[OUTPUTS] = {-4, -4, -4, -4}, hi[OUTPUTS] = {4, 4, 4, 4};

static int wave(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float *x = b->x + i * b->inputs, y = x[k] - x[k + 1] * x[INPUTS - 1];
            b->y[i * b->columns + k] = fmaxf(-4, fminf(4, y));
        }
    return 0;
}

static certreg_estimator *create(certreg_backend *backend)
{
    certreg_model m = kit_model(wave, NULL, INPUTS, OUTPUTS);
    certreg_plan p = kit_plan(SAMPLES);
    m.lo = lo, m.hi = hi;
    return kit_create(backend, &m, &p);
}

static certreg_estimator *sampled(uint64_t noise_id)
{
    certreg_estimator *e = create(NULL);
    KIT_OK(e, certreg_estimator_begin(e, at, 0.5, noise_id));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    return e;
}

static const cr_score output = {.kind = CR_SCORE_OUTPUT};

static cr_samples samples_of(certreg_estimator *e, int32_t k, size_t first, double center)
{
    return cr_view_samples(&e->record, &output, k, first, SAMPLES - first, center);
}

static const cr_sweep_function *found(certreg_estimator *e, int32_t k, size_t first, double center)
{
    const cr_sweep_function *f = NULL;
    const cr_samples s = samples_of(e, k, first, center);
    KIT_OK(e, cr_noise_sums_get(&e->replay, &s, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS, &f));
    return f;
}

TEST(noise_sums_request_sweeps_equal_scores_once)
{
    certreg_estimator *e = sampled(1);
    const cr_sweep_function *f = found(e, 0, 100, 0.25);
    const cr_samples same = samples_of(e, 0, 100, 0.25);
    ck_assert_ptr_eq(
        cr_noise_sums_request(&e->replay, &same, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS), f);
    ck_assert(!cr_noise_sums_pending(&e->replay));
    const cr_samples others[] = {samples_of(e, 1, 100, 0.25), samples_of(e, 0, 101, 0.25),
                                 samples_of(e, 0, 100, 0.26)};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_ptr_ne(
            cr_noise_sums_request(&e->replay, others + i, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS),
            f);
        ck_assert(cr_noise_sums_pending(&e->replay));
        KIT_OK(e, cr_noise_sums_compute(&e->replay));
    }
    ck_assert_ptr_ne(cr_noise_sums_request(&e->replay, &same, CR_SUMS_TOTAL, 1), f);
}

TEST(noise_sums_computed_together_have_the_bits_of_each_alone)
{
    certreg_estimator *together = sampled(1), *alone = sampled(1);
    for (int32_t k = 0; k < OUTPUTS; k++) {
        const cr_samples s = samples_of(together, k, 50 * (size_t)k + 1, 0);
        ck_assert_ptr_nonnull(
            cr_noise_sums_request(&together->replay, &s, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS));
    }
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
        length[id] = found(e, 0, 0, 0.5)->norms[CR_CUMULATIVE_BLOCKS];
        ck_assert_double_gt(length[id], 0);
    }
    ck_assert_double_ne(length[0], length[1]);
}

TEST(noise_sums_request_refuses_at_8_and_get_makes_room)
{
    certreg_estimator *e = sampled(1);
    size_t kept = 0;
    for (; kept < 100; kept++) {
        const cr_samples s = samples_of(e, 0, 1, 0.001 * (double)kept);
        if (!cr_noise_sums_request(&e->replay, &s, CR_SUMS_CUMULATIVE, CR_CUMULATIVE_BLOCKS)) break;
    }
    ck_assert_uint_eq(kept, 8); /* whole records */
    KIT_OK(e, cr_noise_sums_compute(&e->replay));
    const double before = found(e, 0, 1, 0)->norms[CR_CUMULATIVE_BLOCKS];
    found(e, 0, 1, 77);
    ck_assert_double_eq(found(e, 0, 1, 0)->norms[CR_CUMULATIVE_BLOCKS], before);
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
    ck_assert_double_gt(found(e, 0, 1, 0)->norms[CR_CUMULATIVE_BLOCKS], 0);
}

/* ---- through the interface */
static size_t questions_of(certreg_question *q)
{
    static const int32_t statistics[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_MEAN},
                         methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ASYMPTOTIC};
    size_t count = 0;
    for (int32_t k = 0; k < OUTPUTS; k++)
        for (int i = 0; i < 4; i++)
            q[count++] = QUESTION(.tolerance = 1 + 0.2 * i, .output = k,
                                  .statistic = statistics[i / 2], .method = methods[i % 2],
                                  .constraints = CERTREG_CONSTRAINTS_ECGM);
    for (int32_t k = 0; k < OUTPUTS; k++)
        q[count++] = QUESTION(.tolerance = 1, .output = k, .statistic = CERTREG_STATISTIC_MEAN,
                              .center = CERTREG_CENTER_TRUE_MEAN, .method = CERTREG_METHOD_PAPER);
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

/* What a call keeps is what it swept. */
static size_t kept_after(certreg_model m, int32_t statistic, int32_t method, double radius)
{
    certreg_plan p = kit_plan(SAMPLES);
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    const certreg_question one = QUESTION(.tolerance = 1, .statistic = statistic, .method = method,
                                          .huber_width = statistic == CERTREG_STATISTIC_HUBER ? 0.5
                                                                                              : 0,
                                          .constraints = CERTREG_CONSTRAINTS_ECGM),
                           q[] = {one, one};
    p.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *e = kit_begun(m, p, at, 0.5, 1);
    KIT_OK(e, radius > 0 ? certreg_output_bounds(e, SAMPLES, q, 2, radius, c)
                         : certreg_certify(e, SAMPLES, q, 2, c));
    return e->replay.sums_cache.count;
}

static int failing(void *user, const certreg_batch *b)
{
    wave(user, b);
    for (size_t i = 0; i < b->rows; i++)
        if (b->x[i * b->inputs] > 1.5f) b->y[i * b->columns] = NAN;
    return 0;
}

TEST(noise_sums_are_computed_only_if_an_answer_uses_them)
{
    certreg_model m = kit_model(wave, NULL, INPUTS, 1), fails = kit_model(failing, NULL, INPUTS, 1);
    m.lo = fails.lo = lo, m.hi = fails.hi = hi;
    ck_assert_uint_gt(kept_after(m, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0), 0);
    ck_assert_uint_eq(kept_after(fails, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0), 0);
    ck_assert_uint_gt(kept_after(m, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0.1), 0);
    ck_assert_uint_eq(kept_after(m, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0.1), 0);
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

KIT_MAIN("sweeps of the noise")
