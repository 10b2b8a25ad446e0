/* Attacks that are refused, stopped or fail: nothing is claimed, and the sentence names the
 * remedy. */
#include "support/attack_kit.h"
#include "support/names.h"
#include <certreg/attack.h>

enum { INPUTS = 3, SAMPLES = 800, CALLS = 600 };
static const float where[INPUTS] = {0, 1, 2};
static const double range[2] = {-20, 20}, turn[2] = {-180, 180};

static const certreg_question usual = {.struct_size = sizeof usual, .tolerance = 5};
static const certreg_attack_options all_calls = {
    .struct_size = sizeof all_calls, .calls = CALLS, .alpha = 0.1};

typedef struct setup {
    victim v;
    int without_model;
    int32_t kind;
    const double *ends; /* of the range */
    uint32_t flags;
    int (*progress)(void *, uint64_t, uint64_t);
} setup;

static void open_unsampled(setup *s)
{
    certreg_model m = kit_model(s->without_model ? NULL : victim_model, &s->v, INPUTS, 1);
    m.kind = &s->kind, m.batch = 20;
    if (s->ends) m.lo = s->ends, m.hi = s->ends + 1;
    certreg_plan p = kit_plan(SAMPLES);
    p.flags = s->flags, p.progress = s->progress, p.progress_user = s;
    s->v.e = kit_create(NULL, &m, &p);
    s->v.a = attack_on(s->v.e, CALLS);
}

static void open_all(setup *s)
{
    open_unsampled(s);
    KIT_OK(s->v.e, certreg_estimator_begin(s->v.e, where, 1, 2));
    KIT_OK(s->v.e, certreg_estimator_sample(s->v.e, 0, SAMPLES));
    s->v.batches = s->v.rows = 0;
}

static const certreg_error *refused(const setup *s, const certreg_question *q,
                                    const certreg_attack_options *o, certreg_status expected)
{
    certreg_attack_result r = attack_result();
    float shift[INPUTS] = {7, 7, 7};
    ATTACK_STATUS(s->v.a, certreg_attack_run(s->v.a, q, o, shift, &r), expected);
    ck_assert(is_nothing(&r));
    ck_assert(shift[0] == 0 && shift[1] == 0 && shift[2] == 0);
    return certreg_attack_error(s->v.a);
}

/* ---- questions and options */
static const struct {
    const char *words;
    double tolerance;
    int32_t kind;
    certreg_question q;
} no_questions[] = {
    {"question.method", 5, REAL, {.method = BASELINE}},
    {"question.serving", 5, REAL, {.serving = SERVING(.samples = 101, .failure_rate = 0.1)}},
    {"model.lo", 5, REAL, {.statistic = MEAN, .method = ASYMPTOTIC}},
    {"question.center", 5, REAL, {.statistic = MEAN, .method = ASYMPTOTIC, .center = TRUE_MEAN}},
    {"question.output is -1 and output_count 0", 5, REAL, {.output = ALL}},
    {"tolerance", 0, REAL, {0}},
    {"tolerance", -1, REAL, {0}},
    {"quarter", 100, ANGLE, {.statistic = HUBER, .huber_width = 10}},
};

TEST_ROWS(attack_names_the_field_of_a_question_that_it_refuses, no_questions)
{
    const int32_t kind = no_questions[_i].kind;
    setup s = {.v = {.output = beyond_face}, .kind = kind, .ends = kind == ANGLE ? turn : NULL};
    certreg_question q = no_questions[_i].q;
    double out[INPUTS];
    q.struct_size = sizeof q, q.tolerance = no_questions[_i].tolerance;
    open_all(&s);
    KIT_SAYS(refused(&s, &q, &all_calls, CERTREG_E_INVALID), no_questions[_i].words);
    if (q.output == ALL)
        ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &q, 1, out), CERTREG_E_INVALID);
    ck_assert_uint_eq(s.v.batches, 0);
}

