/* What is told beside a certificate: the run of an input, the bounds behind it, and why it
 * abstains, with the numbers that decide. */
#include "support/api_kit.h"

enum { INPUTS = 3, SAMPLES = 2000 };
static const float where[INPUTS] = {0.5f, -1, 2};
static const double sigma = 0.4;
static int calls;

static int curved(void *user, const certreg_batch *b)
{
    (void)user;
    calls++;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[i] = 0.6f * x[0] + 0.2f * x[1] * x[2];
    }
    return 0;
}

static certreg_estimator *make(int32_t kind, uint32_t constraints)
{
    static const double lo[2] = {-40, -3.14159265358979}, hi[2] = {40, 3.14159265358979};
    const int32_t kinds[1] = {kind};
    certreg_model m = kit_model(curved, NULL, INPUTS, 1);
    m.kind = kinds, m.lo = lo + (kind != CERTREG_OUTPUT_REAL),
    m.hi = hi + (kind != CERTREG_OUTPUT_REAL);
    certreg_plan p = PLAN(.constraints = constraints, .seed = 11, .max_samples = SAMPLES);
    certreg_estimator *e = kit_begun(m, p, where, sigma, 3);
    calls = 0;
    return e;
}

/* ---- the run */
TEST(estimator_info_reports_the_run)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, 0);
    certreg_run run = {.struct_size = sizeof run - 8};
    KIT_STATUS(e, certreg_estimator_info(e, &run), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_info(e, NULL), CERTREG_E_INVALID);
    KIT_OK(e, certreg_estimator_begin_level(e, where, sigma, 9, 2));
    KIT_OK(e, certreg_estimator_sample(e, 0, 700));
    run = asks_run(e);
    ck_assert(run.seed == 11 && run.noise_id == 9 && run.level == 2 && run.sigma == sigma);
    ck_assert(run.samples == 700 && run.batch == 256 && run.pilot > 0);
    ck_assert(run.model_seconds >= 0 && run.model_seconds + run.library_seconds > 0);
    KIT_OK(e, certreg_estimator_begin(e, where, sigma, 9));
    run = asks_run(e);
    ck_assert(run.samples == 0 && run.model_seconds == 0);
}

/* ---- sides */
static const struct {
    int32_t kind, statistic, method, center;
    double tolerance, offset; /* of a given prediction from the estimate, in tolerances */
} asked[] = {
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0.4, 0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0.4, -0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0, 0.4, 0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0.4, -0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, 0.5, 0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0, 0.5, -0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0.5, 0.3},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 1, 0.4, 0},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, 1, 0.4, 0},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0.4, 0.3},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, 0.6, -0.3},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE, 0, 0.6, 0.3},
};

static const struct {
    int32_t kind, statistic, method;
    double tolerance;
    int32_t center;
} lawful[] = {
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 0.4, 0},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ANYTIME, 0.4, 0},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 0.4,
     CERTREG_CENTER_TRUE_MEAN},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE, 0.6, 0}};

static certreg_radius solve_with(const certreg_question *q, const certreg_bounds *b,
                                 uint32_t constraints)
{
    certreg_solver *s = NULL;
    certreg_bisection *bisection = NULL;
    certreg_radius r = {.struct_size = sizeof r};
    kit_open_solver(&s, &bisection);
    ck_assert_int_eq(q->center
                         ? certreg_bisection_within(bisection, b, constraints, q->tolerance, &r)
                         : certreg_bisection_above(bisection, b, NULL, 1, constraints, &r),
                     CERTREG_OK);
    return r;
}

static certreg_radius solve(const certreg_question *q, const certreg_bounds *b)
{
    return solve_with(q, b, 0);
}

