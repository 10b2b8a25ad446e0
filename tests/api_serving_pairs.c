/* Serving from antithetic pairs: certificates, servers, and what keeps the two kinds apart. */
#include "support/known_outputs.h"

enum { INPUTS = 5, SERVED = 101 };
static const float origin[INPUTS] = {0.5f, -1, 0, 3, 2};

static const certreg_serving in_pairs = {
    .struct_size = sizeof in_pairs, .pairs = 1, .samples = SERVED, .failure_rate = 0.01};

static certreg_question question_of(const certreg_serving *serving)
{
    return QUESTION(.tolerance = 0.6, .prediction = asks_prediction(0), .serving = serving);
}

static const certreg_serving *alone(void)
{
    return asks_serving(SERVED, 0.01);
}

/* ---- certificates */
TEST(serving_from_pairs_costs_a_median_half_of_the_radius)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.55, 2000, 0); /* about 1 % are out */
    certreg_estimator *e = recorded(&r);
    const double plain = kit_ask(e, 0, question_of(NULL)).radius,
                 independent = kit_ask(e, 0, question_of(alone())).radius,
                 pairs = kit_ask(e, 0, question_of(&in_pairs)).radius;
    ck_assert_double_eq_tol(plain - independent, 0.32, 0.005);
    ck_assert_double_le(plain - pairs, 0.16);
    ck_assert_double_gt(plain - pairs, 0.12);
}

static const struct {
    int32_t statistic, method, kind;
} cases[] = {{CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, CERTREG_OUTPUT_REAL},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_OUTPUT_REAL},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_OUTPUT_ANGLE},
             {CERTREG_STATISTIC_TRIMMED_MEAN, CERTREG_METHOD_BASELINE, CERTREG_OUTPUT_REAL}};

TEST_ROWS(serving_from_pairs_gains_for_every_counted_statistic, cases)
{
    record r = scattered(cases[_i].kind, 0.5, 2000, 0);
    certreg_estimator *e = recorded(&r);
    double radius[2];
    for (int i = 0; i < 2; i++) {
        certreg_serving s = in_pairs;
        certreg_question q = question_of(&s);
        s.pairs = i, s.trim = cases[_i].statistic == CERTREG_STATISTIC_TRIMMED_MEAN ? 0.4 : 0;
        q.statistic = cases[_i].statistic, q.method = cases[_i].method;
        if (cases[_i].kind == CERTREG_OUTPUT_ANGLE) q.prediction = asks_prediction(3.1);
        radius[i] = kit_ask(e, 0, q).radius;
    }
    ck_assert_double_gt(radius[1], radius[0] + 0.05);
}

/* Lemma 1a: half of the samples count. */
TEST(serving_from_pairs_needs_twice_the_samples_for_huber)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 2000, 0);
    certreg_estimator *e = recorded(&r);
    certreg_question q = question_of(asks_serving(500, 0.01));
    q.statistic = CERTREG_STATISTIC_HUBER, q.huber_width = 0.3;
    const double half = kit_ask(e, 0, q).radius;
    certreg_serving s = in_pairs;
    s.samples = 1000, q.serving = &s;
    ck_assert_double_eq(kit_ask(e, 0, q).radius, half);
}

TEST(serving_from_pairs_proves_a_target_within_reach)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.9, 2000, 200);
    certreg_estimator *e = recorded(&r);
    certreg_question q = question_of(&in_pairs);
    q.target = asks_target(1);
    ck_assert_double_ge(kit_ask(e, 0, q).radius, 1);
}

TEST(serving_from_pairs_has_its_own_output_bounds)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.9, 2000, 0);
    certreg_estimator *e = recorded(&r);
    const certreg_serving *served[] = {NULL, &in_pairs, alone()};
    double before = 0;
    for (int i = 0; i < 3; i++) {
        certreg_certificate c = kit_certificate();
        const certreg_question q = question_of(served[i]);
        KIT_OK(e, certreg_output_bounds(e, 0, &q, 1, 0.7, &c));
        ck_assert_double_gt(c.output_hi - c.output_lo, before);
        before = c.output_hi - c.output_lo;
    }
}

TEST(question_digest_depends_on_serving_pairs)
{
    uint64_t digest[2];
    const certreg_question a = question_of(&in_pairs), b = question_of(alone());
    ck_assert_int_eq(certreg_question_digest(&a, NULL, digest), CERTREG_OK);
    ck_assert_int_eq(certreg_question_digest(&b, NULL, digest + 1), CERTREG_OK);
    ck_assert(digest[0] != digest[1]);
}

/* ---- servers */
static certreg_plan server_plan(void)
{
    certreg_plan p = kit_plan(SERVED);
    p.constraints = 0, p.pilot = SIZE_MAX, p.flags = CERTREG_PLAN_PAIRS;
    return p;
}

static certreg_estimator *server_on(certreg_backend *backend, certreg_plan p)
{
    certreg_model m = kit_model(kit_identity, NULL, INPUTS, 1);
    m.batch = 16;
    certreg_estimator *e = kit_create(backend, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 3));
    return e;
}

static certreg_estimator *server(certreg_plan p)
{
    return server_on(NULL, p);
}

