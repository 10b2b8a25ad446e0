/* A tolerance that is a part of the prediction: a function of the pilot alone, after which the
 * question is an ordinary one. */
#include "support/attack_kit.h"
#include "support/vector_map.h"
#include <math.h>

enum { PILOT = 200 };

static certreg_question tenth(int32_t output, int32_t statistic)
{
    return QUESTION(.output = output, .statistic = statistic, .relative_tolerance = 0.1);
}

/* Bounds of a mean at a number of samples that is fixed, or of the probability of being out. */
TEST_TIMES(relative_tolerance_is_that_part_of_the_prediction, 2 * 3 * 2)
{
    static const int32_t methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ANYTIME,
                                      CERTREG_METHOD_ASYMPTOTIC};
    certreg_estimator *e = make(usual(), 1, PILOT, 0);
    certreg_question q = tenth(0, _i % 2 ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_MEDIAN);
    q.method = methods[_i / 2 % 3], q.relative_tolerance = 10,
    q.serving = asks_serving(_i < 6 ? 0 : 51, 0.1);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    double told = 0;
    ck_assert_double_gt(c.radius, 0);
    ck_assert(c.tolerance <= 10 * fabs(c.prediction));
    ck_assert_double_eq_tol(c.tolerance, 10 * fabs(c.prediction), 1e-12);
    const double end = c.prediction - c.tolerance; /* that of a mean is rounded outward */
    ck_assert_double_eq(c.output_lo, _i % 2 ? nextafter(end, -INFINITY) : end);
    KIT_OK(e, certreg_estimator_prediction(e, &q, &told));
    ck_assert_double_eq(told, c.prediction);
    q.relative_tolerance = 0, q.tolerance = c.tolerance, q.prediction = &c.prediction;
    ck_assert_double_eq(kit_ask(e, 0, q).radius, c.radius);
}

TEST_TIMES(relative_tolerance_of_a_vector_is_a_part_of_the_norm, 3)
{
    certreg_estimator *e = make(usual(), 3, PILOT, 0);
    certreg_question q = nth(_i, 0);
    q.relative_tolerance = 8;
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    double psi[3];
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    const double norm = sqrt(psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]);
    ck_assert_double_gt(c.radius, 0);
    ck_assert(c.tolerance < 8 * norm);
    ck_assert_double_eq_tol(c.tolerance, 8 * norm, 1e-12);
    q.prediction = psi, q.prediction_count = 3;
    ck_assert_double_eq(kit_ask(e, 0, q).tolerance, c.tolerance);
}

/* Main samples decide neither prediction nor tolerance, nor does their number. */
TEST_TIMES(relative_tolerance_is_a_function_of_the_pilot, 2)
{
    const certreg_question q = tenth(0, _i ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_MEDIAN);
    certreg_certificate c[3];
    for (int k = 0; k < 3; k++) {
        static float y[SAMPLES];
        const size_t count = k == 2 ? SAMPLES / 2 : SAMPLES;
        certreg_estimator *e = make(usual(), 1, PILOT, 0);
        for (int i = 0; i < SAMPLES; i++)
            y[i] = i < PILOT ? 1 + 0.003f * (float)(i * 37 % 61) : k ? -2 : 1;
        KIT_OK(e, certreg_estimator_record(e, 0, count, y));
        c[k] = kit_ask(e, 0, q);
    }
    for (int k = 1; k < 3; k++) {
        ck_assert_double_eq(c[k].prediction, c[0].prediction);
        ck_assert_double_eq(c[k].tolerance, c[0].tolerance);
        ck_assert_int_eq(c[k].outcome, CERTREG_OUTCOME_ABSTAINED);
    }
    ck_assert_double_gt(c[0].radius, 0);
}

