/* Certificates end to end: of models whose radius is known in closed form, of several questions,
 * and when something goes wrong, as a bad question beside good ones, a run that is stopped, outputs
 * that fail or were rounded to float. */
#include "support/api_kit.h"
#include "support/names.h"

enum { MOST = 10 };

typedef struct toy {
    double weight[MOST], offset;
    size_t calls, cancel_at; /* call during which it cancels, counted from 1 */
    double fail_above;       /* of the second input: NaN */
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
        b->y[i] = (float)v;
        if (t->fail_above != 0 && (double)x[1] > t->fail_above) b->y[i] = NAN;
    }
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

static certreg_estimator *make(toy *t, size_t d, const float *scale, size_t samples, size_t pilot)
{
    certreg_model m = KIT_MODEL(toy_model, t, d, 1, .scale = scale);
    return t->handle = kit_begun(m, KIT_PLAN(samples, .pilot = pilot), origin, sigma, 3);
}

static certreg_question mean_question(double tolerance, int32_t center, uint32_t constraints)
{
    certreg_question q = kit_question(tolerance);
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC;
    q.center = center, q.constraints = constraints;
    return q;
}

/* ---- affine: the radius is tolerance/steepness */
static const struct {
    size_t inputs;
    int scaled;
    int32_t center;
    uint32_t constraints;
} affine_cases[] = {
    {1, 0, TRUE_MEAN, ECGM},   {1, 0, TRUE_MEAN, CG},       {MOST, 0, TRUE_MEAN, ECGM},
    {MOST, 0, TRUE_MEAN, CG},  {MOST, 1, TRUE_MEAN, ECGM},  {MOST, 1, TRUE_MEAN, CG},
    {MOST, 0, PREDICTION, CG}, {MOST, 1, PREDICTION, ECGM},
};

TEST_ROWS(certify_affine_models_to_nine_tenths_of_their_radius, affine_cases)
{
    toy t = slope;
    const size_t d = affine_cases[_i].inputs;
    const float *scale = affine_cases[_i].scaled ? units : NULL;
    certreg_estimator *e = make(&t, d, scale, 20000, 0);
    certreg_question q = mean_question(0.4 * sigma * steepness(&t, scale, d),
                                       affine_cases[_i].center, affine_cases[_i].constraints);
    /* beyond 0.4 sigma the uncertainty of the variance tells more */
    certreg_certificate c = kit_ask(e, 20000, q);
    double truth = q.tolerance;
    /* the nearer end */
    if (q.center == PREDICTION) truth -= fabs(c.prediction - affine(&t, origin, d));
    truth /= steepness(&t, scale, d);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(c.radius <= truth && c.radius >= 0.9 * truth, "%g of %g", c.radius, truth);
    ck_assert_double_le(fabs(c.estimate - affine(&t, origin, d)),
                        5 * sigma * steepness(&t, scale, d) / sqrt(16000));
    ck_assert_double_ge(asks_bounds(e, &q, &c).gradient_hi, sigma * steepness(&t, scale, d));
    ck_assert_double_ge(asks_bounds(e, &q, &c).variance_hi,
                        pow(sigma * steepness(&t, scale, d), 2));
}

TEST(certify_by_variance_alone_has_a_closed_form)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 20000, 0);
    certreg_question q = mean_question(0.4, TRUE_MEAN, C);
    certreg_certificate c = kit_ask(e, 20000, q);
    const double variance = pow(sigma * steepness(&t, NULL, MOST), 2),
                 truth = sigma * sqrt(log1p(0.16 / variance));
    ck_assert_uint_eq(c.constraints, C);
    ck_assert_msg(c.radius <= truth && c.radius >= 0.95 * truth, "%g of %g", c.radius, truth);
    ck_assert_double_eq_tol(c.radius,
                            sigma * sqrt(log1p(0.16 / asks_bounds(e, &q, &c).variance_hi)), 1e-8);
    q.method = PAPER, q.constraints = 0;
    c = kit_ask(e, 20000, q);
    ck_assert_double_eq_tol(c.radius, 0.4 / steepness(&t, NULL, MOST),
                            0.1 * 0.4 / steepness(&t, NULL, MOST));
}

TEST(certify_caps_radii_beyond_ten_sigma)
{
    static const double lo = 0, hi = 1;
    toy t = {.weight = {0.01}, .offset = 0.5};
    certreg_model m = KIT_MODEL(toy_model, &t, 1, 1, .lo = &lo, .hi = &hi);
    certreg_estimator *e = kit_begun(m, kit_plan(2000), origin, sigma, 3);
    /* more than the range: nothing can go wrong */
    const certreg_certificate c = kit_ask(e, 2000, mean_question(1.5, TRUE_MEAN, 0));
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CAPPED);
    ck_assert_double_eq_tol(c.radius, 10 * sigma, 1e-9);
    ck_assert_double_le(c.radius, 10 * sigma);
}

