/* The run of an input, the bounds behind a certificate, and which constraints they have. */
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
    certreg_plan p = kit_plan(SAMPLES);
    p.constraints = constraints;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, sigma, 3));
    calls = 0;
    return e;
}

/* ---- the run */
TEST(estimator_info_reports_the_run)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, 0);
    certreg_run run = {.struct_size = sizeof run};
    KIT_OK(e, certreg_estimator_begin_level(e, where, sigma, 9, 2));
    KIT_OK(e, certreg_estimator_sample(e, 0, 700));
    KIT_OK(e, certreg_estimator_info(e, &run));
    ck_assert_uint_eq(run.seed, 11);
    ck_assert_uint_eq(run.noise_id, 9);
    ck_assert_uint_eq(run.level, 2);
    ck_assert_uint_eq(run.samples, 700);
    ck_assert_uint_eq(run.batch, 256);
    ck_assert_uint_gt(run.pilot, 0);
    ck_assert_double_eq(run.sigma, sigma);
    ck_assert_double_ge(run.model_seconds, 0);
    ck_assert_double_gt(run.model_seconds + run.library_seconds, 0);
    KIT_OK(e, certreg_estimator_begin(e, where, sigma, 9));
    KIT_OK(e, certreg_estimator_info(e, &run));
    ck_assert_uint_eq(run.samples, 0);
    ck_assert_double_eq(run.model_seconds, 0);
}

TEST(estimator_info_needs_begin_and_a_known_struct_size)
{
    const certreg_model m = kit_model(curved, NULL, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_run run = {.struct_size = sizeof run, .samples = 7};
    KIT_STATUS(e, certreg_estimator_info(e, &run), CERTREG_E_WRONG_STATE);
    ck_assert_uint_eq(run.samples, 0);
    ck_assert_int_eq(certreg_estimator_info(NULL, &run), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_info(e, NULL), CERTREG_E_INVALID);
    run.struct_size = sizeof run - 8;
    KIT_STATUS(e, certreg_estimator_info(e, &run), CERTREG_E_INVALID);
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
    const certreg_question both[] = {q, named, q}; /* none of them has the bounds of another */
    certreg_certificate all[3] = {{.struct_size = sizeof *all}};
    KIT_OK(e, certreg_certify(e, SAMPLES, both, 3, all));
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(all[i].radius, i == 1 ? without.radius : c.radius);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    ck_assert_uint_eq(b.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE);
    ck_assert_double_lt(solve(&q, &b).radius, c.radius);
}

TEST(bounds_without_a_law_limit_if_they_leave_no_radius)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, 0);
    for (int side = CERTREG_SIDE_LOWER; side <= CERTREG_SIDE_UPPER; side += 2) {
        const double mean = -0.1, far = mean - 3 * 0.4 * side; /* beyond the tolerance */
        const certreg_question q = QUESTION(.statistic = CERTREG_STATISTIC_MEAN, .tolerance = 0.4,
                                            .prediction = &far, .prediction_count = 1);
        const certreg_certificate c = kit_ask(e, SAMPLES, q);
        ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
        ck_assert_int_eq(c.limiting_side, side);
        ck_assert_uint_eq(c.constraints & CERTREG_CONSTRAINT_LAW, 0);
    }
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

TEST(bounds_of_side_lower_are_below_the_prediction)
{
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, 0);
    certreg_question q = kit_question(0.4);
    certreg_bounds lower = {.struct_size = sizeof lower}, upper = lower;
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    const double high = c.estimate + 0.2; /* so T is nearer to the lower end, and fewer outputs
                                             lie above it than below the upper end */
    q.prediction = &high;
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_LOWER, &lower));
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &upper));
    ck_assert_double_lt(lower.mean_lo, upper.mean_lo);
}

