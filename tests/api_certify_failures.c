/* Certificates when something goes wrong: a bad question beside good ones, a run that is stopped,
 * outputs that fail, outputs that were rounded to float. */
#include "support/affine_model.h"

/* ---- bad questions */
TEST(certify_answers_good_questions_beside_a_bad_one)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q[4] = {kit_question(0.4), kit_question(-1), kit_question(0.5),
                             kit_question(0.4)};
    certreg_certificate c[4], alone = kit_certificate();
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    q[3].output = 1;
    KIT_STATUS(e, certreg_certify(e, 2000, q, 4, c), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "question 1");
    KIT_SAYS(certreg_estimator_error(e), "tolerance");
    ck_assert_double_eq(certreg_estimator_error(e)->value, -1);
    ck_assert_int_eq(c[1].status, CERTREG_E_INVALID);
    ck_assert_int_eq(c[3].status, CERTREG_E_INVALID);
    for (int i = 0; i < 4; i += 2) {
        alone = kit_ask(e, 0, q[i]);
        ck_assert_int_eq(c[i].status, CERTREG_OK);
        ck_assert_double_gt(c[i].radius, 0);
        ck_assert_double_eq(c[i].radius, alone.radius);
    }
}

TEST(certify_of_bad_questions_does_not_call_the_model)
{
    struct {
        certreg_question known;
        double later;
    } q[2] = {{kit_question(0.4), 1}, {kit_question(0), 0}};
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_certificate c[2];
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    q[0].known.struct_size = sizeof q[0];
    /* the first failure */
    KIT_STATUS(e, certreg_certify(e, 2000, &q[0].known, 2, c), CERTREG_E_VERSION);
    ck_assert_uint_eq(t.calls, 0);
    ck_assert_int_eq(c[0].status, CERTREG_E_VERSION); /* and each its own */
    ck_assert_int_eq(c[1].status, CERTREG_E_INVALID);
}

/* A table of certificates would average them. */
static void has_no_numbers(const certreg_certificate *c)
{
    ck_assert_int_ne(c->status, CERTREG_OK);
    ck_assert(isnan(c->prediction) && isnan(c->estimate) && isnan(c->tolerance) && isnan(c->alpha));
    ck_assert(c->radius == 0 && isinf(c->output_lo) && isinf(c->output_hi));
}

TEST(certify_gives_no_numbers_for_a_refused_question)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_certificate c[2], all = kit_certificate();
    certreg_question q[2] = {kit_question(0.4), kit_question(0.4)};
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    q[1].output = 1; /* which the model does not have */
    KIT_STATUS(e, certreg_certify(e, 2000, q, 2, c), CERTREG_E_INVALID);
    ck_assert_double_eq(c[0].tolerance, 0.4);
    has_no_numbers(c + 1);
    KIT_STATUS(e, certreg_certify_outputs(e, 0, q, 2, c, &all), CERTREG_E_INVALID);
    has_no_numbers(&all);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 1));
    KIT_STATUS(e, certreg_certify(e, 0, q, 1, c), CERTREG_E_WRONG_STATE); /* of a known question */
    has_no_numbers(c);
    KIT_STATUS(e, certreg_certify(e, 9999, q, 1, c), CERTREG_E_TOO_MANY);
    KIT_SAYS(certreg_estimator_error(e), "total_samples is 9999");
    has_no_numbers(c);
    KIT_STATUS(e, certreg_certify_outputs(e, 0, q, 1, c, &all), CERTREG_E_WRONG_STATE);
    has_no_numbers(c), has_no_numbers(&all);
    t.fail_above = -100;
    KIT_STATUS(e, certreg_certify(e, 2000, q, 1, c), CERTREG_E_NOT_FINITE);
    has_no_numbers(c);
}

