/* The inverse question, promises about what is served, and the radii in other norms: against
 * formulas of their own. */
#include "api_kit.h"

enum { MOST = 3000 };
static const double pi = 3.14159265358979323846;

/* ---- formulas */
static double phi(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double phi_inverse(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++)
        *(phi(0.5 * (low + high)) < p ? &low : &high) = 0.5 * (low + high);
    return 0.5 * (low + high);
}

/* P(Bin(n, p) <= k) by adding up. */
static double binomial(int64_t k, uint64_t n, double p)
{
    double sum = 0;
    for (int64_t i = 0; i <= k; i++)
        sum +=
            exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)n - (double)i + 1) +
                (double)i * log(p) + (double)(n - (uint64_t)i) * log1p(-p));
    return fmin(sum, 1);
}

/* Least p with P(Bin(n, p) <= k) <= alpha. */
static double upper(int64_t k, uint64_t n, double alpha)
{
    double low = 0, high = 1;
    if (k >= (int64_t)n) return 1;
    for (int i = 0; i < 60; i++)
        *(binomial(k, n, 0.5 * (low + high)) > alpha ? &low : &high) = 0.5 * (low + high);
    return high;
}

/* ---- a record of known outputs */
typedef struct record {
    size_t count, pilot;
    int32_t kind;
    uint32_t flags;
    const double *lo, *hi;
    double sigma;
    float y[MOST];
} record;

static uint32_t lottery = 1;

static double uniform(void)
{
    lottery = lottery * 1664525u + 1013904223u;
    return ((double)(lottery >> 8) + 0.5) * 0x1p-24;
}

static certreg_estimator *recorded(const record *r)
{
    certreg_model m = kit_model(NULL, NULL, 1, 1);
    m.kind = &r->kind, m.lo = r->lo, m.hi = r->hi;
    certreg_plan p = kit_plan(r->count);
    p.pilot = r->pilot ? r->pilot : SIZE_MAX, p.flags = r->flags;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, r->sigma, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, r->count, r->y));
    return e;
}

static certreg_certificate ask(certreg_estimator *e, certreg_question q)
{
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, 0, &q, 1, &c));
    return c;
}

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

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

START_TEST(the_median_reaches_no_farther_than_its_order_statistics)
{
    record r = {.count = order_cases[_i].count,
                .pilot = order_cases[_i].pilot,
                .sigma = order_cases[_i].sigma};
    if (order_cases[_i].ranged) r.lo = &range_lo, r.hi = &range_hi;
    if (order_cases[_i].failures) r.flags = CERTREG_PLAN_COUNT_FAILURES;
    double low[MOST], high[MOST];
    const size_t first = r.pilot > 0, n = r.count - first;
    for (size_t i = 0; i < r.count; i++) {
        r.y[i] = (float)(floor((12 * uniform() - 3) * order_cases[_i].levels / 12) * 12 /
                         order_cases[_i].levels);
        r.y[i] = fmaxf(-3, r.y[i]);
        if (i >= r.count - order_cases[_i].failures) r.y[i] = i % 2 ? NAN : INFINITY;
        if (i < first) continue;
        low[i - first] = isfinite(r.y[i]) ? (double)r.y[i] : -INFINITY; /* worst on both sides */
        high[i - first] = isfinite(r.y[i]) ? (double)r.y[i] : INFINITY;
    }
    qsort(low, n, sizeof *low, ascending);
    qsort(high, n, sizeof *high, ascending);
    const double at_radius = order_cases[_i].at_radius;
    const size_t served = order_cases[_i].served;
    certreg_question q = kit_question(0);
    q.alpha = order_cases[_i].alpha;
    q.serving = asks_serving(served, 0.02);
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
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- tolerances from the largest down: consistent with the question about a radius */
static const struct {
    int32_t kind, statistic, method;
    double spread, tolerance, at_radius;
    size_t served;
} grids[] = {
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

static record scattered(int32_t kind, double spread, size_t count, size_t pilot)
{
    record r = {.count = count, .pilot = pilot, .kind = kind, .sigma = 1};
    for (size_t i = 0; i < count; i++)
        r.y[i] = (float)(spread * (uniform() + uniform() + uniform() - 1.5) +
                         (kind == CERTREG_OUTPUT_ANGLE ? 3.1 : 0));
    return r;
}

START_TEST(the_reach_is_the_least_tolerance_of_its_grid_that_has_the_radius)
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
    ck_assert_double_ge(ask(e, q).radius, grids[_i].at_radius);
    q.tolerance = tolerance * pow(2, -0.25);
    ck_assert_double_lt(ask(e, q).radius, grids[_i].at_radius);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_reach_that_the_largest_tolerance_does_not_prove_is_an_abstention)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 2000, 300);
    certreg_estimator *e = recorded(&r);
    certreg_question q = kit_question(1e-3);
    q.statistic = CERTREG_STATISTIC_HUBER, q.method = CERTREG_METHOD_ASYMPTOTIC,
    q.huber_width = 0.2;
    const certreg_certificate c = ask_reach(e, q, 0.5);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- the mean */
