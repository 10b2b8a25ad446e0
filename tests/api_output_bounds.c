/* The inverse question, how far outputs reach within a radius: against order statistics, the
 * question about a radius, and the solver. */
#include "support/known_outputs.h"

static certreg_certificate ask_reach(certreg_estimator *e, certreg_question q, double radius)
{
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_output_bounds(e, 0, &q, 1, radius, &c));
    return c;
}

/* ---- the median of numbers: order statistics */
static const struct {
    size_t count, pilot, failures;
    double sigma, at_radius, alpha, levels; /* outputs are rounded to so many levels: ties */
    size_t served;
    int ranged;
} order_cases[] = {
    /* count, pilot, failures, sigma, at_radius, alpha, levels, served, ranged */
    {50, 0, 0, 1, 0.5, 0.05, 1e9, 0, 0},       {50, 8, 0, 1, 0.5, 0.05, 1e9, 0, 0},
    {1000, 100, 0, 0.5, 0.4, 0.1, 1e9, 0, 0},  {1000, 0, 0, 2, 1.9, 0.5, 5, 0, 0},
    {3000, 450, 0, 0.3, 0.9, 1e-6, 1e9, 0, 0}, {100, 15, 0, 1, 3, 0.05, 1e9, 0, 0},
    {100, 15, 0, 1, 3, 0.05, 1e9, 0, 1},       {1, 0, 0, 1, 0.1, 0.05, 1e9, 0, 0},
    {200, 0, 7, 1, 0.8, 0.05, 1e9, 0, 0},      {200, 30, 60, 1, 0.8, 0.05, 3, 0, 0},
    {200, 30, 60, 1, 0.8, 0.05, 3, 0, 1},      {1000, 0, 1, 1, 0.5, 0.05, 1e9, 101, 0},
    {1000, 150, 0, 1, 0.5, 0.05, 1e9, 8, 0},   {1000, 0, 0, 1, 0.2, 0.05, 1e9, 1, 0},
    {1000, 0, 999, 1, 0.2, 0.05, 1e9, 0, 0},
};
static const double range_lo = -3, range_hi = 9;

TEST_ROWS(output_bounds_of_the_median_are_its_order_statistics, order_cases)
{
    record r = {.count = order_cases[_i].count,
                .pilot = order_cases[_i].pilot,
                .sigma = order_cases[_i].sigma};
    if (order_cases[_i].ranged) r.lo = &range_lo, r.hi = &range_hi;
    if (order_cases[_i].failures) r.flags = CERTREG_PLAN_COUNT_FAILURES;
    double low[MOST], high[MOST];
    const size_t first = r.pilot, n = r.count - first;
    for (size_t i = 0; i < r.count; i++) {
        r.y[i] = (float)(floor((12 * uniform() - 3) * order_cases[_i].levels / 12) * 12 /
                         order_cases[_i].levels);
        r.y[i] = fmaxf(-3, r.y[i]);
        if (i >= r.count - order_cases[_i].failures) r.y[i] = i % 2 ? NAN : INFINITY;
        if (i < first) continue;
        low[i - first] = isfinite(r.y[i]) ? (double)r.y[i] : -INFINITY; /* worst on both sides */
        high[i - first] = isfinite(r.y[i]) ? (double)r.y[i] : INFINITY;
    }
    kit_sort(low, n);
    kit_sort(high, n);
    const double at_radius = order_cases[_i].at_radius;
    const size_t served = order_cases[_i].served;
    certreg_question q = QUESTION(.tolerance = 0, .alpha = order_cases[_i].alpha,
                                  .serving = asks_serving(served, 0.02));
    const double share = served ? upper((int64_t)served / 2, served, 0.01) : 0.5;
    const double p = phi(-at_radius / r.sigma - phi_inverse(share));
    int64_t k = 0;
    while (k < (int64_t)n && binomial(k, n, p) <= q.alpha / 2) k++;
    const double outside = order_cases[_i].ranged && !order_cases[_i].failures ? range_lo
                                                                               : -INFINITY;
    const double from = k ? low[k - 1] : outside, to = k                ? high[n - (size_t)k]
                                                       : isinf(outside) ? INFINITY
                                                                        : range_hi;
    certreg_estimator *e = recorded(&r);
    const certreg_certificate c = ask_reach(e, q, at_radius);
    ck_assert_msg(c.output_lo == from && c.output_hi == to, "rank %d: [%g, %g], want [%g, %g]",
                  (int)k, c.output_lo, c.output_hi, from, to);
    ck_assert_int_eq(c.outcome, isfinite(from) || isfinite(to) ? CERTREG_OUTCOME_CERTIFIED
                                                               : CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, c.outcome == CERTREG_OUTCOME_CERTIFIED ? at_radius : 0);
}

