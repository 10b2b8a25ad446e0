/* Questions that are refused: the message names the field, the model is not called, and the
 * handle stays usable. */
#include "support/api_kit.h"
#include "support/comma.h"
#include "support/names.h"

enum { CAPACITY = 1000, SAMPLES = 400 };
static const float origin[3] = {0, 1, 2};
static int calls;

static int counted(void *user, const certreg_batch *b)
{
    calls++;
    return kit_identity(user, b);
}

/* ---- who is asked */
static const int32_t reals[3], angles[2] = {ANGLE, ANGLE}, pose_kinds[3] = {REAL, REAL, ANGLE};
static const double minus_100[2] = {-100, -100}, plus_100[2] = {100, 100},
                    minus_180[2] = {-180, -180}, plus_180[2] = {180, 180};
enum { TWO, THREE, POSE, TURNS, NO_PILOT, NO_GRADIENT };
static const struct {
    size_t outputs, pilot;
    const int32_t *kind;
    const double *lo, *hi;
    uint32_t constraints;
} models[] = {[TWO] = {2, 0, reals, minus_100, plus_100, ECGM},
              [THREE] = {3, 0, reals, NULL, NULL, ECGM},
              [POSE] = {3, 0, pose_kinds, NULL, NULL, ECGM},
              [TURNS] = {2, 0, angles, minus_180, plus_180, ECGM},
              [NO_PILOT] = {2, SIZE_MAX, reals, minus_100, plus_100, ECGM},
              [NO_GRADIENT] = {2, 0, reals, minus_100, plus_100, 0}};

static certreg_estimator *estimator_of(int which)
{
    certreg_model m = kit_model(counted, NULL, 3, models[which].outputs);
    certreg_plan p = kit_plan(CAPACITY);
    m.kind = models[which].kind, m.lo = models[which].lo, m.hi = models[which].hi;
    p.pilot = models[which].pilot, p.constraints = models[which].constraints;
    certreg_estimator *e = kit_begun(m, p, origin, 0.5, 0);
    calls = 0;
    return e;
}

static certreg_question complete(certreg_question q, double tolerance)
{
    if (!q.struct_size) q.struct_size = sizeof q;
    q.tolerance = tolerance;
    return q;
}

