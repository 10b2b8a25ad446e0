/* Several outputs as one vector: radii, groups, poses, predictions and estimates, failures, targets
 * and serving. And tolerances that are a part of the prediction: a function of the pilot alone,
 * after which the question is an ordinary one. */
#include "support/attack_kit.h"

enum { INPUTS = 4, MOST = 7, SAMPLES = 2000 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f, 0};

/* A linear map of four inputs to up to seven outputs, some of which may fail. */

typedef struct map {
    double weight[MOST][INPUTS];
    size_t fail_each, first; /* output 0 of each such sample fails, of all at 1; the first output
                                that is asked */
    size_t calls;
} map;

static const map plain = {.weight = {{1, 0.2, 0, 0},
                                     {0, 0.7, -0.3, 0},
                                     {0.4, 0, 0.8, 0},
                                     {0, -0.5, 0.5, 0.5},
                                     {0.1, 0.1, 0.1, 0.1},
                                     {0.9, 0, 0, -0.4},
                                     {0, 0, 1.5, 0}}};

/* The plain one, whose calls need not be told from those of others. */
static map *usual(void)
{
    static map shown;
    shown = plain;
    return &shown;
}

static int evaluate(void *user, const certreg_batch *b)
{
    map *m = user;
    m->calls++;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            double sum = 0;
            for (size_t j = 0; j < INPUTS; j++)
                sum += m->weight[m->first + k][j] * (double)b->x[i * INPUTS + j];
            const int fails = m->fail_each && k == 0 &&
                              (b->first + i) % m->fail_each == (m->fail_each > 1);
            b->y[i * b->columns + k] = fails ? NAN : (float)fmax(-3, fmin(sum, 3));
        }
    return 0;
}

static certreg_estimator *make(map *m, size_t outputs, size_t pilot, uint32_t flags)
{
    static const double lo[MOST] = {-3, -3, -3, -3, -3, -3, -3}, hi[MOST] = {3, 3, 3, 3, 3, 3, 3};
    certreg_plan p = KIT_PLAN(SAMPLES, .pilot = pilot, .flags = flags);
    return kit_begun(KIT_MODEL(evaluate, m, INPUTS, outputs, .lo = lo, .hi = hi), p, where, 0.5, 3);
}

/* ---- questions about them as one vector */
static certreg_question vector_of(int32_t statistic, double tolerance)
{
    return QUESTION(.tolerance = tolerance, .output = CERTREG_ALL_OUTPUTS, .statistic = statistic);
}

static const int32_t statistics[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_PROJECTION_MEDIAN,
                                     CERTREG_STATISTIC_MEAN, CERTREG_STATISTIC_HUBER};
enum { STATISTICS = sizeof statistics / sizeof *statistics };

static certreg_question nth(int index, double tolerance)
{
    certreg_question q = vector_of(statistics[index], tolerance);
    if (q.statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 0.2;
    return q;
}

static certreg_question about_true_mean(double tolerance)
{
    certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, tolerance);
    q.center = CERTREG_CENTER_TRUE_MEAN;
    return q;
}

/* ---- what a radius is */
/* Served or not: each direction of what is served has its part of the failure rate. */
TEST_TIMES(vector_of_medians_has_the_least_radius_at_equal_shares, 2 * MOST)
{
    const size_t outputs = 1 + (size_t)_i / 2, served = _i % 2 ? 101 : 0;
    const double psi[MOST] = {0.2, -0.1, 0.4}, count = (double)outputs;
    certreg_estimator *e = make(usual(), outputs, SIZE_MAX, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 3);
    q.prediction = psi, q.prediction_count = outputs, q.serving = asks_serving(served, 0.3);
    const double radius = kit_ask(e, SAMPLES, q).radius;
    double least = INFINITY;
    for (size_t k = 0; k < outputs; k++) {
        const certreg_question one = QUESTION(.tolerance = 3 / sqrt(count), .output = (int32_t)k,
                                              .prediction = psi + k,
                                              .serving = asks_serving(served, 0.3 / count));
        least = fmin(least, kit_ask(e, 0, one).radius);
    }
    ck_assert_double_gt(radius, 0);
    ck_assert_double_eq_tol(radius, least, 1e-6 * least);
}