TEST_ROWS(bounds_of_the_limiting_side_give_the_radius, asked)
{
    certreg_estimator *e = make(asked[_i].kind, CERTREG_CONSTRAINTS_ECGM);
    certreg_question q = kit_question(asked[_i].tolerance);
    q.statistic = asked[_i].statistic, q.method = asked[_i].method, q.center = asked[_i].center;
    q.huber_width = q.statistic == CERTREG_STATISTIC_HUBER ? 0.5 * q.tolerance : 0;
    if (!q.center && q.method == CERTREG_METHOD_FINITE) /* no law */
        q.constraints = CERTREG_CONSTRAINTS_ECM;
    certreg_certificate c = kit_ask(e, SAMPLES, q);
    const double given = c.estimate + asked[_i].offset * q.tolerance;
    if (asked[_i].offset != 0) q.prediction = &given;
    c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    if (asked[_i].offset != 0) /* the nearer end gives way */
        ck_assert_int_eq(c.limiting_side<0, asked[_i].offset> 0);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    ck_assert_double_eq_tol(solve(&q, &b).radius, c.radius, 2e-9 * c.radius);
    ck_assert_uint_eq(c.constraints & ~b.constraints, 0);
}

TEST_ROWS(bounds_beside_a_law_have_a_mean_and_a_range, lawful)
{
    certreg_estimator *e = make(lawful[_i].kind, 0);
    certreg_question q = kit_question(lawful[_i].tolerance), named;
    q.statistic = lawful[_i].statistic, q.method = lawful[_i].method;
    q.center = lawful[_i].center;
    q.huber_width = q.statistic == CERTREG_STATISTIC_HUBER ? 0.5 * q.tolerance : 0;
    named = q, named.constraints = CERTREG_CONSTRAINTS_ECM;
    const certreg_certificate c = kit_ask(e, SAMPLES, q), without = kit_ask(e, SAMPLES, named);
    ck_assert_uint_ne(c.constraints & CERTREG_CONSTRAINT_LAW, 0);
    ck_assert_uint_eq(without.constraints & CERTREG_CONSTRAINT_LAW, 0);
    ck_assert_double_gt(c.radius, without.radius);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    ck_assert_uint_eq(b.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE);
    ck_assert_double_lt(solve(&q, &b).radius, c.radius);
}

TEST(bounds_of_near_sides_limit_at_wide_tolerances_of_angles)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_ANGLE, CERTREG_CONSTRAINTS_ECGM);
    certreg_question q = kit_question(3); /* nearly half a turn: what remains is to be near */
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(abs(c.limiting_side), CERTREG_SIDE_NEAR_UPPER);
    const certreg_bounds near = asks_bounds(e, &q, &c);
    ck_assert_double_gt(c.radius, 0);
    ck_assert_double_eq_tol(solve(&q, &near).radius, c.radius, 2e-9 * c.radius);
    ck_assert_double_ge(near.mean_hi, near.range_hi); /* nothing is known of this end */
    for (int32_t side = CERTREG_SIDE_NEAR_LOWER; side <= CERTREG_SIDE_NEAR_UPPER; side++)
        KIT_STATUS(e, certreg_estimator_bounds(e, &q, side, &b),
                   side ? CERTREG_OK : CERTREG_E_INVALID);
    q.statistic = CERTREG_STATISTIC_CIRCULAR_MEAN, q.tolerance = 0.5;
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_NEAR_LOWER, &b), CERTREG_E_INVALID);
}

TEST(bounds_of_a_near_side_have_the_constraints_of_its_radius)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_ANGLE, CERTREG_CONSTRAINTS_ECGM);
    certreg_question q = kit_question(1.1);
    KIT_OK(e, certreg_estimator_begin(e, where, 1, 3)); /* so noisy that only sines are near */
    q.statistic = CERTREG_STATISTIC_HUBER, q.huber_width = 0.3;
    q.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_int_eq(abs(c.limiting_side), CERTREG_SIDE_NEAR_UPPER);
    ck_assert_uint_eq(c.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_MOMENT);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    const double used = solve_with(&q, &b, c.constraints).radius;
    ck_assert_double_eq_tol(used, c.radius, 2e-9 * c.radius);
}

