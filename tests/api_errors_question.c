/* Questions that are refused: the message names the field, the model is not called, and the
 * handle stays usable. */
#include "support/asks.h"
#include "support/bad_field.h"
#include "support/sick_model.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>

/* ---- questions */
#define ASK(field) offsetof(certreg_question, field)
static const spoil questions[] = {
    {"question", CERTREG_E_INVALID, ASK(struct_size), 'i', 0, 0, NULL},
    {"question", CERTREG_E_INVALID, ASK(struct_size), 'i', sizeof(certreg_question) - 8, 0, NULL},
    {"question", CERTREG_E_INVALID, ASK(struct_size), 'i', sizeof(certreg_question) + 4, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', 0, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', -1, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', NAN, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', INFINITY, 0, NULL},
    {"output", CERTREG_E_INVALID, ASK(output), 'i', -2, 0, NULL},
    {"output", CERTREG_E_INVALID, ASK(output), 'i', 2, 0, NULL},
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', 6, 0, NULL}, /* of a vector only */
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', 7, 0, NULL},
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', -1, 0, NULL},
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', CERTREG_STATISTIC_CIRCULAR_MEAN, 0, NULL},
    {"method: for CERTREG_STATISTIC_MEDIAN use", CERTREG_E_INVALID, ASK(method), 'i',
     CERTREG_METHOD_PAPER, 0, NULL},
    {"method", CERTREG_E_INVALID, ASK(method), 'i', 5, 0, NULL},
    {"method", CERTREG_E_INVALID, ASK(method), 'i', -1, 0, NULL},
    /* of the median */
    {"center", CERTREG_E_INVALID, ASK(center), 'i', CERTREG_CENTER_TRUE_MEAN, 0, NULL},
    {"center: for CERTREG_METHOD_FINITE use", CERTREG_E_INVALID, ASK(center), 'i', 2, 0, NULL},
    {"center", CERTREG_E_INVALID, ASK(center), 'i', 3, 0, NULL},
    {"center", CERTREG_E_INVALID, ASK(center), 'i', -1, 0, NULL},
    {"constraints", CERTREG_E_INVALID, ASK(constraints), 'i',
     CERTREG_CONSTRAINT_SECOND_ORDER | CERTREG_CONSTRAINTS_ECGM, 0, NULL},
    /* the median needs mean and range */
    {"constraints", CERTREG_E_INVALID, ASK(constraints), 'i', CERTREG_CONSTRAINTS_C, 0, NULL},
    {"unknown bits 0x40000000", CERTREG_E_INVALID, ASK(constraints), 'i', 1 << 30, 0, NULL},
    {"unknown bits", CERTREG_E_INVALID, ASK(constraints), 'i', CERTREG_CONSTRAINTS_ECGM | 64, 0,
     NULL},
    {"huber_width", CERTREG_E_INVALID, ASK(huber_width), 'd', 1, 0, NULL},
    {"alpha", CERTREG_E_INVALID, ASK(alpha), 'd', -0.1, 0, NULL},
    {"alpha", CERTREG_E_INVALID, ASK(alpha), 'd', 0.6, 0, NULL},
    {"alpha", CERTREG_E_INVALID, ASK(alpha), 'd', NAN, 0, NULL},
    {"bonferroni", CERTREG_E_INVALID, ASK(bonferroni), 'z', 0, SIZE_MAX, NULL},
};

static void refuse_question(const certreg_question *q, const spoil *s)
{
    certreg_certificate c = kit_certificate();
    c.radius = 5, c.outcome = CERTREG_OUTCOME_CERTIFIED;
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_STATUS(shared, certreg_certify(shared, 400, q, 1, &c), s->status);
    check_sentence(certreg_estimator_error(shared), s);
    ck_assert_uint_eq(state.calls, 0); /* questions are checked before the model is called */
    ck_assert_int_eq(c.status, s->status);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    certreg_bounds b = {.struct_size = sizeof b, .constraints = 99};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    KIT_STATUS(shared, certreg_estimator_bounds(shared, q, CERTREG_SIDE_UPPER, &b), s->status);
    check_sentence(certreg_estimator_error(shared), s);
    ck_assert_uint_eq(b.constraints, 0);
    check_usable();
}