TEST(vector_of_one_output_is_that_output)
{
    certreg_estimator *e = make(usual(), 1, 0, 0);
    for (int s = 0; s <= STATISTICS; s++) {
        certreg_question q = nth(s % STATISTICS, 0.6), one;
        if (s == STATISTICS) q = about_true_mean(0.6);
        one = q, one.output = 0;
        if (one.statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN)
            one.statistic = CERTREG_STATISTIC_MEDIAN;
        const certreg_certificate c = kit_ask(e, SAMPLES, q), alone = kit_ask(e, 0, one);
        double psi = 0;
        ck_assert_double_gt(c.radius, 0);
        ck_assert_double_eq_tol(c.radius, alone.radius, 1e-6 * alone.radius);
        if (!q.center) KIT_OK(e, certreg_estimator_prediction(e, &q, &psi));
        if (!q.center) ck_assert_double_eq_tol(psi, alone.prediction, 1e-9);
        ck_assert_int_eq(c.output, CERTREG_ALL_OUTPUTS);
        ck_assert(isnan(c.prediction) && isnan(c.estimate));
        ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    }
}

TEST_TIMES(vector_of_a_group_is_that_of_a_model_of_its_outputs, STATISTICS)
{
    map m = plain, few = plain;
    few.first = 2;
    certreg_estimator *e = make(&m, 7, 0, 0), *alone = make(&few, 3, 0, 0);
    certreg_question q = nth(_i, 1.5), group = q;
    group.output = 2, group.output_count = 3;
    double psi[3], of_group[3];
    const certreg_certificate a = kit_ask(e, SAMPLES, group), b = kit_ask(alone, SAMPLES, q);
    ck_assert_double_gt(a.radius, 0);
    ck_assert_double_eq_tol(a.radius, b.radius, 1e-9 * b.radius);
    ck_assert_int_eq(a.output, 2);
    KIT_OK(e, certreg_estimator_prediction(e, &group, of_group));
    KIT_OK(alone, certreg_estimator_prediction(alone, &q, psi));
    ck_assert_mem_eq(psi, of_group, sizeof psi);
}

/* A linear map moves every T by the same vector, so nothing beyond this is true. */
TEST_TIMES(vector_radius_never_exceeds_the_true_one, STATISTICS)
{
    map m = {.weight = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}};
    for (size_t outputs = 2; outputs <= 4; outputs++) {
        certreg_estimator *e = make(&m, outputs, 0, 0);
        certreg_question q = nth(_i, 1.6);
        double psi[MOST], gap = 0;
        const double radius = kit_ask(e, SAMPLES, q).radius;
        KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
        for (size_t k = 0; k < outputs; k++)
            gap += (psi[k] - (double)where[k]) * (psi[k] - (double)where[k]);
        ck_assert_double_gt(radius, 0.5);
        ck_assert_double_le(radius, 1.6 - sqrt(gap));
    }
}

TEST_TIMES(vector_pilot_gives_wide_outputs_more_tolerance, STATISTICS)
{
    map m = {.weight = {{1}, {0, 0.02}, {0, 0, 0.02}, {0, 0, 0, 0.02}}};
    certreg_estimator *e = make(&m, 4, 0, 0), *equal = make(&m, 4, SIZE_MAX, 0);
    certreg_question q = nth(_i, 1.6);
    double psi[4];
    const double radius = kit_ask(e, SAMPLES, q).radius;
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    q.prediction = psi, q.prediction_count = 4;
    ck_assert_double_eq(kit_ask(e, 0, q).radius, radius); /* given back */
    const double least = q.statistic == CERTREG_STATISTIC_MEAN ? 1.05 : 1.2;
    const double without_pilot = kit_ask(equal, SAMPLES, q).radius;
    ck_assert_double_gt(without_pilot, 0);
    ck_assert_double_gt(radius, least * without_pilot);
}