START_TEST(the_reach_of_an_affine_mean_contains_its_ends_and_little_more)
{
    certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    const double lo = -50, hi = 50;
    if (_i) m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(20000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0.5f, 1}, 0.7, 1));
    KIT_OK(e, certreg_estimator_sample(e, 0, 20000));
    certreg_question q = kit_question(0);
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC;
    certreg_certificate c = ask_reach(e, q, 0.4);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(c.output_lo <= 0.1 && c.output_lo > 0, "%g", c.output_lo);
    ck_assert_msg(c.output_hi >= 0.9 && c.output_hi < 1, "%g", c.output_hi);
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_question inside = q; /* about the output itself, as these bounds are */
    inside.center = CERTREG_CENTER_TRUE_MEAN, inside.tolerance = 1;
    KIT_OK(e, certreg_estimator_bounds(e, &inside, CERTREG_SIDE_LOWER, &b));
    certreg_solver *solver;
    certreg_mean_change shift = {.struct_size = sizeof shift};
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
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
    certreg_solver_destroy(solver);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- what is served */
static certreg_question served_question(int32_t statistic, size_t samples, double beta)
{
    certreg_question q = kit_question(0.6);
    q.statistic = statistic, q.prediction = asks_prediction(0);
    q.method = statistic == CERTREG_STATISTIC_MEDIAN ? CERTREG_METHOD_FINITE
                                                     : CERTREG_METHOD_ASYMPTOTIC;
    q.huber_width = statistic == CERTREG_STATISTIC_HUBER ? 0.3 : 0;
    q.serving = asks_serving(samples, beta);
    return q;
}

START_TEST(the_served_median_needs_the_binomial_share)
{
    const struct {
        size_t samples;
        double beta;
    } cases[] = {{1, 0.1}, {2, 0.1}, {3, 0.5}, {64, 0.01}, {65, 0.01}, {1000, 1e-9}};
    const record r = scattered(CERTREG_OUTPUT_REAL, 0.9, 2000, 0);
    certreg_estimator *e = recorded(&r);
    int64_t below = 0, above = 0;
    for (size_t i = 0; i < r.count; i++)
        below += (double)r.y[i] <= -0.6, above += (double)r.y[i] >= 0.6;
    const double miss = upper(below > above ? below : above, r.count, 0.05);
    const double share =
        upper((int64_t)cases[_i].samples / 2, cases[_i].samples, 0.5 * cases[_i].beta);
    const double want = fmax(0, phi_inverse(1 - miss) - phi_inverse(share));
    const certreg_certificate c =
        ask(e, served_question(CERTREG_STATISTIC_MEDIAN, cases[_i].samples, cases[_i].beta));
    ck_assert_msg(fabs(c.radius - want) < 1e-6, "%g, want %g", c.radius, want);
    certreg_estimator_destroy(e);
}
END_TEST

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