TEST_ROWS(questions_name_the_field_that_is_refused, questions)
{
    certreg_question q = kit_question(3);
    apply(&q, questions + _i);
    refuse_question(&q, questions + _i);
}

#define SERVED(share, near)                                                          \
    &(certreg_serving)                                                               \
    {                                                                                \
        .struct_size = sizeof(certreg_serving), .samples = 101, .failure_rate = 0.1, \
        .trim = (share), .core = (near)                                              \
    }
#define BASELINE_TRIMMED \
    .method = CERTREG_METHOD_BASELINE, .statistic = CERTREG_STATISTIC_TRIMMED_MEAN

/* Combinations of fields, and the fields of scores other than the median. */
static const uint64_t ascending[] = {200, 300, 400}, out_of_order[] = {200, 200, 400},
                      within_the_pilot[] = {1}, beyond_capacity[] = {200, CAPACITY + 1};
static const struct {
    spoil how;
    certreg_question question;
} combinations[] = {
    {{"huber_width", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {{"huber_width", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = -1}},
    {{"huber_width", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = NAN}},
    {{"1e-12", CERTREG_E_INVALID, 0, 0, 0, 0, NULL}, {.alpha = 1e-3, .bonferroni = 1000000001}},
    {{"1e6 tolerances", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = 4e6}},
    {{"1e9", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 1000000001,
                                    .failure_rate = 0.1}}},
    {{"target", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1},
      .method = CERTREG_METHOD_ASYMPTOTIC}},
    {{"radius", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = -0.1}}},
    {{"radius", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = NAN}}},
    {{"target", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = 8, .radius = 0.1}}},
    {{"serving", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = 8, .samples = 9, .failure_rate = 0.1}}},
    {{"samples", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 0,
                                    .failure_rate = 0.01}}},
    {{"failure_rate", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 1,
                                    .failure_rate = 0}}},
    {{"serving->samples", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 1000000001,
                                    .failure_rate = 0.01}}},
    {{"reserved", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .reserved = 1,
                                    .samples = 9,
                                    .failure_rate = 0.1}}},
    {{"look_count", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(
          certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1, .look_count = 2}}},
    {{"look_count", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .radius = 0.1,
                                  .looks = ascending}}},
    {{"look_count", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 129,
                                  .radius = 0.1,
                                  .looks = ascending}}},
    {{"looks[1]", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 3,
                                  .radius = 0.1,
                                  .looks = out_of_order}}},
    {{"looks[0]", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 1,
                                  .radius = 0.1,
                                  .looks = within_the_pilot}}},
    {{"looks[1]", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 2,
                                  .radius = 0.1,
                                  .looks = beyond_capacity}}},
    {{"constraints", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_ANYTIME, .constraints = CERTREG_CONSTRAINTS_ECGM}},
    {{"constraints", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1},
      .constraints = CERTREG_CONSTRAINTS_ECGM}},
    {{"failure_rate", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 10,
                                    .failure_rate = 0.6}}},
    {{"failure_rate", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 10,
                                    .failure_rate = NAN}}},
    {{"serving", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 10,
                                    .failure_rate = 0.1},
      .statistic = CERTREG_STATISTIC_MEAN,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .center = CERTREG_CENTER_TRUE_MEAN}},
    {{"question.output_count is 2", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.output = 1, .output_count = 2}},
    {{"question.output_count is 1", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.output = CERTREG_ALL_OUTPUTS, .output_count = 1}},
    {{"question.statistic", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.output = CERTREG_ALL_OUTPUTS, .statistic = CERTREG_STATISTIC_CIRCULAR_MEAN}},
    {{"does not use CERTREG_CONSTRAINT_SECOND_ORDER", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.output = CERTREG_ALL_OUTPUTS,
      .constraints = CERTREG_CONSTRAINT_SECOND_ORDER | CERTREG_CONSTRAINTS_ECGM}},
    {{"center", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = 1,
      .center = CERTREG_CENTER_TRUE_MEAN}},
    {{"center: for CERTREG_METHOD_PAPER use CERTREG_CENTER_TRUE_MEAN", CERTREG_E_INVALID, 0, 0, 0,
      0, NULL},
     {.statistic = CERTREG_STATISTIC_MEAN, .method = CERTREG_METHOD_PAPER}},
    {{"prediction", CERTREG_E_INVALID, 0, 0, 0, 0, NULL}, {.prediction = &(double){NAN}}},
    {{"prediction", CERTREG_E_INVALID, 0, 0, 0, 0, NULL}, {.prediction = &(double){INFINITY}}},
    {{"statistic", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_CIRCULAR_MEAN, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {{"method: for CERTREG_STATISTIC_TRIMMED_MEAN use", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_TRIMMED_MEAN}},
    {{"method: for CERTREG_STATISTIC_BALL_CENTER use", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_BALL_CENTER, .output = CERTREG_ALL_OUTPUTS}},
    {{"question.method: for CERTREG_STATISTIC_MEAN use", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_MEAN, .method = CERTREG_METHOD_BASELINE}},
    {{"question.center: for CERTREG_STATISTIC_MEDIAN use", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE, .center = CERTREG_CENTER_TRUE_MEAN}},
    {{"question.constraints: CERTREG_METHOD_BASELINE does not use CERTREG_CONSTRAINT_MEAN, "
      "_VARIANCE or _RANGE",
      CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE, .constraints = CERTREG_CONSTRAINTS_ECM}},
    {{"for a target use CERTREG_METHOD_FINITE or _ANYTIME", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE,
      .target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1}}},
    {{"question.method: for a vector use", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE, .output = CERTREG_ALL_OUTPUTS}},
    {{"question.statistic: for an output that is no angle", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE, .statistic = CERTREG_STATISTIC_BALL_CENTER}},
    {{"question.serving: CERTREG_STATISTIC_TRIMMED_MEAN needs", CERTREG_E_INVALID, 0, 0, 0, 0,
      NULL},
     {.method = CERTREG_METHOD_BASELINE, .statistic = CERTREG_STATISTIC_TRIMMED_MEAN}},
    {{"serving with CERTREG_METHOD_BASELINE", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE, .serving = SERVED(0, 0)}},
    {{"question.serving->trim and core; set both to 0", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = SERVED(0.1, 0)}},
    {{"question.serving->trim and core; set both to 0", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE,
      .statistic = CERTREG_STATISTIC_BALL_CENTER,
      .output = CERTREG_ALL_OUTPUTS,
      .serving = SERVED(0, 0.1)}},
    {{"question.serving->trim is 0.5", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {BASELINE_TRIMMED, .serving = SERVED(0.5, 0)}},
    {{"question.serving->trim is -0.1", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {BASELINE_TRIMMED, .serving = SERVED(-0.1, 0)}},
    {{"question.serving->trim", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {BASELINE_TRIMMED, .serving = SERVED(NAN, 0)}},
    {{"question.serving->core is 3.5", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {BASELINE_TRIMMED, .serving = SERVED(0, 3.5)}},
    {{"question.serving->core is -1", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {BASELINE_TRIMMED, .serving = SERVED(0, -1)}},
    {{"question.serving->core", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {BASELINE_TRIMMED, .serving = SERVED(0, NAN)}},
    {{"question.prediction has 2 numbers; this question needs 1", CERTREG_E_INVALID, 0, 0, 0, 0,
      NULL},
     {.prediction = (double[2]){0, 0}, .prediction_count = 2}},
    {{"prediction_count is 2", CERTREG_E_INVALID, 0, 0, 0, 0, NULL}, {.prediction_count = 2}},
    {{"has 1 number; this question needs 2, one per output", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE,
      .statistic = CERTREG_STATISTIC_BALL_CENTER,
      .output = CERTREG_ALL_OUTPUTS,
      .prediction = (double[2]){0, 0}}},
    {{"question.prediction is inf", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_BASELINE,
      .statistic = CERTREG_STATISTIC_BALL_CENTER,
      .output = CERTREG_ALL_OUTPUTS,
      .prediction = (double[2]){0, INFINITY},
      .prediction_count = 2}},
};

TEST_ROWS(combinations_name_the_field_that_is_refused, combinations)
{
    certreg_question q = combinations[_i].question;
    q.struct_size = sizeof q;
    q.tolerance = 3;
    refuse_question(&q, &combinations[_i].how);
}

TEST(output_bounds_refuse_targets_and_the_true_mean)
{
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.1};
    certreg_question q[2] = {kit_question(3), kit_question(3)};
    q[0].target = &target;
    q[1].statistic = CERTREG_STATISTIC_MEAN, q[1].center = CERTREG_CENTER_TRUE_MEAN;
    for (int i = 0; i < 2; i++) {
        certreg_certificate c = kit_certificate();
        KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
        KIT_STATUS(shared, certreg_output_bounds(shared, 400, q + i, 1, 0.1, &c),
                   CERTREG_E_INVALID);
        KIT_SAYS(certreg_estimator_error(shared), i ? "CENTER_PREDICTION" : "question.target");
        ck_assert_double_eq(c.output_lo, -INFINITY);
        ck_assert_double_eq(c.radius, 0);
        check_usable();
    }
}

TEST(noise_levels_count_among_the_guarantees)
{
    static const double levels[2] = {0.5, 1};
    certreg_question q = kit_question(3);
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    q.bonferroni = (uint64_t)1 << 53;
    KIT_STATUS(shared, certreg_certify_sigmas(shared, origin, levels, 2, 0, 400, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(shared), "2 noise levels");
    check_usable();
}

TEST(tolerances_of_angles_have_a_limit)
{
    static const int32_t kinds[2] = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_ANGLE};
    static const double lo[2] = {-180, -180}, hi[2] = {180, 180};
    static const struct {
        int32_t statistic, method;
        double tolerance, width;
        certreg_status status;
    } rows[] = {
        {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 180, 0, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 400, 0, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 179, 0, CERTREG_OK},
        {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 180, 5, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC, 90.001, 0, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC, 90, 0, CERTREG_OK},
    };
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    m.kind = kinds, m.lo = lo, m.hi = hi;
    const certreg_plan p = kit_plan(1000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        certreg_question q = kit_question(rows[i].tolerance);
        q.statistic = rows[i].statistic, q.method = rows[i].method, q.huber_width = rows[i].width;
        certreg_certificate c = kit_certificate();
        KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), rows[i].status);
        if (rows[i].status) KIT_SAYS(certreg_estimator_error(e), "tolerance");
    }
}

TEST(plans_without_what_a_question_needs_refuse_it)
{
    const certreg_model m = kit_model(kit_identity, NULL, 3, 1);
    certreg_plan p = kit_plan(1000);
    p.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                    CERTREG_CONSTRAINT_RANGE;
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "question.prediction");
    q = (certreg_question){.struct_size = sizeof q,
                           .tolerance = 3,
                           .statistic = CERTREG_STATISTIC_MEAN,
                           .center = CERTREG_CENTER_TRUE_MEAN};
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = CERTREG_CONSTRAINTS_CG;
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "plan.constraints");
    q.method = CERTREG_METHOD_PAPER, q.constraints = 0;
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_INVALID);
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = 0;
    KIT_OK(e, certreg_certify(e, 1000, &q, 1, &c));
}