TEST(serving_pairs_are_drawn_with_opposite_noise)
{
    static float x[SERVED + 1][INPUTS], y[SERVED][INPUTS];
    certreg_plan p = server_plan();
    certreg_estimator *pairs = server(p);
    p.flags = 0;
    certreg_estimator *other = server(p);
    KIT_OK(pairs, certreg_estimator_draw(pairs, 0, SERVED + 1, *x));
    KIT_OK(other, certreg_estimator_draw(other, 0, SERVED / 2 + 1, *y));
    for (int i = 0; i <= SERVED; i++)
        for (int j = 0; j < INPUTS; j++) {
            const double noise = (double)y[i / 2][j] - (double)origin[j];
            ck_assert_double_eq((double)x[i][j] - (double)origin[j], i % 2 ? -noise : noise);
        }
    KIT_OK(pairs, certreg_estimator_draw(pairs, 37, 4, *y)); /* any part of them */
    ck_assert_mem_eq(y, x + 37, 4 * sizeof *x);
}

TEST(serving_estimate_takes_whole_pairs)
{
    static float x[SERVED][INPUTS], y[SERVED];
    certreg_estimator *e = server(server_plan());
    const certreg_question q = question_of(&in_pairs);
    double median = NAN, sorted[SERVED];
    KIT_OK(e, certreg_estimator_draw(e, 0, SERVED, *x));
    for (int i = 0; i < SERVED; i++) sorted[i] = (double)(y[i] = x[i][0]);
    KIT_OK(e, certreg_estimator_sample(e, 0, SERVED - 1));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, &median), CERTREG_E_WRONG_STATE);
    KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
    KIT_OK(e, certreg_estimator_record(e, 0, SERVED, y)); /* what sample recorded agrees */
    KIT_OK(e, certreg_estimator_estimate(e, &q, &median));
    kit_sort(sorted, SERVED);
    ck_assert_double_eq(median, sorted[SERVED / 2]);
}

TEST(serving_records_of_pairs_do_not_depend_on_threads)
{
    static unsigned char bytes[2][10000];
    certreg_backend *backends[] = {NULL, kit_backend(3)};
    for (int i = 0; i < 2; i++) {
        certreg_estimator *e = server_on(backends[i], server_plan());
        KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
        const size_t count = kit_export(e, bytes[i], sizeof bytes[i]);
        ck_assert_mem_eq(bytes[i], bytes[0], count);
    }
}

TEST(serving_estimate_refuses_the_other_kind_of_question)
{
    const certreg_question both[] = {question_of(alone()), question_of(&in_pairs),
                                     question_of(NULL)};
    for (int pairs = 0; pairs < 2; pairs++) {
        certreg_plan p = server_plan();
        double out;
        p.flags = pairs ? CERTREG_PLAN_PAIRS : 0;
        certreg_estimator *e = server(p);
        KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
        KIT_OK(e, certreg_estimator_estimate(e, both + pairs, &out));
        KIT_STATUS(e, certreg_estimator_estimate(e, both + !pairs, &out), CERTREG_E_INVALID);
        KIT_SAYS(certreg_estimator_error(e), "pairs");
        if (pairs) KIT_STATUS(e, certreg_estimator_estimate(e, both + 2, &out), CERTREG_E_INVALID);
    }
}

TEST(certify_refuses_samples_in_serving_pairs)
{
    certreg_estimator *e = server(server_plan());
    for (int i = 0; i < 2; i++) {
        const certreg_question q = question_of(i ? &in_pairs : NULL);
        certreg_certificate c = kit_stale();
        certreg_forecast f = {.struct_size = sizeof f};
        certreg_bounds b = {.struct_size = sizeof b};
        KIT_STATUS(e, certreg_certify(e, SERVED, &q, 1, &c), CERTREG_E_INVALID);
        KIT_SAYS(certreg_estimator_error(e), "CERTREG_PLAN_PAIRS");
        ck_assert(kit_is_blank(&c, CERTREG_E_INVALID));
        KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
        KIT_STATUS(e, certreg_estimator_bounds(e, &q, 1, &b), CERTREG_E_INVALID);
        KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_INVALID);
        KIT_STATUS(e, certreg_output_bounds(e, SERVED, &q, 1, 0.5, &c), CERTREG_E_INVALID);
    }
}

TEST(import_of_serving_pairs_into_another_plan_is_refused)
{
    static unsigned char bytes[10000];
    size_t count = sizeof bytes;
    certreg_plan p = server_plan();
    certreg_estimator *pairs = server(p);
    KIT_OK(pairs, certreg_estimator_sample(pairs, 0, SERVED));
    KIT_OK(pairs, certreg_estimator_export(pairs, bytes, &count));
    certreg_estimator *again = server(p);
    KIT_OK(again, certreg_estimator_import(again, bytes, count));
    p.flags = 0;
    certreg_estimator *other = server(p);
    KIT_STATUS(other, certreg_estimator_import(other, bytes, count), CERTREG_E_MISMATCH);
    KIT_SAYS(certreg_estimator_error(other), "CERTREG_PLAN_PAIRS");
}

TEST(serving_plan_of_pairs_with_a_pilot_is_refused)
{
    certreg_plan p = server_plan();
    const certreg_model m = kit_model(kit_identity, NULL, INPUTS, 1);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    p.pilot = 20;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "plan.pilot");
}

KIT_MAIN("serving_pairs")