/* The moment of so small a tolerance says little of the mean. */
TEST_TIMES(bounds_of_an_abstaining_mean_are_the_better_ones, 2)
{
    enum { FEW = 200 };
    static const double truth = 0.6 * 0.5 + 0.2 * -1 * 2;
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, 0);
    certreg_question q = QUESTION(.tolerance = 0.1, .statistic = CERTREG_STATISTIC_MEAN);
    q.method = _i ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE;
    const certreg_certificate c = kit_ask(e, FEW, q);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_le(b.mean_lo, q.tolerance + c.limiting_side * (c.prediction - truth));
    q.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    const certreg_bounds alone = asks_bounds(e, &q, &c);
    ck_assert_double_eq(b.mean_lo, alone.mean_lo); /* all of alpha */
    ck_assert_uint_eq(c.constraints, q.constraints);
    q.constraints = CERTREG_CONSTRAINTS_ECM;
    ck_assert_double_lt(asks_bounds(e, &q, &c).mean_lo, 3 * b.mean_lo);
}

/* The paper's method needs no gradient that the plan has; others use it if they can. */
static const struct {
    int32_t method;
    uint32_t plan, asked, used;
} constraints[] = {
    {CERTREG_METHOD_PAPER, 0, CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECM},
    {CERTREG_METHOD_PAPER, CERTREG_CONSTRAINTS_ECGM, CERTREG_CONSTRAINTS_ECM,
     CERTREG_CONSTRAINTS_ECM},
    {CERTREG_METHOD_ASYMPTOTIC, CERTREG_CONSTRAINTS_ECM, 0, CERTREG_CONSTRAINTS_ECM},
    {CERTREG_METHOD_ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM, 0, CERTREG_CONSTRAINTS_ECGM},
};

TEST_ROWS(bounds_have_the_constraints_that_are_named_or_known, constraints)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, constraints[_i].plan);
    const certreg_question q = QUESTION(.tolerance = 0.5, .statistic = CERTREG_STATISTIC_MEAN,
                                        .method = constraints[_i].method,
                                        .center = CERTREG_CENTER_TRUE_MEAN,
                                        .constraints = constraints[_i].asked);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_uint_eq(c.constraints, constraints[_i].used);
    ck_assert_uint_eq(asks_bounds(e, &q, &c).constraints & ~constraints[_i].used, 0);
}

/* ---- what bounds do not depend on, and that they are rounded outward */
enum { RECORDED = 1000, PILOT = 200, RECORDS = 60 };
static const float z[1] = {0};
static const double lo[1] = {-1}, hi[1] = {1};

static certreg_estimator *made(certreg_eval eval)
{
    certreg_model m = KIT_MODEL(eval, NULL, 1, 1, .lo = lo, .hi = hi);
    certreg_plan p = KIT_PLAN(RECORDED, .pilot = PILOT);
    return kit_create(NULL, &m, &p);
}

TEST(bounds_do_not_depend_on_the_place_of_a_rare_value)
{
    static const size_t places[] = {PILOT + 300, PILOT, RECORDED - 1};
    const certreg_question q = QUESTION(.statistic = CERTREG_STATISTIC_MEAN,
                                        .method = CERTREG_METHOD_ASYMPTOTIC,
                                        .center = CERTREG_CENTER_TRUE_MEAN,
                                        .constraints = CERTREG_CONSTRAINTS_ECM, .tolerance = 0.5);
    certreg_estimator *e = made(NULL);
    certreg_bounds b[3];
    for (int k = 0; k < KIT_ROWS(places); k++) {
        const float rare = 1, usual = 0;
        KIT_OK(e, certreg_estimator_begin(e, z, 1, 1));
        for (size_t i = 0; i < RECORDED; i++)
            KIT_OK(e, certreg_estimator_record(e, i, 1, i == places[k] ? &rare : &usual));
        b[k] = asks_side(e, &q, CERTREG_SIDE_UPPER);
        ck_assert_mem_eq(b + k, b, sizeof *b);
    }
    /* One of 800 at a share of alpha: not silence, and not the normal approximation. */
    ck_assert_double_gt(b->mean_hi, 4.0 / 800);
}

/* ---- the mean by the second moment (theory 6) */
KIT_EVAL(wave, x[0] / (1 + x[0] * x[0]))

/* (mean - center)^2 is at most the moment, so every mean that this allows is in the interval,
 * except what is outside of the range. */
