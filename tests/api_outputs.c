/* All outputs with one radius, their norm, several noise levels, and the choice of one. */
#include "api_kit.h"

enum { INPUTS = 3, OUTPUTS = 3, SAMPLES = 4000, LEVELS = 3 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f};

/* ---- a linear map, its last output an angle */
typedef struct linear {
    double weight[OUTPUTS];
    size_t calls, fail_at;
} linear;

static int map(void *user, const certreg_batch *b)
{
    linear *l = user;
    if (++l->calls == l->fail_at) return 5;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = (float)(l->weight[k] * (double)b->x[i * b->inputs + k]);
    return 0;
}

static const int32_t mixed[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL,
                                       CERTREG_OUTPUT_ANGLE};

static certreg_estimator *make(linear *l, const int32_t *kind, size_t outputs)
{
    certreg_model m = kit_model(map, l, INPUTS, outputs);
    m.kind = kind;
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 3));
    return e;
}

static certreg_question about(int32_t output, double tolerance)
{
    certreg_question q = kit_question(tolerance);
    q.output = output;
    return q;
}

/* ---- one radius for all */
START_TEST(the_joint_radius_is_the_least_and_costs_no_alpha)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) q[k] = about((k + _i) % OUTPUTS, 0.8); /* in any order */
    q[1].alpha = 0.2;
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate(),
                        alone[OUTPUTS] = {kit_certificate()};
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni));
    KIT_OK(e, certreg_certify(e, 0, q, OUTPUTS, alone));
    ck_assert_mem_eq(each, alone, sizeof each);
    double least = INFINITY;
    for (int k = 0; k < OUTPUTS; k++) least = fmin(least, each[k].radius);
    ck_assert_double_gt(least, 0);
    ck_assert_double_eq(bonferroni.radius, least);
    ck_assert_int_eq(bonferroni.output, 0); /* the steepest */
    ck_assert_double_le(bonferroni.radius, 0.8);
    ck_assert_double_eq(bonferroni.alpha, 0.2);
    ck_assert_int_eq(bonferroni.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_int_eq(bonferroni.status, CERTREG_OK);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(outputs_may_differ_in_score_promise_and_interval)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 0.5), about(2, 0.4)};
    q[0].statistic = CERTREG_STATISTIC_MEAN, q[0].center = CERTREG_CENTER_TRUE_MEAN,
    q[0].method = CERTREG_METHOD_ASYMPTOTIC;
    q[1].statistic = CERTREG_STATISTIC_HUBER, q[1].huber_width = 0.3,
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    q[2].statistic = CERTREG_STATISTIC_CIRCULAR_MEAN, q[2].method = CERTREG_METHOD_ASYMPTOTIC;
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni));
    const double truth[OUTPUTS] = {0.8, 0.5 / 0.7, 0.4 / 0.3};
    for (int k = 0; k < OUTPUTS; k++)
        ck_assert_msg(each[k].radius > 0 && each[k].radius <= truth[k], "%d: %g", k,
                      each[k].radius);
    ck_assert_double_eq(bonferroni.radius,
                        fmin(each[0].radius, fmin(each[1].radius, each[2].radius)));
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(outputs_that_are_served_have_a_joint_radius)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 0.8), about(2, 0.8)};
    q[0].serving = asks_serving(1001, 0.01);
    q[2].serving = asks_serving(1001, 0.03);
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni));
    ck_assert_double_gt(bonferroni.radius, 0);
    ck_assert_double_eq(bonferroni.radius,
                        fmin(each[0].radius, fmin(each[1].radius, each[2].radius)));
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(one_output_that_abstains_leaves_no_joint_radius)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 1e-4), about(2, 0.8)};
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni));
    ck_assert_double_gt(each[0].radius, 0);
    ck_assert_double_eq(bonferroni.radius, 0);
    ck_assert_int_eq(bonferroni.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(bonferroni.output, 1);
    ck_assert(isinf(bonferroni.output_lo) && isinf(bonferroni.output_hi));
    certreg_estimator_destroy(e);
}
END_TEST

static const struct {
    int32_t output[OUTPUTS];
    size_t count;
    uint32_t bonferroni;
    int32_t center;
    double alpha;
} refused[] = {
    {{0, 1, 2}, 2, 0, 0, 0},   {{0, 1, 1}, 3, 0, 0, 0}, {{0, 1, 3}, 3, 0, 0, 0},
    {{0, 1, -1}, 3, 0, 0, 0},  {{0, 1, 2}, 3, 2, 0, 0}, {{0, 1, 2}, 3, 0, 2, 0},
    {{0, 1, 2}, 3, 0, 0, 0.7}, {{0, 1, 2}, 0, 0, 0, 0},
};

