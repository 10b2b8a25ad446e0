/* Published certificates at the edges of their interface: cuts, failures, predictions, sides,
 * deadlines. tests/python/test_baselines.py compares their radii with formulas. */
#include <time.h>
#include "support/known_outputs.h"

enum { COUNT = 40 };
static const double turn[] = {0, 360};

static const certreg_serving served = {
    .struct_size = sizeof served, .samples = 11, .failure_rate = 0.3, .trim = 0.2};

static certreg_question baseline(int32_t statistic, double tolerance)
{
    certreg_question q = QUESTION(.tolerance = tolerance, .alpha = 0.05,
                                  .method = CERTREG_METHOD_BASELINE, .statistic = statistic);
    if (statistic == CERTREG_STATISTIC_TRIMMED_MEAN) q.serving = &served;
    if (statistic == CERTREG_STATISTIC_BALL_CENTER) q.output = CERTREG_ALL_OUTPUTS;
    return q;
}

static const int32_t statistics[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_TRIMMED_MEAN,
                                     CERTREG_STATISTIC_BALL_CENTER};

/* All outputs alike but the last. */
static record with_last(int32_t kind, float usual, float last)
{
    record r = {.count = COUNT, .pilot = 1, .kind = kind, .sigma = 1};
    for (size_t i = 0; i < COUNT; i++) r.y[i] = usual;
    r.y[COUNT - 1] = last;
    return r;
}

static record of_angles(float usual, float last)
{
    record r = with_last(CERTREG_OUTPUT_ANGLE, usual, last);
    r.lo = turn, r.hi = turn + 1;
    return r;
}

static double radius_with(const record *r, certreg_question q, double prediction)
{
    q.prediction = &prediction;
    return kit_ask(recorded(r), 0, q).radius;
}

/* ---- what is in */
TEST_TIMES(baselines_count_both_ends_of_the_tolerance_as_out, 3)
{
    const double tolerance = 0.3; /* 0.1 + 0.3f and 0.1 + 0.3 are no floats */
    const certreg_question q = baseline(statistics[_i], _i == 2 ? 3 * tolerance : tolerance);
    const record all = with_last(CERTREG_OUTPUT_REAL, 0.1f, 0.1f);
    const double whole = radius_with(&all, q, 0.1);
    for (int side = -1; side <= 1; side += 2) {
        const float end = (float)(0.1 + side * tolerance);
        for (int k = -2; k <= 2; k++) {
            float last = end;
            for (int i = 0; i < abs(k); i++) last = nextafterf(last, k < 0 ? -9 : 9);
            const record r = with_last(CERTREG_OUTPUT_REAL, 0.1f, last);
            const int in = fabs((double)last - 0.1) < tolerance;
            const double radius = radius_with(&r, q, 0.1);
            ck_assert_msg(in ? radius == whole : radius < whole, "%.9g: %g of %g", (double)last,
                          radius, whole);
        }
    }
    const record r = with_last(CERTREG_OUTPUT_REAL, 0, 0.5f);
    const double exact = radius_with(&r, baseline(statistics[_i], _i == 2 ? 1.5 : 0.5), 0);
    ck_assert_double_lt(exact, whole);
}

TEST_TIMES(baselines_cut_angles_opposite_the_prediction, 2)
{
    const struct {
        float last;
        int in;
    } rows[] = {{329.999f, 0}, {330, 0},     {330.001f, 1}, {0, 1},  {9.999f, 1},
                {10, 0},       {10.001f, 0}, {170, 0},      {90, 0}, {260, 0}};
    const certreg_question q = baseline(statistics[_i], 20);
    record r = of_angles(350, 350);
    const double whole = radius_with(&r, q, 350);
    for (int i = 0; i < KIT_ROWS(rows); i++) {
        r.y[COUNT - 1] = rows[i].last;
        const double radius = radius_with(&r, q, -10);
        ck_assert_msg(rows[i].in ? radius == whole : radius < whole, "%g", (double)rows[i].last);
    }
}

