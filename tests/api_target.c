/* A wanted radius: when sampling stops, what is proven then, and forecasts of how many samples it
 * takes. */
#include "support/half_space.h"

/* ---- stops */
static const struct {
    double face, wanted, alpha;
    size_t served;
    int32_t method;
} provable[] = {
    {2, 1, 0.05, 0, CERTREG_METHOD_FINITE},    {2, 1, 0.05, 0, CERTREG_METHOD_ANYTIME},
    {9, 2, 0.001, 0, CERTREG_METHOD_FINITE},   {1, 0.5, 0.5, 0, CERTREG_METHOD_FINITE},
    {9, 1e-9, 0.05, 0, CERTREG_METHOD_FINITE}, {9, 1e-9, 0.05, 0, CERTREG_METHOD_ANYTIME},
    {2, 0.7, 0.05, 41, CERTREG_METHOD_FINITE}, {2, 0.7, 0.05, 41, CERTREG_METHOD_ANYTIME},
    {9, 2.7, 1e-4, 0, CERTREG_METHOD_FINITE},  {9, 1, 1e-12, 0, CERTREG_METHOD_FINITE},
    {9, 1, 1e-12, 0, CERTREG_METHOD_ANYTIME},  {9, 0.123456789, 0.01, 4, CERTREG_METHOD_FINITE},
};

TEST_ROWS(target_stops_sampling_at_a_look_that_proves_it, provable)
{
    for (uint64_t stream = 0; stream < 5; stream++) {
        half_space h = {.face = provable[_i].face};
        certreg_estimator *e = make(&h, 1, stream);
        certreg_question q = wish(provable[_i].wanted, provable[_i].method);
        q.alpha = provable[_i].alpha;
        q.serving = asks_serving(provable[_i].served, 0.05);
        const certreg_certificate c = kit_ask(e, CAPACITY, q);
        ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
        ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
        ck_assert_msg(c.radius >= q.target->radius, "%.17g of %.17g", c.radius, q.target->radius);
        if (q.method == CERTREG_METHOD_FINITE)
            ck_assert_double_le(c.radius, q.target->radius * (1 + 2e-7) + 1e-11);
        ck_assert_uint_lt(c.samples, CAPACITY);
        ck_assert_uint_eq(c.samples % BATCH, 0);
        ck_assert_uint_eq(h.calls, c.samples / BATCH);
        ck_assert_uint_eq(c.constraints & CERTREG_CONSTRAINT_GRADIENT, 0); /* the plan has one */
        const certreg_certificate again = kit_ask(e, CAPACITY, q);
        ck_assert_uint_eq(h.calls, c.samples / BATCH); /* it is proven already */
        ck_assert_double_eq(again.radius, c.radius);
        ck_assert_int_eq(again.stop, CERTREG_STOP_TARGET);
    }
}

