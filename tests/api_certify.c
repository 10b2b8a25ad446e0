/* Certificates end to end, on models whose radius is known in closed form. */
#include "api_kit.h"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 10 };
static const double pi = 3.14159265358979323846;

/* ---- models */
typedef struct toy {
    double weight[MOST], offset;
    int step;                 /* 1 above zero, else 0 */
    size_t calls, cancel_at;  /* call during which it cancels, counted from 1 */
    double pause, fail_above; /* of the second input: NaN */
    certreg_estimator *handle;
} toy;

static double affine(const toy *t, const float *x, size_t d)
{
    double sum = t->offset;
    for (size_t j = 0; j < d; j++) sum += t->weight[j] * (double)x[j];
    return sum;
}

static int toy_model(void *user, const certreg_batch *b)
{
    toy *t = user;
    t->calls++;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        const double v = affine(t, x, b->inputs);
        b->y[i] = t->step ? v > 0 : (float)v;
        if (t->fail_above != 0 && (double)x[1] > t->fail_above) b->y[i] = NAN;
    }
    if (t->pause > 0) nanosleep(&(struct timespec){0, (long)(1e9 * t->pause)}, NULL);
    if (t->calls == t->cancel_at) certreg_estimator_cancel(t->handle);
    return 0;
}

static double steepness(const toy *t, const float *scale, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        const double w = t->weight[j] * (scale ? (double)scale[j] : 1);
        sum += w * w;
    }
    return sqrt(sum);
}

static const toy slope = {.weight = {0.7, -0.4, 0.3, 0.2, 0.1, -0.3, 0.05, 0.6, -0.2, 0.1},
                          .offset = 0.25};
static const float origin[MOST] = {0.1f, 0.2f, -0.3f, 0.4f, 0.5f, -0.6f, 0.7f, -0.8f, 0.9f, 1};
static const float units[MOST] = {1, 2, 0.5f, 0, 1, 3, 0.25f, 1, 0, 2};
static const double sigma = 0.5;

static certreg_estimator *make(toy *t, size_t d, const float *scale, size_t max_samples,
                               size_t pilot)
{
    certreg_model m = kit_model(toy_model, t, d, 1);
    m.scale = scale;
    certreg_plan p = kit_plan(max_samples);
    p.pilot = pilot;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    return t->handle = e;
}

static certreg_question mean_question(double tolerance, int32_t center, uint32_t constraints)
{
    certreg_question q = kit_question(tolerance);
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC, q.center = center,
    q.constraints = constraints;
    return q;
}

/* ---- affine: the radius is tolerance/steepness */
static const struct {
    size_t inputs;
    int scaled;
    int32_t center;
    uint32_t constraints;
} affine_cases[] = {
    {1, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECGM},
    {1, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG},
    {MOST, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECGM},
    {MOST, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG},
    {MOST, 1, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECGM},
    {MOST, 1, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG},
    {MOST, 0, CERTREG_CENTER_PREDICTION, CERTREG_CONSTRAINTS_CG},
    {MOST, 1, CERTREG_CENTER_PREDICTION, CERTREG_CONSTRAINTS_ECGM},
};

