/* All outputs with one radius, their norm, and outputs of several kinds in one record. */
#include "support/linear_map.h"
#include "support/names.h"

/* ---- one radius for all */
static linear steep(void)
{
    return (linear){.weight = {1, 0.7, 0.3}};
}

static linear *usual(void)
{
    static linear shown;
    shown = steep();
    return &shown;
}

/* In any order, of statistics and methods of their own, and served. */
TEST_TIMES(certify_outputs_radius_is_the_least_and_costs_no_alpha, OUTPUTS + 2)
{
    static const double truth[OUTPUTS] = {1, 0.7, 0.3};
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    certreg_question q[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) q[k] = about((k + _i) % OUTPUTS, 0.8);
    if (_i == OUTPUTS) {
        q[0].statistic = MEAN, q[0].method = ASYMPTOTIC, q[0].center = TRUE_MEAN;
        q[1].statistic = HUBER, q[1].method = ASYMPTOTIC, q[1].huber_width = 0.3;
        q[2].statistic = CIRCULAR_MEAN, q[2].method = ASYMPTOTIC;
    }
    for (int k = 0; k < OUTPUTS && _i > OUTPUTS; k++)
        q[k].serving = asks_serving(501, 0.01 * (k + 1));
    q[1].alpha = 0.2;
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_certificate(),
                        alone[OUTPUTS] = {kit_certificate()};
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &joint));
    KIT_OK(e, certreg_certify(e, 0, q, OUTPUTS, alone));
    ck_assert_mem_eq(each, alone, sizeof each);
    double least = INFINITY;
    for (int k = 0; k < OUTPUTS; k++) {
        ck_assert_double_le(each[k].radius, 0.8 / truth[each[k].output]);
        least = fmin(least, each[k].radius);
    }
    ck_assert_double_gt(least, 0);
    ck_assert_double_eq(joint.radius, least);
    ck_assert_int_eq(joint.output, 0); /* the steepest */
    ck_assert_double_eq(joint.alpha, 0.2);
    ck_assert_int_eq(joint.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_int_eq(joint.status, CERTREG_OK);
}

TEST(certify_outputs_abstains_if_one_output_does)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    const certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 1e-4), about(2, 0.8)};
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, bonferroni = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &bonferroni));
    ck_assert_double_gt(each[0].radius, 0);
    ck_assert_double_eq(bonferroni.radius, 0);
    ck_assert_int_eq(bonferroni.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(bonferroni.output, 1);
    ck_assert(isinf(bonferroni.output_lo) && isinf(bonferroni.output_hi));
}

/* {of the output that limits, of another one, what both promise} */
static const int32_t methods[][3] = {{FINITE, ANYTIME, FINITE},
                                     {ANYTIME, FINITE, FINITE},
                                     {ANYTIME, ANYTIME, ANYTIME},
                                     {FINITE, ASYMPTOTIC, ASYMPTOTIC},
                                     {ASYMPTOTIC, PAPER, PAPER}};

TEST_ROWS(certify_outputs_method_is_the_one_that_promises_least, methods)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 2), about(2, 0.8)};
    q[0].method = methods[_i][0], q[1].method = methods[_i][1], q[2].method = ANYTIME;
    if (q[1].method == PAPER)
        q[1].statistic = MEAN, q[1].center = TRUE_MEAN, q[1].constraints = CERTREG_CONSTRAINTS_C;
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &joint));
    ck_assert_int_eq(joint.output, 0);
    ck_assert_int_eq(joint.method, methods[_i][2]);
}

static const struct {
    const char *what;
    size_t count;
    certreg_question q[OUTPUTS];
} no_sets[] = {
    {"none", 0, {{.output = 0}}},
    {"one missing", 2, {{.output = 0}, {.output = 1}}},
    {"one twice", 3, {{.output = 0}, {.output = 1}, {.output = 1}}},
    {"one beyond", 3, {{.output = 0}, {.output = 1}, {.output = 3}}},
    {"one and all", 3, {{.output = 0}, {.output = 1}, {.output = ALL}}},
    {"a divided alpha", 3, {{.output = 0}, {.output = 1}, {.output = 2, .bonferroni = 2}}},
    {"another center", 3, {{.output = 0}, {.output = 1}, {.output = 2, .center = SAMPLE_MEDIAN}}},
    {"a large alpha", 3, {{.output = 0}, {.output = 1}, {.output = 2, .alpha = 0.7}}},
    {"parts that overlap", 2, {{.output_count = 2}, {.output = 1, .output_count = 2}}},
    {"parts that leave one out", 2, {{.output = 0}, {.output = 1}}},
    {"a part beyond the last", 2, {{.output_count = 2}, {.output = 2, .output_count = 2}}},
    {"one part", 1, {{.output_count = 2}}},
    {"all, and one again", 2, {{.output = ALL}, {.output = 2}}},
    {"a vector with an angle in it", 1, {{.output_count = 3}}},
    {"one served",
     2,
     {{.output_count = 2}, {.output = 2, .serving = SERVING(.samples = 101, .failure_rate = 0.1)}}},
    {"two sizes of requests",
     2,
     {{.output_count = 2, .serving = SERVING(.samples = 101, .failure_rate = 0.1)},
      {.output = 2, .serving = SERVING(.samples = 501, .failure_rate = 0.1)}}},
    {"pairs and independent noise",
     2,
     {{.output_count = 2, .serving = SERVING(.samples = 101, .failure_rate = 0.1, .pairs = 1)},
      {.output = 2, .serving = SERVING(.samples = 101, .failure_rate = 0.1)}}},
    {"more than there could be", 2, {{.output_count = SIZE_MAX}, {.output = 1}}},
};

TEST_ROWS(certify_outputs_refuses_questions_that_are_no_partition, no_sets)
{
    linear l = steep();
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) {
        q[k] = no_sets[_i].q[k];
        q[k].struct_size = sizeof q[k], q[k].tolerance = 0.8;
    }
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_stale();
    const certreg_status status =
        certreg_certify_outputs(e, SAMPLES, q, no_sets[_i].count, each, &joint);
    ck_assert_msg(status == CERTREG_E_INVALID, "%s: %d", no_sets[_i].what, (int)status);
    ck_assert_msg(kit_is_blank(&joint, CERTREG_E_INVALID), "%s", no_sets[_i].what);
    ck_assert_int_gt((int)strlen(certreg_estimator_error(e)->text), 0);
    ck_assert_uint_eq(l.calls, 0);
}

TEST(certify_outputs_of_a_failing_model_has_no_radii)
{
    certreg_estimator *e = make(&(linear){.weight = {1, 0.7, 0.3}, .fail_at = 2}, mixed, OUTPUTS);
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
TEST(certify_outputs_mean_of_a_diagonal_map_has_a_closed_form)
{
    certreg_estimator *e = make(usual(), NULL, OUTPUTS);
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

TEST(certify_outputs_of_mixed_kinds_share_one_record)
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
TEST(certify_outputs_names_the_question_of_a_newer_caller)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
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
