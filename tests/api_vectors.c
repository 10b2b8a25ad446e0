/* Several outputs as one vector: radii, predictions, estimates, groups, poses, refusals. */
#include "support/api_kit.h"

enum { INPUTS = 4, MOST = 7, SAMPLES = 2000 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f, 0};

/* Outputs are linear in the inputs plus a bounded wave; some of them may fail. */
typedef struct map {
    double weight[MOST][INPUTS];
    size_t fail_each, first; /* output 0 of each such sample fails; the first output that is asked
                              */
    size_t calls;
} map;

static const map plain = {.weight = {{1, 0.2, 0, 0},
                                     {0, 0.7, -0.3, 0},
                                     {0.4, 0, 0.8, 0},
                                     {0, -0.5, 0.5, 0.5},
                                     {0.1, 0.1, 0.1, 0.1},
                                     {0.9, 0, 0, -0.4},
                                     {0, 0, 1.5, 0}}};

static int evaluate(void *user, const certreg_batch *b)
{
    map *m = user;
    m->calls++;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            double sum = 0;
            for (size_t j = 0; j < INPUTS; j++)
                sum += m->weight[m->first + k][j] * (double)b->x[i * INPUTS + j];
            const int fails = m->fail_each && k == 0 && (b->first + i) % m->fail_each == 1;
            b->y[i * b->columns + k] = fails ? NAN : (float)fmax(-3, fmin(sum, 3));
        }
    return 0;
}

static const double lo[MOST] = {-3, -3, -3, -3, -3, -3, -3}, hi[MOST] = {3, 3, 3, 3, 3, 3, 3};

static certreg_estimator *make(map *m, size_t outputs, size_t pilot, uint32_t flags)
{
    certreg_model model = kit_model(evaluate, m, INPUTS, outputs);
    model.lo = lo, model.hi = hi;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = pilot, p.flags = flags;
    certreg_estimator *e = kit_create(NULL, &model, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 3));
    return e;
}

static certreg_question vector_of(int32_t statistic, double tolerance)
{
    certreg_question q = kit_question(tolerance);
    q.output = CERTREG_ALL_OUTPUTS, q.statistic = statistic;
    return q;
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

/* ---- what a radius is */
START_TEST(medians_have_the_least_radius_of_the_outputs_at_equal_shares)
{
    const size_t outputs = 1 + (size_t)_i;
    const double psi[MOST] = {0.2, -0.1, 0.4};
    map m = plain;
    certreg_estimator *e = make(&m, outputs, SIZE_MAX, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 3);
    q.prediction = psi, q.prediction_count = outputs;
    const double radius = kit_ask(e, SAMPLES, q).radius;
    double least = INFINITY;
    for (size_t k = 0; k < outputs; k++) {
        certreg_question one = kit_question(3 / sqrt((double)outputs));
        one.output = (int32_t)k, one.prediction = psi + k;
        least = fmin(least, kit_ask(e, 0, one).radius);
    }
    ck_assert_double_gt(radius, 0);
    ck_assert_double_eq_tol(radius, least, 1e-6 * least);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_vector_of_one_output_is_that_output)
{
    map m = plain;
    certreg_estimator *e = make(&m, 1, 0, 0);
    for (int s = 0; s < STATISTICS; s++) {
        certreg_question q = nth(s, 0.6), one = q;
        one.output = 0;
        if (one.statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN)
            one.statistic = CERTREG_STATISTIC_MEDIAN;
        const certreg_certificate c = kit_ask(e, SAMPLES, q), alone = kit_ask(e, 0, one);
        double psi = 0;
        ck_assert_double_gt(c.radius, 0);
        ck_assert_double_eq_tol(c.radius, alone.radius, 1e-6 * alone.radius);
        KIT_OK(e, certreg_estimator_prediction(e, &q, &psi));
        ck_assert_double_eq_tol(psi, alone.prediction, 1e-9);
        ck_assert_int_eq(c.output, CERTREG_ALL_OUTPUTS);
        ck_assert(isnan(c.prediction) && isnan(c.estimate));
        ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    }
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_group_is_the_vector_of_a_model_with_its_outputs_alone)
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
    certreg_estimator_destroy(e);
    certreg_estimator_destroy(alone);
}
END_TEST