/* ---- tolerances from the largest down: consistent with the question about a radius */
static const struct {
    int32_t kind, statistic, method;
    double spread, tolerance, at_radius;
    size_t served;
} grids[] = {
    /* kind, statistic, method, spread, tolerance, at_radius, served */
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0.2, 0, 0.5, 0},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0.2, 1, 0.5, 0},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0.2, 1, 0.5, 51},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0.5, 2, 0.5, 0},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0.5, 2, 0.5, 0},
    {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0.5, 2, 0.3, 200},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0.2, 0, 0.3, 0},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0.3, 0, 0.3,
     0},
    {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0.3, 1, 0.3,
     500},
};

TEST_ROWS(output_bounds_are_the_least_tolerance_with_the_radius, grids)
{
    const record r = scattered(grids[_i].kind, grids[_i].spread, 2000, 300);
    certreg_estimator *e = recorded(&r);
    certreg_question q = kit_question(grids[_i].tolerance);
    q.statistic = grids[_i].statistic, q.method = grids[_i].method;
    q.huber_width = q.statistic == CERTREG_STATISTIC_HUBER ? 0.2 : 0;
    q.serving = asks_serving(grids[_i].served, 0.1);
    const certreg_certificate c = ask_reach(e, q, grids[_i].at_radius);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_double_eq_tol(c.output_lo + c.output_hi, 2 * c.prediction, 1e-12);
    const double tolerance = 0.5 * (c.output_hi - c.output_lo);
    q.prediction = &c.prediction;
    q.tolerance = tolerance * (1 + 1e-12);
    ck_assert_double_ge(kit_ask(e, 0, q).radius, grids[_i].at_radius);
    q.tolerance = tolerance * pow(2, -0.25);
    ck_assert_double_lt(kit_ask(e, 0, q).radius, grids[_i].at_radius);
}

TEST(output_bounds_abstain_beyond_the_largest_tolerance)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 2000, 300);
    certreg_estimator *e = recorded(&r);
    certreg_question q = QUESTION(.tolerance = 1e-3, .statistic = CERTREG_STATISTIC_HUBER,
                                  .method = CERTREG_METHOD_ASYMPTOTIC, .huber_width = 0.2);
    const certreg_certificate c = kit_ask(e, 0, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
}

/* ---- the mean */
TEST_TIMES(output_bounds_of_an_affine_mean_are_close, 2)
{
    certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    const double lo = -50, hi = 50;
    if (_i) m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(20000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0.5f, 1}, 0.7, 1));
    KIT_OK(e, certreg_estimator_sample(e, 0, 20000));
    certreg_question q = QUESTION(.tolerance = 0, .statistic = CERTREG_STATISTIC_MEAN,
                                  .method = CERTREG_METHOD_ASYMPTOTIC);
    certreg_certificate c = ask_reach(e, q, 0.4);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(c.output_lo <= 0.1 && c.output_lo > 0, "%g", c.output_lo);
    ck_assert_msg(c.output_hi >= 0.9 && c.output_hi < 1, "%g", c.output_hi);
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_question inside = q; /* about the output itself, as these bounds are */
    inside.center = CERTREG_CENTER_TRUE_MEAN, inside.tolerance = 1;
    KIT_OK(e, certreg_estimator_bounds(e, &inside, CERTREG_SIDE_LOWER, &b));
    certreg_solver *solver;
    certreg_bisection *unused;
    certreg_mean_change shift = {.struct_size = sizeof shift};
    kit_open_solver(&solver, &unused);
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, 0.4, &shift), CERTREG_OK);
    ck_assert_double_eq_tol(c.output_lo, shift.mean_least, 1e-6);
    ck_assert_double_eq_tol(c.output_hi, shift.mean_greatest, 1e-6);
    q.serving = asks_serving(1000, 0.1);
    certreg_certificate served = kit_certificate();
    KIT_STATUS(e, certreg_output_bounds(e, 0, &q, 1, 0.4, &served),
               _i ? CERTREG_OK : CERTREG_E_INVALID);
    if (_i)
        ck_assert_double_eq_tol(served.output_hi - c.output_hi, 100 * sqrt(log(20) / 2000), 1e-9);
    if (_i)
        ck_assert_double_eq_tol(c.output_lo - served.output_lo, 100 * sqrt(log(20) / 2000), 1e-9);
}

KIT_MAIN("reach")