/* ---- early stops */
static const struct {
    size_t batches; /* done before the stop; the pilot takes six of 256 samples */
    int32_t method;
    int proves;
} stops[] = {
    {1, CERTREG_METHOD_FINITE, 0},      {5, CERTREG_METHOD_FINITE, 0},
    {7, CERTREG_METHOD_FINITE, 1},      {20, CERTREG_METHOD_FINITE, 1},
    {1, CERTREG_METHOD_ASYMPTOTIC, 0},  {6, CERTREG_METHOD_ASYMPTOTIC, 0},
    {20, CERTREG_METHOD_ASYMPTOTIC, 1},
};

TEST_ROWS(certify_that_is_cancelled_is_valid_for_its_samples, stops)
{
    toy t = slope;
    t.cancel_at = stops[_i].batches;
    certreg_estimator *e = make(&t, MOST, NULL, 10000, 1488);
    certreg_question q = QUESTION(.tolerance = 1.5, .method = stops[_i].method);
    certreg_certificate c = kit_certificate(), whole = kit_certificate();
    c = kit_ask(e, 10000, q);
    ck_assert_int_eq(certreg_estimator_error(e)->status, CERTREG_OK);
    ck_assert_int_eq(c.status, CERTREG_OK);
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 256 * stops[_i].batches);
    ck_assert_int_eq(c.outcome,
                     stops[_i].proves ? CERTREG_OUTCOME_CERTIFIED : CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(c.radius > 0, stops[_i].proves);
    ck_assert_double_lt(c.radius, 1.5 / steepness(&t, NULL, MOST));
    whole = kit_ask(e, 10000, q); /* and on it goes */
    ck_assert_int_eq(whole.stop, CERTREG_STOP_ALL);
    ck_assert_uint_eq(whole.samples, 10000);
    ck_assert_double_gt(whole.radius, c.radius);
}

/* By the real clock, so a busy machine may leave no time to prove anything: prop_deadline has a
 * clock of its own. */
TEST_TIMES(certify_stops_at_a_deadline_with_a_valid_radius, 2)
{
    toy t = slope;
    t.pause = 0.005;
    certreg_estimator *e = make(&t, MOST, NULL, 100000, 1000);
    certreg_question q = kit_question(0.6);
    q.method = CERTREG_METHOD_ANYTIME; /* wherever the deadline ends the sampling */
    certreg_estimator_set_deadline(e, _i ? 0.2 : 0.02);
    certreg_certificate c = kit_ask(e, 100000, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_uint_lt(c.samples, 100000);
    const certreg_run run = asks_run(e);
    if (c.samples <= run.pilot) ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_lt(c.radius, 0.6 / steepness(&t, NULL, MOST));
    ck_assert_double_ge(run.model_seconds, 0.005 * (double)t.calls);
    certreg_estimator_set_deadline(e, INFINITY);
    c = kit_ask(e, 2000, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_ALL);
    ck_assert_double_gt(c.radius, 0);
}

/* ---- failed outputs */
TEST(certify_counts_failed_outputs_as_out_on_both_sides)
{
    /* three in ten fail */
    toy t = {.weight = {1e-3, 0}, .fail_above = 0.2 + 0.52440051270804 * 0.5};
    certreg_model m = kit_model(toy_model, &t, 2, 1);
    certreg_plan p = kit_plan(20000);
    p.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    certreg_question q[3] = {kit_question(1), kit_question(1),
                             mean_question(1, CERTREG_CENTER_TRUE_MEAN, 0)};
    q[1].statistic = CERTREG_STATISTIC_HUBER, q[1].huber_width = 0.5,
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    certreg_certificate c[3];
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    KIT_OK(e, certreg_certify(e, 20000, q, 3, c));
    const double truth = 0.52440051270804 * sigma; /* there half of them fail */
    for (int i = 0; i < 2; i++)
        ck_assert_msg(c[i].radius < truth && c[i].radius > 0.85 * truth, "%d: %g of %g", i,
                      c[i].radius, truth);
    ck_assert_int_eq(c[2].status, CERTREG_OK);
    ck_assert_int_eq(c[2].outcome, CERTREG_OUTCOME_ABSTAINED); /* a mean with unknown values has no
                                                                  bound */
    ck_assert_double_eq(c[2].radius, 0);
    t.fail_above = -100; /* all of them */
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    KIT_OK(e, certreg_certify(e, 20000, q, 3, c));
    for (int i = 0; i < 3; i++) ck_assert_int_eq(c[i].outcome, CERTREG_OUTCOME_ABSTAINED);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(c[i].radius, 0);
}

/* ---- outputs that were rounded to float */
/* The first output is 1e6, which has steps of 1/16, and the second one the input. */
static int great_and_small(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < 2 * b->rows; i++) b->y[i] = i % 2 ? b->x[i / 2] : 1e6f;
    return 0;
}