/* ---- other norms */
static const float scales[][5] = {{1, 1, 1, 1, 1},
                                  {2, 2, 2, 2, 2},
                                  {0.5f, 3, 0, 1, 0.125f},
                                  {0, 0, 0, 4, 0},
                                  {1e-3f, 1e3f, 1, 0, 7}};

TEST_ROWS(certify_balls_of_other_norms_touch_the_certified_one, scales)
{
    certreg_model m = KIT_MODEL(kit_identity, NULL, 5, 1, .scale = scales[_i]);
    certreg_estimator *e = kit_begun(m, kit_plan(1000), (const float[5]){0}, 0.5, 1);
    const certreg_certificate c =
        kit_ask(e, 1000, kit_question(1.5 * fmax(0.5 * (double)scales[_i][0], 0.1)));
    ck_assert_double_gt(c.radius, 0);
    double least = INFINITY, sum = 0;
    for (int j = 0; j < 5; j++) {
        if (scales[_i][j] > 0)
            least = fmin(least, (double)scales[_i][j]), sum += pow((double)scales[_i][j], -2);
    }
    /* along the least scale */
    ck_assert(c.radius_l2 <= c.radius * least && c.radius_l2 >= c.radius * least * (1 - 1e-12));
    ck_assert_double_eq(c.radius_l1, c.radius_l2);
    /* a corner of the cube */
    ck_assert(c.radius_linf * sqrt(sum) <= c.radius &&
              c.radius_linf * sqrt(sum) >= c.radius * (1 - 1e-10));
}

/* ---- the same question gets the same bits. In another run: fault_memory, api_threads */
enum {
    ASKED = 8,
    M = CERTREG_CONSTRAINT_MEAN,
    V = CERTREG_CONSTRAINT_VARIANCE,
    G = CERTREG_CONSTRAINT_GRADIENT,
    R = CERTREG_CONSTRAINT_RANGE
};

/* Questions of every kind, or of families of constraints by one method, which share bounds. */
static size_t several(int which, certreg_question q[ASKED])
{
    static const uint32_t family[ASKED] = {V,     M | V,     M | V | R, M,
                                           V | G, M | V | G, V | G | R, M | V | G | R};
    for (int i = 0; i < ASKED && which; i++) {
        q[i] = mean_question(0.4, TRUE_MEAN, family[i]);
        q[i].method = (const int32_t[]){0, PAPER, ASYMPTOTIC, FINITE, ANYTIME}[which];
    }
    if (which) return which == 4 ? 4 : ASKED; /* the last takes no gradients */
    q[0] = q[1] = q[2] = q[7] = kit_question(0.4);
    q[1].method = ASYMPTOTIC, q[7].alpha = 0.01;
    q[2].statistic = HUBER, q[2].huber_width = 0.2, q[2].method = ASYMPTOTIC;
    q[3] = mean_question(0.4, TRUE_MEAN, CG);
    q[4] = mean_question(0.5, TRUE_MEAN, C); /* shares no bounds with the one before */
    q[5] = mean_question(0.3, TRUE_MEAN, 0);
    q[6] = mean_question(0.6, TRUE_MEAN, 0); /* whose bounds are found once for both */
    return ASKED;
}

TEST_TIMES(certify_answers_several_questions_as_one_by_one, 5)
{
    static const double lo = -9, hi = 9;
    toy t = slope;
    certreg_model m = kit_model(toy_model, &t, MOST, 1);
    certreg_question q[ASKED];
    certreg_certificate all[ASKED] = {kit_certificate()};
    if (_i) m.lo = &lo, m.hi = &hi;
    else m.scale = units;
    certreg_estimator *e = kit_begun(m, kit_plan(2000), origin, sigma, 3);
    const size_t count = several(_i, q);
    KIT_OK(e, certreg_certify(e, 2000, q, count, all));
    const size_t calls = t.calls;
    for (size_t i = 0; i < count; i++) {
        const certreg_certificate one = kit_ask(e, i % 3 ? 2000 : 0, q[i]);
        ck_assert_mem_eq(&all[i], &one, sizeof one);
        if (!_i) ck_assert_int_eq(one.outcome, CERTREG_OUTCOME_CERTIFIED);
    }
    ck_assert_uint_eq(t.calls, calls);
}