static void check_usable(certreg_estimator *e)
{
    const certreg_question q = QUESTION(.tolerance = 3, .prediction = asks_prediction(0));
    ck_assert_int_eq(kit_ask(e, SAMPLES, q).outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_str_eq(certreg_estimator_error(e)->text, "");
}

/* ---- questions */
#define PUBLISHED .method = BASELINE, .statistic = TRIMMED_MEAN
#define BALL .method = BASELINE, .statistic = BALL_CENTER, .output = ALL
#define SERVED(share, near) \
    .serving = SERVING(.samples = 101, .failure_rate = 0.1, .trim = (share), .core = (near))
static const uint64_t ascending[] = {200, 300, 400}, out_of_order[] = {200, 200, 400},
                      within_the_pilot[] = {1}, beyond_capacity[] = {200, CAPACITY + 1}, zero[1];

/* clang-format off */
static const struct {
    const char *words; /* of the message */
    int asked;
    double tolerance;
    certreg_question q;
} refused[] = {
    /* fields by themselves */
    {"question", TWO, 3, {.struct_size = 8}},
    {"tolerance", TWO, 0, {0}},
    {"tolerance", TWO, -1, {0}},
    {"tolerance", TWO, NAN, {0}},
    {"tolerance", TWO, INFINITY, {0}},
    {"output is -2; give an index below model.outputs = 2", TWO, 3, {.output = -2}},
    {"output is 2; give an index below model.outputs = 2", TWO, 3, {.output = 2}},
    {"statistic", TWO, 3, {.statistic = PROJECTION_MEDIAN}},
    {"statistic", TWO, 3, {.statistic = CR_STATISTIC_COUNT}},
    {"statistic", TWO, 3, {.statistic = -1}},
    {"statistic", TWO, 3, {.statistic = CIRCULAR_MEAN}},
    {"method: for CERTREG_STATISTIC_MEDIAN use", TWO, 3, {.method = PAPER}},
    {"method", TWO, 3, {.method = CR_METHOD_COUNT}},
    {"method", TWO, 3, {.method = -1}},
    {"center", TWO, 3, {.center = TRUE_MEAN}},
    {"center: for CERTREG_METHOD_FINITE use", TWO, 3, {.center = SAMPLE_MEDIAN}},
    {"center", TWO, 3, {.center = CR_CENTER_COUNT}},
    {"center", TWO, 3, {.center = -1}},
    {"constraints", TWO, 3, {.constraints = C}}, /* the median needs mean and range */
    {"unknown bits 0x40000000", TWO, 3, {.constraints = 1 << 30}},
    {"unknown bits 0x10", TWO, 3, {.constraints = ECGM | 16}},
    {"unknown bits", TWO, 3, {.constraints = ECGM | 64}},
    {"leave out CERTREG_CONSTRAINT_MOMENT", TWO, 3, {.constraints = ECGM | 32}},
    {"for a question.huber_width other than 0 use CERTREG_STATISTIC_HUBER", TWO, 3,
     {.huber_width = 1}},
    {"alpha", TWO, 3, {.alpha = -0.1}},
    {"alpha", TWO, 3, {.alpha = 0.6}},
    {"alpha", TWO, 3, {.alpha = NAN}},
    {"bonferroni", TWO, 3, {.bonferroni = SIZE_MAX}},
    {"1e-12", TWO, 3, {.alpha = 1e-3, .bonferroni = 1000000001}},
    /* which statistic goes with what */
    {"huber_width", TWO, 3, {.statistic = HUBER, .method = ASYMPTOTIC}},
    {"huber_width", TWO, 3, {.statistic = HUBER, .method = ASYMPTOTIC, .huber_width = -1}},
    {"huber_width", TWO, 3, {.statistic = HUBER, .method = ASYMPTOTIC, .huber_width = NAN}},
    {"1e6 tolerances", TWO, 3, {.statistic = HUBER, .method = ASYMPTOTIC, .huber_width = 4e6}},
    {"1e-6 tolerances", TWO, 3, {.statistic = HUBER, .huber_width = 2e-6}},
    {"center", TWO, 3, {.statistic = HUBER, .huber_width = 1, .center = TRUE_MEAN}},
    {"center: for CERTREG_METHOD_PAPER use CERTREG_CENTER_TRUE_MEAN", TWO, 3,
     {.statistic = MEAN, .method = PAPER}},
    {"statistic", TWO, 3, {.statistic = CIRCULAR_MEAN, .method = ASYMPTOTIC}},
    {"tolerance is 1e+30", TWO, 1e30, {.statistic = MEAN, .output = 1}},
    {"constraints", TWO, 3, {.method = ANYTIME, .constraints = ECGM}},
    {"tolerance", TURNS, 180, {0}},
    {"tolerance", TURNS, 400, {0}},
    {"tolerance", TURNS, 180, {.statistic = HUBER, .method = ASYMPTOTIC, .huber_width = 5}},
    {"tolerance", TURNS, 90.001, {.statistic = CIRCULAR_MEAN, .method = ASYMPTOTIC}},
    /* what the plan lacks */
    {"question.prediction", NO_PILOT, 3, {0}},
    {"question.prediction", NO_PILOT, 3, {.output = ALL}},
    {"CONSTRAINT_GRADIENT, which plan.constraints lacks; add it there", NO_GRADIENT, 3,
     {.constraints = ECGM}},
    {"CONSTRAINT_GRADIENT, which plan.constraints lacks; add it there", NO_GRADIENT, 3,
     {.statistic = MEAN, .method = ASYMPTOTIC, .center = TRUE_MEAN, .constraints = CG}},
    {"CONSTRAINT_GRADIENT, which plan.constraints lacks; add it there", NO_GRADIENT, 3,
     {.statistic = MEAN, .method = PAPER, .center = TRUE_MEAN}},
    {"constraints: declare model.lo and model.hi, or leave out CERTREG_CONSTRAINT_RANGE", THREE, 3,
     {.statistic = MEAN, .method = PAPER, .center = TRUE_MEAN, .constraints = ECGM}},
    /* targets and looks */
    {"target", TWO, 3, {.target = TARGET(.radius = 0.1), .method = ASYMPTOTIC}},
    {"target", TWO, 3, {.target = &(certreg_target){.struct_size = 8, .radius = 0.1}}},
    {"radius", TWO, 3, {.target = TARGET(.radius = -0.1)}},
    {"radius", TWO, 3, {.target = TARGET(.radius = NAN)}},
    {"radius", TWO, 3, {.target = TARGET(.radius = 0)}},
    {"radius", TWO, 3, {.target = TARGET(.radius = INFINITY)}},
    {"radius", TWO, 3, {.target = TARGET(.looks = ascending, .look_count = 3)}},
    {"center", TWO, 3, {.target = TARGET(.radius = 0.1), .center = SAMPLE_MEDIAN}},
    {"constraints", TWO, 3, {.target = TARGET(.radius = 0.1), .constraints = ECGM}},
    {"look_count", TWO, 3, {.target = TARGET(.radius = 0.1, .look_count = 2)}},
    {"look_count", TWO, 3, {.target = TARGET(.radius = 0.1, .looks = ascending)}},
    {"look_count", TWO, 3, {.target = TARGET(129, 0.1, ascending)}},
    {"growth is 2; it", TWO, 3, {.target = TARGET(3, 0.1, ascending, 2)}},
    {"growth is 1; it must lie in (1, 4]", TWO, 3, {.target = TARGET(.radius = 1, .growth = 1)}},
    {"growth is 4.1; it", TWO, 3, {.target = TARGET(.radius = 1, .growth = 4.1)}},
    {"growth is -1.5; it", TWO, 3, {.target = TARGET(.radius = 1, .growth = -1.5)}},
    {"growth", TWO, 3, {.target = TARGET(.radius = 1, .growth = NAN)}},
    {"looks[1]", TWO, 3, {.target = TARGET(3, 0.1, out_of_order)}},
    {"looks[0]", TWO, 3, {.target = TARGET(1, 0.1, within_the_pilot)}},
    {"looks[0]", TWO, 3, {.target = TARGET(1, 0.1, zero)}},
    {"looks[1]", TWO, 3, {.target = TARGET(2, 0.1, beyond_capacity)}},
    {"looks[1]", TWO, 3, {.target = TARGET(2, 0.1, beyond_capacity), .method = ANYTIME}},
    /* serving */
    {"serving", TWO, 3, {.serving = &(certreg_serving){8, 0, 9, 0.1, 0, 0}}},
    {"samples", TWO, 3, {.serving = SERVING(.samples = 0, .failure_rate = 0.01)}},
    {"serving->samples", TWO, 3, {.serving = SERVING(.samples = 1000000001, .failure_rate = 0.1)}},
    {"1e9", TWO, 3, {.serving = SERVING(.samples = 1000000001, .failure_rate = 0.1)}},
    {"failure_rate", TWO, 3, {.serving = SERVING(.samples = 10, .failure_rate = 0)}},
    {"failure_rate", TWO, 3, {.serving = SERVING(.samples = 10, .failure_rate = 0.6)}},
    {"failure_rate", TWO, 3, {.serving = SERVING(.samples = 10, .failure_rate = NAN)}},
    {"pairs", TWO, 3, {.serving = SERVING(.pairs = 2, .samples = 11, .failure_rate = 0.1)}},
    {"samples", TWO, 3, {.serving = SERVING(.pairs = 1, .samples = 10, .failure_rate = 0.1)}},
    {"samples", TWO, 3, {.serving = SERVING(.pairs = 1, .samples = 10002, .failure_rate = 0.1)}},
    {"constraints", TWO, 3,
     {.constraints = ECGM, .serving = SERVING(.pairs = 1, .samples = 11, .failure_rate = 0.1)}},
    {"serving", TWO, 3, {SERVED(0, 0), .statistic = MEAN, .center = TRUE_MEAN}},
    {"serving", THREE, 3, {SERVED(0, 0), .statistic = MEAN, .method = ASYMPTOTIC}},
    {"question.serving->trim or core other than 0 use CERTREG_STATISTIC_TRIMMED_MEAN", TWO, 3,
     {SERVED(0.1, 0)}},
    /* predictions */
    {"prediction", TWO, 3, {.prediction = NUMBERS(NAN)}},
    {"prediction", TWO, 3, {.prediction = NUMBERS(INFINITY)}},
    {"question.prediction has 2 numbers; this question needs 1", TWO, 3,
     {.prediction = NUMBERS(0, 0), .prediction_count = 2}},
    {"prediction_count is 2", TWO, 3, {.prediction_count = 2}},
    /* a tolerance relative to the prediction */
    {"relative_tolerance is -0.1", TWO, 0, {.relative_tolerance = -0.1}},
    {"relative_tolerance is nan", TWO, 0, {.relative_tolerance = NAN}},
    {"relative_tolerance is inf", TWO, 0, {.relative_tolerance = INFINITY}},
    {"relative_tolerance is 1001", TWO, 0, {.relative_tolerance = 1001}},
    {"set question.tolerance to 0", TWO, 3, {.relative_tolerance = 0.1}},
    {"question.prediction is 0", TWO, 0, {.relative_tolerance = 0.1, .prediction = NUMBERS(0)}},
    {"question.prediction is 0", TWO, 0,
     {.output = ALL, .relative_tolerance = 0.1, .prediction = NUMBERS(0, 1e-150),
      .prediction_count = 2}},
    {"question.tolerance is inf", TWO, 0,
     {.relative_tolerance = 1000, .prediction = NUMBERS(1e308)}},
    {"has 1 number; this question needs 2", TWO, 0,
     {.output = ALL, .relative_tolerance = 0.1, .prediction = NUMBERS(1)}},
    {"statistic: for a relative tolerance use CERTREG_STATISTIC_MEDIAN, _MEAN", TWO,
     0, {.relative_tolerance = 0.1, .statistic = HUBER, .huber_width = 1}},
    {"question.statistic: for a relative tolerance use", TWO, 0,
     {PUBLISHED, SERVED(0, 0), .relative_tolerance = 0.1}},
    {"method: for a relative tolerance use CERTREG_METHOD_FINITE, _ASYMPTOTIC or _ANYTIME", TWO, 0,
     {.relative_tolerance = 0.1, .method = BASELINE}},
    {"method: for a relative tolerance use", TWO, 0,
     {.relative_tolerance = 0.1, .statistic = MEAN, .method = PAPER, .center = TRUE_MEAN}},
    {"center: for a relative tolerance use CERTREG_CENTER_PREDICTION", TWO, 0,
     {.relative_tolerance = 0.1, .statistic = MEAN, .center = TRUE_MEAN}},
    {"relative tolerance", TWO, 0,
     {.relative_tolerance = 0.1, .method = BASELINE, .center = SAMPLE_MEDIAN}},
    {"for an angle", TURNS, 0, {.relative_tolerance = 0.1}},
    {"for an angle", TURNS, 0, {.relative_tolerance = 0.1, .statistic = MEAN}},
    {"relative tolerance", TURNS, 0, {.relative_tolerance = 0.1, .statistic = CIRCULAR_MEAN}},
    {"for a target", TWO, 0, {.relative_tolerance = 0.1, .target = TARGET(.radius = 0.1)}},
    /* several outputs as one vector */
    {"question.output_count is 2", TWO, 3, {.output = 1, .output_count = 2}},
    {"question.output_count is 1", TWO, 3, {.output = ALL, .output_count = 1}},
    {"output_count is 2", THREE, 1, {.output = 2, .output_count = 2}},
    {"output 2 is an angle", POSE, 1, {.output = ALL}},
    {"output 2 is an angle", POSE, 0.2, {.output = ALL, .statistic = MEAN, .center = TRUE_MEAN}},
    {"model.lo and model.hi", POSE, 1, {.output_count = 2, .statistic = MEAN}},
    {"model.lo", THREE, 0.2, {.output = ALL, .statistic = MEAN, .center = TRUE_MEAN}},
    {"CERTREG_STATISTIC_MEDIAN", TWO, 1, {.output = 1, .statistic = PROJECTION_MEDIAN}},
    {"question.statistic", TWO, 3, {.output = ALL, .statistic = CIRCULAR_MEAN}},
    {"question.statistic: for a vector use", THREE, 1, {.output = ALL, .statistic = CIRCULAR_MEAN}},
    {"center", THREE, 0.2, {.output = ALL, .method = ASYMPTOTIC, .center = TRUE_MEAN}},
    {"for a vector use CERTREG_METHOD_FINITE", TWO, 1,
     {.output = ALL, .statistic = MEAN, .method = PAPER, .center = TRUE_MEAN}},
    {"CERTREG_CENTER_PREDICTION", TWO, 1,
     {.output = ALL, .statistic = MEAN, .center = TRUE_MEAN, SERVED(0, 0)}},
    {"has 2 numbers", THREE, 1,
     {.output = ALL, .prediction = NUMBERS(0, 0), .prediction_count = 2}},
    {"prediction is nan", TWO, 1,
     {.output = ALL, .prediction = NUMBERS(0, NAN), .prediction_count = 2}},
    {"tolerance", TWO, 0, {.output = ALL}},
    {"tolerance is 1e+300", TWO, 1e300, {.output = ALL, .statistic = MEAN}},
    /* published certificates */
    {"method: for CERTREG_STATISTIC_TRIMMED_MEAN use", TWO, 3, {.statistic = TRIMMED_MEAN}},
    {"method: for CERTREG_STATISTIC_BALL_CENTER use", TWO, 3,
     {.statistic = BALL_CENTER, .output = ALL}},
    {"question.method: for CERTREG_STATISTIC_MEAN use", TWO, 3,
     {.statistic = MEAN, .method = BASELINE}},
    {"question.center: for CERTREG_STATISTIC_MEDIAN use", TWO, 3,
     {.method = BASELINE, .center = TRUE_MEAN}},
    {"does not use CERTREG_CONSTRAINT_MEAN, _VARIANCE or _RANGE", TWO, 3,
     {.method = BASELINE, .constraints = ECM}},
    {"for a target use CERTREG_METHOD_FINITE or _ANYTIME", TWO, 3,
     {.method = BASELINE, .target = TARGET(.radius = 0.1)}},
    {"question.method: for a vector use", TWO, 3, {.method = BASELINE, .output = ALL}},
    {"question.statistic: for an output that is no angle", TWO, 3,
     {.method = BASELINE, .statistic = BALL_CENTER}},
    {"question.serving: CERTREG_STATISTIC_TRIMMED_MEAN needs", TWO, 3, {PUBLISHED}},
    {"serving with CERTREG_METHOD_BASELINE", TWO, 3, {.method = BASELINE, SERVED(0, 0)}},
    {"question.serving->trim or core other than 0 use CERTREG_STATISTIC_TRIMMED_MEAN", TWO, 3,
     {BALL, SERVED(0, 0.1)}},
    {"question.serving->trim is 0.5", TWO, 3, {PUBLISHED, SERVED(0.5, 0)}},
    {"question.serving->trim is -0.1", TWO, 3, {PUBLISHED, SERVED(-0.1, 0)}},
    {"question.serving->trim", TWO, 3, {PUBLISHED, SERVED(NAN, 0)}},
    {"question.serving->core is 3.5", TWO, 3, {PUBLISHED, SERVED(0, 3.5)}},
    {"question.serving->core is -1", TWO, 3, {PUBLISHED, SERVED(0, -1)}},
    {"question.serving->core", TWO, 3, {PUBLISHED, SERVED(0, NAN)}},
    {"has 1 number; this question needs 2, one per output", TWO, 3,
     {BALL, .prediction = NUMBERS(0, 0)}},
    {"question.prediction is inf", TWO, 3,
     {BALL, .prediction = NUMBERS(0, INFINITY), .prediction_count = 2}},
    /* median smoothing as coded */
    {"CERTREG_CENTER_PREDICTION", TWO, 1, {.center = SAMPLE_MEDIAN}},
    {"CERTREG_CENTER_PREDICTION", TWO, 1,
     {.statistic = MEAN, .method = PAPER, .center = SAMPLE_MEDIAN}},
    {"CERTREG_CENTER_PREDICTION", TWO, 1, {PUBLISHED, SERVED(0.2, 0), .center = SAMPLE_MEDIAN}},
    {"CERTREG_CENTER_PREDICTION", TWO, 1, {BALL, .center = SAMPLE_MEDIAN}},
    {"question.prediction to NULL", TWO, 1,
     {.method = BASELINE, .center = SAMPLE_MEDIAN, .prediction = NUMBERS(0)}},
};
/* clang-format on */

TEST_ROWS(question_errors_name_the_field_before_the_model_is_called, refused)
{
    certreg_estimator *e = estimator_of(refused[_i].asked);
    const certreg_question q = complete(refused[_i].q, refused[_i].tolerance);
    const char *const words = refused[_i].words;
    kit_refuses(e, SAMPLES, q, CERTREG_E_INVALID, words);
    if (q.target) {
        certreg_forecast f = {.struct_size = sizeof f, .least_samples = 7};
        KIT_REFUSED(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_INVALID, words);
        ck_assert(f.least_samples == 0 && f.expected_samples == INFINITY);
    }
    ck_assert_int_eq(calls, 0);
    certreg_bounds b = {.struct_size = sizeof b, .constraints = 99};
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_REFUSED(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b), CERTREG_E_INVALID,
                words);
    ck_assert_uint_eq(b.constraints, 0);
    check_usable(e);
}