START_TEST(affine_models_get_nine_tenths_of_their_radius_and_never_more)
{
    toy t = slope;
    const size_t d = affine_cases[_i].inputs;
    const float *scale = affine_cases[_i].scaled ? units : NULL;
    certreg_estimator *e = make(&t, d, scale, 20000, 0);
    certreg_question q = mean_question(0.4 * sigma * steepness(&t, scale, d),
                                       affine_cases[_i].center, affine_cases[_i].constraints);
    certreg_certificate c = kit_certificate(); /* beyond 0.4 sigma the uncertainty of the variance
                                                  tells more */
    KIT_OK(e, certreg_certify(e, 20000, &q, 1, &c));
    double truth = q.tolerance;
    if (q.center == CERTREG_CENTER_PREDICTION)
        truth -= fabs(c.prediction - affine(&t, origin, d)); /* the nearer end */
    truth /= steepness(&t, scale, d);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(c.radius <= truth && c.radius >= 0.9 * truth, "%g of %g", c.radius, truth);
    ck_assert_double_le(fabs(c.estimate - affine(&t, origin, d)),
                        5 * sigma * steepness(&t, scale, d) / sqrt(16000));
    ck_assert_double_ge(asks_bounds(e, &q, &c).gradient_hi, sigma * steepness(&t, scale, d));
    ck_assert_double_ge(asks_bounds(e, &q, &c).variance_hi,
                        pow(sigma * steepness(&t, scale, d), 2));
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(variance_alone_gives_its_closed_form)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 20000, 0);
    certreg_question q = mean_question(0.4, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_C);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, 20000, &q, 1, &c));
    const double variance = pow(sigma * steepness(&t, NULL, MOST), 2),
                 truth = sigma * sqrt(log1p(0.16 / variance));
    ck_assert_uint_eq(c.constraints, CERTREG_CONSTRAINTS_C);
    ck_assert_msg(c.radius <= truth && c.radius >= 0.95 * truth, "%g of %g", c.radius, truth);
    ck_assert_double_eq_tol(c.radius,
                            sigma * sqrt(log1p(0.16 / asks_bounds(e, &q, &c).variance_hi)), 1e-8);
    q.method = CERTREG_METHOD_PAPER, q.constraints = 0;
    KIT_OK(e, certreg_certify(e, 20000, &q, 1, &c));
    ck_assert_double_eq_tol(c.radius, 0.4 / steepness(&t, NULL, MOST),
                            0.1 * 0.4 / steepness(&t, NULL, MOST));
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- half-space: the radius is the distance to its face */
static const struct {
    double distance; /* in scaled units */
    int scaled;
    int32_t method;
} faces[] = {
    {0.2, 0, CERTREG_METHOD_FINITE},     {0.5, 0, CERTREG_METHOD_FINITE},
    {0.8, 1, CERTREG_METHOD_FINITE},     {1.0, 1, CERTREG_METHOD_FINITE},
    {0.5, 1, CERTREG_METHOD_ASYMPTOTIC}, {0.8, 0, CERTREG_METHOD_ASYMPTOTIC},
};

START_TEST(half_spaces_are_certified_almost_to_their_face_and_never_beyond)
{
    toy t = slope;
    const float *scale = faces[_i].scaled ? units : NULL;
    t.step = 1;
    t.offset = 0;
    t.offset = faces[_i].distance * steepness(&t, scale, MOST) - affine(&t, origin, MOST);
    certreg_estimator *e = make(&t, MOST, scale, 20000, 0);
    certreg_question q = kit_question(0.45); /* no prediction is that near to both values */
    q.method = faces[_i].method;
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, 20000, &q, 1, &c));
    ck_assert_msg(c.radius < faces[_i].distance && c.radius > 0.9 * faces[_i].distance - 0.02,
                  "%g of %g, about %g", c.radius, faces[_i].distance, c.prediction);
    ck_assert_int_eq(c.limiting_side, CERTREG_SIDE_LOWER); /* the lower end gives way */
    ck_assert_double_gt(c.prediction, 0.55);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- the same bits */
enum { ASKED = 6 };
static void several(certreg_question q[ASKED])
{
    for (int i = 0; i < ASKED; i++) q[i] = kit_question(0.4);
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    q[2].statistic = CERTREG_STATISTIC_HUBER, q[2].huber_width = 0.2,
    q[2].method = CERTREG_METHOD_ASYMPTOTIC;
    q[3] = mean_question(0.4, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG);
    q[4] = mean_question(0.5, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_C); /* shares no bounds
                                                                                   with the one
                                                                                   before */
    q[5] = mean_question(0.3, CERTREG_CENTER_TRUE_MEAN, 0);
}

START_TEST(runs_repeat_bit_for_bit)
{
    certreg_question q[ASKED];
    certreg_certificate c[2][ASKED];
    several(q);
    for (int run = 0; run < 2; run++) {
        toy t = slope;
        certreg_estimator *e = make(&t, MOST, units, 2000, 0);
        memset(c[run], 0, sizeof c[run]);
        c[run][0].struct_size = sizeof c[run][0];
        KIT_OK(e, certreg_certify(e, 2000, q, ASKED, c[run]));
        certreg_estimator_destroy(e);
    }
    ck_assert_mem_eq(c[0], c[1], sizeof c[0]);
}
END_TEST