TEST(too_few_samples_for_the_question_are_a_wrong_state)
{
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_STATUS(shared, certreg_certify(shared, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    const float first[8] = {0};
    KIT_OK(shared, certreg_estimator_record(shared, 0, 1, first)); /* fixes the pilot */
    /* all in the pilot */
    KIT_STATUS(shared, certreg_certify(shared, 100, &q, 1, &c), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(shared), "pilot");
    ck_assert_double_eq(c.radius, 0);
    ck_assert_uint_eq(c.samples, 1);      /* the model is not called for nothing */
    q.method = CERTREG_METHOD_ASYMPTOTIC; /* 64 blocks want 64 samples beside the pilot */
    const size_t pilot = (size_t)asks_run(shared).pilot;
    KIT_STATUS(shared, certreg_certify(shared, pilot + 63, &q, 1, &c), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(shared), "at least");
    KIT_OK(shared, certreg_certify(shared, pilot + 64, &q, 1, &c));
    check_usable();
}

TEST(sides_belong_to_promises)
{
    certreg_question q = kit_question(3);
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, 0, &b), CERTREG_E_INVALID);
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_NEAR_UPPER, &b),
               CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(shared), "side is 2");
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC,
    q.center = CERTREG_CENTER_TRUE_MEAN;
    certreg_bounds other = b;
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, 0, &b), CERTREG_E_INVALID);
    KIT_OK(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_UPPER, &b));
    KIT_OK(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_LOWER, &other));
    ck_assert_mem_eq(&b, &other, sizeof b);
}

FIXTURE(make_shared, NULL)
KIT_MAIN("refusals of questions")