/* The bounds of a later direction contradict each other, as happens with affine functions at a
 * large alpha: the directions before it prove nothing on their own. Noise and pilot were searched
 * for; that of the noise before it contradicts nothing. */
TEST_TIMES(vector_direction_without_bounds_leaves_no_radius, 2)
{
    static const uint64_t noise_ids[] = {2209, 2284};
    map m = {.weight = {{0.3}, {0, 0.3}}};
    const certreg_model model = kit_model(evaluate, &m, INPUTS, 2);
    certreg_plan p = KIT_PLAN(1000, .pilot = 168);
    certreg_estimator *e = kit_begun(model, p, where, 0.5, noise_ids[_i] - 1);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, 1);
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.alpha = 0.5;
    ck_assert_double_gt(kit_ask(e, 1000, q).radius, 0);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, noise_ids[_i]));
    const certreg_certificate c = kit_ask(e, 1000, q);
    ck_assert(c.radius == 0 && c.radius_l1 == 0 && c.radius_l2 == 0 && c.radius_linf == 0);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
}

/* ---- predictions, estimates, bounds */
/* The median of the outputs that the model gives for the noise that the estimator draws. */
static double median_along(certreg_estimator *e, const map *m, double u, double v)
{
    enum { COUNT = 501 };
    static float x[COUNT * INPUTS];
    static double t[COUNT];
    size_t used = 0;
    KIT_OK(e, certreg_estimator_draw(e, 0, COUNT, x));
    for (size_t i = 0; i < COUNT; i++) {
        double y[2] = {0};
        for (size_t k = 0; k < 2; k++)
            for (size_t j = 0; j < INPUTS; j++) y[k] += m->weight[k][j] * (double)x[i * INPUTS + j];
        if (!m->fail_each || i % m->fail_each != 1)
            t[used++] = u * (double)(float)y[0] + v * (double)(float)y[1];
    }
    kit_sort(t, used);
    return 0.5 * (t[(used - 1) / 2] + t[used / 2]);
}

TEST_TIMES(vector_estimate_is_the_median_of_the_servers_samples, 2)
{
    const double c = 0.86602540378443865, s = 0.5;
    const double axes[6][2] = {{1, 0}, {c, s}, {s, c}, {0, 1}, {-s, c}, {-c, s}};
    map m = plain;
    m.fail_each = _i ? 7 : 0;
    certreg_estimator *e = make(&m, 2, SIZE_MAX, CERTREG_PLAN_COUNT_FAILURES);
    certreg_question q = vector_of(CERTREG_STATISTIC_PROJECTION_MEDIAN, 1);
    double got[2] = {7, 7}, wanted[2] = {0};
    KIT_OK(e, certreg_estimator_sample(e, 0, 501));
    KIT_OK(e, certreg_estimator_estimate(e, &q, got));
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++)
            wanted[k] += axes[i][k] * median_along(e, &m, axes[i][0], axes[i][1]) / 3;
    for (int k = 0; k < 2; k++) ck_assert_double_eq_tol(got[k], wanted[k], 1e-12);
    q.statistic = CERTREG_STATISTIC_MEDIAN;
    KIT_OK(e, certreg_estimator_estimate(e, &q, got));
    ck_assert_double_eq_tol(got[0], median_along(e, &m, 1, 0), 1e-12);
    if (!_i) ck_assert_double_eq_tol(got[1], median_along(e, &m, 0, 1), 1e-12);
}

TEST_TIMES(vector_estimates_are_those_of_single_certificates, STATISTICS)
{
    certreg_estimator *e = make(usual(), 3, 0, 0);
    certreg_question q = nth(_i, 1.5);
    double all[3], one;
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_OK(e, certreg_estimator_estimate(e, &q, all));
    for (q.output = 0; q.output < 3 && _i != 1; q.output++) { /* a projection has none alone */
        KIT_OK(e, certreg_estimator_estimate(e, &q, &one));
        ck_assert_double_eq(one, all[q.output]);
        ck_assert_double_eq(one, kit_ask(e, 0, q).estimate);
    }
}