TEST(certify_reports_all_that_is_needed_to_repeat_a_run)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q = QUESTION(.tolerance = 0.4, .statistic = HUBER, .huber_width = 0.2,
                                  .method = ASYMPTOTIC, .alpha = 0.02, .bonferroni = 4);
    const certreg_certificate c = kit_ask(e, 1500, q);
    const certreg_run run = asks_run(e);
    uint64_t digest;
    ck_assert_int_eq(certreg_question_digest(&q, NULL, &digest), CERTREG_OK);
    ck_assert_uint_eq(c.question_digest, digest);
    ck_assert(run.seed == 11 && run.noise_id == 3 && run.samples == 1500 && run.batch == 256);
    ck_assert(run.pilot > 0 && run.sigma == sigma);
    ck_assert_double_gt(run.model_seconds + run.library_seconds, 0);
    ck_assert(c.samples == 1500 && c.noise_id == 3 && c.sigma == sigma && c.tolerance == 0.4);
    ck_assert_double_eq(c.alpha, 0.005); /* divided by joint */
    ck_assert(c.statistic == HUBER && c.method == ASYMPTOTIC && c.constraints == ECGM);
    q.alpha = 0.005, q.bonferroni = 0;
    ck_assert_double_eq(c.radius, kit_ask(e, 1500, q).radius);
    q.alpha = 0.02;
    ck_assert_double_lt(c.radius, kit_ask(e, 1500, q).radius);
}

/* ---- bad questions */
TEST(certify_answers_good_questions_beside_a_bad_one)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q[4] = {kit_question(0.4), kit_question(-1), kit_question(0.5),
                             kit_question(0.4)};
    certreg_certificate c[4] = {kit_certificate()};
    q[3].output = 1; /* which the model does not have */
    KIT_REFUSED(e, certreg_certify(e, 2000, q, 4, c), CERTREG_E_INVALID, "question 1");
    KIT_SAYS(certreg_estimator_error(e), "tolerance");
    ck_assert_double_eq(certreg_estimator_error(e)->value, -1);
    for (int i = 0; i < 4; i += 2) {
        ck_assert_int_eq(c[i].status, CERTREG_OK);
        ck_assert_double_gt(c[i].radius, 0);
        ck_assert_double_eq(c[i].radius, kit_ask(e, 0, q[i]).radius);
        ck_assert(kit_is_blank(c + i + 1, CERTREG_E_INVALID));
    }
}

/* A table of certificates would average them. */
TEST(certify_gives_no_numbers_if_the_call_fails)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    const certreg_question q = kit_question(0.4);
    certreg_certificate c = kit_stale(), all = kit_stale();
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE); /* a known question */
    ck_assert(kit_is_blank(&c, CERTREG_E_WRONG_STATE));
    KIT_REFUSED(e, certreg_certify(e, 9999, &q, 1, &c), CERTREG_E_TOO_MANY,
                "total_samples is 9999");
    ck_assert(kit_is_blank(&c, CERTREG_E_TOO_MANY));
    KIT_STATUS(e, certreg_certify_outputs(e, 0, &q, 1, &c, &all), CERTREG_E_WRONG_STATE);
    ck_assert(kit_is_blank(&c, CERTREG_E_WRONG_STATE) && kit_is_blank(&all, CERTREG_E_WRONG_STATE));
    t.fail_above = -100;
    KIT_STATUS(e, certreg_certify(e, 2000, &q, 1, &c), CERTREG_E_NOT_FINITE);
    ck_assert(kit_is_blank(&c, CERTREG_E_NOT_FINITE));
}

/* ---- early stops. At deadlines: prop_deadline */
static const struct {
    size_t batches; /* done before the stop; the pilot takes six of 256 samples */
    int32_t method;
    int proves;
} stops[] = {{1, FINITE, 0},     {5, FINITE, 0},     {7, FINITE, 1},     {20, FINITE, 1},
             {1, ASYMPTOTIC, 0}, {6, ASYMPTOTIC, 0}, {20, ASYMPTOTIC, 1}};

TEST_ROWS(certify_that_is_cancelled_is_valid_for_its_samples, stops)
{
    toy t = slope;
    t.cancel_at = stops[_i].batches;
    certreg_estimator *e = make(&t, MOST, NULL, 10000, 1488);
    const certreg_question q = QUESTION(.tolerance = 1.5, .method = stops[_i].method);
    const certreg_certificate c = kit_ask(e, 10000, q);
    ck_assert_int_eq(certreg_estimator_error(e)->status, CERTREG_OK);
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 256 * stops[_i].batches);
    ck_assert_int_eq(c.outcome,
                     stops[_i].proves ? CERTREG_OUTCOME_CERTIFIED : CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(c.radius > 0, stops[_i].proves);
    ck_assert_double_lt(c.radius, 1.5 / steepness(&t, NULL, MOST));
    const certreg_certificate whole = kit_ask(e, 10000, q); /* and on it goes */
    ck_assert(whole.stop == CERTREG_STOP_ALL && whole.samples == 10000);
    ck_assert_double_gt(whole.radius, c.radius);
}