static const float no_number[INPUTS] = {0, NAN, 1}, nowhere[INPUTS];
static const struct {
    const char *words;
    certreg_attack_options o;
} no_options[] = {
    {"max_calls", {.calls = CALLS + 1}},
    {"alpha", {.calls = CALLS, .alpha = 0.6}},
    {"alpha", {.calls = CALLS, .alpha = NAN}},
    {"reserved", {.calls = CALLS, .reserved = 1}},
    {"direction[1]", {.calls = CALLS, .direction = no_number}},
    {"direction", {.calls = CALLS, .direction = nowhere}},
    {"struct_size", {.calls = CALLS, .struct_size = 4}},
};

TEST_ROWS(attack_names_the_wrong_option, no_options)
{
    setup s = {.v = {.output = beyond_face}};
    certreg_attack_options o = no_options[_i].o;
    if (!o.struct_size) o.struct_size = sizeof o;
    open_all(&s);
    KIT_SAYS(refused(&s, &usual, &o, CERTREG_E_INVALID), no_options[_i].words);
    KIT_SAYS(refused(&s, &usual, NULL, CERTREG_E_INVALID), "options");
    o = attack_options(CALLS);
    KIT_SAYS(refused(&s, NULL, &o, CERTREG_E_INVALID), "question");
    ck_assert_uint_eq(s.v.batches, 0);
}

/* The least number that the error names is enough, and one less is not. */
TEST_TIMES(attack_names_the_least_number_of_calls, 2)
{
    setup s = {.v = {.output = beyond_face}};
    const float along[INPUTS] = {1, 0, 0};
    certreg_attack_options o = attack_options(1);
    if (_i) o.direction = along;
    open_all(&s);
    const char *least = strstr(refused(&s, &usual, &o, CERTREG_E_INVALID)->text, "at least ");
    ck_assert_ptr_nonnull(least);
    o.calls = (size_t)strtoul(least + 9, NULL, 10) - 1;
    refused(&s, &usual, &o, CERTREG_E_INVALID);
    o.calls++;
    const certreg_attack_result r = attack_found(s.v.a, usual, o, NULL);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
}

TEST(attack_checks_handles_and_structs)
{
    setup s = {.v = {.output = beyond_face}};
    certreg_attack_plan p = {.struct_size = sizeof p, .reserved = 3};
    certreg_attack_result r = attack_result();
    certreg_error why = {.struct_size = sizeof why};
    certreg_attack *a = (certreg_attack *)&r;
    float shift[INPUTS] = {7, 7, 7};
    double out[INPUTS];
    size_t bytes = 7, there = 7;
    open_all(&s);
    ck_assert_int_eq(certreg_attack_run(NULL, &usual, &all_calls, NULL, &r), CERTREG_E_INVALID);
    ck_assert(is_nothing(&r));
    ATTACK_STATUS(s.v.a, certreg_attack_run(s.v.a, &usual, &all_calls, shift, NULL),
                  CERTREG_E_INVALID);
    ck_assert(shift[0] == 0 && shift[2] == 0);
    ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &usual, 1, NULL), CERTREG_E_INVALID);
    ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &usual, 0, out), CERTREG_E_INVALID);
    KIT_SAYS(certreg_attack_error(s.v.a), "side");
    ck_assert_int_eq(certreg_attack_create(s.v.e, &p, &why, &a), CERTREG_E_INVALID);
    ck_assert_ptr_null(a);
    KIT_SAYS(&why, "reserved");
    ck_assert_int_eq(certreg_attack_size(s.v.e, &p, &bytes, &there), CERTREG_E_INVALID);
    ck_assert(bytes == 0 && there == 0);
    p.reserved = 0, p.max_calls = SIZE_MAX;
    KIT_UNMADE(&why, certreg_attack_create(s.v.e, &p, &why, &a), CERTREG_E_NO_MEMORY,
               "plan.max_calls");
    ck_assert_int_eq(certreg_attack_create(s.v.e, &p, &why, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_attack_create(s.v.e, NULL, &why, &a), CERTREG_E_INVALID);
}

/* ---- records */
TEST(attack_without_a_record_is_refused)
{
    setup s = {.v = {.output = beyond_face}};
    double out[INPUTS];
    open_unsampled(&s);
    KIT_SAYS(refused(&s, &usual, &all_calls, CERTREG_E_WRONG_STATE), "begin");
    KIT_OK(s.v.e, certreg_estimator_begin(s.v.e, where, 1, 2));
    KIT_SAYS(refused(&s, &usual, &all_calls, CERTREG_E_WRONG_STATE), "samples");
    ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &usual, 1, out), CERTREG_E_WRONG_STATE);
}