TEST_TIMES(bounds_of_the_mean_reach_as_far_as_the_moment_allows, 2)
{
    certreg_estimator *e = made(wave);
    for (uint64_t record = 0; record < RECORDS; record++) {
        const double tolerance = 0.3 + 0.01 * (double)record;
        const certreg_question q = QUESTION(.statistic = CERTREG_STATISTIC_HUBER,
                                            .tolerance = tolerance, .huber_width = 0.8 * tolerance,
                                            .constraints = CERTREG_CONSTRAINTS_ECM);
        KIT_OK(e, certreg_estimator_begin(e, z, 1, record));
        KIT_OK(e, certreg_estimator_sample(e, 0, RECORDED));
        const certreg_bounds b = asks_side(e, &q, _i ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        const long double center = b.moment_center, below = center - (long double)b.mean_lo,
                          above = (long double)b.mean_hi - center, moment = b.moment_hi;
        ck_assert_uint_ne(b.constraints & CERTREG_CONSTRAINT_MOMENT, 0);
        ck_assert(b.mean_lo == b.range_lo || below * below >= moment);
        ck_assert(b.mean_hi == b.range_hi || above * above >= moment);
    }
}

/* ---- the noise, which float rounds: never more than that of any feature */
TEST(bounds_have_a_sigma_below_the_noise_of_each_feature)
{
    const certreg_question q = kit_question(1);
    for (int i = 1; i < 100; i++) {
        const float steps = 0.1f * (float)i;
        certreg_model m = KIT_MODEL(kit_identity, NULL, 1, 1, .scale = &steps);
        certreg_estimator *e = kit_begun(m, PLAN(.max_samples = 40), z, 0.7, 1);
        KIT_OK(e, certreg_estimator_sample(e, 0, 40));
        const double found = asks_side(e, &q, CERTREG_SIDE_UPPER).sigma;
        ck_assert((long double)found * (long double)steps <=
                  (long double)(float)(0.7 * (double)steps));
        ck_assert_double_gt(found, 0.7 * (1 - 1e-7));
    }
}

/* ======== Why a certificate abstains: every reason, and none otherwise. */
enum { CAPACITY = 2000 };
static const float zeros[2] = {0, 0};
static const double zero, far_away = 50;
static const certreg_target target = {.struct_size = sizeof target, .radius = 3};
static const certreg_serving serving = {
    .struct_size = sizeof serving, .samples = 3, .failure_rate = 0.01};

/* The second output of each model is the first, without a declared range. */
#define MODEL_OF(name, value)                                                \
    static int name(void *user, const certreg_batch *b)                      \
    {                                                                        \
        (void)user;                                                          \
        for (size_t i = 0; i < b->rows; i++) {                               \
            const float *const x = b->x + i * b->inputs;                     \
            b->y[i * b->columns] = b->y[(i + 1) * b->columns - 1] = (value); \
        }                                                                    \
        return 0;                                                            \
    }
MODEL_OF(constant, x[0] * 0)
MODEL_OF(linear, x[0])
MODEL_OF(jumps, x[0] > 0 ? 40.0f : -40.0f)
MODEL_OF(fails_often, x[0] > 0 ? NAN : 0)
MODEL_OF(fails, x[0] * NAN)
MODEL_OF(steep, (float)tanh(137.003 * (double)x[0] - 0.504))
MODEL_OF(mostly_out, x[0] > -0.25f ? 40.0f : 0)

#define ASKED(...)                                           \
    {                                                        \
        .struct_size = sizeof(certreg_question), __VA_ARGS__ \
    }
#define MEAN .statistic = CERTREG_STATISTIC_MEAN
#define HUBER .statistic = CERTREG_STATISTIC_HUBER
#define ASYMPTOTIC .method = CERTREG_METHOD_ASYMPTOTIC
static const struct {
    int32_t reason;
    certreg_eval model;
    size_t samples;   /* 0: of 500, without time */
    double at_radius; /* > 0: of output bounds */
    certreg_question q;
} rows[] = {
    {CERTREG_REASON_NONE, constant, 500, 0, ASKED(.tolerance = 1)},
    {CERTREG_REASON_DEADLINE, constant, 0, 0, ASKED(.tolerance = 1)},
    {CERTREG_REASON_FEW_SAMPLES, constant, 5, 0, ASKED(.tolerance = 1)},
    {CERTREG_REASON_FEW_SAMPLES, linear, 5, 0, ASKED(.tolerance = 5)},
    {CERTREG_REASON_FEW_SAMPLES, linear, 100, 3, ASKED(.tolerance = 5)},
    {CERTREG_REASON_NO_PREDICTION, constant, 500, 0, ASKED(.relative_tolerance = 0.1)},
    {CERTREG_REASON_NO_PREDICTION, fails, 500, 0, ASKED(.tolerance = 1)},
    {CERTREG_REASON_FAILURES, fails_often, 500, 0, ASKED(.tolerance = 1)},
    {CERTREG_REASON_FAILURES, fails_often, 500, 0, ASKED(.tolerance = 1, MEAN, ASYMPTOTIC)},
    {CERTREG_REASON_FAILURES, fails, 500, 1, ASKED(.tolerance = 1)},
    {CERTREG_REASON_NO_RANGE, constant, 500, 0,
     ASKED(.tolerance = 1, .output = 1, MEAN, ASYMPTOTIC, .center = CERTREG_CENTER_TRUE_MEAN)},
    {CERTREG_REASON_EQUAL_OUTPUTS, constant, 500, 0,
     ASKED(.tolerance = 1, MEAN, .method = CERTREG_METHOD_PAPER,
           .center = CERTREG_CENTER_TRUE_MEAN)},
    {CERTREG_REASON_PREDICTION, constant, 500, 0, ASKED(.tolerance = 1, .prediction = &far_away)},
    {CERTREG_REASON_PREDICTION, constant, 500, 0,
     ASKED(.tolerance = 1, .prediction = &far_away, HUBER, .huber_width = 0.5)},
    {CERTREG_REASON_SERVING, linear, 500, 0, ASKED(.tolerance = 1, .serving = &serving)},
    {CERTREG_REASON_TARGET, linear, 500, 0, ASKED(.tolerance = 1, .target = &target)},
    {CERTREG_REASON_OUTPUTS_OUT, jumps, 500, 0, ASKED(.tolerance = 1)},
    {CERTREG_REASON_OUTPUTS_OUT, jumps, 500, 0, ASKED(.tolerance = 1, .prediction = &zero)},
    {CERTREG_REASON_SPREAD, jumps, 500, 0, ASKED(.tolerance = 1, HUBER, .huber_width = 0.5)},
    {CERTREG_REASON_SPREAD, jumps, 500, 0, ASKED(.tolerance = 1, MEAN)},
    {CERTREG_REASON_SPREAD, jumps, 500, 0.5, ASKED(.tolerance = 1, HUBER, .huber_width = 0.5)},
};

static certreg_estimator *begun(certreg_eval eval)
{
    static const double least[2] = {-50, -INFINITY}, most[2] = {50, INFINITY};
    certreg_plan p = KIT_PLAN(CAPACITY, .flags = CERTREG_PLAN_COUNT_FAILURES);
    return kit_begun(KIT_MODEL(eval, NULL, 2, 2, .lo = least, .hi = most), p, zeros, 1, 3);
}

TEST_ROWS(reason_is_the_first_that_applies, rows)
{
    certreg_estimator *e = begun(rows[_i].model);
    certreg_certificate c = kit_certificate();
    if (rows[_i].at_radius > 0)
        KIT_OK(e,
               certreg_output_bounds(e, rows[_i].samples, &rows[_i].q, 1, rows[_i].at_radius, &c));
    else if (rows[_i].samples) c = kit_ask(e, rows[_i].samples, rows[_i].q);
    else {
        certreg_estimator_set_deadline(e, 0);
        c = kit_ask(e, 500, rows[_i].q);
        ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    }
    ck_assert_int_eq(c.reason, rows[_i].reason);
    ck_assert_int_eq(c.outcome == CERTREG_OUTCOME_ABSTAINED, c.reason != 0);
    ck_assert_int_eq(c.reserved, 0);
    if (c.reason == CERTREG_REASON_EQUAL_OUTPUTS)
        ck_assert_uint_eq(asks_side(e, &rows[_i].q, CERTREG_SIDE_UPPER).constraints, 0);
    ck_assert(c.share_allowed > 0 ? c.reason && c.share_out >= c.share_allowed
                                  : c.share_out == 0 && !c.samples_needed);
}

TEST(reason_has_the_numbers_that_decide)
{
    certreg_question q = QUESTION(.tolerance = 1, .prediction = &zero);
    certreg_certificate c = kit_ask(begun(mostly_out), 500, q);
    ck_assert(c.share_out > 0.6 && c.share_out < 0.7);
    ck_assert_double_eq(c.share_allowed, 0.5);
    ck_assert_uint_eq(c.samples_needed, 0); /* no number will do */
    c = kit_ask(begun(constant), 5, kit_question(1));
    ck_assert(c.share_out > 0.52 && c.share_out < 0.53); /* 1 - 0.05^(1/4) */
    ck_assert_uint_eq(c.samples_needed, 6);
}

/* At the number that would do, there is a radius, and with one sample less there is none. */
TEST(reason_names_a_number_of_samples_that_does)
{
    certreg_question q = QUESTION(.tolerance = 1, .prediction = &zero, .alpha = 1e-9);
    certreg_estimator *e = begun(constant);
    const uint64_t enough = kit_ask(e, 25, q).samples_needed;
    ck_assert_uint_gt(enough, 30);
    KIT_OK(e, certreg_estimator_begin(e, zeros, 1, 4));
    ck_assert_double_gt(kit_ask(e, enough, q).radius, 0);
    KIT_OK(e, certreg_estimator_begin(e, zeros, 1, 5));
    ck_assert_double_eq(kit_ask(e, enough - 1, q).radius, 0);
}

/* A record, found among some ten thousand, of which mean, variance and gradient by the paper's
 * method fit no function. */
TEST(reason_of_bounds_that_fit_no_function_is_a_contradiction)
{
    static const double least = -1, greatest = 1;
    certreg_model m = kit_model(steep, NULL, 2, 1);
    certreg_plan p = kit_plan(400);
    m.lo = &least, m.hi = &greatest, p.seed = 2, p.pilot = SIZE_MAX;
    const certreg_question q = ASKED(.tolerance = 0.1, MEAN, .method = CERTREG_METHOD_PAPER,
                                     .center = CERTREG_CENTER_TRUE_MEAN);
    const certreg_certificate c = kit_ask(kit_begun(m, p, zeros, 0.5, 8324), 101, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(c.reason, CERTREG_REASON_CONTRADICTION);
}

TEST(reason_of_a_moved_certificate_is_the_distance)
{
    certreg_certificate c = kit_ask(begun(constant), 500, kit_question(1)), out = kit_stale();
    const float there[2] = {(float)c.radius * 2, 0};
    ck_assert_int_eq(certreg_move_certificate(&c, 2, NULL, zeros, there, NULL, &out), CERTREG_OK);
    ck_assert_int_eq(out.reason, CERTREG_REASON_MOVED);
    c = kit_ask(begun(jumps), 500, kit_question(1)); /* nothing to lose */
    ck_assert_int_eq(certreg_move_certificate(&c, 2, NULL, zeros, there, NULL, &out), CERTREG_OK);
    ck_assert_int_eq(out.reason, CERTREG_REASON_OUTPUTS_OUT);
}

/* Of all outputs together it is that of the output that has no radius. */
TEST(reason_of_outputs_is_that_of_the_limiting_one)
{
    const certreg_question q[2] = {ASKED(.tolerance = 100), ASKED(.tolerance = 1, .output = 1)};
    certreg_certificate each[2] = {kit_stale(), kit_stale()}, all = kit_stale();
    certreg_estimator *e = begun(jumps);
    KIT_OK(e, certreg_certify_outputs(e, 500, q, 2, each, &all));
    ck_assert_int_eq(each[0].reason, CERTREG_REASON_NONE);
    ck_assert_int_eq(each[1].reason, CERTREG_REASON_OUTPUTS_OUT);
    ck_assert_int_eq(all.reason, CERTREG_REASON_OUTPUTS_OUT);
}

KIT_MAIN("bounds and reasons")