/* A failed output is out on both sides, and no prediction. */
TEST_TIMES(baselines_count_failed_outputs_as_out, 3)
{
    const certreg_question q = baseline(statistics[_i], 1);
    record r = with_last(CERTREG_OUTPUT_REAL, 0, 2);
    const double with_one_out = radius_with(&r, q, 0);
    r.flags = CERTREG_PLAN_COUNT_FAILURES, r.y[COUNT - 1] = NAN;
    ck_assert_double_eq(radius_with(&r, q, 0), with_one_out);
    r.y[0] = NAN;
    certreg_estimator *e = recorded(&r);
    double prediction = 1;
    const certreg_certificate c = kit_ask(e, 0, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    KIT_OK(e, certreg_estimator_prediction(e, &q, &prediction));
    ck_assert(isnan(c.prediction) && isnan(prediction));
}

TEST(baselines_are_capped_by_a_range_within_the_tolerance)
{
    static const double range[] = {-1, 1};
    record r = with_last(CERTREG_OUTPUT_REAL, 0, 1);
    r.lo = range, r.hi = range + 1;
    certreg_question q = baseline(CERTREG_STATISTIC_TRIMMED_MEAN, 1.01);
    ck_assert_double_eq_tol(radius_with(&r, q, 0), 10, 1e-9);
    q.tolerance = 1; /* the promise is strict */
    ck_assert_double_lt(radius_with(&r, q, 0), 9);
    q.tolerance = 1.01;
    r.flags = CERTREG_PLAN_COUNT_FAILURES; /* one that fails may lie anywhere */
    ck_assert_double_lt(radius_with(&r, q, 0), 9);
    for (size_t i = 1; i < COUNT; i++) r.y[i] = NAN;
    ck_assert_double_eq(radius_with(&r, q, 0), 0);
}

/* 350 is -10 in the turn, farther than the tolerance from 0.2 by less than rounding shows. */
TEST(baselines_count_an_angle_near_the_end_as_out)
{
    const double tolerance = nextafter(10.2, 0);
    const record r = of_angles(350, 350);
    for (int i = 0; i < 2; i++)
        ck_assert_double_eq(radius_with(&r, baseline(statistics[i], tolerance), 0.2), 0);
    ck_assert_double_eq(radius_with(&r, kit_question(tolerance), 0.2), 0);
    ck_assert_double_gt(radius_with(&r, kit_question(10.21), 0.2), 0);
}

/* The angle is below 180, but its float is 180 and counts as -180: on which side of the cut it is
 * cannot be told. So the median of 120, 0 and such angles need not be near 0. */
TEST(baselines_count_an_angle_near_the_cut_as_out)
{
    static const double centered[] = {-180, 180};
    record r = with_last(CERTREG_OUTPUT_ANGLE, 0, 0);
    r.lo = centered, r.hi = centered + 1;
    for (size_t i = 1; i < COUNT; i += 4) r.y[i] = 120, r.y[i + 1] = (float)(180 - 1e-7);
    ck_assert_double_eq(radius_with(&r, baseline(CERTREG_STATISTIC_MEDIAN, 6), 0), 0);
    for (size_t i = 2; i < COUNT; i += 4) r.y[i] = -179; /* below 0, as 120 is above */
    ck_assert_double_gt(radius_with(&r, baseline(CERTREG_STATISTIC_MEDIAN, 6), 0), 0);
}

/* As their promises are. */
TEST(baselines_cut_estimates_opposite_the_prediction)
{
    static const double centered[] = {-180, 180}, prediction = 0;
    record r = with_last(CERTREG_OUTPUT_ANGLE, 170, 170);
    r.lo = centered, r.hi = centered + 1;
    for (size_t i = 0; i < COUNT; i += 2) r.y[i] = -170;
    certreg_estimator *e = recorded(&r);
    certreg_question q = baseline(CERTREG_STATISTIC_TRIMMED_MEAN, 175);
    q.prediction = &prediction;
    const certreg_certificate c = kit_ask(e, 0, q);
    ck_assert_double_lt(fabs(c.estimate), 20); /* opposite their circular mean it is near 180 */
    certreg_question median = baseline(CERTREG_STATISTIC_MEDIAN, 175);
    median.prediction = &prediction;
    double alone = 7;
    KIT_OK(e, certreg_estimator_estimate(e, &median, &alone));
    ck_assert_double_eq(alone, kit_ask(e, 0, median).estimate);
}

/* Without a range a core below the tolerance could only shorten the radius. An angle has half a
 * turn. */
static const struct {
    int32_t kind;
    double lo, hi, core;
    certreg_status status;
} cores[] = {{CERTREG_OUTPUT_REAL, -INFINITY, INFINITY, 0.1, CERTREG_E_INVALID},
             {CERTREG_OUTPUT_REAL, -INFINITY, 9, 0.1, CERTREG_E_INVALID},
             {CERTREG_OUTPUT_REAL, -9, INFINITY, 0.1, CERTREG_E_INVALID},
             {CERTREG_OUTPUT_REAL, -INFINITY, INFINITY, 1, CERTREG_OK},
             {CERTREG_OUTPUT_REAL, -9, 9, 0.1, CERTREG_OK},
             {CERTREG_OUTPUT_ANGLE, 0, 360, 0.1, CERTREG_OK}};

TEST_ROWS(baselines_need_a_range_for_a_core_below_the_tolerance, cores)
{
    record r = with_last(cores[_i].kind, 0, 0.5f);
    r.lo = &cores[_i].lo, r.hi = &cores[_i].hi;
    certreg_estimator *e = recorded(&r);
    certreg_question q = baseline(CERTREG_STATISTIC_TRIMMED_MEAN, 1);
    certreg_serving near = served;
    near.core = cores[_i].core, q.serving = &near;
    certreg_certificate c = kit_certificate();
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), cores[_i].status);
    if (cores[_i].status)
        KIT_SAYS(certreg_estimator_error(e),
                 "question.serving->core is 0.1, but model.lo or model.hi is infinite");
}

