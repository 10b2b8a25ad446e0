/* All outputs with one radius, their norm, and outputs of several kinds in one record. */
#include "support/linear_map.h"

/* ---- one radius for all */
TEST_TIMES(the_joint_radius_is_the_least_and_costs_no_alpha, OUTPUTS)
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
}

TEST(outputs_may_differ_in_score_promise_and_interval)
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
}

TEST(outputs_that_are_served_have_a_joint_radius)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 0.8), about(2, 0.8)};
    q[0].serving = asks_serving(1001, 0.01);
    q[1].serving = asks_serving(501, 0.02);
    q[2].serving = asks_serving(1001, 0.03);
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni));
    ck_assert_double_gt(bonferroni.radius, 0);
    ck_assert_double_eq(bonferroni.radius,
                        fmin(each[0].radius, fmin(each[1].radius, each[2].radius)));
}

TEST(one_output_that_abstains_leaves_no_joint_radius)
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
}

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

TEST_ROWS(bad_sets_of_questions_get_no_joint_radius, refused)
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
}

TEST(a_failing_model_leaves_neither_joint_nor_single_radii)
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
}

/* ---- the mean of all outputs as a vector */
static certreg_question of_norm(double tolerance, uint32_t constraints)
{
    certreg_question q = about(CERTREG_ALL_OUTPUTS, tolerance);
    q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN,
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = constraints;
    return q;
}

/* Nearly along the steepest output, of deviation 0.5; 0.9716 is the net's. */
TEST(the_mean_of_a_diagonal_map_gets_the_formula_of_its_steepest_direction)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, NULL, OUTPUTS);
    const double tolerance = 0.2, part = 0.971647 * tolerance;
    const certreg_question q[] = {of_norm(tolerance, CERTREG_CONSTRAINTS_C),
                                  of_norm(tolerance, CERTREG_CONSTRAINTS_CG),
                                  of_norm(tolerance, 0)};
    certreg_certificate c[3] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 3, c));
    const certreg_bounds b = asks_bounds(e, q, c);
    ck_assert_double_eq_tol(c[0].radius, 0.5 * sqrt(log1p(part * part / b.variance_hi)), 1e-5);
    ck_assert_double_ge(b.variance_hi, 0.24);
    ck_assert_double_le(b.variance_hi, 1.1 * 0.25);
    ck_assert_double_le(asks_bounds(e, q + 1, c + 1).gradient_hi, 1.1 * 0.5);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(c[i].output, CERTREG_ALL_OUTPUTS);
        ck_assert_int_eq(c[i].outcome, CERTREG_OUTCOME_CERTIFIED);
        ck_assert_double_le(c[i].radius, tolerance); /* in truth: the steepest weight is 1 */
        ck_assert_double_gt(c[i].radius, 0.85 * tolerance);
    }
    ck_assert_uint_eq(c[2].constraints, CERTREG_CONSTRAINTS_ECGM & ~CERTREG_CONSTRAINT_RANGE);
}

TEST(the_mean_of_one_output_as_a_vector_is_that_output)
{
    linear l = {.weight = {1}};
    certreg_estimator *e = make(&l, NULL, 1);
    certreg_question q[] = {of_norm(0.2, CERTREG_CONSTRAINTS_C),
                            of_norm(0.2, CERTREG_CONSTRAINTS_C)};
    q[1].output = 0;
    certreg_certificate c[2] = {kit_certificate()};
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 2, c));
    ck_assert_double_gt(c[0].radius, 0);
    ck_assert_double_eq_tol(c[0].radius, c[1].radius, 1e-6 * c[1].radius);
}

/* ---- outputs of several kinds */
static const double pi = 3.14159265358979323846;

static int mixed_model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[2 * i], a = 3 + 0.4 * x;
        float *y = b->y + i * b->columns;
        if (b->columns == 1) *y = (float)x;
        else
            y[0] = (float)x, y[1] = (float)cos(a), y[2] = (float)sin(a),
            y[3] = (float)(180 * a / pi), y[4] = (float)(2 * x);
    }
    return 0;
}

TEST(outputs_of_mixed_kinds_share_one_record)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE_PAIR,
                                   CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_REAL};
    static const double lo[] = {-50, 0, -180, -INFINITY},
                        hi[] = {50, 6.283185307179586, 180, INFINITY};
    certreg_model m = kit_model(mixed_model, NULL, 2, 4);
    m.kind = kind, m.lo = lo, m.hi = hi;
    const certreg_plan p = kit_plan(4000);
    const float z[2] = {0.5f, 0};
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, 0.5, 3));
    certreg_question q[4];
    certreg_certificate c[4], alone = kit_certificate();
    for (int k = 0; k < 4; k++)
        q[k] = kit_question(k == 0   ? 0.6
                            : k == 1 ? 0.24
                            : k == 2 ? 0.24 * 180 / pi
                                     : 1.2),
        q[k].output = k;
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    KIT_OK(e, certreg_certify(e, 4000, q, 4, c));
    for (int k = 0; k < 4; k++) { /* all four say the same about the same input */
        ck_assert_int_eq(c[k].output, k);
        ck_assert_msg(fabs(c[k].radius - c[0].radius) < 2e-3 * c[0].radius, "output %d: %g and %g",
                      k, c[k].radius, c[0].radius);
    }
    ck_assert_double_eq_tol(c[1].prediction, 3.2, 0.05);
    ck_assert_double_eq_tol(c[2].prediction, 3.2 * 180 / pi - 360, 3);
    certreg_model single = kit_model(mixed_model, NULL, 2, 1);
    certreg_estimator *one = kit_create(NULL, &single, &p);
    KIT_OK(one, certreg_estimator_begin(one, z, 0.5, 3));
    alone = kit_ask(one, 4000, *q);
    ck_assert_double_eq(alone.radius, c[0].radius);
    ck_assert_double_eq(alone.prediction, c[0].prediction);
}

/* Before anything else about the questions is looked at. */
TEST(a_question_of_a_newer_caller_is_refused_by_its_index)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    struct {
        certreg_question q;
        uint64_t unknown;
    } asked[OUTPUTS];
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, combined = kit_certificate();
    for (int k = 0; k < OUTPUTS; k++) {
        asked[k].q = about(k, 0.8), asked[k].unknown = k == 1;
        asked[k].q.struct_size = sizeof *asked;
    }
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, &asked->q, OUTPUTS, each, &combined),
               CERTREG_E_VERSION);
    KIT_SAYS(certreg_estimator_error(e), "question[1]");
    ck_assert_int_eq(combined.status, CERTREG_E_VERSION);
    asked[1].unknown = 0;
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, &asked->q, OUTPUTS, each, &combined));
}

KIT_MAIN("outputs")
