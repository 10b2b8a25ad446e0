/* What is told of several outputs as one vector: predictions, estimates, bounds; with failures,
 * targets, serving and deadlines. */
#include "support/vector_map.h"

/* ---- predictions, estimates, bounds */
TEST_TIMES(vector_prediction_given_back_gives_the_same_certificate, STATISTICS)
{
    certreg_estimator *e = make(usual(), 5, 0, 0);
    certreg_question q = nth(_i, 2);
    double psi[5];
    const double radius = kit_ask(e, SAMPLES, q).radius;
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    q.prediction = psi, q.prediction_count = 5;
    ck_assert_double_gt(radius, 0);
    ck_assert_double_eq(kit_ask(e, 0, q).radius, radius);
}

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

TEST(vector_estimates_are_those_of_single_certificates)
{
    certreg_estimator *e = make(usual(), 3, 0, 0);
    const double psi[3] = {0};
    for (int s = 0; s < STATISTICS; s++) {
        certreg_question q = nth(s, 1.5);
        double all[3], one;
        if (q.statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN) continue;
        KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
        KIT_OK(e, certreg_estimator_estimate(e, &q, all));
        for (int32_t k = 0; k < 3; k++) {
            q.output = k;
            KIT_OK(e, certreg_estimator_estimate(e, &q, &one));
            ck_assert_double_eq(one, all[k]);
            ck_assert_double_eq(one, kit_ask(e, 0, q).estimate);
        }
    }
    certreg_question ball = vector_of(CERTREG_STATISTIC_BALL_CENTER, 2);
    double unused[3] = {7, 7, 7};
    ball.method = CERTREG_METHOD_BASELINE, ball.prediction = psi, ball.prediction_count = 3;
    KIT_STATUS(e, certreg_estimator_estimate(e, &ball, unused), CERTREG_E_INVALID);
    ck_assert_double_eq(unused[0], 7);
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
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(e), "question.serving->samples is 101");
    KIT_OK(e, certreg_estimator_sample(e, 100, 1));
    if (_i) KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    else { /* sample 0 has no noise */
        KIT_STATUS(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE);
        KIT_SAYS(certreg_estimator_error(e), "plan.pilot = SIZE_MAX");
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

TEST_TIMES(vector_bounds_are_those_of_the_limiting_direction, STATISTICS)
{
    certreg_estimator *e = make(usual(), 5, 0, 0);
    certreg_solver *solver = NULL;
    certreg_bisection *bisection = NULL;
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_question q = nth(_i, 2);
    if (q.statistic == CERTREG_STATISTIC_MEAN || q.statistic == CERTREG_STATISTIC_HUBER)
        q.constraints = CERTREG_CONSTRAINTS_ECM; /* no law */
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    kit_open_solver(&solver, &bisection);
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 1, b.constraints, &radius),
                     CERTREG_OK);
    ck_assert_double_eq_tol(radius.radius, c.radius, 1e-5 * c.radius);
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

/* ---- targets and serving */
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
    certreg_forecast f = {.struct_size = sizeof f};
    KIT_OK(e, certreg_estimator_forecast(e, &q, &f));
    ck_assert_uint_gt(f.least_samples, 0);
    ck_assert_double_lt(f.expected_samples, SAMPLES);
    q.target = asks_target(5); /* ten sigma and no failure at all could not prove it */
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 4));
    m.calls = 0;
    ck_assert_int_eq(kit_ask(e, SAMPLES, q).stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_eq(m.calls, 0);
}

TEST_TIMES(vector_radius_is_smaller_for_serving, STATISTICS)
{
    certreg_estimator *e = make(usual(), 3, 0, 0);
    certreg_question q = nth(_i, 2);
    const double radius = kit_ask(e, SAMPLES, q).radius;
    q.serving = asks_serving(1001, 0.01);
    const double served = kit_ask(e, 0, q).radius;
    q.serving = asks_serving(21, 0.01);
    ck_assert_double_gt(served, 0);
    ck_assert_double_lt(served, radius);
    ck_assert_double_lt(kit_ask(e, 0, q).radius, served);
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

/* Where the first direction limits, its bounds must be its own. */
TEST(vector_bounds_of_a_second_tolerance_are_its_own)
{
    certreg_estimator *e = make(&(map){.weight = {{1}, {0, 0.05}}}, 2, 0, 0);
    certreg_question q[2] = {vector_of(CERTREG_STATISTIC_MEAN, 1.5),
                             vector_of(CERTREG_STATISTIC_MEAN, 1)};
    for (int i = 0; i < 2; i++)
        q[i].center = CERTREG_CENTER_TRUE_MEAN, q[i].method = CERTREG_METHOD_ASYMPTOTIC,
        q[i].constraints = CERTREG_CONSTRAINTS_C;
    certreg_certificate together[2] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 2, together));
    ck_assert_double_eq(kit_ask(e, 0, q[1]).radius, together[1].radius);
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
    certreg_forecast hard = {.struct_size = sizeof hard}, other = hard;
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_lt(c.samples, SAMPLES);
    KIT_OK(e, certreg_estimator_forecast(e, &q, &hard));
    KIT_OK(e, certreg_estimator_forecast(e, &easy, &other));
    ck_assert(hard.expected_samples == INFINITY);
    ck_assert_double_lt(other.expected_samples, 400);
}

TEST(vector_certificate_after_a_deadline_claims_nothing)
{
    certreg_estimator *e = make(usual(), 3, 0, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, 2);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_OK(e, certreg_estimator_set_deadline(e, -1));
    certreg_certificate c = kit_ask(e, 0, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_double_eq(c.radius, 0);
    KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
    ck_assert_double_gt(kit_ask(e, 0, q).radius, 0);
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
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[1]){0.5f}, 0.5, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, COUNT, y));
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
    ck_assert_uint_eq(b.constraints, 0);
}

KIT_MAIN("vectors, what is told")