/* ---- how far outputs reach */
static const struct {
    const char *words;
    double radius, tolerance;
    certreg_question q;
} no_reach[] = {
    {"radius", 0, 1, {0}},
    {"radius", -1, 1, {0}},
    {"radius", INFINITY, 1, {0}},
    {"radius", NAN, 1, {0}},
    {"tolerance", 1, 0, {.statistic = HUBER, .method = ASYMPTOTIC, .huber_width = 0.3}},
    {"tolerance", 1, -1, {0}},
    {"question.target", 0.1, 3, {.target = TARGET(.radius = 0.1)}},
    {"CENTER_PREDICTION", 0.1, 3, {.statistic = MEAN, .center = TRUE_MEAN}},
    {"output bounds are about one", 0.1, 1, {.output = ALL}},
    {"output bounds", 0.1, 3, {.method = BASELINE}},
    {"output bounds", 0.1, 3, {PUBLISHED, SERVED(0.2, 0)}},
    {"output bounds", 0.1, 3, {BALL}},
    {"relative_tolerance is 0.1; give question.tolerance", 0.1, 0, {.relative_tolerance = 0.1}},
    {"relative_tolerance is 0.1; give question.tolerance",
     0.1,
     0,
     {.relative_tolerance = 0.1, .statistic = MEAN, .method = ASYMPTOTIC}},
};