/* A linear map moves every T by the same vector, so nothing beyond this is true. */
START_TEST(no_radius_exceeds_the_true_one)
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
        certreg_estimator_destroy(e);
    }
}
END_TEST

/* ---- what nets and projections are worth */
/* The norm as a whole, by the trace of the covariance, if that were known. */
static double radius_by_trace(size_t outputs, double tolerance, double sigma)
{
    return sigma * sqrt(log1p(tolerance * tolerance / ((double)outputs * sigma * sigma)));
}

START_TEST(means_reach_farther_than_their_norm_and_projections_than_coordinates)
{
    map m = {.weight = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}};
    for (size_t outputs = 2; outputs <= 4; outputs++) {
        certreg_estimator *e = make(&m, outputs, 0, 0);
        certreg_question mean = vector_of(CERTREG_STATISTIC_MEAN, 0.6);
        mean.center = CERTREG_CENTER_TRUE_MEAN;
        ck_assert_double_gt(kit_ask(e, SAMPLES, mean).radius,
                            (outputs == 4 ? 1 : 1.1) * radius_by_trace(outputs, 0.6, 0.5));
        const certreg_question by_axis = vector_of(CERTREG_STATISTIC_MEDIAN, 2),
                               projected = vector_of(CERTREG_STATISTIC_PROJECTION_MEDIAN, 2);
        ck_assert_double_gt(kit_ask(e, 0, projected).radius, kit_ask(e, 0, by_axis).radius);
        certreg_estimator_destroy(e);
    }
}
END_TEST

START_TEST(the_pilot_gives_wide_outputs_more_of_the_tolerance)
{
    map m = {.weight = {{1}, {0, 0.02}, {0, 0, 0.02}, {0, 0, 0, 0.02}}};
    certreg_estimator *e = make(&m, 4, 0, 0), *equal = make(&m, 4, SIZE_MAX, 0);
    certreg_question q = nth(_i, 1.6);
    double psi[4];
    const double radius = kit_ask(e, SAMPLES, q).radius;
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    q.prediction = psi, q.prediction_count = 4;
    const double least = q.statistic == CERTREG_STATISTIC_MEAN ? 1.05 : 1.2;
    ck_assert_double_gt(radius, least * kit_ask(equal, SAMPLES, q).radius);
    certreg_estimator_destroy(e);
    certreg_estimator_destroy(equal);
}
END_TEST

/* ---- predictions, estimates, bounds */
START_TEST(a_prediction_that_is_given_back_gives_the_same_certificate)
{
    map m = plain;
    certreg_estimator *e = make(&m, 5, 0, 0);
    certreg_question q = nth(_i, 2);
    double psi[5];
    const double radius = kit_ask(e, SAMPLES, q).radius;
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    q.prediction = psi, q.prediction_count = 5;
    ck_assert_double_gt(radius, 0);
    ck_assert_double_eq(kit_ask(e, 0, q).radius, radius);
    certreg_estimator_destroy(e);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the outputs that the model gives for the noise that the estimator draws. */
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
    qsort(t, used, sizeof *t, by_value);
    return 0.5 * (t[(used - 1) / 2] + t[used / 2]);
}

START_TEST(a_server_gets_the_medians_of_its_own_samples)
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
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(estimates_of_single_outputs_are_those_of_their_certificates)
{
    map m = plain;
    certreg_estimator *e = make(&m, 3, 0, 0);
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
    certreg_estimator_destroy(e);
}
END_TEST

