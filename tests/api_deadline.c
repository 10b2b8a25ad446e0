/* What a control loop gets from a tick that had no time: the estimate to go on with. */
#include "support/api_kit.h"

enum { INPUTS = 3, CAPACITY = 1000, PILOT = 150 };

static const float where[INPUTS] = {0.5f, 0, 0};

typedef struct stage {
    certreg_estimator *e; /* to be cancelled */
    unsigned calls, cancel_at;
    int fails;
} stage;

static int model(void *user, const certreg_batch *b)
{
    stage *s = user;
    kit_identity(NULL, b);
    for (size_t i = 0; s->fails && i < b->rows; i++) b->y[i] = NAN;
    if (++s->calls == s->cancel_at) certreg_estimator_cancel(s->e);
    return 0;
}

static certreg_estimator *make(stage *s, int32_t kind, size_t pilot)
{
    const double lo = 0, hi = 360;
    certreg_model m = kit_model(model, s, INPUTS, 1);
    certreg_plan p = kit_plan(CAPACITY);
    m.batch = 50;
    m.kind = &kind;
    if (kind == CERTREG_OUTPUT_ANGLE) m.lo = &lo, m.hi = &hi;
    p.pilot = pilot;
    p.flags = s->fails ? CERTREG_PLAN_COUNT_FAILURES : 0;
    return s->e = kit_create(NULL, &m, &p);
}

static certreg_question about(double prediction)
{
    return QUESTION(.tolerance = 0.5, .prediction = asks_prediction(prediction));
}

static certreg_certificate certify(certreg_estimator *e, const certreg_question *q, uint64_t stream)
{
    KIT_OK(e, certreg_estimator_begin(e, where, 0.1, stream));
    const certreg_certificate c = kit_ask(e, CAPACITY, *q);
    ck_assert_int_eq(c.status, CERTREG_OK);
    return c;
}

static certreg_certificate certify_in_no_time(certreg_estimator *e, const certreg_question *q,
                                              uint64_t stream)
{
    certreg_estimator_set_deadline(e, 1e-9);
    const certreg_certificate c = certify(e, q, stream);
    certreg_estimator_set_deadline(e, INFINITY);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_uint_eq(c.samples, 0);
    ck_assert_double_eq(c.radius, 0);
    return c;
}

static const int32_t scores[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_HUBER,
                                 CERTREG_STATISTIC_MEAN};
static const int32_t intervals[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ASYMPTOTIC,
                                    CERTREG_METHOD_ANYTIME};

TEST_ROWS(deadline_without_samples_hands_the_prediction_on, intervals)
{
    stage s = {0};
    for (int k = 0; k < KIT_ROWS(scores); k++) {
        certreg_estimator *e = make(&s, CERTREG_OUTPUT_REAL, _i == 1 ? PILOT : SIZE_MAX);
        certreg_question q = about(0.45);
        q.statistic = scores[k], q.method = intervals[_i], q.huber_width = k == 1 ? 0.25 : 0;
        if (k == 2) q.method = CERTREG_METHOD_ASYMPTOTIC;
        const certreg_certificate empty = certify_in_no_time(e, &q, 1);
        ck_assert_double_eq(empty.prediction, 0.45);
        q.prediction = &empty.estimate;
        ck_assert_double_eq(empty.estimate, 0.45);
        const certreg_certificate c = certify(e, &q, 2);
        ck_assert_double_eq(c.prediction, 0.45);
        ck_assert_double_gt(c.radius, 0);
    }
}

TEST(deadline_hands_the_prediction_of_an_angle_on_in_its_turn)
{
    stage s = {0};
    certreg_estimator *e = make(&s, CERTREG_OUTPUT_ANGLE, SIZE_MAX);
    const certreg_question q = about(400);
    ck_assert_double_eq(certify_in_no_time(e, &q, 1).estimate, 40);
}

TEST(deadline_without_samples_and_prediction_has_no_estimate)
{
    stage s = {0};
    certreg_estimator *e = make(&s, CERTREG_OUTPUT_REAL, PILOT);
    const certreg_question q = kit_question(0.5);
    ck_assert_double_nan(certify_in_no_time(e, &q, 1).estimate);
}

TEST_TIMES(deadline_after_few_samples_leaves_an_estimate, 2)
{
    stage s = {.cancel_at = 2};
    certreg_estimator *e = make(&s, CERTREG_OUTPUT_REAL, PILOT);
    const certreg_question q = _i ? about(7) : kit_question(0.5);
    const certreg_certificate c = certify(e, &q, 1);
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 100);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq_tol(c.estimate, 0.5, 0.1);
}

TEST(deadline_prediction_is_the_estimate_if_all_outputs_failed)
{
    stage s = {.fails = 1};
    certreg_estimator *e = make(&s, CERTREG_OUTPUT_REAL, SIZE_MAX);
    const certreg_question q = about(0.45);
    const certreg_certificate c = certify(e, &q, 1);
    ck_assert_uint_eq(c.samples, CAPACITY);
    ck_assert_double_eq(c.radius, 0);
    ck_assert_double_eq(c.estimate, 0.45);
}

/* Nobody knows what answers take when an estimator is new, and it must not be learned from
 * outputs: the model is not called for it. */
TEST(deadline_that_is_the_first_changes_no_answer)
{
    for (int k = 0; k < KIT_ROWS(scores); k++) {
        stage s = {0};
        certreg_certificate c[2];
        for (int timed = 0; timed < 2; timed++) {
            certreg_estimator *e = make(&s, CERTREG_OUTPUT_REAL, PILOT);
            certreg_question q = QUESTION(.tolerance = 0.5, .statistic = scores[k],
                                          .method = CERTREG_METHOD_ASYMPTOTIC,
                                          .huber_width = k == 1 ? 0.25 : 0);
            s.calls = 0;
            certreg_estimator_set_deadline(e, timed ? 1000 : INFINITY);
            c[timed] = certify(e, &q, 1);
            ck_assert_uint_eq(s.calls, CAPACITY / 50);
        }
        ck_assert_mem_eq(c, c + 1, sizeof *c);
    }
}

KIT_MAIN("without time")