TEST_ROWS(output_bounds_name_what_is_refused, no_reach)
{
    certreg_estimator *e = estimator_of(THREE);
    const certreg_question q = complete(no_reach[_i].q, no_reach[_i].tolerance);
    certreg_certificate c = kit_stale();
    KIT_REFUSED(e, certreg_output_bounds(e, SAMPLES, &q, 1, no_reach[_i].radius, &c),
                CERTREG_E_INVALID, no_reach[_i].words);
    ck_assert(kit_is_blank(&c, CERTREG_E_INVALID));
    ck_assert_int_eq(calls, 0);
    check_usable(e);
}

/* ---- limits */
TEST(question_tolerance_of_angles_up_to_half_a_turn_or_a_quarter)
{
    certreg_estimator *e = estimator_of(TURNS);
    kit_ask(e, CAPACITY, kit_question(179));
    kit_ask(e, CAPACITY,
            QUESTION(.tolerance = 90, .statistic = CIRCULAR_MEAN, .method = ASYMPTOTIC));
}

TEST(certify_sigmas_counts_levels_in_bonferroni)
{
    static const double levels[2] = {0.5, 1};
    certreg_estimator *e = estimator_of(TWO);
    const certreg_question q = QUESTION(.tolerance = 3, .bonferroni = (uint64_t)1 << 53);
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    KIT_REFUSED(e, certreg_certify_sigmas(e, origin, levels, 2, 0, SAMPLES, &q, 1, c),
                CERTREG_E_INVALID, "2 noise levels");
    check_usable(e);
}