START_TEST(other_served_scores_need_the_mean_of_chernoff)
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
    const certreg_certificate c = ask(e, q);
    certreg_bounds b[2] = {{.struct_size = sizeof *b}, {.struct_size = sizeof *b}};
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_LOWER, b));
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, b + 1));
    double need[2];
    for (int i = 0; i < 2; i++)
        need[i] = chernoff(b[i].range_lo, b[i].range_hi, (double)samples, 0.05);
    if (statistic != CERTREG_STATISTIC_MEAN)
        ck_assert_double_eq_tol(need[0], sqrt(1 - pow(0.05, 2 / (double)samples)), 1e-9);
    certreg_solver *solver;
    certreg_bisection *bisection;
    certreg_radius radius = {.struct_size = sizeof radius};
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, NULL, 0, &bisection), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_above(bisection, b, need, 2, 0, &radius), CERTREG_OK);
    ck_assert_double_gt(radius.radius, 0);
    ck_assert_double_eq_tol(c.radius, radius.radius, 1e-6);
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(more_served_samples_and_more_failures_allow_larger_radii_up_to_the_plain_one)
{
    const struct {
        int32_t kind, statistic;
    } cases[] = {{CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_MEDIAN},
                 {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_MEDIAN},
                 {CERTREG_OUTPUT_REAL, CERTREG_STATISTIC_HUBER},
                 {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_HUBER},
                 {CERTREG_OUTPUT_ANGLE, CERTREG_STATISTIC_CIRCULAR_MEAN}};
    const size_t samples[] = {1, 3, 11, 101, 1001, 100001, 999999999};
    const record r = scattered(cases[_i].kind, 0.5, 2000, 0);
    certreg_estimator *e = recorded(&r);
    double before = 0, first = 0;
    for (int i = 0; i < KIT_ROWS(samples); i++) {
        double smaller = 0;
        for (double beta = 1e-6; beta <= 0.5; beta *= 50) {
            certreg_question q = served_question(cases[_i].statistic, samples[i], beta);
            if (cases[_i].kind == CERTREG_OUTPUT_ANGLE) q.prediction = asks_prediction(3.1);
            const double radius = ask(e, q).radius;
            ck_assert_double_ge(radius, smaller);
            smaller = radius;
        }
        ck_assert_msg(smaller >= before, "%zu samples: %g after %g", samples[i], smaller, before);
        before = smaller;
    }
    certreg_question q = served_question(cases[_i].statistic, 0, 0);
    if (cases[_i].kind == CERTREG_OUTPUT_ANGLE) q.prediction = asks_prediction(3.1);
    first = ask(e, q).radius;
    ck_assert_double_le(before, first);
    ck_assert_double_eq_tol(before, first, 1e-3);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(thresholds_that_the_range_decides_alone_are_no_failure)
{
    record r = scattered(CERTREG_OUTPUT_REAL, 0.5, 2000, 0);
    const double lo = -1, hi = 1;
    r.lo = &lo, r.hi = &hi;
    certreg_estimator *e = recorded(&r);
    certreg_question q = served_question(CERTREG_STATISTIC_MEAN, 10, 0.1);
    q.tolerance = 1.5; /* nothing in the range is so far off */
    const certreg_certificate all = ask(e, q);
    ck_assert_int_eq(all.outcome, CERTREG_OUTCOME_CAPPED);
    q.tolerance = 0.1, q.prediction = asks_prediction(5); /* nor so near */
    ck_assert_double_eq(ask(e, q).radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- other norms */
static const float scales[][5] = {{1, 1, 1, 1, 1},
                                  {2, 2, 2, 2, 2},
                                  {0.5f, 3, 0, 1, 0.125f},
                                  {0, 0, 0, 4, 0},
                                  {1e-3f, 1e3f, 1, 0, 7}};

START_TEST(balls_of_other_norms_lie_within_the_certified_one_and_touch_it)
{
    certreg_model m = kit_model(kit_identity, NULL, 5, 1);
    m.scale = scales[_i];
    const certreg_plan p = kit_plan(1000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0, 0, 0, 0}, 0.5, 1));
    certreg_certificate c = kit_certificate();
    certreg_question q = kit_question(1.5 * fmax(0.5 * (double)scales[_i][0], 0.1));
    KIT_OK(e, certreg_certify(e, 1000, &q, 1, &c));
    ck_assert_double_gt(c.radius, 0);
    double least = INFINITY, sum = 0;
    for (int j = 0; j < 5; j++) {
        if (scales[_i][j] > 0)
            least = fmin(least, (double)scales[_i][j]), sum += pow((double)scales[_i][j], -2);
    }
    ck_assert(c.radius_l2 <= c.radius * least &&
              c.radius_l2 >= c.radius * least * (1 - 1e-12)); /* along the least scale */
    ck_assert_double_eq(c.radius_l1, c.radius_l2);
    ck_assert(c.radius_linf * sqrt(sum) <= c.radius &&
              c.radius_linf * sqrt(sum) >= c.radius * (1 - 1e-10)); /* a corner of the cube */
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- bad input */
enum { REACH = 2 }; /* beside the centers: output bounds */
static const struct {
    const char *word;
    int32_t statistic, center;
    double tolerance, at_radius, beta;
    size_t served;
} refused[] = {
    {"radius", CERTREG_STATISTIC_MEDIAN, REACH, 1, 0, 0, 0},
    {"radius", CERTREG_STATISTIC_MEDIAN, REACH, 1, -1, 0, 0},
    {"radius", CERTREG_STATISTIC_MEDIAN, REACH, 1, INFINITY, 0, 0},
    {"radius", CERTREG_STATISTIC_MEDIAN, REACH, 1, NAN, 0, 0},
    {"tolerance", CERTREG_STATISTIC_HUBER, REACH, 0, 1, 0, 0},
    {"tolerance", CERTREG_STATISTIC_MEDIAN, REACH, -1, 1, 0, 0},
    {"tolerance", CERTREG_STATISTIC_MEDIAN, CERTREG_CENTER_PREDICTION, 0, 0, 0, 0},
    {"failure_rate", CERTREG_STATISTIC_MEDIAN, CERTREG_CENTER_PREDICTION, 1, 0, 0, 10},
    {"failure_rate", CERTREG_STATISTIC_MEDIAN, CERTREG_CENTER_PREDICTION, 1, 0, 0.6, 10},
    {"failure_rate", CERTREG_STATISTIC_MEDIAN, CERTREG_CENTER_PREDICTION, 1, 0, NAN, 10},
    {"serving", CERTREG_STATISTIC_MEAN, CERTREG_CENTER_TRUE_MEAN, 1, 0, 0.1, 10},
    {"serving", CERTREG_STATISTIC_MEAN, CERTREG_CENTER_PREDICTION, 1, 0, 0.1, 10},
};

START_TEST(questions_that_make_no_sense_are_refused_by_name)
{
    const record r = scattered(CERTREG_OUTPUT_REAL, 1, 500, 100);
    certreg_estimator *e = recorded(&r);
    certreg_question q = kit_question(refused[_i].tolerance);
    const int inverse = refused[_i].center == REACH;
    q.statistic = refused[_i].statistic, q.center = inverse ? 0 : refused[_i].center;
    q.serving = asks_serving(refused[_i].served, refused[_i].beta);
    q.huber_width = q.statistic == CERTREG_STATISTIC_HUBER ? 0.3 : 0;
    q.method = q.statistic == CERTREG_STATISTIC_MEDIAN ? CERTREG_METHOD_FINITE
                                                       : CERTREG_METHOD_ASYMPTOTIC;
    certreg_certificate c = kit_certificate();
    KIT_STATUS(e,
               inverse ? certreg_output_bounds(e, 0, &q, 1, refused[_i].at_radius, &c)
                       : certreg_certify(e, 0, &q, 1, &c),
               CERTREG_E_INVALID);
    ck_assert_msg(strstr(certreg_estimator_error(e)->text, refused[_i].word) != NULL, "%s",
                  certreg_estimator_error(e)->text);
    ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    ck_assert_double_eq(c.radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reach, served promises, norms");
    TCase *inverse = kit_case(suite, "reach", 60), *served = kit_case(suite, "served", 60),
          *norms = kit_case(suite, "norms", 20), *bad = kit_case(suite, "bad_input", 20);
    tcase_add_loop_test(inverse, the_median_reaches_no_farther_than_its_order_statistics, 0,
                        KIT_ROWS(order_cases));
    tcase_add_loop_test(inverse, the_reach_is_the_least_tolerance_of_its_grid_that_has_the_radius,
                        0, KIT_ROWS(grids));
    tcase_add_test(inverse, a_reach_that_the_largest_tolerance_does_not_prove_is_an_abstention);
    tcase_add_loop_test(inverse, the_reach_of_an_affine_mean_contains_its_ends_and_little_more, 0,
                        2);
    tcase_add_loop_test(served, the_served_median_needs_the_binomial_share, 0, 6);
    tcase_add_loop_test(served, other_served_scores_need_the_mean_of_chernoff, 0, 6);
    tcase_add_loop_test(
        served, more_served_samples_and_more_failures_allow_larger_radii_up_to_the_plain_one, 0, 5);
    tcase_add_test(served, thresholds_that_the_range_decides_alone_are_no_failure);
    tcase_add_loop_test(norms, balls_of_other_norms_lie_within_the_certified_one_and_touch_it, 0,
                        KIT_ROWS(scales));
    tcase_add_loop_test(bad, questions_that_make_no_sense_are_refused_by_name, 0,
                        KIT_ROWS(refused));
    return kit_run(suite);
}
