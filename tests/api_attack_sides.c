/* Attacks on records that say little: which side is taken, where nothing shows a way, and where the
 * floats end. */
#include "support/attack_kit.h"
#include <certreg/attack.h>

enum { INPUTS = 3, SAMPLES = 2000, CALLS = 4000, RUNS = 8 };
static const float origin[INPUTS] = {0};

static void open_all(victim *v, size_t samples, size_t pilot)
{
    certreg_model m = kit_model(victim_model, v, INPUTS, 2);
    certreg_plan p = kit_plan(samples);
    p.pilot = pilot;
    v->e = kit_create(NULL, &m, &p);
    v->a = attack_on(v->e, CALLS);
}

static certreg_question about_zero(double tolerance, int32_t statistic)
{
    static const double center = 0;
    certreg_question q =
        QUESTION(.tolerance = tolerance, .prediction = &center, .statistic = statistic);
    if (statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 0.3;
    return q;
}

/* ---- questions */
TEST(attack_refuses_a_vector)
{
    victim v = {.output = beyond_face};
    const certreg_attack_options o = attack_options(CALLS);
    certreg_question q = kit_question(5);
    certreg_attack_result r = attack_result();
    double out[INPUTS];
    open_all(&v, SAMPLES, 0);
    KIT_OK(v.e, certreg_estimator_begin(v.e, origin, 1, 0));
    KIT_OK(v.e, certreg_estimator_sample(v.e, 0, SAMPLES));
    v.batches = 0, q.output_count = 2;
    ATTACK_STATUS(v.a, certreg_attack_run(v.a, &q, &o, NULL, &r), CERTREG_E_INVALID);
    ck_assert(is_nothing(&r));
    KIT_SAYS(certreg_attack_error(v.a), "output_count 2");
    ATTACK_STATUS(v.a, certreg_attack_gradient(v.a, &q, 1, out), CERTREG_E_INVALID);
    ck_assert_uint_eq(v.batches, 0);
    q.output_count = 1;
    ck_assert_int_eq(attack_found(v.a, q, o, NULL).outcome, CERTREG_ATTACK_BROKEN);
}

/* ---- records that show no way */
static double nothing(const float *x, size_t inputs)
{
    (void)x, (void)inputs;
    return 0;
}

static double step_far_away(const float *x, size_t inputs)
{
    return beyond_face(x, inputs) * (x[0] > 9);
}

TEST_TIMES(attack_tries_nothing_if_no_output_shows_a_direction, 5)
{
    static const struct {
        double (*output)(const float *, size_t);
        int32_t statistic;
        size_t samples;
    } cases[] = {{nothing, CERTREG_STATISTIC_HUBER, SAMPLES},
                 {step_far_away, CERTREG_STATISTIC_HUBER, SAMPLES},
                 {beyond_face, CERTREG_STATISTIC_MEDIAN, 1},
                 {beyond_face, CERTREG_STATISTIC_MEDIAN, 2},
                 {beyond_face, CERTREG_STATISTIC_HUBER, 1}};
    victim v = {.output = cases[_i].output};
    const certreg_question q = about_zero(5, cases[_i].statistic);
    const certreg_attack_options o = attack_options(CALLS);
    open_all(&v, cases[_i].samples, SIZE_MAX);
    KIT_OK(v.e, certreg_estimator_begin(v.e, origin, 1, 0));
    KIT_OK(v.e, certreg_estimator_sample(v.e, 0, cases[_i].samples));
    const certreg_attack_result r = attack_found(v.a, q, o, NULL);
    ck_assert(is_nothing(&r));
    ck_assert(isnan(r.forecast));
    ck_assert_uint_eq(r.calls, 0);
    ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
}

/* ---- which side */
static double sum_of_all(const float *x, size_t inputs)
{
    (void)inputs;
    return (double)x[0] + (double)x[1] + (double)x[2];
}

/* The slope along the direction is 0.58 of the gradient, so that forecasts of the wrong side, whose
 * slope is unknown, are shorter. */
TEST_TIMES(attack_takes_the_side_of_its_direction, 2)
{
    static const int32_t statistics[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_HUBER};
    victim v = {.output = sum_of_all};
    const float along[2][INPUTS] = {{-1, 0, 0}, {1, 0, 0}};
    certreg_attack_options o = attack_options(CALLS);
    int broken = 0;
    open_all(&v, SAMPLES, 0);
    for (uint64_t run = 0; run < 2 * RUNS; run++) {
        const certreg_question q = about_zero(1, statistics[_i]);
        const int up = run % 2;
        o.direction = along[up];
        KIT_OK(v.e, certreg_estimator_begin(v.e, origin, 0.5, run));
        KIT_OK(v.e, certreg_estimator_sample(v.e, 0, SAMPLES));
        const certreg_attack_result r = attack_found(v.a, q, o, NULL);
        ck_assert_int_eq(r.side, up ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        broken += r.outcome == CERTREG_ATTACK_BROKEN;
        ck_assert(1 <= r.radius && (r.radius < 1.2 || r.outcome == CERTREG_ATTACK_NOT_BROKEN));
    }
    ck_assert_int_ge(broken, 2 * RUNS - 1); /* chance may spoil one */
}

static int flipped;

static double ramp(const float *x, size_t inputs)
{
    (void)inputs;
    return flipped ? fmin(-(double)x[0], 0.2) : fmax((double)x[0], -0.2);
}

/* No output of the record is out on either side, and only one of them can be reached. */
TEST(attack_takes_the_side_of_the_slope_if_no_output_is_out)
{
    victim v = {.output = ramp};
    const float along[INPUTS] = {1, 0, 0};
    const certreg_question q = about_zero(3, CERTREG_STATISTIC_MEDIAN);
    certreg_attack_options o = attack_options(CALLS);
    open_all(&v, SAMPLES, 0);
    for (uint64_t run = 0; run < RUNS; run++) {
        flipped = run % 2;
        o.direction = run < RUNS / 2 ? along : NULL;
        KIT_OK(v.e, certreg_estimator_begin(v.e, origin, 0.5, run));
        KIT_OK(v.e, certreg_estimator_sample(v.e, 0, SAMPLES));
        const certreg_attack_result r = attack_found(v.a, q, o, NULL);
        ck_assert_int_eq(r.side, flipped ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER);
        ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
        ck_assert(3 <= r.radius && r.radius < 3.6);
    }
}

/* ---- where floats end */
static double from_the_end(const float *x, size_t inputs)
{
    (void)inputs;
    return (double)x[0] - 32751;
}

/* From 32752 on floats are too coarse for this noise, and T leaves beyond that. */
TEST(attack_ends_where_floats_are_too_coarse)
{
    victim v = {.output = from_the_end};
    const float start[INPUTS] = {32751, 0, 0};
    const certreg_attack_options o = attack_options(CALLS);
    certreg_question q = about_zero(3, CERTREG_STATISTIC_MEDIAN);
    const double center = -1; /* upwards T leaves at 32753 */
    const float up[INPUTS] = {1, 0, 0}, down[INPUTS] = {-1, 0, 0};
    certreg_attack_options along = o;
    q.prediction = &center;
    open_all(&v, SAMPLES, 0);
    KIT_OK(v.e, certreg_estimator_begin(v.e, start, 0.9, 0));
    KIT_OK(v.e, certreg_estimator_sample(v.e, 0, SAMPLES));
    along.direction = up;
    const certreg_attack_result r = attack_found(v.a, q, along, NULL);
    ck_assert(is_nothing(&r));
    ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    ck_assert_uint_lt(r.calls, CALLS / 2);
    ck_assert_str_eq(certreg_attack_error(v.a)->text, "");
    along.direction = down;
    ck_assert_int_eq(attack_found(v.a, q, along, NULL).outcome, CERTREG_ATTACK_BROKEN);
}

/* ---- a prediction and a tolerance of 4e11, and outputs near the end of the interval, 0.5 */
#define DIGIT 0x1p-14 /* of a double just below 4e11 */

static double just_out(const float *x, size_t inputs)
{
    (void)inputs;
    return x[1] < -0.2533471f ? 0.5 + 0.51 * DIGIT : 0.5 - 0.49 * DIGIT; /* on average 0.5 - */
}

static double just_in(const float *x, size_t inputs)
{
    return 1 - just_out(x, inputs);
}

static certreg_certificate certified(victim *v, const certreg_question *q)
{
    static const double range[2] = {0.4998, 0.5002};
    certreg_model m = kit_model(victim_model, v, INPUTS, 1);
    const certreg_plan p = PLAN(.max_samples = SAMPLES, .pilot = SIZE_MAX, .seed = 5);
    m.lo = range, m.hi = range + 1;
    v->e = kit_begun(m, p, origin, 1, 0);
    return kit_ask(v->e, SAMPLES, *q);
}

static const int32_t methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ASYMPTOTIC};

TEST_ROWS(attack_is_not_misled_by_the_digits_of_a_far_prediction, methods)
{
    static const float along[INPUTS] = {1, 0, 0};
    static const double center = 4e11;
    victim out = {.output = just_out}, in = {.output = just_in};
    const certreg_question q = QUESTION(.tolerance = 4e11 - 0.5, .prediction = &center,
                                        .statistic = CERTREG_STATISTIC_MEAN, .method = methods[_i]);
    certreg_attack_options o = attack_options(CALLS);
    o.direction = along;
    ck_assert_double_eq(certified(&out, &q).radius, 0);
    certified(&in, &q);
    const certreg_attack_result r = attack_found(attack_on(in.e, CALLS), q, o, NULL);
    ck_assert(is_nothing(&r));
}

KIT_MAIN("attack_sides")