TEST(certify_without_a_question_reads_no_certificate)
{
    certreg_estimator *e = estimator_of(TWO);
    const double levels[] = {1};
    KIT_REFUSED(e, certreg_certify(e, SAMPLES, NULL, 0, NULL), CERTREG_E_INVALID, "count is 0");
    KIT_REFUSED(e, certreg_certify_sigmas(e, origin, levels, 1, 0, SAMPLES, NULL, 0, NULL),
                CERTREG_E_INVALID, "count is 0");
}

TEST(question_with_too_few_samples_is_a_wrong_state)
{
    certreg_estimator *e = estimator_of(TWO);
    certreg_question q = kit_question(3);
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "pilot");
    KIT_OK(e, certreg_estimator_record(e, 0, 1, (const float[2]){0})); /* fixes the pilot */
    kit_refuses(e, 100, q, CERTREG_E_WRONG_STATE, "pilot");            /* all in the pilot */
    ck_assert_int_eq(calls, 0); /* the model is not called for nothing */
    q.method = ASYMPTOTIC;      /* 64 blocks want 64 samples beside the pilot */
    const size_t pilot = (size_t)asks_run(e).pilot;
    kit_refuses(e, pilot + 63, q, CERTREG_E_WRONG_STATE, "at least");
    kit_ask(e, pilot + 64, q);
}