START_TEST(bad_sets_of_questions_get_no_joint_radius)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) q[k] = about(refused[_i].output[k], 0.8);
    q[2].bonferroni = refused[_i].bonferroni, q[2].center = refused[_i].center,
    q[2].alpha = refused[_i].alpha;
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    bonferroni.radius = 7, bonferroni.outcome = CERTREG_OUTCOME_CERTIFIED;
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, refused[_i].count, each, &bonferroni),
               CERTREG_E_INVALID);
    ck_assert_double_eq(bonferroni.radius, 0);
    ck_assert_int_eq(bonferroni.status, CERTREG_E_INVALID);
    ck_assert_int_eq(bonferroni.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_gt((int)strlen(certreg_estimator_error(e)->text), 0);
    ck_assert_uint_eq(l.calls, 0);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_failing_model_leaves_neither_joint_nor_single_radii)
{
    linear l = {.weight = {1, 0.7, 0.3}, .fail_at = 2};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 0.8), about(2, 0.8)};
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni),
               CERTREG_E_MODEL_FAILED);
    for (int k = 0; k < OUTPUTS; k++) ck_assert_int_eq(each[k].status, CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(bonferroni.status, CERTREG_E_MODEL_FAILED);
    ck_assert_double_eq(bonferroni.radius, 0);
    bonferroni.struct_size = 3;
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni),
               CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_certify_outputs(NULL, SAMPLES, q, OUTPUTS, each, &bonferroni),
                     CERTREG_E_INVALID);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- the norm of all outputs */
static certreg_question of_norm(double tolerance, uint32_t constraints)
{
    certreg_question q = about(CERTREG_ALL_OUTPUTS, tolerance);
    q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN,
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = constraints;
    return q;
}

