/* Results against known answers: of 60 digits (tests/data/make_exact.py), of order statistics, and
 * of formulas for what is served. They are never on the wrong side, and not far on the safe one. */
#include "support/known_outputs.h"
/* after the types that it needs */
#define MEAN_AND_RANGE (CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE)
#include "data/exact.inc"

/* A number that has to be at least `least`, and at most `most`. */
static void within(const char *what, int row, double got, double least, double most)
{
    ck_assert_msg(got >= least && got <= most, "%s, row %d: %.17g is not from %.17g to %.17g", what,
                  row, got, least, most);
}

/* ---- answers of 60 digits: outputs are (i * step) % n, or 10 for the first k of them */
static certreg_estimator *outputs_of(uint64_t n, double sigma, size_t step, uint64_t k)
{
    const double lo = -1e6, hi = 1e6;
    certreg_model m = KIT_MODEL(NULL, NULL, 1, 1, .lo = &lo, .hi = &hi);
    certreg_plan p = KIT_PLAN(n, .pilot = SIZE_MAX);
    certreg_estimator *e = kit_begun(m, p, (const float[]){0}, sigma, 1);
    float *y = calloc(n, sizeof *y);
    for (uint64_t j = 0; j < (k < n ? k : 0); j++) y[j * step % n] = 10;
    for (uint64_t j = 0; k == UINT64_MAX && j < n; j++) y[j] = (float)(j * step % n);
    KIT_OK(e, certreg_estimator_record(e, 0, n, y));
    free(y);
    return e;
}

TEST_ROWS(certify_median_radius_is_at_most_the_exact_one, median_rows)
{
    certreg_estimator *e =
        outputs_of(median_rows[_i].n, median_rows[_i].sigma, 3, median_rows[_i].k);
    const certreg_question q =
        QUESTION(.tolerance = 1, .alpha = median_rows[_i].alpha, .prediction = asks_prediction(0));
    const double most = median_rows[_i].radius;
    within("radius", _i, kit_ask(e, 0, q).radius, most * (1 - 1e-8), most);
}

static certreg_certificate ask_reach(certreg_estimator *e, certreg_question q, double radius)
{
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_output_bounds(e, 0, &q, 1, radius, &c));
    return c;
}

/* Bounds are filled by hand. */
static certreg_bounds bounds_of(uint32_t known, double variance, double gradient, double mean)
{
    return BOUNDS(.constraints = known, .sigma = 1, .mean_lo = mean, .mean_hi = mean,
                  .variance_hi = variance, .gradient_hi = gradient, .range_hi = 1);
}

TEST(solver_change_and_bisection_radius_are_on_the_safe_side)
{
    certreg_solver *solver;
    certreg_bisection *bisection;
    kit_open_solver(&solver, &bisection);
    for (int i = 0; i < KIT_ROWS(change_rows); i++) {
        const certreg_bounds b = bounds_of(change_rows[i].known, change_rows[i].variance,
                                           change_rows[i].gradient, change_rows[i].mean);
        certreg_mean_change c = {.struct_size = sizeof c};
        ck_assert(!certreg_solver_worst_case(solver, &b, 0, change_rows[i].r, &c));
        const double least = change_rows[i].change;
        within("change", i, fmax(c.drop, c.rise), least, least * (1 + 1e-8));
    }
    for (int i = 0; i < KIT_ROWS(radius_rows); i++) {
        const certreg_bounds b =
            bounds_of(radius_rows[i].known, radius_rows[i].variance, 0, radius_rows[i].mean);
        certreg_radius found = {.struct_size = sizeof found};
        ck_assert(!certreg_bisection_within(bisection, &b, 0, radius_rows[i].tolerance, &found));
        const double most = radius_rows[i].radius;
        within("radius", i, found.radius, most * (1 - 1e-8), most);
    }
}

