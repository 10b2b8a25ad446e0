/* Forecasts of how many samples a wanted radius takes, and wishes that are refused. */
#include "support/half_space.h"

/* ---- forecast */
static certreg_forecast forecast(certreg_estimator *e, certreg_question q)
{
    certreg_forecast f = {.struct_size = sizeof f};
    KIT_OK(e, certreg_estimator_forecast(e, &q, &f));
    return f;
}

TEST_TIMES(forecast_least_samples_is_what_a_perfect_model_takes, 8)
{
    const struct {
        double wanted, alpha;
    } cases[] = {{1, 0.05}, {2, 0.001}, {0.1, 0.5}, {2.9, 0.05}};
    certreg_estimator *e = make(&(half_space){.face = 99}, 1, 1);
    certreg_question q = wish(cases[_i / 2].wanted, sequential[_i % 2]);
    q.alpha = cases[_i / 2].alpha;
    certreg_forecast f = forecast(e, q);
    ck_assert(isinf(f.expected_samples)); /* nothing is known yet */
    const uint64_t least = f.least_samples;
    ck_assert_uint_gt(least, 0);
    const int anytime = q.method == CERTREG_METHOD_ANYTIME;
    ck_assert_double_lt(kit_ask(e, least - 1, q).radius, q.target->radius);
    const certreg_certificate c = kit_ask(e, least, q);
    ck_assert_double_ge(c.radius, q.target->radius);
    ck_assert_uint_eq(c.samples, least);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 1));
    const uint64_t alone = kit_ask(e, CAPACITY, q).samples; /* at a look */
    ck_assert_uint_ge(alone, least);
    if (!anytime) ck_assert_uint_eq(alone, least);
    f = forecast(e, q);
    ck_assert_uint_eq(f.least_samples, least);
    ck_assert_double_ge(f.expected_samples, (double)least);
}

/* The pilot chooses what the near conditions take of the failure rate. */
TEST_TIMES(forecast_impossible_for_a_served_angle_is_never_proved, 8)
{
    enum { SERVED_CAPACITY = 400 };
    const double tolerances[] = {5, 12, 30, 60}, lo = -180, hi = 180;
    const int32_t kind = CERTREG_OUTPUT_ANGLE;
    half_space h = {.face = 99};
    certreg_model m = kit_model(beyond, &h, 2, 1);
    certreg_plan p = kit_plan(SERVED_CAPACITY);
    m.kind = &kind, m.lo = &lo, m.hi = &hi, m.batch = 20;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    int impossible = 0;
    for (double wanted = 0.5; wanted < 3; wanted += 0.05) {
        certreg_question q = wish(wanted, sequential[_i % 2]);
        q.tolerance = tolerances[_i / 2], q.serving = asks_serving(11, 0.01);
        KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 1));
        if (forecast(e, q).least_samples) continue;
        KIT_OK(e, certreg_estimator_sample(e, 0, SERVED_CAPACITY));
        ck_assert_double_lt(kit_ask(e, 0, q).radius, wanted);
        impossible++;
    }
    ck_assert_int_gt(impossible, 0);
}

TEST(forecast_counts_samples_between_the_callers_looks)
{
    const uint64_t looks[2] = {30, 40};
    certreg_estimator *e = make(&(half_space){.face = 99}, 1, 1);
    certreg_question q = wish(2.5, CERTREG_METHOD_ANYTIME);
    q.target = asks_looks(q.target->radius, looks, 2);
    const uint64_t least = forecast(e, q).least_samples;
    ck_assert_uint_gt(least, 40);
    ck_assert_double_lt(kit_ask(e, least - 1, q).radius, q.target->radius);
    ck_assert_double_ge(kit_ask(e, least, q).radius, q.target->radius);
    ck_assert_double_eq(forecast(e, q).expected_samples, CAPACITY);
    q.target = asks_target(9);
    ck_assert_uint_eq(forecast(e, q).least_samples, 0);
}

TEST(forecast_is_about_right_and_infinite_if_impossible)
{
    certreg_estimator *e = make(&(half_space){.face = 1.4}, 1, 1);
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    const certreg_forecast f = forecast(e, wish(1, CERTREG_METHOD_FINITE));
    ck_assert_msg(f.expected_samples > 60 && f.expected_samples < 300, "%g", f.expected_samples);
    ck_assert(isinf(forecast(e, wish(1.41, CERTREG_METHOD_FINITE)).expected_samples));
    ck_assert(isinf(forecast(e, wish(1.41, CERTREG_METHOD_ANYTIME)).expected_samples));
    const certreg_forecast never = forecast(e, wish(5, CERTREG_METHOD_FINITE));
    ck_assert_uint_eq(never.least_samples, 0);
    ck_assert(isinf(never.expected_samples));
}

/* A forecast is about what the pilot predicts, wherever that is. */
TEST_ROWS(forecast_moves_with_the_output, sequential)
{
    for (int i = 0; i < 2; i++) {
        const float z[2] = {i ? 8 : 0, 0};
        const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
        certreg_plan p = kit_plan(CAPACITY);
        p.pilot = 200;
        certreg_estimator *e = kit_create(NULL, &m, &p);
        certreg_question q = wish(0.5, sequential[_i]);
        q.prediction = NULL;
        KIT_OK(e, certreg_estimator_begin(e, z, 1, 1));
        KIT_OK(e, certreg_estimator_sample(e, 0, 1000));
        const certreg_forecast f = forecast(e, q);
        ck_assert_msg(f.expected_samples > 220 && f.expected_samples < 900, "at %g: %g",
                      (double)z[0], f.expected_samples);
    }
}

TEST(target_with_a_single_look_at_the_end_is_proved)
{
    const uint64_t at_the_end[1] = {400};
    certreg_estimator *e = make(&(half_space){.face = 99}, 1, 1);
    certreg_question q = wish(1, CERTREG_METHOD_FINITE);
    q.target = asks_looks(1, at_the_end, 1);
    ck_assert_double_ge(kit_ask(e, 400, q).radius, 1);
}

/* ---- bad input */
TEST(forecast_needs_a_target_a_record_without_gap_and_begin)
{
    certreg_estimator *e = make(&(half_space){.face = 1}, 1, 1);
    certreg_forecast f = {.struct_size = sizeof f};
    certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_INVALID);
    q.target = asks_target(1);
    f.struct_size = 1;
    KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_INVALID);
    f.struct_size = sizeof f;
    ck_assert_int_eq(certreg_estimator_forecast(NULL, &q, &f), CERTREG_E_INVALID);
    KIT_OK(e, certreg_estimator_sample(e, 100, 20));
    KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_WRONG_STATE);
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan(100);
    e = kit_create(NULL, &m, &p);
    KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_WRONG_STATE);
}

KIT_MAIN("forecasts")
