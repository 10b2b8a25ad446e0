/* Certificates of several outputs with one radius, of their norm, of outputs of several kinds in
 * one record, of several noise levels, and the choice of one. */
#include "support/api_kit.h"
#include "support/names.h"

enum { INPUTS = 3, OUTPUTS = 3, SAMPLES = 4000, LEVELS = 3 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f};

/* A linear map of three inputs to three outputs, of which the last may be an angle. */

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

static const int32_t mixed[OUTPUTS] = {REAL, REAL, ANGLE};

static certreg_estimator *make(linear *l, const int32_t *kind, size_t outputs)
{
    certreg_model m = KIT_MODEL(map, l, INPUTS, outputs, .kind = kind);
    return kit_begun(m, kit_plan(SAMPLES), where, 0.5, 3);
}

static linear *usual(void)
{
    static linear shown;
    shown = (linear){.weight = {1, 0.7, 0.3}};
    return &shown;
}

static certreg_question about(int32_t output, double tolerance)
{
    return QUESTION(.tolerance = tolerance, .output = output);
}

/* ---- one radius for all: in any order, of statistics and methods of their own, served, and of a
 * vector and an angle, a pose */
TEST_TIMES(certify_outputs_radius_is_the_least_and_costs_no_alpha, OUTPUTS + 3)
{
    static const double truth[OUTPUTS] = {1, 0.7, 0.3};
    enum { KINDS = OUTPUTS, SERVED, POSE };
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    certreg_question q[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) q[k] = about((k + _i) % OUTPUTS, 0.8);
    if (_i == KINDS) {
        q[0].statistic = MEAN, q[0].method = ASYMPTOTIC, q[0].center = TRUE_MEAN;
        q[1].statistic = HUBER, q[1].method = ASYMPTOTIC, q[1].huber_width = 0.3;
        q[2].statistic = CIRCULAR_MEAN, q[2].method = ASYMPTOTIC;
    }
    for (int k = 0; k < OUTPUTS && _i == SERVED; k++)
        q[k].serving = asks_serving(501, 0.01 * (k + 1));
    if (_i == POSE) q[0] = about(0, 0.8), q[0].output_count = 2, q[1] = about(2, 0.8);
    const size_t count = _i == POSE ? 2 : OUTPUTS;
    q[1].alpha = 0.2;
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_certificate(),
                        alone[OUTPUTS] = {kit_certificate()};
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, count, each, &joint));
    KIT_OK(e, certreg_certify(e, 0, q, count, alone));
    ck_assert_mem_eq(each, alone, sizeof each);
    double least = INFINITY;
    for (size_t k = 0; k < count; k++) {
        ck_assert_double_le(each[k].radius, 0.8 / truth[each[k].output]);
        least = fmin(least, each[k].radius);
    }
    ck_assert_double_gt(least, 0);
    ck_assert_double_eq(joint.radius, least);
    ck_assert_int_eq(joint.output, 0); /* the steepest */
    ck_assert_double_eq(joint.alpha, 0.2);
    ck_assert_int_eq(joint.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_int_eq(joint.status, CERTREG_OK);
    ck_assert_uint_eq(joint.served_samples, _i == SERVED ? 501 : 0);
    ck_assert_double_eq_tol(joint.served_failure_rate, _i == SERVED ? 0.06 : 0, 1e-15);
    ck_assert_double_eq(each[2].served_failure_rate, _i == SERVED ? 0.03 : 0);
}

TEST(certify_outputs_abstains_if_one_output_does)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    const certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 1e-4), about(2, 0.8)};
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_certificate();
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &joint));
    ck_assert_double_gt(each[0].radius, 0);
    ck_assert_double_eq(joint.radius, 0);
    ck_assert_int_eq(joint.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(joint.output, 1);
    ck_assert(isinf(joint.output_lo) && isinf(joint.output_hi));
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
    {"the first missing", 2, {{.output = 1}, {.output = 2}}},
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
    linear *l = usual();
    certreg_estimator *e = make(l, mixed, OUTPUTS);
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
    ck_assert_uint_eq(l->calls, 0);
}