/* ---- how far outputs reach: order statistics of the median */
static const struct {
    size_t count, pilot, failures;
    double sigma, at_radius, alpha, levels; /* outputs are rounded to as many levels: ties */
    size_t served;
    int ranged;
} order_cases[] = {
    /* count, pilot, failures, sigma, at_radius, alpha, levels, served, ranged */
    {50, 8, 0, 1, 0.5, 0.05, 1e9, 0, 0},       {1000, 0, 0, 2, 1.9, 0.5, 5, 0, 0},
    {3000, 450, 0, 0.3, 0.9, 1e-6, 1e9, 0, 0}, {100, 15, 0, 1, 3, 0.05, 1e9, 0, 0},
    {100, 15, 0, 1, 3, 0.05, 1e9, 0, 1},       {1, 0, 0, 1, 0.1, 0.05, 1e9, 0, 0},
    {200, 0, 7, 1, 0.8, 0.05, 1e9, 0, 0},      {200, 30, 60, 1, 0.8, 0.05, 3, 0, 1},
    {1000, 0, 1, 1, 0.5, 0.05, 1e9, 101, 0},   {1000, 150, 0, 1, 0.5, 0.05, 1e9, 8, 0},
    {1000, 0, 0, 1, 0.2, 0.05, 1e9, 1, 0},     {1000, 0, 999, 1, 0.2, 0.05, 1e9, 0, 0},
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

/* ---- the mean */
TEST_TIMES(output_bounds_of_an_affine_mean_are_close, 2)
{
    certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    const double lo = -50, hi = 50;
    if (_i) m.lo = &lo, m.hi = &hi;
    certreg_estimator *e = kit_begun(m, kit_plan(20000), (const float[]){0.5f, 1}, 0.7, 1);
    KIT_OK(e, certreg_estimator_sample(e, 0, 20000));
    certreg_question q = QUESTION(.tolerance = 0, .statistic = CERTREG_STATISTIC_MEAN,
                                  .method = CERTREG_METHOD_ASYMPTOTIC);
    certreg_certificate c = ask_reach(e, q, 0.4);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(c.output_lo <= 0.1 && c.output_lo > 0, "%g", c.output_lo);
    ck_assert_msg(c.output_hi >= 0.9 && c.output_hi < 1, "%g", c.output_hi);
    certreg_question inside = q; /* about the output itself, as these bounds are */
    inside.center = CERTREG_CENTER_TRUE_MEAN, inside.tolerance = 1;
    const certreg_bounds b = asks_side(e, &inside, CERTREG_SIDE_LOWER);
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
    const double fresh = 100 * sqrt(log(20) / 2000); /* Hoeffding */
    if (_i) ck_assert_double_eq_tol(served.output_hi - c.output_hi, fresh, 1e-9);
    if (_i) ck_assert_double_eq_tol(c.output_lo - served.output_lo, fresh, 1e-9);
}

/* ---- what is served */
static certreg_question served_question(int32_t statistic, size_t samples, double beta)
{
    return QUESTION(.tolerance = 0.6, .alpha = 0.05, .statistic = statistic,
                    .prediction = asks_prediction(0),
                    .method = statistic == CERTREG_STATISTIC_MEDIAN ? CERTREG_METHOD_FINITE
                                                                    : CERTREG_METHOD_ASYMPTOTIC,
                    .huber_width = statistic == CERTREG_STATISTIC_HUBER ? 0.3 : 0,
                    .serving = asks_serving(samples, beta));
}

TEST_TIMES(serving_a_median_needs_the_binomial_share, 12)
{
    const struct {
        size_t samples;
        double beta;
    } cases[] = {{1, 0.1}, {2, 0.1}, {3, 0.5}, {64, 0.01}, {65, 0.01}, {1000, 1e-9}};
    const size_t pilot = _i < 6 ? 0 : 300, served = cases[_i % 6].samples;
    const double beta = cases[_i % 6].beta;
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.9, 2000, pilot);
    certreg_estimator *e = recorded(&r);
    int64_t below = 0, above = 0;
    for (size_t i = pilot; i < r.count; i++)
        below += (double)r.y[i] <= -0.6, above += (double)r.y[i] >= 0.6;
    const double miss = upper(below > above ? below : above, r.count - pilot, 0.05);
    const double share = upper((int64_t)served / 2, served, 0.5 * beta);
    const double want = fmax(0, phi_inverse(1 - miss) - phi_inverse(share));
    const certreg_certificate c =
        kit_ask(e, 0, served_question(CERTREG_STATISTIC_MEDIAN, served, beta));
    ck_assert_msg(fabs(c.radius - want) < 1e-6, "%g, want %g", c.radius, want);
}

/* Least mean of values in [lo, hi] at which N' of them have a positive sum but with probability
 * beta (Hoeffding, Chernoff). */
static double chernoff(double lo, double hi, double samples, double beta)
{
    const double a = -lo / (hi - lo);
    double low = a, high = 1;
    for (int i = 0; i < 100; i++) {
        const double p = 0.5 * (low + high),
                     kl = (a > 0 ? a * log(a / p) : 0) + (1 - a) * log((1 - a) / (1 - p));
        *(samples * kl < log(1 / beta) ? &low : &high) = p;
    }
    return lo + high * (hi - lo);
}