/* The prediction of outputs that are all 0 is 0, and so is each part of it. */
TEST_TIMES(relative_tolerance_of_nothing_abstains, 3)
{
    map zero = {.first = 0};
    certreg_estimator *e = make(&zero, 2, PILOT, 0);
    certreg_question q = tenth(_i == 2 ? CERTREG_ALL_OUTPUTS : 0,
                               _i == 1 ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_MEDIAN);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert(c.radius == 0 && c.tolerance == 0 && isinf(c.output_lo) && isinf(c.output_hi));
    if (_i < 2) ck_assert_double_eq(c.prediction, 0);
    if (_i == 2) return;
    const certreg_attack_result r = attack_found(attack_on(e, 500), q, attack_options(500), NULL);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_NOT_BROKEN);
}

/* A record that ends before its pilot has neither; outputs that all fail have none. */
TEST(relative_tolerance_is_nan_without_a_prediction)
{
    map failing = plain;
    failing.fail_each = 1;
    certreg_estimator *e = make(&failing, 1, PILOT, CERTREG_PLAN_COUNT_FAILURES);
    const certreg_certificate c = kit_ask(e, SAMPLES, tenth(0, CERTREG_STATISTIC_MEDIAN));
    ck_assert(isnan(c.prediction) && isnan(c.tolerance) && c.radius == 0);
    certreg_estimator *cancelled = make(usual(), 1, PILOT, 0);
    certreg_estimator_cancel(cancelled);
    const certreg_certificate early =
        kit_ask(cancelled, SAMPLES, tenth(0, CERTREG_STATISTIC_MEDIAN));
    ck_assert_int_eq(early.stop, CERTREG_STOP_CANCELLED);
    ck_assert(isnan(early.tolerance) && early.radius == 0);
}

/* Both of an attack and of the bounds behind a certificate. */
TEST(relative_tolerance_is_the_same_for_attacks_and_bounds)
{
    certreg_estimator *e = make(usual(), 1, PILOT, 0);
    certreg_question q = tenth(0, CERTREG_STATISTIC_MEDIAN);
    q.relative_tolerance = 2;
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    const certreg_attack_result r = attack_found(attack_on(e, 500), q, attack_options(500), NULL);
    ck_assert_double_eq(r.tolerance, c.tolerance);
    ck_assert_double_eq(r.prediction, c.prediction);
    q.relative_tolerance = 0, q.tolerance = c.tolerance, q.prediction = &c.prediction;
    const certreg_bounds same = asks_bounds(e, &q, &c);
    ck_assert(b.mean_lo == same.mean_lo && b.mean_hi == same.mean_hi);
}

/* One radius for outputs, each with a tolerance of its own; levels with one each. */
TEST(relative_tolerances_of_outputs_and_levels_are_their_own)
{
    static const double sigmas[2] = {0.3, 0.6};
    certreg_estimator *e = make(usual(), 2, PILOT, 0);
    certreg_question q[2] = {tenth(0, 0), tenth(1, 0)};
    certreg_certificate c[4], together = kit_certificate();
    for (int i = 0; i < 4; i++) c[i] = kit_certificate();
    q[0].relative_tolerance = q[1].relative_tolerance = 9;
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, 2, c, &together));
    ck_assert_double_eq(together.radius, fmin(c[0].radius, c[1].radius));
    ck_assert_double_eq(together.tolerance, c[together.output].tolerance);
    KIT_OK(e, certreg_certify_sigmas(e, where, sigmas, 2, 5, SAMPLES, q, 2, c));
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(c[i].tolerance, 9 * fabs(c[i].prediction), 1e-12);
    ck_assert_double_ne(c[0].tolerance, c[2].tolerance);
}

TEST(relative_tolerance_has_no_output_bounds)
{
    certreg_estimator *e = make(usual(), 1, PILOT, 0);
    const certreg_question q[2] = {tenth(0, CERTREG_STATISTIC_MEDIAN),
                                   tenth(0, CERTREG_STATISTIC_MEAN)};
    certreg_certificate c = kit_certificate();
    for (int i = 0; i < 2; i++) {
        KIT_STATUS(e, certreg_output_bounds(e, SAMPLES, q + i, 1, 0.1, &c), CERTREG_E_INVALID);
        KIT_SAYS(certreg_estimator_error(e), "relative_tolerance is 0.1; give question.tolerance");
    }
}

KIT_MAIN("relative tolerance")