TEST(certify_outputs_of_a_failing_model_has_no_radii)
{
    certreg_estimator *e = make(&(linear){.weight = {1, 0.7, 0.3}, .fail_at = 2}, mixed, OUTPUTS);
    const certreg_question q[OUTPUTS] = {about(0, 0.8), about(1, 0.8), about(2, 0.8)};
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_certificate();
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &joint),
               CERTREG_E_MODEL_FAILED);
    for (int k = 0; k < OUTPUTS; k++) ck_assert_int_eq(each[k].status, CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(joint.status, CERTREG_E_MODEL_FAILED);
    ck_assert_double_eq(joint.radius, 0);
    joint.struct_size = 3;
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &joint), CERTREG_E_INVALID);
}

/* Before anything else about the questions is looked at. */
TEST(certify_outputs_names_the_question_of_a_newer_caller)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    struct {
        certreg_question q;
        uint64_t unknown;
    } asked[OUTPUTS];
    certreg_certificate each[OUTPUTS] = {kit_certificate()}, joint = kit_certificate();
    for (int k = 0; k < OUTPUTS; k++) {
        asked[k].q = about(k, 0.8), asked[k].unknown = k == 1;
        asked[k].q.struct_size = sizeof *asked;
    }
    KIT_REFUSED(e, certreg_certify_outputs(e, SAMPLES, &asked->q, OUTPUTS, each, &joint),
                CERTREG_E_VERSION, "question[1]");
    ck_assert_int_eq(joint.status, CERTREG_E_VERSION);
    asked[1].unknown = 0;
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, &asked->q, OUTPUTS, each, &joint));
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
    static const int32_t kind[] = {REAL, ANGLE_PAIR, ANGLE, REAL};
    static const double lo[] = {-50, 0, -180, -INFINITY},
                        hi[] = {50, 6.283185307179586, 180, INFINITY};
    const double tolerances[4] = {0.6, 0.24, 0.24 * 180 / pi, 1.2};
    certreg_model m = KIT_MODEL(mixed_model, NULL, 2, 4, .kind = kind, .lo = lo, .hi = hi);
    const float z[2] = {0.5f, 0};
    certreg_estimator *e = kit_begun(m, kit_plan(SAMPLES), z, 0.5, 3);
    certreg_question q[4];
    certreg_certificate c[4] = {kit_certificate()};
    for (int k = 0; k < 4; k++) q[k] = about(k, tolerances[k]);
    KIT_OK(e, certreg_certify(e, SAMPLES, q, 4, c));
    for (int k = 0; k < 4; k++) { /* all four say the same about the same input */
        ck_assert_int_eq(c[k].output, k);
        ck_assert_msg(fabs(c[k].radius - c[0].radius) < 2e-3 * c[0].radius, "output %d: %g and %g",
                      k, c[k].radius, c[0].radius);
    }
    ck_assert_double_eq_tol(c[1].prediction, 3.2, 0.05);
    ck_assert_double_eq_tol(c[2].prediction, 3.2 * 180 / pi - 360, 3);
    certreg_estimator *one =
        kit_begun(kit_model(mixed_model, NULL, 2, 1), kit_plan(SAMPLES), z, 0.5, 3);
    const certreg_certificate alone = kit_ask(one, SAMPLES, *q);
    ck_assert_double_eq(alone.radius, c[0].radius);
    ck_assert_double_eq(alone.prediction, c[0].prediction);
}

/* ---- several noise levels */
static const double levels[LEVELS] = {0.3, 0.6, 0.2};

TEST(certify_sigmas_answers_each_level_at_its_share_of_alpha)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
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
            ck_assert_uint_ne(all[2 * i + k].question_digest, alone[k].question_digest);
            alone[k].question_digest = all[2 * i + k].question_digest;
        }
        ck_assert_mem_eq(all + 2 * i, alone, sizeof alone);
        ck_assert_double_eq_tol(all[2 * i].alpha, 0.05 / LEVELS, 1e-15);
        ck_assert_double_eq_tol(all[2 * i + 1].alpha, 0.3 / (2 * LEVELS), 1e-15);
        ck_assert_double_eq(all[2 * i].sigma, levels[i]);
        ck_assert_uint_eq(all[2 * i].noise_id, 17);
        ck_assert_uint_eq(asks_run(e).level, 1 + (uint64_t)i);
        ck_assert_double_gt(all[2 * i].radius, 0);
    }
}