/* What is told of main samples may choose their number: then no other number will do. */
TEST(vector_estimate_is_an_evaluation_of_the_record)
{
    certreg_estimator *e = make(usual(), 2, 100, 0);
    const certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 2);
    certreg_certificate c = kit_certificate();
    double told[2];
    KIT_OK(e, certreg_estimator_sample(e, 0, 400));
    KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    KIT_STATUS(e, certreg_certify(e, 800, &q, 1, &c), CERTREG_E_WRONG_STATE);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 4));
    KIT_OK(e, certreg_estimator_sample(e, 0, 100)); /* the pilot alone */
    KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    c = kit_ask(e, 800, q);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 5));
    told[0] = 7;
    KIT_OK(e, certreg_estimator_estimate(e, &q, told)); /* of nothing */
    ck_assert(isnan(told[0]) && isnan(told[1]));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, NULL), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_estimate(e, NULL, told), CERTREG_E_INVALID);
    const certreg_question ball =
        QUESTION(.tolerance = 2, .output = CERTREG_ALL_OUTPUTS,
                 .statistic = CERTREG_STATISTIC_BALL_CENTER, .method = CERTREG_METHOD_BASELINE,
                 .prediction = (const double[2]){0}, .prediction_count = 2);
    KIT_STATUS(e, certreg_estimator_estimate(e, &ball, told), CERTREG_E_INVALID);
    KIT_OK(e, certreg_estimator_sample(e, 200, 10));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE);
}

/* As a control loop does: the estimate of one tick is the prediction of the next, in one array. */
TEST_TIMES(vector_estimate_without_samples_is_the_prediction, STATISTICS)
{
    map m = plain;
    certreg_estimator *e = make(&m, 2, SIZE_MAX, CERTREG_PLAN_COUNT_FAILURES);
    certreg_question q = nth(_i, 2);
    certreg_certificate c = kit_certificate();
    double pose[2] = {0.125, -0.25};
    q.prediction = pose, q.prediction_count = 2;
    for (uint64_t tick = 0; tick < 4; tick++) {
        const double before[2] = {pose[0], pose[1]};
        const int late = tick == 1, failed = tick == 2;
        m.fail_each = failed ? 1 : 0;
        certreg_estimator_set_deadline(e, late ? -1 : INFINITY);
        KIT_OK(e, certreg_estimator_begin(e, where, 0.5, tick));
        c = kit_ask(e, SAMPLES, q);
        KIT_OK(e, certreg_estimator_estimate(e, &q, pose));
        ck_assert_uint_eq(c.samples, late ? 0 : SAMPLES);
        ck_assert(isfinite(pose[0]) && isfinite(pose[1]));
        ck_assert_int_eq(pose[0] == before[0] && pose[1] == before[1], late || failed);
    }
}

TEST_TIMES(vector_estimate_for_serving_needs_exactly_its_samples, 2)
{
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 2);
    double told[2] = {7, 7};
    q.serving = asks_serving(101, 0.01);
    certreg_estimator *e = make(usual(), 2, _i ? SIZE_MAX : 0, 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    KIT_REFUSED(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE,
                "question.serving->samples is 101");
    KIT_OK(e, certreg_estimator_sample(e, 100, 1));
    if (_i) KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    else { /* sample 0 has no noise */
        KIT_REFUSED(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE,
                    "plan.pilot = SIZE_MAX");
    }
    ck_assert(_i ? fabs(told[0]) < 2 : told[0] == 7);
    KIT_OK(e, certreg_estimator_sample(e, 101, 1 + (size_t)!_i));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE);
}