/* Forecasts and gradients need no model. */
TEST(attack_without_a_model_has_forecasts_only)
{
    setup s = {.without_model = 1};
    float x[INPUTS], y;
    double out[INPUTS];
    open_unsampled(&s);
    KIT_OK(s.v.e, certreg_estimator_begin(s.v.e, where, 1, 2));
    for (uint64_t i = 0; i < SAMPLES; i++) {
        KIT_OK(s.v.e, certreg_estimator_draw(s.v.e, i, 1, x));
        y = (float)beyond_face(x, INPUTS);
        KIT_OK(s.v.e, certreg_estimator_record(s.v.e, i, 1, &y));
    }
    KIT_SAYS(refused(&s, &usual, &all_calls, CERTREG_E_WRONG_STATE), "model.eval");
    const certreg_attack_result r = attack_found(s.v.a, usual, attack_options(0), NULL);
    ck_assert(is_nothing(&r));
    ck_assert_uint_eq(r.calls, 0);
    ck_assert_double_eq_tol(r.forecast, 1, 0.2);
    ATTACK_OK(s.v.a, certreg_attack_gradient(s.v.a, &usual, CERTREG_SIDE_UPPER, out));
}

/* ---- stops */
static int stop_at_once(void *user, uint64_t done, uint64_t total)
{
    setup *s = user;
    return total == CALLS && done > 200 && (s->flags = 77);
}

TEST_TIMES(attack_that_is_cancelled_or_late_is_no_failure, 4)
{
    setup s = {.v = {.output = beyond_face}};
    if (_i == 1) s.progress = stop_at_once;
    open_all(&s);
    if (_i == 0) s.v.cancel_at = 3;
    if (_i == 2) KIT_OK(s.v.e, certreg_estimator_set_deadline(s.v.e, -1));
    if (_i == 3) certreg_estimator_cancel(s.v.e);
    certreg_attack_result r = attack_found(s.v.a, usual, all_calls, NULL);
    ck_assert(is_nothing(&r));
    ck_assert_int_eq(r.stop, _i == 2 ? CERTREG_STOP_DEADLINE : CERTREG_STOP_CANCELLED);
    ck_assert_str_eq(certreg_attack_error(s.v.a)->text, "");
    ck_assert_uint_eq(r.calls, s.v.rows);
    ck_assert_uint_lt(r.calls, _i == 1 ? 260 : 100);
    if (_i == 1) ck_assert_uint_gt(r.calls, 200);
    if (_i == 2) {
        double out[INPUTS] = {7};
        ck_assert_uint_eq(r.calls, 0);
        ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &usual, CERTREG_SIDE_UPPER, out),
                      CERTREG_E_DEADLINE);
        KIT_SAYS(certreg_attack_error(s.v.a), "certreg_estimator_set_deadline");
        ck_assert_double_eq(out[0], 7);
    }
    s.v.cancel_at = 0, s.progress = NULL; /* reported once: the next run is whole */
    KIT_OK(s.v.e, certreg_estimator_set_deadline(s.v.e, INFINITY));
    if (_i != 1) {
        r = attack_found(s.v.a, usual, all_calls, NULL);
        ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    }
}

/* The climb takes 24 batches, the first gate 8: 75 pairs. */
TEST(attack_reports_what_it_proved_before_a_cancel)
{
    setup s = {.v = {.output = beyond_face}};
    certreg_attack_options o = attack_options(CALLS);
    float shift[INPUTS];
    int broken = 0;
    open_all(&s);
    s.v.cancel_at = 33;
    for (; o.number < 10; o.number++) {
        s.v.batches = 0;
        const certreg_attack_result r = attack_found(s.v.a, usual, o, shift);
        ck_assert_int_eq(r.stop, CERTREG_STOP_CANCELLED);
        if (r.outcome == CERTREG_ATTACK_NOT_BROKEN) continue;
        broken++;
        ck_assert_double_ge(r.radius, 1);
        ck_assert(shift[0] > 1);
    }
    ck_assert_int_ge(broken, 5);
}