TEST_TIMES(target_that_is_hopeless_ends_sampling_early, 10)
{
    const struct {
        double face, wanted;
    } cases[] = {{0.5, 2}, {0.5, 9.99}, {0.2, 10.5}, {-1, 0.1}, {9, 20}};
    const double wanted = cases[_i / 2].wanted, face = cases[_i / 2].face;
    certreg_estimator *e = make(&(half_space){.face = face}, 1, 1);
    const certreg_certificate c = kit_ask(e, CAPACITY, wish(wanted, sequential[_i % 2]));
    ck_assert_int_eq(c.stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_lt(c.samples, CAPACITY);
    ck_assert_double_lt(c.radius, wanted);
    ck_assert_double_le(c.radius, fmax(face, 0));
}

TEST(target_that_stays_open_is_proved_in_part)
{
    int parts[6] = {0};
    for (uint64_t stream = 0; stream < 20; stream++) {
        half_space h = {.face = 1.2};
        certreg_estimator *e = make(&h, 1, stream);
        const double wanted = 1 + 0.04 * (double)stream;
        const certreg_certificate c = kit_ask(e, CAPACITY, wish(wanted, CERTREG_METHOD_FINITE));
        const double part = 5 * c.radius / wanted;
        ck_assert_msg(fabs(part - round(part)) < 1e-5, "%g of %g", c.radius, wanted);
        ck_assert(c.stop == CERTREG_STOP_TARGET
                      ? part >= 5
                      : c.stop == CERTREG_STOP_HOPELESS || c.samples == CAPACITY);
        parts[(int)round(part)]++;
    }
    ck_assert_int_eq(parts[0], 0);
    ck_assert_int_gt(parts[4], 0);
    ck_assert_int_gt(parts[5], 0);
}

/* The radius itself is just out of reach of the record, four fifths of it are well within. */
TEST_TIMES(target_of_a_long_group_test_is_proved_in_part, 3)
{
    const size_t max_samples[] = {14000, 20000, 200000};
    half_space h = {.face = 0.45};
    certreg_plan p = KIT_PLAN(max_samples[_i], .pilot = SIZE_MAX);
    certreg_estimator *e = kit_begun(kit_model(beyond, &h, 2, 1), p, (const float[]){0, 0}, 1, 3);
    const certreg_certificate c = kit_ask(e, max_samples[_i], wish(0.46, CERTREG_METHOD_FINITE));
    ck_assert_double_ge(c.radius, 0.8 * 0.46);
    ck_assert_double_lt(c.radius, 0.45);
}

/* ---- several questions */
TEST(target_beside_plain_questions_takes_all_samples)
{
    half_space h = {.face = 2};
    certreg_estimator *e = make(&h, 1, 1);
    const certreg_question q[] = {wish(1, CERTREG_METHOD_FINITE), wish(0, CERTREG_METHOD_FINITE),
                                  wish(1, CERTREG_METHOD_ANYTIME)};
    certreg_certificate c[3] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, CAPACITY, q, 3, c));
    ck_assert_uint_eq(h.calls, CAPACITY / BATCH);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(c[i].stop, CERTREG_STOP_ALL);
    for (int i = 0; i < 3; i++) ck_assert_uint_eq(c[i].samples, CAPACITY);
    ck_assert_double_ge(c[0].radius, 1);
    ck_assert_double_gt(c[1].radius, 1.7);
    ck_assert_double_gt(c[2].radius, 1.6);
}

TEST(target_beside_targets_samples_until_all_are_decided)
{
    uint64_t last = 0;
    /* the last is out of reach, which does not take long to see */
    const double wanted[] = {0.5, 1, 1.5, 5};
    for (size_t count = 1; count <= 4; count++) {
        half_space h = {.face = 2};
        certreg_estimator *e = make(&h, 1, 1);
        certreg_question q[4];
        certreg_certificate c[4] = {kit_certificate()};
        for (int i = 0; i < 4; i++) q[i] = wish(wanted[i], sequential[i % 2]);
        KIT_OK(e, certreg_certify(e, CAPACITY, q, count, c));
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(c[i].stop, CERTREG_STOP_TARGET); /* one at least is proven */
            if (i < 3) ck_assert_double_ge(c[i].radius, wanted[i]);
        }
        ck_assert_uint_ge(c[0].samples, last);
        last = c[0].samples;
    }
    ck_assert_uint_lt(last, CAPACITY);
}

TEST(target_beside_a_bad_question_stops_as_alone)
{
    certreg_estimator *e = make(&(half_space){.face = 2}, 1, 1);
    certreg_question q[] = {wish(1, CERTREG_METHOD_FINITE), wish(0, CERTREG_METHOD_FINITE)};
    certreg_certificate c[2] = {kit_certificate()};
    q[1].alpha = 2;
    KIT_STATUS(e, certreg_certify(e, CAPACITY, q, 2, c), CERTREG_E_INVALID);
    ck_assert_int_eq(c[0].stop, CERTREG_STOP_TARGET);
    ck_assert_double_ge(c[0].radius, 1);
    ck_assert(kit_is_blank(c + 1, CERTREG_E_INVALID));
}