/* Its plan is for fewer samples, and without the gradient. */
TEST(vector_estimate_takes_the_question_that_was_certified)
{
    static const uint64_t looks[2] = {SAMPLES, 2 * SAMPLES};
    const certreg_target target = {
        .struct_size = sizeof target, .radius = 0.2, .looks = looks, .look_count = 2};
    certreg_estimator *e = make(usual(), 2, SIZE_MAX, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 2);
    double told[2];
    KIT_OK(e, certreg_estimator_sample(e, 0, 101));
    q.serving = asks_serving(101, 0.01), q.target = &target;
    KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    q = vector_of(CERTREG_STATISTIC_MEAN, 2);
    q.method = CERTREG_METHOD_FINITE, q.constraints = CERTREG_CONSTRAINTS_ECGM;
    KIT_OK(e, certreg_estimator_estimate(e, &q, told));
}

/* ---- failures */
TEST(vector_output_that_failed_is_out_in_all_its_directions)
{
    map m = plain;
    m.fail_each = 10;
    certreg_estimator *e = make(&m, 3, 0, CERTREG_PLAN_COUNT_FAILURES);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 20); /* nothing else is out */
    const double by_axis = kit_ask(e, SAMPLES, q).radius;
    ck_assert_double_gt(by_axis, 0.4); /* of sigma 0.5: 1.28 sigma at most */
    ck_assert_double_lt(by_axis, 0.5 * 1.2816);
    q.statistic = CERTREG_STATISTIC_PROJECTION_MEDIAN;
    ck_assert_double_eq(kit_ask(e, 0, q).radius, by_axis);
    q.output = 1, q.output_count = 2; /* which do not fail */
    ck_assert_int_eq(kit_ask(e, 0, q).outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_double_gt(kit_ask(e, 0, q).radius, 1);
    q = vector_of(CERTREG_STATISTIC_MEAN, 20);
    ck_assert_int_eq(kit_ask(e, 0, q).outcome, CERTREG_OUTCOME_ABSTAINED);
    q.output = 1, q.output_count = 2, q.tolerance = 1;
    ck_assert_int_eq(kit_ask(e, 0, q).outcome, CERTREG_OUTCOME_CERTIFIED);
}

/* The mean of outputs that failed has no bounds, along no direction. */
TEST(vector_bounds_of_an_abstention_claim_nothing)
{
    enum { COUNT = 400 };
    static const double least[2] = {-9, -9}, most[2] = {9, 9};
    certreg_model m = kit_model(NULL, NULL, 1, 2);
    certreg_plan p = kit_plan(COUNT);
    certreg_question q = kit_question(2);
    certreg_bounds b = {.struct_size = sizeof b, .constraints = 99};
    float y[2 * COUNT];
    for (int i = 0; i < 2 * COUNT; i++) y[i] = 0.1f * (float)(i % 7);
    y[2 * 300] = NAN;
    m.lo = least, m.hi = most, p.pilot = 40, p.flags = CERTREG_PLAN_COUNT_FAILURES;
    q.output = CERTREG_ALL_OUTPUTS, q.statistic = CERTREG_STATISTIC_MEAN;
    certreg_estimator *e = kit_begun(m, p, (const float[1]){0.5f}, 0.5, 1);
    KIT_OK(e, certreg_estimator_record(e, 0, COUNT, y));
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
    ck_assert_uint_eq(b.constraints, 0);
}

/* ---- targets */
TEST_TIMES(vector_target_stops_early, 4)
{
    const int32_t method = _i % 2 ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE;
    map m = plain;
    certreg_estimator *e = make(&m, 3, 0, 0);
    certreg_question q = nth(_i / 2, 2);
    q.method = method, q.target = asks_target(0.2);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    ck_assert_double_ge(c.radius, 0.2);
    ck_assert_uint_lt(c.samples, SAMPLES);
    const certreg_forecast f = asks_forecast(e, q);
    ck_assert_uint_gt(f.least_samples, 0);
    ck_assert_double_lt(f.expected_samples, SAMPLES);
    q.target = asks_target(5); /* ten sigma and no failure at all could not prove it */
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 4));
    m.calls = 0;
    ck_assert_int_eq(kit_ask(e, SAMPLES, q).stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_eq(m.calls, 0);
}

