/* Promises about what is served: against formulas of their own. */
#include "support/known_outputs.h"

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
    kit_open_solver(&solver, &bisection);
    ck_assert_int_eq(certreg_bisection_above(bisection, b, need, 2, 0, &radius), CERTREG_OK);
    ck_assert_double_gt(radius.radius, 0);
    ck_assert_double_eq_tol(c.radius, radius.radius, 1e-6);
}

TEST_TIMES(serving_more_samples_or_failures_allows_larger_radii, 5)
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
            const double radius = kit_ask(e, 0, q).radius;
            ck_assert_double_ge(radius, smaller);
            smaller = radius;
        }
        ck_assert_msg(smaller >= before, "%zu samples: %g after %g", samples[i], smaller, before);
        before = smaller;
    }
    certreg_question q = served_question(cases[_i].statistic, 0, 0);
    if (cases[_i].kind == CERTREG_OUTPUT_ANGLE) q.prediction = asks_prediction(3.1);
    first = kit_ask(e, 0, q).radius;
    ck_assert_double_le(before, first);
    ck_assert_double_eq_tol(before, first, 1e-3);
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

KIT_MAIN("served promises")