/* What is told of main samples may choose their number: then no other number will do. */
START_TEST(an_estimate_is_an_evaluation_of_the_record)
{
    map m = plain;
    certreg_estimator *e = make(&m, 2, 100, 0);
    const certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 2);
    certreg_certificate c = kit_certificate();
    double told[2];
    KIT_OK(e, certreg_estimator_sample(e, 0, 400));
    KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    KIT_STATUS(e, certreg_certify(e, 800, &q, 1, &c), CERTREG_E_WRONG_STATE);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 4));
    KIT_OK(e, certreg_estimator_sample(e, 0, 100)); /* the pilot alone */
    KIT_OK(e, certreg_estimator_estimate(e, &q, told));
    KIT_OK(e, certreg_certify(e, 800, &q, 1, &c));
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 5));
    told[0] = 7;
    KIT_OK(e, certreg_estimator_estimate(e, &q, told)); /* of nothing */
    ck_assert(isnan(told[0]) && isnan(told[1]));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, NULL), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_estimate(e, NULL, told), CERTREG_E_INVALID);
    KIT_OK(e, certreg_estimator_sample(e, 200, 10));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, told), CERTREG_E_WRONG_STATE);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(the_bounds_behind_a_radius_are_those_of_the_direction_that_limits_it)
{
    map m = plain;
    certreg_estimator *e = make(&m, 5, 0, 0);
    certreg_solver *solver = NULL;
    certreg_bisection *bisection = NULL;
    certreg_radius radius = {.struct_size = sizeof radius};
    const certreg_question q = nth(_i, 2);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    kit_open_solver(&solver, &bisection);
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 1, b.constraints, &radius),
                     CERTREG_OK);
    ck_assert_double_eq_tol(radius.radius, c.radius, 1e-5 * c.radius);
    kit_close_solver(solver, bisection);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- failures */
START_TEST(an_output_that_failed_is_out_of_every_direction_that_it_is_in)
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
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- targets and serving */
START_TEST(a_target_of_a_vector_stops_early)
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
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(serving_costs_a_vector_some_of_its_radius)
{
    map m = plain;
    certreg_estimator *e = make(&m, 3, 0, 0);
    certreg_question q = nth(_i, 2);
    const double radius = kit_ask(e, SAMPLES, q).radius;
    q.serving = asks_serving(1001, 0.01);
    const double served = kit_ask(e, 0, q).radius;
    q.serving = asks_serving(21, 0.01);
    ck_assert_double_gt(served, 0);
    ck_assert_double_lt(served, radius);
    ck_assert_double_lt(kit_ask(e, 0, q).radius, served);
    certreg_estimator_destroy(e);
}
END_TEST

/* Any direction of what is served may fail. */
START_TEST(each_output_of_a_served_vector_has_its_part_of_the_failure_rate)
{
    const double psi[3] = {0.2, -0.1, 0.4};
    map m = plain;
    certreg_estimator *e = make(&m, 3, SIZE_MAX, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 3);
    q.prediction = psi, q.prediction_count = 3, q.serving = asks_serving(101, 0.3);
    const double radius = kit_ask(e, SAMPLES, q).radius;
    double least = INFINITY;
    for (int32_t k = 0; k < 3; k++) {
        certreg_question one = kit_question(3 / sqrt(3));
        one.output = k, one.prediction = psi + k, one.serving = asks_serving(101, 0.1);
        least = fmin(least, kit_ask(e, 0, one).radius);
    }
    ck_assert_double_gt(radius, 0);
    ck_assert_double_eq_tol(radius, least, 1e-6 * least);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(questions_of_one_call_do_not_share_the_bounds_of_a_direction)
{
    map m = plain;
    certreg_estimator *e = make(&m, 4, 0, 0);
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
    certreg_estimator_destroy(e);
}
END_TEST

/* Where the first direction limits, its bounds must be its own. */
START_TEST(a_second_tolerance_of_the_true_mean_has_the_bounds_of_its_first_direction)
{
    map m = {.weight = {{1}, {0, 0.05}}};
    certreg_estimator *e = make(&m, 2, 0, 0);
    certreg_question q[2] = {vector_of(CERTREG_STATISTIC_MEAN, 1.5),
                             vector_of(CERTREG_STATISTIC_MEAN, 1)};
    for (int i = 0; i < 2; i++)
        q[i].center = CERTREG_CENTER_TRUE_MEAN, q[i].method = CERTREG_METHOD_ASYMPTOTIC,
        q[i].constraints = CERTREG_CONSTRAINTS_C;
    certreg_certificate together[2] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 2, together));
    ck_assert_double_eq(kit_ask(e, 0, q[1]).radius, together[1].radius);
    certreg_estimator_destroy(e);
}
END_TEST