TEST(estimator_bounds_takes_only_sides_of_the_question)
{
    certreg_estimator *e = estimator_of(TWO);
    certreg_question q = kit_question(3);
    certreg_bounds b = {.struct_size = sizeof b}, other = b;
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, 0, &b), CERTREG_E_INVALID);
    KIT_REFUSED(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_NEAR_UPPER, &b), CERTREG_E_INVALID,
                "side is 2");
    q.statistic = MEAN, q.method = ASYMPTOTIC, q.center = TRUE_MEAN;
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, 0, &b), CERTREG_E_INVALID);
    b = asks_side(e, &q, CERTREG_SIDE_UPPER), other = asks_side(e, &q, CERTREG_SIDE_LOWER);
    ck_assert_mem_eq(&b, &other, sizeof b);
}

TEST(question_errors_have_a_decimal_point_in_every_locale)
{
    certreg_estimator *e = estimator_of(TWO);
    certreg_question q = QUESTION(.tolerance = 3, .alpha = 0.75);
    if (!comma_take()) return;
    kit_refuses(e, SAMPLES, q, CERTREG_E_INVALID, "alpha is 0.75; it must lie in (0, 0.5]");
    ck_assert_str_eq(localeconv()->decimal_point, ","); /* still the program's */
    setlocale(LC_ALL, "C");
}

KIT_MAIN("refusals of questions")