/* ---- models that fail */
static double bad_far_out(const float *x, size_t inputs)
{
    return x[1] > 3.5f ? NAN : beyond_face(x, inputs);
}

static double bad_when_out(const float *x, size_t inputs)
{
    return x[0] > 1 ? NAN : beyond_face(x, inputs);
}

static int leaves_range;

static double out_of_range(const float *x, size_t inputs)
{
    return leaves_range ? 30 : beyond_face(x, inputs);
}

TEST_TIMES(attack_ends_if_the_model_fails, 3)
{
    setup s = {.v = {.output = _i == 2 ? out_of_range : beyond_face}, .ends = range};
    static const certreg_status expected[] = {CERTREG_E_MODEL_FAILED, CERTREG_E_NOT_FINITE,
                                              CERTREG_E_OUT_OF_RANGE};
    leaves_range = 0;
    open_all(&s);
    if (_i == 0) s.v.fail_at = 5;
    if (_i == 1) s.v.skip_at = 5;
    leaves_range = 1;
    const certreg_error *why = refused(&s, &usual, &all_calls, expected[_i]);
    if (_i == 0) ck_assert_int_eq(why->code, 42);
    certreg_certificate c = kit_certificate(); /* the record rests on the range, and on no more */
    KIT_STATUS(s.v.e, certreg_certify(s.v.e, 0, &usual, 1, &c), _i == 2 ? expected[2] : CERTREG_OK);
    ck_assert(_i == 2 ? c.radius == 0 : c.radius > 0);
}

/* Whatever value a failed call might be given later: it counts as inside. */
TEST_TIMES(attack_counts_failures_as_inside, 2)
{
    setup s = {.v = {.output = _i ? bad_when_out : bad_far_out},
               .flags = CERTREG_PLAN_COUNT_FAILURES};
    open_all(&s);
    const certreg_attack_result r = attack_found(s.v.a, usual, all_calls, NULL);
    ck_assert_int_eq(r.outcome, _i ? CERTREG_ATTACK_NOT_BROKEN : CERTREG_ATTACK_BROKEN);
}

static double always_bad(const float *x, size_t inputs)
{
    (void)x, (void)inputs;
    return NAN;
}

TEST(attack_gradient_of_a_record_of_failures_is_refused)
{
    setup s = {.v = {.output = always_bad}, .flags = CERTREG_PLAN_COUNT_FAILURES};
    double out[INPUTS] = {7, 7, 7};
    open_all(&s);
    ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &usual, CERTREG_SIDE_UPPER, out),
                  CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_attack_error(s.v.a), "failed");
    ck_assert_double_eq(out[0], 7);
}

/* ---- calls on busy handles */
static certreg_status asked[4];

static void ask_all(victim *v)
{
    const certreg_attack_plan p = {.struct_size = sizeof p};
    certreg_attack_result r = attack_result();
    certreg_attack *a = NULL;
    float shift[INPUTS] = {7, 7, 7};
    double out[INPUTS];
    asked[0] = certreg_attack_run(v->a, &usual, &all_calls, shift, &r);
    asked[1] = certreg_attack_gradient(v->a, &usual, CERTREG_SIDE_UPPER, out);
    asked[2] = certreg_estimator_sample(v->e, 0, 1);
    asked[3] = certreg_attack_create(v->e, &p, NULL, &a);
    ck_assert(is_nothing(&r) && shift[0] == 0 && shift[2] == 0);
}

TEST(attack_that_runs_keeps_its_handles_busy)
{
    setup s = {.v = {.output = beyond_face, .ask = ask_all}};
    open_all(&s);
    s.v.ask_at = 4;
    const certreg_attack_result r = attack_found(s.v.a, usual, all_calls, NULL);
    for (int k = 0; k < 4; k++) ck_assert_int_eq(asked[k], CERTREG_E_BUSY);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
    s.v.batches = 0; /* and in a call on the estimator */
    KIT_OK(s.v.e, certreg_estimator_begin(s.v.e, where, 1, 3));
    KIT_OK(s.v.e, certreg_estimator_sample(s.v.e, 0, SAMPLES));
    ck_assert_int_eq(asked[0], CERTREG_E_BUSY);
    ck_assert_int_eq(asked[3], CERTREG_E_BUSY);
}

KIT_MAIN("attack_misuse")