/* Only the last of four outputs scatters. */
TEST(vector_target_may_be_hopeless_by_its_last_direction)
{
    certreg_estimator *e =
        make(&(map){.weight = {{0.01}, {0, 0.01}, {0, 0, 0.01}, {0, 0, 0, 1.6}}}, 4, SIZE_MAX, 0);
    const double psi[4] = {0.002, -0.001, 0.004, 0};
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 1), easy = q;
    q.prediction = easy.prediction = psi, q.prediction_count = 4;
    q.target = easy.target = asks_target(0.4);
    easy.output = 0, easy.output_count = 3, easy.prediction_count = 3;
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_lt(c.samples, SAMPLES);
    ck_assert(asks_forecast(e, q).expected_samples == INFINITY);
    ck_assert_double_lt(asks_forecast(e, easy).expected_samples, 400);
}

TEST_TIMES(vector_questions_of_one_call_do_not_share_bounds, STATISTICS)
{
    certreg_estimator *e = make(usual(), 4, 0, 0);
    certreg_question q[4] = {nth(_i, 2), nth(_i, 1.5), nth(_i, 2), nth(_i, 2)};
    q[2].output = 1, q[2].output_count = 2, q[3].output = 1;
    if (q[3].statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN)
        q[3].statistic = CERTREG_STATISTIC_MEDIAN;
    for (int i = 0; i < 4 && q[i].statistic == CERTREG_STATISTIC_MEAN; i++)
        q[i].center = CERTREG_CENTER_TRUE_MEAN;
    certreg_certificate together[4] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 4, together));
    for (int i = 4; i-- > 0;) {
        ck_assert_double_gt(together[i].radius, 0);
        ck_assert_double_eq(kit_ask(e, 0, q[i]).radius, together[i].radius);
    }
}

/* ---- tolerances relative to the prediction */
enum { PILOT = 200 };

static certreg_question tenth(int32_t output, int32_t statistic)
{
    return QUESTION(.output = output, .statistic = statistic, .relative_tolerance = 0.1);
}

/* Bounds of a mean at a number of samples that is fixed, or of the probability of being out. */
TEST_TIMES(relative_tolerance_is_that_part_of_the_prediction, 2 * 3 * 2)
{
    static const int32_t methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ANYTIME,
                                      CERTREG_METHOD_ASYMPTOTIC};
    certreg_estimator *e = make(usual(), 1, PILOT, 0);
    certreg_question q = tenth(0, _i % 2 ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_MEDIAN);
    q.method = methods[_i / 2 % 3], q.relative_tolerance = 10,
    q.serving = asks_serving(_i < 6 ? 0 : 51, 0.1);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    double told = 0;
    ck_assert_double_gt(c.radius, 0);
    ck_assert(c.tolerance <= 10 * fabs(c.prediction));
    ck_assert_double_eq_tol(c.tolerance, 10 * fabs(c.prediction), 1e-12);
    const double end = c.prediction - c.tolerance; /* that of a mean is rounded outward */
    ck_assert_double_eq(c.output_lo, _i % 2 ? nextafter(end, -INFINITY) : end);
    KIT_OK(e, certreg_estimator_prediction(e, &q, &told));
    ck_assert_double_eq(told, c.prediction);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    if (_i == 0) { /* an attack is about the same */
        const certreg_attack_result r =
            attack_found(attack_on(e, 500), q, attack_options(500), NULL);
        ck_assert(r.tolerance == c.tolerance && r.prediction == c.prediction);
    }
    q.relative_tolerance = 0, q.tolerance = c.tolerance, q.prediction = &c.prediction;
    const certreg_bounds same = asks_bounds(e, &q, &c);
    ck_assert(b.mean_lo == same.mean_lo && b.mean_hi == same.mean_hi);
    ck_assert_double_eq(kit_ask(e, 0, q).radius, c.radius);
}