TEST_TIMES(serving_other_scores_needs_the_mean_of_chernoff, 6)
{
    const int32_t scores[] = {CERTREG_STATISTIC_HUBER, CERTREG_STATISTIC_CIRCULAR_MEAN,
                              CERTREG_STATISTIC_MEAN};
    const size_t samples = _i % 2 ? 2000 : 100;
    const int32_t statistic = scores[_i / 2], kind = statistic == CERTREG_STATISTIC_CIRCULAR_MEAN
                                                         ? CERTREG_OUTPUT_ANGLE
                                                         : CERTREG_OUTPUT_REAL;
    record r = scattered(kind, 0.5, 2000, 0);
    const double lo = kind == CERTREG_OUTPUT_ANGLE ? -pi : -1,
                 hi = kind == CERTREG_OUTPUT_ANGLE ? pi : 3;
    r.lo = &lo, r.hi = &hi;
    certreg_estimator *e = recorded(&r);
    certreg_question q = served_question(statistic, samples, 0.1);
    if (kind == CERTREG_OUTPUT_ANGLE) q.prediction = asks_prediction(3.1);
    const certreg_certificate c = kit_ask(e, 0, q);
    const certreg_bounds b[] = {asks_side(e, &q, CERTREG_SIDE_LOWER),
                                asks_side(e, &q, CERTREG_SIDE_UPPER)};
    double need[2];
    for (int i = 0; i < 2; i++)
        need[i] = chernoff(b[i].range_lo, b[i].range_hi, (double)samples, 0.05);
    if (statistic != CERTREG_STATISTIC_MEAN)
        ck_assert_double_eq_tol(need[0], sqrt(1 - pow(0.05, 2 / (double)samples)), 1e-9);
    certreg_solver *solver;
    certreg_bisection *bisection;
    certreg_radius radius = {.struct_size = sizeof radius};
    kit_open_solver(&solver, &bisection);
    ck_assert_int_eq(certreg_bisection_above(bisection, b, need, 2, 0, &radius), CERTREG_OK);
    ck_assert_double_gt(radius.radius, 0);
    ck_assert_double_eq_tol(c.radius, radius.radius, 1e-6);
}

TEST(serving_thresholds_that_the_range_alone_decides)
{
    record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 2000, 0);
    const double lo = -1, hi = 1;
    r.lo = &lo, r.hi = &hi;
    certreg_estimator *e = recorded(&r);
    certreg_question q = served_question(CERTREG_STATISTIC_MEAN, 10, 0.1);
    q.tolerance = 1.5; /* nothing in the range is so far off */
    const certreg_certificate all = kit_ask(e, 0, q);
    ck_assert_int_eq(all.outcome, CERTREG_OUTCOME_CAPPED);
    q.tolerance = 0.1, q.prediction = asks_prediction(5); /* nor so near */
    ck_assert_double_eq(kit_ask(e, 0, q).radius, 0);
}

/* ---- what is served from antithetic pairs */
static const certreg_serving in_pairs = {
    .struct_size = sizeof in_pairs, .pairs = 1, .samples = 101, .failure_rate = 0.01};

static certreg_question question_of(const certreg_serving *serving)
{
    return QUESTION(.tolerance = 0.6, .prediction = asks_prediction(0), .serving = serving);
}

/* ---- certificates */
TEST(serving_from_pairs_costs_a_median_half_of_the_radius)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.55, 2000, 0); /* about 1 % are out */
    certreg_estimator *e = recorded(&r);
    const double plain = kit_ask(e, 0, question_of(NULL)).radius,
                 independent = kit_ask(e, 0, question_of(asks_serving(101, 0.01))).radius,
                 pairs = kit_ask(e, 0, question_of(&in_pairs)).radius;
    ck_assert_double_eq_tol(plain - independent, 0.32, 0.005);
    ck_assert_double_le(plain - pairs, 0.16);
    ck_assert_double_gt(plain - pairs, 0.12);
}

/* Lemma 1a: half of the samples count. */
TEST(serving_from_pairs_needs_twice_the_samples_for_huber)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 2000, 0);
    certreg_estimator *e = recorded(&r);
    certreg_question q = question_of(asks_serving(500, 0.01));
    q.statistic = CERTREG_STATISTIC_HUBER, q.huber_width = 0.3;
    const double half = kit_ask(e, 0, q).radius;
    certreg_serving s = in_pairs;
    s.samples = 1000, q.serving = &s;
    ck_assert_double_eq(kit_ask(e, 0, q).radius, half);
}

TEST(serving_from_pairs_proves_a_target_within_reach)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.9, 2000, 200);
    certreg_estimator *e = recorded(&r);
    certreg_question q = question_of(&in_pairs);
    q.target = asks_target(1);
    ck_assert_double_ge(kit_ask(e, 0, q).radius, 1);
}

TEST(serving_from_pairs_has_its_own_output_bounds)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.9, 2000, 0);
    certreg_estimator *e = recorded(&r);
    const certreg_serving *served[] = {NULL, &in_pairs, asks_serving(101, 0.01)};
    double before = 0;
    for (int i = 0; i < 3; i++) {
        const certreg_certificate c = ask_reach(e, question_of(served[i]), 0.7);
        ck_assert_double_gt(c.output_hi - c.output_lo, before);
        before = c.output_hi - c.output_lo;
    }
}

KIT_MAIN("known_answers")