START_TEST(the_norm_of_a_diagonal_map_gets_the_formula_of_its_trace_and_jacobian)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, NULL, OUTPUTS);
    const double frobenius = 0.5 * sqrt(1 + 0.49 + 0.09), tolerance = 0.2; /* trace = square of it:
                                                                              all is linear */
    const certreg_question q[] = {of_norm(tolerance, CERTREG_CONSTRAINTS_C),
                                  of_norm(tolerance, CERTREG_CONSTRAINTS_CG),
                                  of_norm(tolerance, 0)};
    certreg_certificate c[3] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 3, c));
    const double by_variance =
        0.5 * sqrt(log1p(tolerance * tolerance / asks_bounds(e, q, c).variance_hi));
    ck_assert_double_eq_tol(c[0].radius, by_variance, 1e-7);
    ck_assert_double_ge(asks_bounds(e, q, c).variance_hi, frobenius * frobenius);
    ck_assert_double_le(asks_bounds(e, q, c).variance_hi, 1.1 * frobenius * frobenius);
    ck_assert_double_ge(asks_bounds(e, q + 1, c + 1).gradient_hi, frobenius);
    ck_assert_double_le(asks_bounds(e, q + 1, c + 1).gradient_hi, 1.1 * frobenius);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(c[i].output, CERTREG_ALL_OUTPUTS);
        ck_assert_int_eq(c[i].outcome, CERTREG_OUTCOME_CERTIFIED);
        ck_assert_double_le(c[i].radius, tolerance); /* in truth: the steepest weight is 1 */
        ck_assert_double_gt(c[i].radius, 0.8 * 0.5 * tolerance / frobenius);
    }
    ck_assert_uint_eq(c[2].constraints, CERTREG_CONSTRAINTS_CG);
    ck_assert_double_eq(c[2].radius, c[1].radius);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(the_norm_of_one_output_is_that_output)
{
    linear l = {.weight = {1}};
    certreg_estimator *e = make(&l, NULL, 1);
    certreg_question q[] = {of_norm(0.2, CERTREG_CONSTRAINTS_C),
                            of_norm(0.2, CERTREG_CONSTRAINTS_C)};
    q[1].output = 0;
    certreg_certificate c[2] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 2, c));
    ck_assert_double_gt(c[0].radius, 0);
    ck_assert_double_eq_tol(c[0].radius, c[1].radius, 0.1 * c[1].radius);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(norms_that_make_no_sense_are_refused)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, _i == 0 ? mixed : NULL, OUTPUTS);
    certreg_question q = of_norm(0.2, 0);
    switch (_i) {
    case 1: q.statistic = CERTREG_STATISTIC_MEDIAN; break;
    case 2: q.center = CERTREG_CENTER_PREDICTION; break;
    case 3: q.method = CERTREG_METHOD_PAPER; break;
    case 4: q.method = CERTREG_METHOD_FINITE; break; /* no range */
    case 5: q.constraints = CERTREG_CONSTRAINTS_ECGM; break;
    case 6: q.output = -2; break;
    case 7: q.serving = asks_serving(10, 0.1); break;
    default: break;
    }
    certreg_certificate c = kit_certificate();
    KIT_STATUS(e, certreg_certify(e, SAMPLES, &q, 1, &c), CERTREG_E_INVALID);
    ck_assert_uint_eq(l.calls, 0);
    ck_assert_double_eq(c.radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- several noise levels */
static const double levels[LEVELS] = {0.3, 0.6, 0.2};

START_TEST(every_level_is_answered_as_on_its_own_with_its_share_of_alpha)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[2] = {about(0, 0.8), about(2, 0.8)};
    q[1].bonferroni = 2, q[1].alpha = 0.3;
    certreg_certificate all[LEVELS * 2] = {kit_certificate()};
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 17, SAMPLES, q, 2, all));
    q[0].bonferroni = LEVELS, q[1].bonferroni = 2 * LEVELS;
    for (int i = 0; i < LEVELS; i++) {
        certreg_certificate alone[2] = {kit_certificate()};
        KIT_OK(e, certreg_estimator_begin_level(e, where, levels[i], 17, 1 + (uint64_t)i));
        KIT_OK(e, certreg_certify(e, SAMPLES, q, 2, alone));
        for (int k = 0; k < 2; k++) { /* another bonferroni is another question */
            ck_assert_uint_ne(all[2 * i + k].question, alone[k].question);
            alone[k].question = all[2 * i + k].question;
        }
        ck_assert_mem_eq(all + 2 * i, alone, sizeof alone);
        ck_assert_double_eq_tol(all[2 * i].alpha, 0.05 / LEVELS, 1e-15);
        ck_assert_double_eq_tol(all[2 * i + 1].alpha, 0.3 / (2 * LEVELS), 1e-15);
        ck_assert_double_eq(all[2 * i].sigma, levels[i]);
        ck_assert_uint_eq(all[2 * i].noise_id, 17);
        ck_assert_uint_eq(asks_run(e).level, 1 + (uint64_t)i);
        ck_assert_double_gt(all[2 * i].radius, 0);
    }
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(bad_levels_are_refused_and_leave_no_radius)
{
    const double bad[][LEVELS] = {{0.3, 0, 0.2},        {0.3, -1, 0.2},  {0.3, NAN, 0.2},
                                  {0.3, INFINITY, 0.2}, {0.3, 0.3, 0.2}, {0.3, 1e-9, 0.2}};
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    for (int i = 0; i < LEVELS; i++) c[i].radius = 7;
    KIT_STATUS(e, certreg_certify_sigmas(e, where, bad[_i], LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    ck_assert_uint_eq(l.calls, 0);
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_double_eq(c[i].radius, 0);
        ck_assert_int_eq(c[i].status, CERTREG_E_INVALID);
    }
    KIT_STATUS(e, certreg_certify_sigmas(e, where, NULL, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, 0, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 0, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, NULL, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, NULL, 1, c),
               CERTREG_E_INVALID);
    q.bonferroni = UINT64_MAX;
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    for (int i = 0; i < LEVELS; i++) ck_assert_double_eq(c[i].radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(levels_after_a_failure_are_not_come_to)
{
    linear l = {.weight = {1, 0.7, 0.3}, .fail_at = 20};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_MODEL_FAILED);
    ck_assert_uint_eq(l.calls, 20);
    ck_assert_double_gt(c[0].radius, 0);
    for (int i = 1; i < LEVELS; i++) ck_assert_int_eq(c[i].status, CERTREG_E_MODEL_FAILED);
    for (int i = 1; i < LEVELS; i++) ck_assert_double_eq(c[i].radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_bad_question_leaves_the_others_their_answers_at_every_level)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q[2] = {about(0, NAN), about(1, 0.8)};
    certreg_certificate c[LEVELS * 2] = {kit_certificate()};
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, q, 2, c),
               CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "noise level 0: question 0"));
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(c[2 * i].status, CERTREG_E_INVALID);
        ck_assert_double_eq(c[2 * i].radius, 0);
        ck_assert_int_eq(c[2 * i + 1].status, CERTREG_OK);
        ck_assert_double_gt(c[2 * i + 1].radius, 0);
        ck_assert_double_eq(c[2 * i + 1].sigma, levels[i]);
    }
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_cancel_ends_all_levels)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    certreg_estimator_cancel(e);
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c));
    ck_assert_uint_le(l.calls, 1);
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(c[i].stop, CERTREG_STOP_CANCELLED);
        ck_assert_int_eq(c[i].outcome, CERTREG_OUTCOME_ABSTAINED);
        ck_assert_double_eq(c[i].sigma, levels[i]);
        ck_assert_double_eq(c[i].radius, 0);
    }
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c)); /* it was
                                                                                          reported,
                                                                                          and is
                                                                                          over */
    ck_assert_double_gt(c[LEVELS - 1].radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- the choice */
static certreg_certificate with(double sigma, double radius)
{
    certreg_certificate c = kit_certificate();
    c.sigma = sigma, c.radius = radius;
    return c;
}

START_TEST(the_level_with_the_greatest_mean_radius_is_chosen)
{
    const certreg_certificate c[] = {with(0.1, 0.3), with(0.2, 0.9), with(0.4, 0),
                                     with(0.1, 0.5), with(0.2, 0),   with(0.4, 1)};
    double mean[3];
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 3, mean, &level), CERTREG_OK);
    ck_assert_uint_eq(level, 2);
    ck_assert_double_eq_tol(mean[0], 0.4, 1e-15);
    ck_assert_double_eq_tol(mean[1], 0.45, 1e-15);
    ck_assert_double_eq_tol(mean[2], 0.5, 1e-15);
    ck_assert_int_eq(certreg_choose_sigma(c, 1, 3, NULL, &level), CERTREG_OK);
    ck_assert_uint_eq(level, 1);
}
END_TEST