/* Of four outputs the last one alone scatters. */
START_TEST(the_last_direction_may_rule_a_target_out)
{
    map m = {.weight = {{0.01}, {0, 0.01}, {0, 0, 0.01}, {0, 0, 0, 1.6}}};
    certreg_estimator *e = make(&m, 4, SIZE_MAX, 0);
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
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_deadline_leaves_no_claim)
{
    map m = plain;
    certreg_estimator *e = make(&m, 3, 0, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, 2);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_OK(e, certreg_estimator_set_deadline(e, -1));
    certreg_certificate c = kit_ask(e, 0, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_double_eq(c.radius, 0);
    KIT_OK(e, certreg_estimator_set_deadline(e, 0));
    ck_assert_double_gt(kit_ask(e, 0, q).radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- poses */
static const int32_t pose_kind[3] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL,
                                     CERTREG_OUTPUT_ANGLE};

static certreg_estimator *make_pose(map *m)
{
    certreg_model model = kit_model(evaluate, m, INPUTS, 3);
    model.kind = pose_kind;
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(NULL, &model, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 3));
    return e;
}

START_TEST(a_pose_has_one_radius_at_the_level_of_its_questions)
{
    map m = plain;
    certreg_estimator *e = make_pose(&m);
    certreg_question q[2] = {vector_of(CERTREG_STATISTIC_MEDIAN, 2), kit_question(1.2)};
    q[0].output = 0, q[0].output_count = 2, q[1].output = 2;
    certreg_certificate each[2] = {kit_certificate()}, both = kit_certificate(),
                        alone[2] = {kit_certificate()};
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, 2, each, &both));
    KIT_OK(e, certreg_certify(e, 0, q, 2, alone));
    ck_assert_mem_eq(each, alone, sizeof each);
    ck_assert_double_gt(both.radius, 0);
    ck_assert_double_eq(both.radius, fmin(each[0].radius, each[1].radius));
    ck_assert_double_eq(both.alpha, 0.05);
    ck_assert_int_eq(both.output, each[0].radius < each[1].radius ? 0 : 2);
    certreg_estimator_destroy(e);
}
END_TEST

static const struct {
    int32_t output[2];
    size_t outputs[2], count;
} bad_parts[] = {{{0, 1}, {2, 2}, 2},  /* one twice */
                 {{0, 1}, {0, 0}, 2},  /* one never */
                 {{0, 2}, {2, 2}, 2},  /* beyond the last */
                 {{0, 2}, {2, 0}, 1},  /* one question missing */
                 {{-1, 2}, {0, 0}, 2}, /* all, and one of them again */
                 {{0, 1}, {3, 0}, 1},  /* a vector with an angle in it */
                 {{0, 1}, {SIZE_MAX, 0}, 2}};