/* ---- looks of the caller's */
TEST_TIMES(target_looks_are_the_callers, 2)
{
    const uint64_t looks[] = {7, 33, 34, 500, 3000};
    certreg_estimator *e = make(&(half_space){.face = 3}, 1, 1);
    certreg_question q = wish(1, sequential[_i]);
    q.target = asks_looks(q.target->radius, looks, 5);
    const certreg_certificate c = kit_ask(e, CAPACITY, q);
    ck_assert(c.samples == 33 || c.samples == 34 || c.samples == 500);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    q.target = asks_looks(1, looks, 1); /* the wish cannot be proven with seven; other looks are for
                                           another record */
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 2));
    const certreg_certificate one = kit_ask(e, 100, q);
    if (q.method == CERTREG_METHOD_FINITE) ck_assert_int_eq(one.stop, CERTREG_STOP_HOPELESS);
    if (q.method == CERTREG_METHOD_FINITE) ck_assert_double_lt(one.radius, 1);
}

/* Looks count failures. The certificate at a look, which takes another way, has to agree. */
TEST_TIMES(target_stops_at_the_first_look_whose_certificate_proves_it, 40)
{
    uint64_t looks[6];
    const double face = 0.3 + 0.05 * (_i % 40), wanted = face * (0.1 + 0.02 * (_i * 7 % 50));
    for (uint64_t j = 0, at = 15; j < 6; j++, at += at * (2 + (uint64_t)_i % 5) / 3) looks[j] = at;
    half_space h[2] = {{.face = face}, {.face = face}};
    certreg_question q = wish(wanted, CERTREG_METHOD_FINITE);
    q.alpha = (const double[]){0.3, 0.05, 1e-3}[_i % 3];
    q.serving = asks_serving(_i % 2 ? 0 : 41, 0.05);
    q.target = asks_looks(_i % 10 ? wanted : wanted * 1e-8, looks, 6);
    for (uint64_t stream = 0; stream < 8; stream++) {
        certreg_estimator *a = make(h, 1, stream), *b = make(h + 1, 1, stream);
        const certreg_certificate c = kit_ask(a, CAPACITY, q);
        certreg_certificate at_look = c;
        for (int j = 0; j < 6; j++) {
            KIT_OK(b, certreg_estimator_sample(b, 0, (size_t)looks[j]));
            at_look = kit_ask(b, 0, q);
            if (at_look.radius >= q.target->radius || looks[j] == c.samples) break;
        }
        if (c.stop == CERTREG_STOP_ALL || !c.samples) continue; /* or ruled out beforehand */
        ck_assert(at_look.samples == c.samples && at_look.radius == c.radius);
        ck_assert_int_eq(c.stop == CERTREG_STOP_TARGET, c.radius >= q.target->radius);
    }
}

TEST(target_looks_need_all_their_samples)
{
    const uint64_t looks[] = {1000, 2000};
    certreg_estimator *e = make(&(half_space){.face = 9}, 1, 1);
    certreg_question q = wish(1, CERTREG_METHOD_FINITE);
    q.target = asks_looks(q.target->radius, looks, 2);
    certreg_certificate c = kit_ask(e, 999, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_ALL);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    c = kit_ask(e, 1001, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    ck_assert_uint_eq(c.samples, 1000);
}

/* A number of samples that the outputs chose is none that was fixed beforehand. Nothing lifts it,
 * neither another wish for fewer samples nor a way through bytes. */
TEST_TIMES(target_that_stopped_bars_questions_for_a_fixed_number, 2)
{
    half_space h = {.face = 2}, again = h;
    certreg_estimator *e = make(&h, 1, 1), *copy = make(&again, 1, 1);
    const certreg_question wanted = wish(0.5, sequential[_i]),
                           other = wish(0.4, CERTREG_METHOD_FINITE),
                           plain = wish(0, CERTREG_METHOD_FINITE);
    const certreg_certificate c = kit_ask(e, CAPACITY, wanted);
    certreg_bounds b = {.struct_size = sizeof b};
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    kit_refuses(e, 0, plain, CERTREG_E_WRONG_STATE, "ANYTIME");
    KIT_STATUS(e, certreg_estimator_bounds(e, &plain, CERTREG_SIDE_UPPER, &b),
               CERTREG_E_WRONG_STATE);
    kit_ask(e, 0, wish(0, CERTREG_METHOD_ANYTIME));
    kit_ask(e, 0, other);
    kit_ask(e, c.samples, other);
    kit_ask(e, c.samples, wanted);
    kit_refuses(e, 0, plain, CERTREG_E_WRONG_STATE, "ANYTIME");
    carry(e, copy);
    kit_refuses(copy, 0, plain, CERTREG_E_WRONG_STATE, "ANYTIME");
    kit_ask(copy, CAPACITY, plain); /* as many as were asked for */
    ck_assert_double_gt(kit_ask(e, CAPACITY, plain).radius, 1);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 2));
    kit_ask(e, 60, plain); /* another input: nothing is remembered */
}