START_TEST(choices_among_what_cannot_be_compared_are_refused)
{
    certreg_certificate c[] = {with(0.1, 0.3), with(0.2, 0.9), with(0.1, 0.5), with(0.2, 0)};
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, 0, 2, NULL, &level), CERTREG_E_INVALID);
    ck_assert_uint_eq(level, 0);
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 0, NULL, &level), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_choose_sigma(NULL, 2, 2, NULL, &level), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, NULL), CERTREG_E_INVALID);
    c[2].sigma = 0.3; /* another level at another input */
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_E_INVALID);
    c[2].sigma = 0.1, c[3].radius = NAN;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_E_INVALID);
    c[3].radius = INFINITY;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_E_INVALID);
    c[3].radius = 0, c[3].status = CERTREG_E_MODEL_FAILED; /* its radius of 0 is no answer */
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_E_INVALID);
    c[3].status = CERTREG_OK;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_OK);
    c[1].sigma = c[3].sigma = 0.1; /* two questions, not two levels */
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_E_INVALID);
    c[1].sigma = c[3].sigma = 0.2;
    c[0].struct_size = 8;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, NULL, &level), CERTREG_E_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("outputs and noise levels");
    TCase *bonferroni = kit_case(suite, "bonferroni", 30), *norm = kit_case(suite, "norm", 30),
          *sigmas = kit_case(suite, "sigmas", 30);
    tcase_add_loop_test(bonferroni, the_joint_radius_is_the_least_and_costs_no_alpha, 0, OUTPUTS);
    tcase_add_test(bonferroni, outputs_may_differ_in_score_promise_and_interval);
    tcase_add_test(bonferroni, outputs_that_are_served_have_a_joint_radius);
    tcase_add_test(bonferroni, one_output_that_abstains_leaves_no_joint_radius);
    tcase_add_loop_test(bonferroni, bad_sets_of_questions_get_no_joint_radius, 0,
                        KIT_ROWS(refused));
    tcase_add_test(bonferroni, a_failing_model_leaves_neither_joint_nor_single_radii);
    tcase_add_test(norm, the_norm_of_a_diagonal_map_gets_the_formula_of_its_trace_and_jacobian);
    tcase_add_test(norm, the_norm_of_one_output_is_that_output);
    tcase_add_loop_test(norm, norms_that_make_no_sense_are_refused, 0, 8);
    tcase_add_test(sigmas, every_level_is_answered_as_on_its_own_with_its_share_of_alpha);
    tcase_add_loop_test(sigmas, bad_levels_are_refused_and_leave_no_radius, 0, 6);
    tcase_add_test(sigmas, a_bad_question_leaves_the_others_their_answers_at_every_level);
    tcase_add_test(sigmas, a_cancel_ends_all_levels);
    tcase_add_test(sigmas, levels_after_a_failure_are_not_come_to);
    tcase_add_test(sigmas, the_level_with_the_greatest_mean_radius_is_chosen);
    tcase_add_test(sigmas, choices_among_what_cannot_be_compared_are_refused);
    return kit_run(suite);
}