START_TEST(parts_that_are_no_partition_get_no_joint_radius)
{
    map m = plain;
    certreg_estimator *e = make_pose(&m);
    certreg_question q[2] = {kit_question(1), kit_question(1)};
    for (int i = 0; i < 2; i++)
        q[i].output = bad_parts[_i].output[i], q[i].output_count = bad_parts[_i].outputs[i];
    certreg_certificate each[2] = {kit_certificate()}, both = kit_certificate();
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, bad_parts[_i].count, each, &both),
               CERTREG_E_INVALID);
    ck_assert_double_eq(both.radius, 0);
    ck_assert_uint_eq(m.calls, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- refusals */
enum {
    KINDS,
    NO_RANGE,
    PROJECT_ONE,
    OUTPUT_BOUNDS,
    PAPER,
    FEW_NUMBERS,
    NOT_A_NUMBER,
    ZERO,
    LATE,
    NO_PREDICTION,
    SERVED_TRUE_MEAN,
    REFUSALS
};
static const char *const says[REFUSALS] = {
    "output 2 is an angle",     "model.lo and model.hi",
    "CERTREG_STATISTIC_MEDIAN", "output bounds are about one",
    "CERTREG_METHOD_PAPER",     "has 2 numbers",
    "prediction is nan",        "tolerance",
    "output_count is 2",        "prediction is NULL",
    "CERTREG_CENTER_PREDICTION"};

START_TEST(vectors_that_make_no_sense_are_refused)
{
    const double psi[3] = {0, NAN, 0};
    map m = plain;
    certreg_estimator *e = _i == KINDS || _i == NO_RANGE
                               ? make_pose(&m)
                               : make(&m, 3, _i == NO_PREDICTION ? SIZE_MAX : 0, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 1);
    certreg_certificate c = kit_certificate();
    switch (_i) {
    case NO_RANGE: q.statistic = CERTREG_STATISTIC_MEAN, q.output = 0, q.output_count = 2; break;
    case PROJECT_ONE: q.statistic = CERTREG_STATISTIC_PROJECTION_MEDIAN, q.output = 1; break;
    case PAPER:
        q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN,
        q.method = CERTREG_METHOD_PAPER;
        break;
    case FEW_NUMBERS: q.prediction = psi, q.prediction_count = 2; break;
    case NOT_A_NUMBER: q.prediction = psi, q.prediction_count = 3; break;
    case ZERO: q.tolerance = 0; break;
    case LATE: q.output = 2, q.output_count = 2; break;
    case SERVED_TRUE_MEAN:
        q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN,
        q.serving = asks_serving(11, 0.1);
        break;
    default: break;
    }
    if (_i == OUTPUT_BOUNDS)
        KIT_STATUS(e, certreg_output_bounds(e, SAMPLES, &q, 1, 0.1, &c), CERTREG_E_INVALID);
    else KIT_STATUS(e, certreg_certify(e, SAMPLES, &q, 1, &c), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), says[_i]);
    ck_assert_uint_eq(m.calls, 0);
    ck_assert_double_eq(c.radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vectors");
    TCase *radii = kit_case(suite, "radii", 60);
    TCase *told = kit_case(suite, "told", 60);
    TCase *parts = kit_case(suite, "parts", 60);
    tcase_add_loop_test(radii, medians_have_the_least_radius_of_the_outputs_at_equal_shares, 0,
                        MOST);
    tcase_add_test(radii, a_vector_of_one_output_is_that_output);
    tcase_add_loop_test(radii, a_group_is_the_vector_of_a_model_with_its_outputs_alone, 0,
                        STATISTICS);
    tcase_add_loop_test(radii, no_radius_exceeds_the_true_one, 0, STATISTICS);
    tcase_add_test(radii, means_reach_farther_than_their_norm_and_projections_than_coordinates);
    tcase_add_loop_test(radii, the_pilot_gives_wide_outputs_more_of_the_tolerance, 0, STATISTICS);
    tcase_add_loop_test(told, a_prediction_that_is_given_back_gives_the_same_certificate, 0,
                        STATISTICS);
    tcase_add_loop_test(told, a_server_gets_the_medians_of_its_own_samples, 0, 2);
    tcase_add_test(told, estimates_of_single_outputs_are_those_of_their_certificates);
    tcase_add_test(told, an_estimate_is_an_evaluation_of_the_record);
    tcase_add_loop_test(told, the_bounds_behind_a_radius_are_those_of_the_direction_that_limits_it,
                        0, STATISTICS);
    tcase_add_test(told, an_output_that_failed_is_out_of_every_direction_that_it_is_in);
    tcase_add_loop_test(told, a_target_of_a_vector_stops_early, 0, 4);
    tcase_add_loop_test(told, serving_costs_a_vector_some_of_its_radius, 0, STATISTICS);
    tcase_add_test(told, each_output_of_a_served_vector_has_its_part_of_the_failure_rate);
    tcase_add_loop_test(told, questions_of_one_call_do_not_share_the_bounds_of_a_direction, 0,
                        STATISTICS);
    tcase_add_test(told, a_second_tolerance_of_the_true_mean_has_the_bounds_of_its_first_direction);
    tcase_add_test(told, the_last_direction_may_rule_a_target_out);
    tcase_add_test(told, a_deadline_leaves_no_claim);
    tcase_add_test(parts, a_pose_has_one_radius_at_the_level_of_its_questions);
    tcase_add_loop_test(parts, parts_that_are_no_partition_get_no_joint_radius, 0,
                        KIT_ROWS(bad_parts));
    tcase_add_loop_test(parts, vectors_that_make_no_sense_are_refused, 0, REFUSALS);
    return kit_run(suite);
}