START_TEST(several_questions_at_once_are_answered_as_one_by_one)
{
    certreg_question q[ASKED];
    certreg_certificate all[ASKED], one = kit_certificate();
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, units, 2000, 0);
    several(q);
    memset(all, 0, sizeof all);
    all[0].struct_size = sizeof all[0];
    KIT_OK(e, certreg_certify(e, 2000, q, ASKED, all));
    const size_t calls = t.calls;
    for (int i = 0; i < ASKED; i++) {
        KIT_OK(e, certreg_certify(e, i % 3 ? 2000 : 0, &q[i], 1, &one));
        ck_assert_mem_eq(&all[i], &one, sizeof one);
        ck_assert_int_eq(one.outcome, CERTREG_OUTCOME_CERTIFIED);
    }
    ck_assert_uint_eq(t.calls, calls);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(certificate_run_and_question_tell_all_that_is_needed_to_run_them_again)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q = kit_question(0.4);
    q.statistic = CERTREG_STATISTIC_HUBER, q.huber_width = 0.2,
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.alpha = 0.02, q.bonferroni = 4;
    certreg_certificate c = kit_certificate(), other = kit_certificate();
    KIT_OK(e, certreg_certify(e, 1500, &q, 1, &c));
    ck_assert_uint_eq(c.samples, 1500);
    const certreg_run run = asks_run(e);
    uint64_t digest;
    ck_assert_uint_eq(run.seed, 11);
    ck_assert_uint_eq(c.noise_id, 3);
    ck_assert_uint_eq(run.noise_id, 3);
    ck_assert_uint_eq(run.samples, 1500);
    ck_assert_uint_eq(run.batch, 256);
    ck_assert_uint_gt(run.pilot, 0);
    ck_assert_double_eq(run.sigma, sigma);
    ck_assert_int_eq(certreg_question_digest(&q, &digest), CERTREG_OK);
    ck_assert_uint_eq(c.question, digest);
    ck_assert_double_eq(c.sigma, sigma);
    ck_assert_double_eq(c.tolerance, 0.4);
    ck_assert_double_eq(c.alpha, 0.005); /* divided by joint */
    ck_assert_int_eq(c.statistic, CERTREG_STATISTIC_HUBER);
    ck_assert_int_eq(c.method, CERTREG_METHOD_ASYMPTOTIC);
    ck_assert_uint_eq(c.constraints, CERTREG_CONSTRAINTS_ECGM);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    ck_assert_double_le(b.mean_lo, b.mean_hi);
    ck_assert_double_gt(run.model_seconds + run.library_seconds, 0);
    q.alpha = 0.005, q.bonferroni = 0;
    KIT_OK(e, certreg_certify(e, 1500, &q, 1, &other));
    ck_assert_double_eq(c.radius, other.radius);
    q.alpha = 0.02;
    KIT_OK(e, certreg_certify(e, 1500, &q, 1, &other));
    ck_assert_double_lt(c.radius, other.radius);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(bounds_lead_to_the_radius_of_the_certificate)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_solver *solver;
    certreg_bisection *bisection;
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, NULL, 0, &bisection), CERTREG_OK);
    certreg_question q[ASKED];
    several(q);
    for (int i = 0; i < ASKED; i++) {
        certreg_bounds b[2] = {{.struct_size = sizeof b[0]}, {.struct_size = sizeof b[0]}};
        certreg_certificate c = kit_certificate();
        certreg_radius r = {.struct_size = sizeof r};
        KIT_OK(e, certreg_certify(e, 2000, &q[i], 1, &c));
        if (q[i].center == CERTREG_CENTER_TRUE_MEAN) {
            KIT_OK(e, certreg_estimator_bounds(e, &q[i], c.limiting_side, b));
            ck_assert_int_eq(
                certreg_bisection_within(bisection, b, q[i].constraints, q[i].tolerance, &r),
                CERTREG_OK);
        } else {
            KIT_OK(e, certreg_estimator_bounds(e, &q[i], CERTREG_SIDE_UPPER, b));
            KIT_OK(e, certreg_estimator_bounds(e, &q[i], CERTREG_SIDE_LOWER, b + 1));
            ck_assert_int_eq(certreg_bisection_above(bisection, b, NULL, 2, q[i].constraints, &r),
                             CERTREG_OK);
        }
        ck_assert_double_eq(r.radius, c.radius);
        ck_assert_int_eq(r.outcome, c.outcome);
    }
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- predictions, alpha */
START_TEST(given_predictions_need_no_pilot)
{
    toy t = slope;
    certreg_model m = kit_model(toy_model, &t, MOST, 1);
    certreg_plan p = kit_plan(5000);
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    certreg_question q = kit_question(0.4);
    q.prediction = asks_prediction(affine(&t, origin, MOST) + 0.1);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(e, certreg_certify(e, 5000, &q, 1, &c));
    ck_assert_double_eq(c.prediction, *q.prediction);
    ck_assert_uint_eq(asks_run(e).pilot, 0);
    const double truth = 0.3 / steepness(&t, NULL, MOST); /* the median of a symmetric law is its
                                                             mean; the lower end is nearer */
    ck_assert_msg(c.radius < truth && c.radius > 0.85 * truth, "%g of %g", c.radius, truth);
    ck_assert_int_eq(c.limiting_side, CERTREG_SIDE_LOWER);
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
    ck_assert_uint_eq(b.samples, 5000);
    q.prediction = asks_prediction(100); /* far off: nothing can be proven, and that is an answer */
    KIT_OK(e, certreg_certify(e, 5000, &q, 1, &c));
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(smaller_alpha_never_gives_a_larger_radius)
{
    static const double alphas[] = {0.5, 0.1, 0.05, 1e-3, 1e-6, 1e-12, 1e-20, 1e-100};
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q[ASKED];
    several(q);
    for (int i = 0; i < ASKED; i++) {
        double last = INFINITY;
        for (size_t k = 0; k < sizeof alphas / sizeof *alphas; k++) {
            certreg_certificate c = kit_certificate();
            q[i].alpha = alphas[k];
            KIT_OK(e, certreg_certify(e, 2000, &q[i], 1, &c));
            ck_assert_double_le(c.radius, last);
            last = c.radius;
        }
        ck_assert_double_lt(last, sigma);
    }
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(radii_beyond_ten_sigma_are_capped_and_say_so)
{
    static const double lo = 0, hi = 1;
    toy t = {.weight = {0.01}, .offset = 0.5};
    certreg_model m = kit_model(toy_model, &t, 1, 1);
    m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(2000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    certreg_question q = mean_question(1.5, CERTREG_CENTER_TRUE_MEAN, 0); /* more than the range:
                                                                             nothing can go wrong */
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, 2000, &q, 1, &c));
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CAPPED);
    ck_assert_double_eq_tol(c.radius, 10 * sigma, 1e-9);
    ck_assert_double_le(c.radius, 10 * sigma);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- bad questions */
START_TEST(one_bad_question_does_not_silence_the_others)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q[4] = {kit_question(0.4), kit_question(-1), kit_question(0.5),
                             kit_question(0.4)};
    certreg_certificate c[4], alone = kit_certificate();
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    q[3].output = 1;
    KIT_STATUS(e, certreg_certify(e, 2000, q, 4, c), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "question 1"));
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "tolerance"));
    ck_assert_double_eq(certreg_estimator_error(e)->value, -1);
    ck_assert_int_eq(c[1].status, CERTREG_E_INVALID);
    ck_assert_int_eq(c[3].status, CERTREG_E_INVALID);
    for (int i = 0; i < 4; i += 2) {
        KIT_OK(e, certreg_certify(e, 0, &q[i], 1, &alone));
        ck_assert_int_eq(c[i].status, CERTREG_OK);
        ck_assert_double_gt(c[i].radius, 0);
        ck_assert_double_eq(c[i].radius, alone.radius);
    }
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(questions_that_are_all_bad_do_not_call_the_model)
{
    struct {
        certreg_question known;
        double later;
    } q[2] = {{kit_question(0.4), 1}, {kit_question(0), 0}};
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_certificate c[2];
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    q[0].known.struct_size = sizeof q[0];
    KIT_STATUS(e, certreg_certify(e, 2000, &q[0].known, 2, c), CERTREG_E_VERSION); /* the first
                                                                                      failure */
    ck_assert_uint_eq(t.calls, 0);
    ck_assert_int_eq(c[0].status, CERTREG_E_VERSION); /* and each its own */
    ck_assert_int_eq(c[1].status, CERTREG_E_INVALID);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- early stops */
static const struct {
    size_t batches; /* done before the stop; the pilot of 10,000 samples takes six */
    int32_t method;
    int proves;
} stops[] = {
    {1, CERTREG_METHOD_FINITE, 0},      {5, CERTREG_METHOD_FINITE, 0},
    {7, CERTREG_METHOD_FINITE, 1},      {20, CERTREG_METHOD_FINITE, 1},
    {1, CERTREG_METHOD_ASYMPTOTIC, 0},  {6, CERTREG_METHOD_ASYMPTOTIC, 0},
    {20, CERTREG_METHOD_ASYMPTOTIC, 1},
};

START_TEST(cancelled_certificates_are_valid_for_what_was_recorded)
{
    toy t = slope;
    t.cancel_at = stops[_i].batches;
    certreg_estimator *e = make(&t, MOST, NULL, 10000, 0);
    certreg_question q = kit_question(1.5);
    q.method = stops[_i].method;
    certreg_certificate c = kit_certificate(), whole = kit_certificate();
    KIT_OK(e, certreg_certify(e, 10000, &q, 1, &c));
    ck_assert_int_eq(certreg_estimator_error(e)->status, CERTREG_OK);
    ck_assert_int_eq(c.status, CERTREG_OK);
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 256 * stops[_i].batches);
    ck_assert_int_eq(c.outcome,
                     stops[_i].proves ? CERTREG_OUTCOME_CERTIFIED : CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(c.radius > 0, stops[_i].proves);
    ck_assert_double_lt(c.radius, 1.5 / steepness(&t, NULL, MOST));
    KIT_OK(e, certreg_certify(e, 10000, &q, 1, &whole)); /* and on it goes */
    ck_assert_int_eq(whole.stop, CERTREG_STOP_ALL);
    ck_assert_uint_eq(whole.samples, 10000);
    ck_assert_double_gt(whole.radius, c.radius);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(deadlines_stop_in_time_with_a_valid_radius)
{
    toy t = slope;
    t.pause = 0.005;
    certreg_estimator *e = make(&t, MOST, NULL, 100000, 1000);
    certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    certreg_estimator_set_deadline(e, _i ? 0.5 : 0.02);
    KIT_OK(e, certreg_certify(e, 100000, &q, 1, &c));
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_uint_lt(c.samples, 100000);
    const certreg_run run = asks_run(e);
    if (c.samples > run.pilot + 500) ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    if (c.samples <= run.pilot) ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_lt(c.radius, 0.6 / steepness(&t, NULL, MOST));
    ck_assert_double_ge(run.model_seconds, 0.005 * (double)t.calls);
    certreg_estimator_set_deadline(e, 0);
    KIT_OK(e, certreg_certify(e, 2000, &q, 1, &c));
    ck_assert_int_eq(c.stop, CERTREG_STOP_ALL);
    ck_assert_double_gt(c.radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- failed outputs */
START_TEST(failed_outputs_count_as_the_worst_on_both_sides)
{
    toy t = {.weight = {1e-3, 0}, .fail_above = 0.2 + 0.52440051270804 * 0.5}; /* three in ten fail
                                                                                */
    certreg_model m = kit_model(toy_model, &t, 2, 1);
    certreg_plan p = kit_plan(20000);
    p.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    certreg_question q[3] = {kit_question(1), kit_question(1),
                             mean_question(1, CERTREG_CENTER_TRUE_MEAN, 0)};
    q[1].statistic = CERTREG_STATISTIC_HUBER, q[1].huber_width = 0.5,
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    certreg_certificate c[3];
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    KIT_OK(e, certreg_certify(e, 20000, q, 3, c));
    const double truth = 0.52440051270804 * sigma; /* there half of them fail */
    for (int i = 0; i < 2; i++)
        ck_assert_msg(c[i].radius < truth && c[i].radius > 0.85 * truth, "%d: %g of %g", i,
                      c[i].radius, truth);
    ck_assert_int_eq(c[2].status, CERTREG_OK);
    ck_assert_int_eq(c[2].outcome, CERTREG_OUTCOME_ABSTAINED); /* a mean with unknown values has no
                                                                  bound */
    ck_assert_double_eq(c[2].radius, 0);
    t.fail_above = -100; /* all of them */
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    KIT_OK(e, certreg_certify(e, 20000, q, 3, c));
    for (int i = 0; i < 3; i++) ck_assert_int_eq(c[i].outcome, CERTREG_OUTCOME_ABSTAINED);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(c[i].radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- fork */
START_TEST(forked_child_is_told_to_make_its_own_handle)
{
    toy t = slope;
    certreg_backend *backend;
    ck_assert_int_eq(certreg_backend_open_cpu(2, NULL, &backend), CERTREG_OK);
    certreg_model m = kit_model(toy_model, &t, MOST, 1);
    const certreg_plan p = kit_plan(2000);
    certreg_estimator *e = kit_create(backend, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    KIT_OK(e, certreg_estimator_sample(e, 0, 2000));
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const certreg_question q = kit_question(1);
        certreg_certificate c = kit_certificate();
        certreg_bounds b = {.struct_size = sizeof b};
        float x[MOST] = {0};
        size_t bytes = 0;
        int good = certreg_estimator_begin(e, origin, sigma, 3) == CERTREG_E_WRONG_STATE;
        good = good && certreg_estimator_sample(e, 0, 1) == CERTREG_E_WRONG_STATE;
        good = good && certreg_estimator_draw(e, 0, 1, x) == CERTREG_E_WRONG_STATE;
        good = good && certreg_estimator_record(e, 0, 1, x) == CERTREG_E_WRONG_STATE;
        good = good && certreg_estimator_export(e, NULL, &bytes) == CERTREG_E_WRONG_STATE;
        good = good && certreg_estimator_import(e, x, 1) == CERTREG_E_WRONG_STATE;
        good = good && certreg_estimator_bounds(e, &q, 1, &b) == CERTREG_E_WRONG_STATE;
        good = good && certreg_certify(e, 0, &q, 1, &c) == CERTREG_E_WRONG_STATE && c.radius == 0;
        good = good && strstr(certreg_estimator_error(e)->text, "fork");
        certreg_estimator_destroy(e);
        certreg_backend_close(backend); /* neither hangs */
        certreg_estimator *own = NULL;
        good = good && !certreg_estimator_create(NULL, &m, &p, NULL, &own) &&
               !certreg_estimator_begin(own, origin, sigma, 3);
        good = good && !certreg_certify(own, 2000, &q, 1, &c) && c.radius > 0;
        certreg_estimator_destroy(own);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, 2000, &q, 1, &c)); /* the parent goes on */
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}
END_TEST

/* ---- angles */
typedef struct dial { /* angle = degrees + rate*x0, in any unit, wrapped where the model likes */
    double degrees, rate;
    int form; /* 0: plain real degrees; 1: degrees, wrapped; 2: radians; 3: (cos, sin); 4: degrees,
                 many turns away; 5: turns */
} dial;

static int dial_model(void *user, const certreg_batch *b)
{
    const dial *t = user;
    for (size_t i = 0; i < b->rows; i++) {
        const double a = t->degrees + t->rate * (double)b->x[i * b->inputs];
        float *y = b->y + i * b->columns;
        switch (t->form) {
        case 0: y[0] = (float)a; break;
        case 1: y[0] = (float)remainder(a, 360); break;
        case 2: y[0] = (float)(a / 180 * pi); break;
        case 3: y[0] = 3 * (float)cos(a / 180 * pi), y[1] = 3 * (float)sin(a / 180 * pi); break;
        case 4: y[0] = (float)(a + (double)((int)i % 5 - 2) * 360); break;
        default: y[0] = (float)(a / 360); break;
        }
    }
    return 0;
}

static const struct {
    int32_t kind;
    double lo, hi; /* the turn; 0, 0: the default */
    int form;
} dials[] = {
    {CERTREG_OUTPUT_REAL, 0, 0, 0},
    {CERTREG_OUTPUT_ANGLE, -180, 180, 1},
    {CERTREG_OUTPUT_ANGLE, 0, 0, 2},
    {CERTREG_OUTPUT_ANGLE_PAIR, 0, 0, 3},
    {CERTREG_OUTPUT_ANGLE_PAIR, -180, 180, 3},
    {CERTREG_OUTPUT_ANGLE, 0, 360, 4},
    {CERTREG_OUTPUT_ANGLE, 0, 1, 5},
    {CERTREG_OUTPUT_ANGLE_PAIR, 0, 24, 3},
};

static double unit_of(int k)
{
    if (dials[k].kind == CERTREG_OUTPUT_REAL) return 1;
    return dials[k].hi > dials[k].lo ? (dials[k].hi - dials[k].lo) / 360 : pi / 180;
}

/* The certificate with prediction and estimate turned back to degrees in [0, 360). */
static certreg_certificate read_dial(dial d, int k, int32_t statistic)
{
    d.form = dials[k].form;
    certreg_model m = kit_model(dial_model, &d, 2, 1);
    m.kind = &dials[k].kind;
    if (dials[k].hi > dials[k].lo) m.lo = &dials[k].lo, m.hi = &dials[k].hi;
    const certreg_plan p = kit_plan(4000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(15 * unit_of(k));
    q.statistic = statistic;
    q.method = statistic == CERTREG_STATISTIC_MEDIAN ? CERTREG_METHOD_FINITE
                                                     : CERTREG_METHOD_ASYMPTOTIC;
    if (statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 8 * unit_of(k);
    certreg_certificate c = kit_certificate();
    const float z[2] = {0, 0};
    KIT_OK(e, certreg_estimator_begin(e, z, sigma, 3));
    KIT_OK(e, certreg_certify(e, 4000, &q, 1, &c));
    if (dials[k].hi > dials[k].lo) {
        ck_assert_double_ge(c.prediction, dials[k].lo);
        ck_assert_double_lt(c.prediction, dials[k].hi);
    }
    certreg_estimator_destroy(e);
    c.prediction = fmod(c.prediction / unit_of(k) + 720, 360),
    c.estimate = fmod(c.estimate / unit_of(k) + 720, 360);
    return c;
}

static const double directions[] = {0, 90, 179.5, 180, -179.5, -90};

START_TEST(radius_of_an_angle_depends_on_neither_its_unit_nor_its_cut)
{
    const dial d = {.degrees = directions[_i], .rate = 20}; /* ten degrees of noise */
    static const int32_t scores[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_HUBER,
                                     CERTREG_STATISTIC_CIRCULAR_MEAN};
    for (int s = 0; s < 3; s++) {
        const int first = scores[s] == CERTREG_STATISTIC_CIRCULAR_MEAN; /* of a real number there is
                                                                           none */
        const certreg_certificate model = read_dial(d, first, scores[s]);
        ck_assert_int_eq(model.outcome, CERTREG_OUTCOME_CERTIFIED);
        ck_assert_double_gt(model.radius, 0.5);
        ck_assert_double_lt(model.radius, 15.0 / 20);
        ck_assert_double_lt(fabs(remainder(model.prediction - d.degrees, 360)), 1.5);
        for (int k = first + 1; k < KIT_ROWS(dials); k++) { /* outputs are rounded to float in each
                                                               unit; a count may change by one */
            const certreg_certificate c = read_dial(d, k, scores[s]);
            ck_assert_msg(fabs(c.radius - model.radius) < 2e-3 * model.radius,
                          "statistic %d, dial %d: %g and %g", s, k, c.radius, model.radius);
            ck_assert_double_lt(fabs(remainder(c.prediction - model.prediction, 360)), 0.02);
            ck_assert_double_lt(fabs(remainder(c.estimate - model.estimate, 360)), 0.02);
        }
    }
}
END_TEST

START_TEST(radius_of_an_angle_never_exceeds_that_of_its_line)
{
    static const double rates[] = {2, 20, 60, 120, 240, 1000};
    const dial d = {.degrees = 179, .rate = rates[_i]};
    for (int k = 0; k < KIT_ROWS(dials); k++) {
        const certreg_certificate c = read_dial(d, k, CERTREG_STATISTIC_MEDIAN);
        ck_assert_double_le(c.radius, 15 / rates[_i] * 1.0000001); /* where the median of the line
                                                                      leaves */
        if (rates[_i] >= 1000) ck_assert_double_eq(c.radius, 0);   /* uniform on the circle */
    }
}
END_TEST

START_TEST(mean_of_an_angle_takes_it_as_a_plain_number)
{
    dial d = {.degrees = 180, .rate = 20, .form = 1};
    static const int32_t kind = CERTREG_OUTPUT_ANGLE;
    static const double lo = -180, hi = 180;
    certreg_model m = kit_model(dial_model, &d, 2, 1);
    m.kind = &kind, m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(4000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = mean_question(15, CERTREG_CENTER_TRUE_MEAN, 0);
    certreg_certificate c = kit_certificate();
    const float z[2] = {0, 0};
    KIT_OK(e, certreg_estimator_begin(e, z, sigma, 3));
    KIT_OK(e, certreg_certify(e, 4000, &q, 1, &c));
    ck_assert_double_lt(fabs(c.estimate), 20); /* half of the outputs near either end */
    ck_assert_double_gt(asks_bounds(e, &q, &c).variance_hi, 160 * 160); /* and it pays for that */
    ck_assert_double_lt(c.radius, 0.1);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- several outputs */
static int mixed_model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[2 * i], a = 3 + 0.4 * x;
        float *y = b->y + i * b->columns;
        if (b->columns == 1) *y = (float)x;
        else
            y[0] = (float)x, y[1] = (float)cos(a), y[2] = (float)sin(a),
            y[3] = (float)(180 * a / pi), y[4] = (float)(2 * x);
    }
    return 0;
}

START_TEST(outputs_of_mixed_kinds_share_one_record)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE_PAIR,
                                   CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_REAL};
    static const double lo[] = {-50, 0, -180, -INFINITY},
                        hi[] = {50, 6.283185307179586, 180, INFINITY};
    certreg_model m = kit_model(mixed_model, NULL, 2, 4);
    m.kind = kind, m.lo = lo, m.hi = hi;
    const certreg_plan p = kit_plan(4000);
    const float z[2] = {0.5f, 0};
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, sigma, 3));
    certreg_question q[4];
    certreg_certificate c[4], alone = kit_certificate();
    for (int k = 0; k < 4; k++)
        q[k] = kit_question(k == 0   ? 0.6
                            : k == 1 ? 0.24
                            : k == 2 ? 0.24 * 180 / pi
                                     : 1.2),
        q[k].output = k;
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    KIT_OK(e, certreg_certify(e, 4000, q, 4, c));
    for (int k = 0; k < 4; k++) { /* all four say the same about the same input */
        ck_assert_int_eq(c[k].output, k);
        ck_assert_msg(fabs(c[k].radius - c[0].radius) < 2e-3 * c[0].radius, "output %d: %g and %g",
                      k, c[k].radius, c[0].radius);
    }
    ck_assert_double_eq_tol(c[1].prediction, 3.2, 0.05);
    ck_assert_double_eq_tol(c[2].prediction, 3.2 * 180 / pi - 360, 3);
    certreg_model single = kit_model(mixed_model, NULL, 2, 1);
    certreg_estimator *one = kit_create(NULL, &single, &p);
    KIT_OK(one, certreg_estimator_begin(one, z, sigma, 3));
    KIT_OK(one, certreg_certify(one, 4000, q, 1, &alone));
    ck_assert_double_eq(alone.radius, c[0].radius);
    ck_assert_double_eq(alone.prediction, c[0].prediction);
    certreg_estimator_destroy(one);
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("certify");
    TCase *typical = kit_case(suite, "typical", 60), *limits = kit_case(suite, "limits", 60),
          *bad_input = kit_case(suite, "bad_input", 60);
    tcase_add_loop_test(typical, affine_models_get_nine_tenths_of_their_radius_and_never_more, 0,
                        KIT_ROWS(affine_cases));
    tcase_add_test(typical, variance_alone_gives_its_closed_form);
    tcase_add_loop_test(typical, half_spaces_are_certified_almost_to_their_face_and_never_beyond, 0,
                        KIT_ROWS(faces));
    tcase_add_test(typical, runs_repeat_bit_for_bit);
    tcase_add_test(typical, several_questions_at_once_are_answered_as_one_by_one);
    tcase_add_test(typical, certificate_run_and_question_tell_all_that_is_needed_to_run_them_again);
    tcase_add_test(typical, bounds_lead_to_the_radius_of_the_certificate);
    tcase_add_test(typical, given_predictions_need_no_pilot);
    tcase_add_loop_test(typical, radius_of_an_angle_depends_on_neither_its_unit_nor_its_cut, 0,
                        KIT_ROWS(directions));
    tcase_add_test(typical, outputs_of_mixed_kinds_share_one_record);
    tcase_add_test(limits, smaller_alpha_never_gives_a_larger_radius);
    tcase_add_test(limits, radii_beyond_ten_sigma_are_capped_and_say_so);
    tcase_add_loop_test(limits, cancelled_certificates_are_valid_for_what_was_recorded, 0,
                        KIT_ROWS(stops));
    tcase_add_loop_test(limits, deadlines_stop_in_time_with_a_valid_radius, 0, 2);
    tcase_add_loop_test(limits, radius_of_an_angle_never_exceeds_that_of_its_line, 0, 6);
    tcase_add_test(limits, mean_of_an_angle_takes_it_as_a_plain_number);
    tcase_add_test(bad_input, failed_outputs_count_as_the_worst_on_both_sides);
    tcase_add_test(bad_input, one_bad_question_does_not_silence_the_others);
    tcase_add_test(bad_input, questions_that_are_all_bad_do_not_call_the_model);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(bad_input, forked_child_is_told_to_make_its_own_handle);
#endif
    return kit_run(suite);
}