TEST_TIMES(relative_tolerance_of_a_vector_is_a_part_of_the_norm, 3)
{
    certreg_estimator *e = make(usual(), 3, PILOT, 0);
    certreg_question q = nth(_i, 0);
    q.relative_tolerance = 8;
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    double psi[3];
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    const double norm = sqrt(psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]);
    ck_assert_double_gt(c.radius, 0);
    ck_assert(c.tolerance < 8 * norm);
    ck_assert_double_eq_tol(c.tolerance, 8 * norm, 1e-12);
    q.prediction = psi, q.prediction_count = 3;
    ck_assert_double_eq(kit_ask(e, 0, q).tolerance, c.tolerance);
}

/* Main samples decide neither prediction nor tolerance, nor does their number. */
TEST_TIMES(relative_tolerance_is_a_function_of_the_pilot, 2)
{
    const certreg_question q = tenth(0, _i ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_MEDIAN);
    certreg_certificate c[3];
    for (int k = 0; k < 3; k++) {
        static float y[SAMPLES];
        const size_t count = k == 2 ? SAMPLES / 2 : SAMPLES;
        certreg_estimator *e = make(usual(), 1, PILOT, 0);
        for (int i = 0; i < SAMPLES; i++)
            y[i] = i < PILOT ? 1 + 0.003f * (float)(i * 37 % 61) : k ? -2 : 1;
        KIT_OK(e, certreg_estimator_record(e, 0, count, y));
        c[k] = kit_ask(e, 0, q);
    }
    for (int k = 1; k < 3; k++) {
        ck_assert_double_eq(c[k].prediction, c[0].prediction);
        ck_assert_double_eq(c[k].tolerance, c[0].tolerance);
        ck_assert_int_eq(c[k].outcome, CERTREG_OUTCOME_ABSTAINED);
    }
    ck_assert_double_gt(c[0].radius, 0);
}

/* The prediction of outputs that are all 0 is 0, and so is each part of it. Outputs that all fail
 * have none, nor has a record that ends before its pilot. */
TEST_TIMES(relative_tolerance_of_nothing_abstains, 5)
{
    map m = _i < 3 ? (map){0} : plain;
    if (_i == 3) m.fail_each = 1;
    certreg_estimator *e = make(&m, 2, PILOT, _i == 3 ? CERTREG_PLAN_COUNT_FAILURES : 0);
    const certreg_question q = tenth(_i == 2 ? CERTREG_ALL_OUTPUTS : 0,
                                     _i == 1 ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_MEDIAN);
    if (_i == 4) certreg_estimator_cancel(e);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert(c.radius == 0 && isinf(c.output_lo) && isinf(c.output_hi));
    ck_assert(_i < 3 ? c.tolerance == 0 : isnan(c.tolerance));
    if (_i != 2) ck_assert(_i < 2 ? c.prediction == 0 : isnan(c.prediction));
    if (_i > 1) return;
    const certreg_attack_result r = attack_found(attack_on(e, 500), q, attack_options(500), NULL);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_NOT_BROKEN);
}

/* One radius for outputs, each with a tolerance of its own; levels with one each. */
TEST(relative_tolerances_of_outputs_and_levels_are_their_own)
{
    static const double sigmas[2] = {0.3, 0.6};
    certreg_estimator *e = make(usual(), 2, PILOT, 0);
    certreg_question q[2] = {tenth(0, 0), tenth(1, 0)};
    certreg_certificate c[4], together = kit_certificate();
    for (int i = 0; i < 4; i++) c[i] = kit_certificate();
    q[0].relative_tolerance = q[1].relative_tolerance = 9;
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, 2, c, &together));
    ck_assert_double_eq(together.radius, fmin(c[0].radius, c[1].radius));
    ck_assert_double_eq(together.tolerance, c[together.output].tolerance);
    KIT_OK(e, certreg_certify_sigmas(e, where, sigmas, 2, 5, SAMPLES, q, 2, c));
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(c[i].tolerance, 9 * fabs(c[i].prediction), 1e-12);
    ck_assert_double_ne(c[0].tolerance, c[2].tolerance);
}

KIT_MAIN("vectors")