/* ---- the certificate */
TEST_TIMES(baselines_have_one_condition_for_both_sides, 3)
{
    const record r = with_last(CERTREG_OUTPUT_REAL, 0, 2);
    certreg_estimator *e = recorded(&r);
    const certreg_question q = baseline(statistics[_i], 1);
    const certreg_certificate c = kit_ask(e, 0, q);
    certreg_bounds b[] = {asks_side(e, &q, CERTREG_SIDE_LOWER), {.struct_size = sizeof *b}};
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_NEAR_UPPER, b + 1),
               CERTREG_E_INVALID);
    b[1] = asks_side(e, &q, CERTREG_SIDE_UPPER);
    if (_i) {
        ck_assert_mem_eq(b, b + 1, sizeof *b);
        ck_assert_int_eq(c.limiting_side, CERTREG_SIDE_LOWER);
        ck_assert_double_eq_tol(b->mean_lo, 1 - 2 * upper(1, COUNT - 1, 0.05), 1e-9);
    } else {
        ck_assert_int_eq(c.limiting_side, CERTREG_SIDE_UPPER);
        ck_assert_double_eq_tol(b[1].mean_lo, 1 - 2 * upper(1, COUNT - 1, 0.025), 1e-9);
    }
    ck_assert_uint_eq(c.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE);
    ck_assert_int_eq(c.method, CERTREG_METHOD_BASELINE);
}

/* ---- the prediction */
TEST_TIMES(estimator_prediction_of_baselines_needs_the_pilot_alone, 3)
{
    static const float z[] = {0.5f, 1, 2};
    const certreg_model m = kit_model(kit_identity, NULL, 3, 1);
    certreg_plan p = KIT_PLAN(1000, .pilot = 100);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = baseline(statistics[_i], 3);
    double prediction = 7;
    KIT_STATUS(e, certreg_estimator_prediction(e, &q, &prediction), CERTREG_E_WRONG_STATE);
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, 99));
    KIT_REFUSED(e, certreg_estimator_prediction(e, &q, &prediction), CERTREG_E_WRONG_STATE,
                "sample 99");
    KIT_STATUS(e, certreg_estimator_prediction(e, &q, NULL), CERTREG_E_INVALID);
    const certreg_question true_mean = QUESTION(.tolerance = 3, .statistic = CERTREG_STATISTIC_MEAN,
                                                .method = CERTREG_METHOD_ASYMPTOTIC,
                                                .center = CERTREG_CENTER_TRUE_MEAN);
    KIT_REFUSED(e, certreg_estimator_prediction(e, &true_mean, &prediction), CERTREG_E_INVALID,
                "CERTREG_CENTER_PREDICTION");
    ck_assert_double_eq(prediction, 7);
    q.prediction = asks_prediction(-1.5);
    KIT_OK(e, certreg_estimator_prediction(e, &q, &prediction));
    ck_assert_double_eq(prediction, -1.5);
    q.prediction = NULL;
    KIT_OK(e, certreg_estimator_sample(e, 0, 300));
    KIT_OK(e, certreg_estimator_prediction(e, &q, &prediction));
    const double told = prediction;
    /* It was no evaluation: the number of samples is still free. */
    const certreg_certificate c = kit_ask(e, 700, q);
    KIT_OK(e, certreg_estimator_prediction(e, &q, &prediction));
    ck_assert_double_eq(prediction, told);
    ck_assert(isnan(c.prediction) || c.prediction == told);
    ck_assert_double_gt(c.radius, 0);
}