/* The moment of so small a tolerance says little of the mean. */
TEST_TIMES(bounds_of_an_abstaining_mean_are_the_better_ones, 2)
{
    enum { FEW = 200 };
    static const double truth = 0.6 * 0.5 + 0.2 * -1 * 2;
    certreg_estimator *e = make(CERTREG_OUTPUT_REAL, 0);
    certreg_question q = kit_question(0.1);
    q.statistic = CERTREG_STATISTIC_MEAN;
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

TEST(bounds_of_the_papers_method_without_gradient_need_none)
{
    certreg_estimator *without = make(CERTREG_OUTPUT_REAL, 0),
                      *with = make(CERTREG_OUTPUT_REAL, CERTREG_CONSTRAINTS_ECGM);
    certreg_question q = kit_question(0.5);
    certreg_certificate a = kit_certificate(), b = kit_certificate();
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_PAPER;
    q.center = CERTREG_CENTER_TRUE_MEAN, q.constraints = CERTREG_CONSTRAINTS_ECM;
    a = kit_ask(without, SAMPLES, q);
    b = kit_ask(with, SAMPLES, q);
    ck_assert_int_eq(a.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert_uint_eq(asks_bounds(with, &q, &b).constraints & CERTREG_CONSTRAINT_GRADIENT, 0);
}

TEST(bounds_of_asymptotic_questions_use_the_plans_gradient)
{
    certreg_question q = QUESTION(.tolerance = 0.5, .statistic = CERTREG_STATISTIC_MEAN,
                                  .method = CERTREG_METHOD_ASYMPTOTIC,
                                  .center = CERTREG_CENTER_TRUE_MEAN);
    for (int with = 0; with < 2; with++) {
        certreg_estimator *e =
            make(CERTREG_OUTPUT_REAL, with ? CERTREG_CONSTRAINTS_ECGM : CERTREG_CONSTRAINTS_ECM);
        certreg_certificate c = kit_ask(e, SAMPLES, q);
        ck_assert_uint_eq(c.constraints, with ? CERTREG_CONSTRAINTS_ECGM : CERTREG_CONSTRAINTS_ECM);
    }
}

/* ---- what bounds do not depend on, and that they are rounded outward */
enum { RECORDED = 1000, PILOT = 200, RECORDS = 60 };
static const float z[1] = {0};
static const double lo[1] = {-1}, hi[1] = {1};

static certreg_estimator *made(certreg_eval eval)
{
    certreg_model m = kit_model(eval, NULL, 1, 1);
    certreg_plan p = kit_plan(RECORDED);
    m.lo = lo, m.hi = hi;
    p.pilot = PILOT;
    return kit_create(NULL, &m, &p);
}

static certreg_bounds bounds_of(certreg_estimator *e, const certreg_question *q, int32_t side)
{
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(e, certreg_estimator_bounds(e, q, side, &b));
    return b;
}

/* ---- which sample has the rare value */
static certreg_bounds with_rare_value_at(certreg_estimator *e, size_t at)
{
    static float y[RECORDED];
    const certreg_question q = QUESTION(.statistic = CERTREG_STATISTIC_MEAN,
                                        .method = CERTREG_METHOD_ASYMPTOTIC,
                                        .center = CERTREG_CENTER_TRUE_MEAN,
                                        .constraints = CERTREG_CONSTRAINTS_ECM, .tolerance = 0.5);
    for (size_t i = 0; i < RECORDED; i++) y[i] = i == at ? 1 : 0;
    KIT_OK(e, certreg_estimator_begin(e, z, 1, at));
    KIT_OK(e, certreg_estimator_record(e, 0, RECORDED, y));
    return bounds_of(e, &q, CERTREG_SIDE_UPPER);
}

TEST(bounds_do_not_depend_on_the_place_of_a_rare_value)
{
    certreg_estimator *e = made(NULL);
    const certreg_bounds b = with_rare_value_at(e, PILOT + 300);
    /* One of 800 at a share of alpha: not silence, and not the normal approximation. */
    ck_assert_double_gt(b.mean_hi, 4.0 / 800);
    for (int last = 0; last < 2; last++) {
        const certreg_bounds other = with_rare_value_at(e, last ? RECORDED - 1 : PILOT);
        ck_assert_double_eq(other.mean_lo, b.mean_lo);
        ck_assert_double_eq(other.mean_hi, b.mean_hi);
        ck_assert_double_eq(other.variance_hi, b.variance_hi);
    }
}

/* ---- the mean by the second moment (theory 6) */
static int wave(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float x = b->x[i];
        b->y[i] = x / (1 + x * x);
    }
    return 0;
}

/* (mean - center)^2 is at most the moment, so every mean that this allows is in the interval,
 * except what is outside of the range. */
static void expect_all_means(const certreg_bounds *b)
{
    const long double center = b->moment_center, below = center - (long double)b->mean_lo,
                      above = (long double)b->mean_hi - center;
    ck_assert_uint_ne(b->constraints & CERTREG_CONSTRAINT_MOMENT, 0);
    ck_assert(b->mean_lo == b->range_lo || below * below >= (long double)b->moment_hi);
    ck_assert(b->mean_hi == b->range_hi || above * above >= (long double)b->moment_hi);
}

TEST(bounds_of_the_mean_reach_as_far_as_the_moment_allows)
{
    certreg_estimator *e = made(wave);
    certreg_question q = {.struct_size = sizeof q, .statistic = CERTREG_STATISTIC_HUBER};
    q.constraints = CERTREG_CONSTRAINTS_ECM;
    for (uint64_t record = 0; record < RECORDS; record++) {
        q.tolerance = 0.3 + 0.01 * (double)record, q.huber_width = 0.8 * q.tolerance;
        KIT_OK(e, certreg_estimator_begin(e, z, 1, record));
        KIT_OK(e, certreg_estimator_sample(e, 0, RECORDED));
        for (int side = 0; side < 2; side++) {
            const certreg_bounds b =
                bounds_of(e, &q, side ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
            expect_all_means(&b);
        }
    }
}

KIT_MAIN("run, sides, plan")