#define REFUSES(e, call, certificate, words)                             \
    KIT_STATUS(e, call, CERTREG_E_OUT_OF_RANGE);                         \
    KIT_SAYS(certreg_estimator_error(e), words);                         \
    KIT_SAYS(certreg_estimator_error(e), "a constant near its outputs"); \
    ck_assert_int_eq(certreg_estimator_error(e)->sample, -1);            \
    ck_assert(kit_is_blank(certificate, CERTREG_E_OUT_OF_RANGE))

TEST(certify_refuses_tolerances_of_few_steps_of_rounded_outputs)
{
    certreg_question q[3] = {kit_question(3.12), kit_question(3.13), kit_question(0.5)};
    certreg_certificate c[3] = {kit_certificate()}, all[3] = {kit_certificate()}, both = all[0];
    const certreg_model m = kit_model(great_and_small, NULL, 1, 2);
    certreg_plan p = kit_plan(2000);
    certreg_estimator *exact = kit_begun(m, p, origin, 0.25, 1);
    p.flags = CERTREG_PLAN_ROUNDED;
    certreg_estimator *e = kit_begun(m, p, origin, 0.25, 1);
    q[2].output = 1;
    kit_exchange_records(e, exact, 2000, 700, 2);
    KIT_OK(exact, certreg_certify(exact, 2000, q, 3, all));
    for (int i = 0; i < 3; i++) ck_assert_double_gt(all[i].radius, 0);
    REFUSES(e, certreg_certify(e, 2000, q, 3, c), c, "question 0: outputs are recorded as float32");
    ck_assert_mem_eq(c + 1, all + 1, 2 * sizeof *c);
    REFUSES(e, certreg_certify_outputs(e, 0, (certreg_question[]){q[2], q[0]}, 2, c, &both), &both,
            "question 1: outputs are recorded as float32, which has steps of 0.0625");
    KIT_OK(e, certreg_output_bounds(e, 0, q, 1, 0.1, c));
    ck_assert_double_eq(c[0].output_lo, nextafter(1e6 - 0.03125, 0));
    ck_assert_double_eq(c[0].output_hi, nextafter(1e6 + 0.03125, INFINITY));
    q[0].output_count = q[1].output_count = 2;
    REFUSES(e, certreg_certify(e, 0, q, 2, c), c, "the tolerance 3.12 is less than 50 steps");
    ck_assert_double_gt(c[1].radius, 0);
    q[0] = kit_question(1), q[1] = kit_question(4);
    REFUSES(e, certreg_certify_sigmas(e, origin, (double[]){0.3, 0.2}, 2, 1, 2000, q, 1, c), c + 1,
            "noise level 0: outputs are recorded");
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.25, 2));
    q[0].target = q[1].target = asks_target(0.1);
    REFUSES(e, certreg_certify(e, 2000, q, 2, c), c, "question 0");
    ck_assert(c[1].stop == CERTREG_STOP_TARGET && c[1].radius >= 0.1);
}

KIT_MAIN("certify failures")