TEST_TIMES(target_proof_at_a_look_stays, 2)
{
    const uint64_t looks[] = {100, 200, 300, 400, 800, 1200, 1600};
    for (uint64_t stream = 0; stream < 30; stream++) {
        half_space h = {.face = 1};
        certreg_estimator *e = make(&h, 1, stream);
        certreg_question q = wish(0.9, sequential[_i]);
        q.target = asks_looks(q.target->radius, looks, 7);
        double before = 0;
        for (size_t j = 0; j < 8; j++) {
            KIT_OK(e, certreg_estimator_sample(e, 0, j < 7 ? (size_t)looks[j] : CAPACITY));
            const double radius = kit_ask(e, 0, q).radius;
            ck_assert_msg(radius >= before, "stream %d: %.17g after %.17g", (int)stream, radius,
                          before);
            before = radius;
        }
    }
}

/* ---- neither interruptions nor the way of the record change what is proven */
TEST_TIMES(target_after_an_interruption_ends_the_same, 2)
{
    half_space plain = {.face = 1.4},
               broken = {.face = 1.4, .cancel_at = 5, .fail_at = 9, .fail_code = 77};
    certreg_estimator *a = make(&plain, 1, 4), *b = make(&broken, 1, 4);
    const certreg_question q = wish(1, sequential[_i]);
    certreg_certificate whole = kit_ask(a, CAPACITY, q), c = kit_ask(b, CAPACITY, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 5 * BATCH);
    ck_assert_double_le(c.radius, 1.4);
    KIT_STATUS(b, certreg_certify(b, CAPACITY, &q, 1, &c), CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(certreg_estimator_error(b)->code, 77);
    ck_assert_int_eq(c.status, CERTREG_E_MODEL_FAILED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    c = kit_ask(b, CAPACITY, q);
    ck_assert_mem_eq(&whole, &c, sizeof c);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
}

/* ---- other ways to the same record */
TEST_TIMES(target_of_merged_shards_is_answered_like_one_run, 2)
{
    for (uint64_t stream = 0; stream < 10; stream++) {
        half_space h[4] = {{.face = 1.4}, {.face = 1.4}, {.face = 1.4}, {.face = 1.4}};
        certreg_estimator *e[4];
        for (int i = 0; i < 4; i++) e[i] = make(h + i, 1, stream);
        const certreg_question q = wish(1, sequential[_i]);
        const certreg_certificate stopped = kit_ask(e[0], CAPACITY, q);
        KIT_OK(e[1], certreg_estimator_sample(e[1], 0, 1500));
        KIT_OK(e[2], certreg_estimator_sample(e[2], 1500, CAPACITY - 1500));
        carry(e[2], e[3]); /* the later part first: a gap until the other comes */
        certreg_certificate gap = kit_certificate();
        KIT_STATUS(e[3], certreg_certify(e[3], 0, &q, 1, &gap), CERTREG_E_WRONG_STATE);
        carry(e[1], e[3]);
        const certreg_certificate merged = kit_ask(e[3], CAPACITY, q);
        ck_assert_uint_eq(h[3].calls, 0);
        ck_assert_int_eq(merged.stop, stopped.stop);
        if (_i == 0) ck_assert_double_eq(merged.radius, stopped.radius);
        ck_assert_double_ge(merged.radius, stopped.radius);
        /* fills the beginning alone: the rest of the gap is sampled, or all is settled */
        carry(e[0], e[2]);
        ck_assert_double_ge(kit_ask(e[2], CAPACITY, q).radius, stopped.radius);
    }
}

/* ---- forecasts */
TEST_TIMES(forecast_least_samples_is_what_a_perfect_model_takes, 8)
{
    const struct {
        double wanted, alpha;
    } cases[] = {{1, 0.05}, {2, 0.001}, {0.1, 0.5}, {2.9, 0.05}};
    certreg_estimator *e = make(&(half_space){.face = 99}, 1, 1);
    certreg_question q = wish(cases[_i / 2].wanted, sequential[_i % 2]);
    q.alpha = cases[_i / 2].alpha;
    certreg_forecast f = asks_forecast(e, q);
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
    f = asks_forecast(e, q);
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
    certreg_model m = KIT_MODEL(beyond, &h, 2, 1, .kind = &kind, .lo = &lo, .hi = &hi, .batch = 20);
    certreg_plan p = kit_plan(SERVED_CAPACITY);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    int impossible = 0;
    for (double wanted = 0.5; wanted < 3; wanted += 0.05) {
        certreg_question q = wish(wanted, sequential[_i % 2]);
        q.tolerance = tolerances[_i / 2], q.serving = asks_serving(11, 0.01);
        KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 1));
        if (asks_forecast(e, q).least_samples) continue;
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
    const uint64_t least = asks_forecast(e, q).least_samples;
    ck_assert_uint_gt(least, 40);
    ck_assert_double_lt(kit_ask(e, least - 1, q).radius, q.target->radius);
    ck_assert_double_ge(kit_ask(e, least, q).radius, q.target->radius);
    ck_assert_double_eq(asks_forecast(e, q).expected_samples, CAPACITY);
    q.target = asks_target(9);
    ck_assert_uint_eq(asks_forecast(e, q).least_samples, 0);
}

TEST(forecast_is_about_right_and_infinite_if_impossible)
{
    certreg_estimator *e = make(&(half_space){.face = 1.4}, 1, 1);
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    const certreg_forecast f = asks_forecast(e, wish(1, CERTREG_METHOD_FINITE));
    ck_assert_msg(f.expected_samples > 60 && f.expected_samples < 300, "%g", f.expected_samples);
    ck_assert(isinf(asks_forecast(e, wish(1.41, CERTREG_METHOD_FINITE)).expected_samples));
    ck_assert(isinf(asks_forecast(e, wish(1.41, CERTREG_METHOD_ANYTIME)).expected_samples));
    const certreg_forecast never = asks_forecast(e, wish(5, CERTREG_METHOD_FINITE));
    ck_assert_uint_eq(never.least_samples, 0);
    ck_assert(isinf(never.expected_samples));
}

/* A forecast is about what the pilot predicts, wherever that is. */
TEST_ROWS(forecast_moves_with_the_output, sequential)
{
    for (int i = 0; i < 2; i++) {
        const float z[2] = {i ? 8 : 0, 0};
        const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
        certreg_plan p = KIT_PLAN(CAPACITY, .pilot = 200);
        certreg_estimator *e = kit_begun(m, p, z, 1, 1);
        certreg_question q = wish(0.5, sequential[_i]);
        q.prediction = NULL;
        KIT_OK(e, certreg_estimator_sample(e, 0, 1000));
        const certreg_forecast f = asks_forecast(e, q);
        ck_assert_msg(f.expected_samples > 220 && f.expected_samples < 900, "at %g: %g",
                      (double)z[0], f.expected_samples);
    }
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
    KIT_OK(e, certreg_estimator_sample(e, 100, 20));
    KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_WRONG_STATE);
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan(100);
    e = kit_create(NULL, &m, &p);
    KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_WRONG_STATE);
}

KIT_MAIN("target")