/* ---- failed outputs */
TEST(certify_counts_failed_outputs_as_out_on_both_sides)
{
    const double truth = 0.52440051270804 * sigma; /* there half of them fail, here three in ten */
    toy t = {.weight = {1e-3, 0}, .fail_above = 0.2 + truth};
    certreg_plan p = KIT_PLAN(20000, .flags = CERTREG_PLAN_COUNT_FAILURES);
    certreg_estimator *e = kit_begun(kit_model(toy_model, &t, 2, 1), p, origin, sigma, 3);
    certreg_question q[3] = {kit_question(1), kit_question(1), mean_question(1, TRUE_MEAN, 0)};
    q[1].statistic = HUBER, q[1].huber_width = 0.5, q[1].method = ASYMPTOTIC;
    certreg_certificate c[3] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, 20000, q, 3, c));
    for (int i = 0; i < 2; i++)
        ck_assert_msg(c[i].radius < truth && c[i].radius > 0.85 * truth, "%d: %g of %g", i,
                      c[i].radius, truth);
    /* a mean with unknown values has no bound */
    ck_assert(c[2].outcome == CERTREG_OUTCOME_ABSTAINED && c[2].radius == 0);
    t.fail_above = -100; /* all of them */
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    KIT_OK(e, certreg_certify(e, 20000, q, 3, c));
    for (int i = 0; i < 3; i++)
        ck_assert(c[i].outcome == CERTREG_OUTCOME_ABSTAINED && c[i].radius == 0);
}

/* ---- outputs that were rounded to float */
/* The first output is 1e6, which has steps of 1/16, and the second one the input. */
KIT_EVAL(great_and_small, k ? x[0] : 1e6f)

#define REFUSES(e, call, certificate, words)                             \
    KIT_STATUS(e, call, CERTREG_E_OUT_OF_RANGE);                         \
    KIT_SAYS(certreg_estimator_error(e), words);                         \
    KIT_SAYS(certreg_estimator_error(e), "a constant near its outputs"); \
    ck_assert_int_eq(certreg_estimator_error(e)->sample, -1);            \
    ck_assert(kit_is_blank(certificate, CERTREG_E_OUT_OF_RANGE))

TEST(certify_refuses_tolerances_of_few_steps_of_rounded_outputs)
{
    certreg_question q[3] = {kit_question(3.12), kit_question(3.13), kit_question(0.5)};
    certreg_certificate c[3] = {kit_certificate()}, all[3] = {kit_certificate()}, both = all[0];
    const certreg_model m = kit_model(great_and_small, NULL, 1, 2);
    certreg_plan p = kit_plan(2000);
    certreg_estimator *exact = kit_begun(m, p, origin, 0.25, 1);
    p.flags = CERTREG_PLAN_ROUNDED;
    certreg_estimator *e = kit_begun(m, p, origin, 0.25, 1);
    q[2].output = 1;
    kit_exchange_records(e, exact, 2000, 700, 2);
    KIT_OK(exact, certreg_certify(exact, 2000, q, 3, all));
    for (int i = 0; i < 3; i++) ck_assert_double_gt(all[i].radius, 0);
    REFUSES(e, certreg_certify(e, 2000, q, 3, c), c, "question 0: outputs are recorded as float32");
    ck_assert_mem_eq(c + 1, all + 1, 2 * sizeof *c);
    REFUSES(e, certreg_certify_outputs(e, 0, (certreg_question[]){q[2], q[0]}, 2, c, &both), &both,
            "question 1: outputs are recorded as float32, which has steps of 0.0625");
    KIT_OK(e, certreg_output_bounds(e, 0, q, 1, 0.1, c));
    ck_assert_double_eq(c[0].output_lo, nextafter(1e6 - 0.03125, 0));
    ck_assert_double_eq(c[0].output_hi, nextafter(1e6 + 0.03125, INFINITY));
    q[0].output_count = q[1].output_count = 2;
    REFUSES(e, certreg_certify(e, 0, q, 2, c), c, "the tolerance 3.12 is less than 50 steps");
    ck_assert_double_gt(c[1].radius, 0);
    q[0] = kit_question(1), q[1] = kit_question(4);
    REFUSES(e, certreg_certify_sigmas(e, origin, (double[]){0.3, 0.2}, 2, 1, 2000, q, 1, c), c + 1,
            "noise level 0: outputs are recorded");
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.25, 2));
    q[0].target = q[1].target = asks_target(0.1);
    REFUSES(e, certreg_certify(e, 2000, q, 2, c), c, "question 0");
    ck_assert(c[1].stop == CERTREG_STOP_TARGET && c[1].radius >= 0.1);
}

KIT_MAIN("certify")