static const struct {
    double levels[LEVELS];
    const float *z;
    size_t count, questions;
    uint64_t bonferroni;
} no_levels[] = {
    /* levels, z, count, questions, bonferroni */
    {{0.3, 0, 0.2}, where, LEVELS, 1, 0},          {{0.3, -1, 0.2}, where, LEVELS, 1, 0},
    {{0.3, NAN, 0.2}, where, LEVELS, 1, 0},        {{0.3, INFINITY, 0.2}, where, LEVELS, 1, 0},
    {{0.3, 0.3, 0.2}, where, LEVELS, 1, 0},        {{0.3, 1e-9, 0.2}, where, LEVELS, 1, 0},
    {{0.3, 0.6, 0.2}, NULL, LEVELS, 1, 0},         {{0.3, 0.6, 0.2}, where, 0, 1, 0},
    {{0.3, 0.6, 0.2}, where, LEVELS, 0, 0},        {{0.3, 0.6, 0.2}, where, SIZE_MAX, 1, 0},
    {{0.3, 0.6, 0.2}, where, LEVELS, 1, SIZE_MAX},
};

TEST_ROWS(certify_sigmas_refuses_bad_levels, no_levels)
{
    linear *l = usual();
    certreg_estimator *e = make(l, mixed, OUTPUTS);
    certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_stale(), kit_stale(), kit_stale()};
    q.bonferroni = no_levels[_i].bonferroni;
    const size_t count = no_levels[_i].count, questions = no_levels[_i].questions;
    KIT_STATUS(e,
               certreg_certify_sigmas(e, no_levels[_i].z, no_levels[_i].levels, count, 1, SAMPLES,
                                      &q, questions, c),
               CERTREG_E_INVALID);
    ck_assert_uint_eq(l->calls, 0);
    for (int i = 0; i < LEVELS && count == LEVELS && questions; i++)
        ck_assert(kit_is_blank(c + i, CERTREG_E_INVALID));
    KIT_STATUS(e, certreg_certify_sigmas(e, where, NULL, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, NULL, 1, c),
               CERTREG_E_INVALID);
}

TEST(certify_sigmas_names_the_first_two_equal_levels)
{
    enum { MANY = 60 };
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    const certreg_question q = about(0, 0.8);
    double sigmas[MANY];
    certreg_certificate c[MANY] = {kit_stale()};
    for (int i = 0; i < MANY; i++) sigmas[i] = 0.1 + 0.01 * (i * 37 % MANY);
    sigmas[58] = sigmas[3], sigmas[41] = sigmas[40], sigmas[50] = sigmas[40];
    KIT_REFUSED(e, certreg_certify_sigmas(e, where, sigmas, MANY, 1, SAMPLES, &q, 1, c),
                CERTREG_E_INVALID, "sigmas[40] and sigmas[41]");
}

/* The first level is done, the second one fails or is cancelled, and the others have no samples. */
TEST_TIMES(certify_sigmas_ends_at_a_failure_or_a_cancel, 2)
{
    linear l = {.weight = {1, 0.7, 0.3}, .fail_at = _i ? 0 : 20};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    if (_i) certreg_estimator_cancel(e);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               _i ? CERTREG_OK : CERTREG_E_MODEL_FAILED);
    if (!_i) ck_assert_uint_eq(l.calls, 20);
    else ck_assert_uint_le(l.calls, 1);
    if (!_i) ck_assert_double_gt(c[0].radius, 0);
    for (int i = !_i; i < LEVELS; i++) {
        ck_assert_int_eq(c[i].status, _i ? CERTREG_OK : CERTREG_E_MODEL_FAILED);
        ck_assert_int_eq(c[i].stop, _i ? CERTREG_STOP_CANCELLED : CERTREG_STOP_ALL);
        ck_assert(c[i].outcome == CERTREG_OUTCOME_ABSTAINED && c[i].radius == 0);
        ck_assert(_i || i < 2 ? c[i].sigma == levels[i] : isnan(c[i].sigma));
    }
    /* a cancel was reported, and is over */
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c));
    ck_assert_double_gt(c[LEVELS - 1].radius, 0);
}