/* ---- median smoothing as coded */
TEST_TIMES(baselines_as_coded_use_the_pilot, 2)
{
    record r = scattered(_i ? CERTREG_OUTPUT_ANGLE : CERTREG_OUTPUT_REAL, 0.5, 1000, 150);
    certreg_question q = baseline(CERTREG_STATISTIC_MEDIAN, 0.4);
    q.center = CERTREG_CENTER_SAMPLE_MEDIAN;
    certreg_certificate c[2];
    double estimate;
    for (int i = 0; i < 2; i++) {
        r.pilot = i ? 150 : 2;
        certreg_estimator *e = recorded(&r);
        c[i] = kit_ask(e, 0, q);
        KIT_OK(e, certreg_estimator_estimate(e, &q, &estimate));
        ck_assert_double_eq(estimate, c[i].prediction);
        ck_assert_double_eq(estimate, c[i].estimate);
        KIT_REFUSED(e, certreg_estimator_prediction(e, &q, &estimate), CERTREG_E_INVALID,
                    "CERTREG_CENTER_PREDICTION");
    }
    ck_assert_double_gt(c[0].radius, 0);
    ck_assert_double_eq(c[0].radius, c[1].radius);
    ck_assert_double_eq(c[0].prediction, c[1].prediction);
    ck_assert_double_lt(c[0].radius, 10 * c[0].sigma);
    ck_assert(isinf(c[0].output_lo) && isinf(c[0].output_hi)); /* nothing is proved */
}

TEST(baselines_as_coded_refuse_certify_outputs)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 1000, 150);
    certreg_estimator *e = recorded(&r);
    certreg_question q = baseline(CERTREG_STATISTIC_MEDIAN, 0.4);
    certreg_certificate each = kit_certificate(), c = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, 0, &q, 1, &each, &c));
    q.center = CERTREG_CENTER_SAMPLE_MEDIAN;
    KIT_REFUSED(e, certreg_certify_outputs(e, 0, &q, 1, &each, &c), CERTREG_E_INVALID,
                "questions[0].center");
    ck_assert(c.radius == 0 && each.radius == 0);
}

/* ---- many pilot samples, and no time */
enum { OUTPUTS = 400, PILOT = 3000, ALL = 3200 };

static certreg_estimator *wide(void)
{
    static float y[ALL * OUTPUTS];
    for (size_t i = 0; i < ALL * OUTPUTS; i++) y[i] = (float)(uniform() - 0.5);
    const certreg_model m = kit_model(NULL, NULL, 1, OUTPUTS);
    certreg_plan p = KIT_PLAN(ALL, .pilot = PILOT);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, 1, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, ALL, y));
    return e;
}

/* The time of this process alone, so that a loaded machine makes no difference. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST(baselines_search_for_a_center_within_the_deadline)
{
    certreg_estimator *e = wide();
    const certreg_question q = baseline(CERTREG_STATISTIC_BALL_CENTER, 40);
    const double start = seconds();
    KIT_OK(e, certreg_estimator_set_deadline(e, 0.01));
    certreg_certificate c = kit_ask(e, 0, q);
    const double given_up = seconds() - start;
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
    c = kit_ask(e, 0, q);
    ck_assert_double_gt(c.radius, 0);
    ck_assert_double_lt(given_up, (seconds() - start) / 2);
}

KIT_MAIN("published certificates")