TEST(certify_sigmas_answers_good_questions_beside_a_bad_one)
{
    certreg_estimator *e = make(usual(), mixed, OUTPUTS);
    const certreg_question q[2] = {about(0, NAN), about(1, 0.8)};
    certreg_certificate c[LEVELS * 2] = {kit_certificate()};
    KIT_REFUSED(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, q, 2, c),
                CERTREG_E_INVALID, "noise level 0: question 0");
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(c[2 * i].status, CERTREG_E_INVALID);
        ck_assert_double_eq(c[2 * i].radius, 0);
        ck_assert_int_eq(c[2 * i + 1].status, CERTREG_OK);
        ck_assert_double_gt(c[2 * i + 1].radius, 0);
        ck_assert_double_eq(c[2 * i + 1].sigma, levels[i]);
    }
}

/* ---- the choice */
static certreg_certificate with(double sigma, double radius)
{
    certreg_certificate c = kit_certificate();
    c.sigma = sigma, c.radius = radius;
    return c;
}

TEST(choose_sigma_takes_the_greatest_mean_radius)
{
    const certreg_certificate c[] = {with(0.1, 0.3), with(0.2, 0.9), with(0.4, 0),
                                     with(0.1, 0.5), with(0.2, 0),   with(0.4, 1)};
    double mean[3];
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 3, NULL, mean, &level), CERTREG_OK);
    ck_assert_uint_eq(level, 2);
    ck_assert_double_eq_tol(mean[0], 0.4, 1e-15);
    ck_assert_double_eq_tol(mean[1], 0.45, 1e-15);
    ck_assert_double_eq_tol(mean[2], 0.5, 1e-15);
    ck_assert_int_eq(certreg_choose_sigma(c, 1, 3, NULL, NULL, &level), CERTREG_OK);
    ck_assert_uint_eq(level, 1);
}

static void refused(const certreg_certificate *c, size_t rows, size_t columns, const char *sentence)
{
    certreg_error why = {.struct_size = sizeof why};
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, rows, columns, &why, NULL, &level), CERTREG_E_INVALID);
    ck_assert_int_eq(why.status, CERTREG_E_INVALID);
    ck_assert_uint_eq(level, 0);
    KIT_SAYS(&why, sentence);
}

TEST(choose_sigma_refuses_what_cannot_be_compared)
{
    certreg_certificate c[] = {with(0.1, 0.3), with(0.2, 0.9), with(0.1, 0.5), with(0.2, 0)};
    certreg_error why = {.struct_size = sizeof why};
    refused(c, 0, 2, "inputs is 0");
    refused(c, 2, 0, "levels 0");
    refused(NULL, 2, 2, "certificates is NULL");
    KIT_UNMADE(&why, certreg_choose_sigma(c, 2, 2, &why, NULL, NULL), CERTREG_E_INVALID,
               "level is NULL");
    c[2].sigma = 0.3; /* another level at another input */
    refused(c, 2, 2, "certificates[2].sigma is 0.3");
    c[2].sigma = 0.1, c[3].radius = NAN;
    refused(c, 2, 2, "certificates[3].radius is nan");
    c[3].radius = INFINITY;
    refused(c, 2, 2, "certificates[3].radius is inf");
    c[3].radius = 0, c[3].status = CERTREG_E_MODEL_FAILED; /* its radius of 0 is no answer */
    refused(c, 2, 2, "certificates[3].status is 4");
    c[3].status = CERTREG_OK;
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, &why, NULL, &level), CERTREG_OK);
    ck_assert_int_eq(why.status, CERTREG_OK);
    c[1].sigma = c[3].sigma = 0.1; /* two questions, not two levels */
    refused(c, 2, 2, "certificates[0] and certificates[1] have the same sigma");
    c[1].sigma = c[3].sigma = 0.2;
    c[0].struct_size = 8;
    refused(c, 2, 2, "certificates.struct_size is 8");
}

KIT_MAIN("outputs and noise levels")
