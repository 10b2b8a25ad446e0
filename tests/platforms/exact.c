/* Results against known answers of 60 digits (tests/data/make_exact.py and its neighbours): never
 * on the wrong side of them, and not far on the safe one. */
#include "platforms/platform.h"
#include "statistics/beta.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "statistics/served.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* after the types that they need */
#include "data/binomial.inc"
#include "data/normal.inc"
#define MEAN_AND_RANGE (CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE)
#include "data/exact.inc"
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static int bad; /* of this check, so far */

/* A number that has to be at least `least`, and at most `most`. */
static void within(const char *what, size_t row, double got, double least, double most)
{
    if (got >= least && got <= most) return;
    bad++;
    printf("    %s, row %zu: %.17g is not from %.17g to %.17g\n", what, row, got, least, most);
}

static int tell(const char *name, size_t rows)
{
    const int failed = bad != 0;
    printf("%s%s (%zu rows)\n", failed ? "not ok " : "ok ", name, rows);
    bad = 0;
    return failed;
}

/* ---- certificates of outputs that are known */
static certreg_estimator *begin(uint64_t n, double sigma)
{
    const float z = 0;
    const double lo = -1e6, hi = 1e6;
    const certreg_model m = {
        .struct_size = sizeof m, .inputs = 1, .outputs = 1, .lo = &lo, .hi = &hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .max_samples = n, .seed = 1, .pilot = SIZE_MAX};
    certreg_estimator *e;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) exit(1);
    if (certreg_estimator_begin(e, &z, sigma, 1)) exit(1);
    return e;
}

static void record(certreg_estimator *e, float *y, uint64_t n)
{
    if (certreg_estimator_record(e, 0, n, y)) exit(1);
    free(y);
}

static int medians_keep_below(void)
{
    const double prediction = 0;
    for (size_t i = 0; i < COUNT(median_rows); i++) {
        const uint64_t n = median_rows[i].n;
        certreg_estimator *e = begin(n, median_rows[i].sigma);
        float *y = calloc(n, sizeof *y);
        for (uint64_t j = 0; j < median_rows[i].k; j++) y[j * 3 % n] = 10;
        record(e, y, n);
        const certreg_question q = {.struct_size = sizeof q,
                                    .tolerance = 1,
                                    .alpha = median_rows[i].alpha,
                                    .prediction = &prediction};
        certreg_certificate c = {.struct_size = sizeof c};
        if (certreg_certify(e, 0, &q, 1, &c)) bad++;
        const double most = median_rows[i].radius;
        within("radius", i, c.radius, most * (1 - 1e-8), most);
        certreg_estimator_destroy(e);
    }
    return tell("radii of medians are at most the true ones", COUNT(median_rows));
}

/* The outputs are 0 .. n-1 in some order. */
static int orders_keep_outside(void)
{
    const double prediction = 0;
    for (size_t i = 0; i < COUNT(order_rows); i++) {
        const uint64_t n = order_rows[i].n;
        certreg_estimator *e = begin(n, 0.5);
        float *y = malloc(n * sizeof *y);
        for (uint64_t j = 0; j < n; j++) y[j] = (float)(j * 7 % n);
        record(e, y, n);
        const certreg_question q = {.struct_size = sizeof q,
                                    .tolerance = 1e3,
                                    .alpha = order_rows[i].alpha,
                                    .prediction = &prediction};
        certreg_certificate c = {.struct_size = sizeof c};
        if (certreg_output_bounds(e, 0, &q, 1, 0.5 * order_rows[i].radius, &c)) bad++;
        const double rank = (double)order_rows[i].critical, last = (double)n - 1;
        const int none = order_rows[i].critical < 0;
        within("output_lo", i, c.output_lo, none ? -1e6 : fmax(0, rank - 1), none ? -1e6 : rank);
        within("output_hi", i, c.output_hi, none ? 1e6 : last - rank,
               none ? 1e6 : fmin(last, last - rank + 1));
        certreg_estimator_destroy(e);
    }
    return tell("output bounds of medians are not inside the true ones", COUNT(order_rows));
}

/* What fresh samples add to the output bounds of a mean, by Hoeffding's inequality. */
static int served_means_keep_outside(void)
{
    enum { N = 400, ROWS = 40 };
    for (size_t i = 0; i < ROWS; i++) {
        certreg_estimator *e = begin(N, 0.5);
        float *y = malloc(N * sizeof *y);
        for (size_t j = 0; j < N; j++) y[j] = (float)((double)(j * 7 % 20) - 10) * 0.1f;
        record(e, y, N);
        const certreg_serving serving = {.struct_size = sizeof serving,
                                         .samples = 11 + 1000 * i * i,
                                         .failure_rate = 0.5 / (double)(i + 1)};
        certreg_question q = {.struct_size = sizeof q,
                              .tolerance = 1e6,
                              .statistic = CERTREG_STATISTIC_MEAN,
                              .prediction = &(double){0}};
        certreg_certificate plain = {.struct_size = sizeof plain}, served = plain;
        if (certreg_output_bounds(e, 0, &q, 1, 0.01, &plain)) bad++;
        q.serving = &serving;
        if (certreg_output_bounds(e, 0, &q, 1, 0.01, &served)) bad++;
        const long double fresh = 2e6L * sqrtl(logl(2 / (long double)serving.failure_rate) /
                                               (2 * (long double)serving.samples));
        const double above = (double)((long double)served.output_hi - plain.output_hi - fresh),
                     below = (double)((long double)plain.output_lo - served.output_lo - fresh);
        within("above", i, above, 0, 1e-10 * (double)fresh + 1e-9);
        within("below", i, below, 0, 1e-10 * (double)fresh + 1e-9);
        certreg_estimator_destroy(e);
    }
    return tell("output bounds of served means are not inside the true ones", ROWS);
}

/* ---- bounds filled by hand */
static certreg_bounds bounds_of(uint32_t known, double variance, double gradient, double mean)
{
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds),
                            .constraints = known,
                            .sigma = 1,
                            .mean_lo = mean,
                            .mean_hi = mean,
                            .variance_hi = variance,
                            .gradient_hi = gradient,
                            .range_hi = 1};
}

static int changes_keep_above(void)
{
    certreg_solver *solver;
    if (certreg_solver_create(NULL, NULL, &solver)) return 1;
    for (size_t i = 0; i < COUNT(change_rows); i++) {
        const certreg_bounds b = bounds_of(change_rows[i].known, change_rows[i].variance,
                                           change_rows[i].gradient, change_rows[i].mean);
        certreg_mean_change c = {.struct_size = sizeof c};
        if (certreg_solver_worst_case(solver, &b, 0, change_rows[i].r, &c)) bad++;
        const double least = change_rows[i].change;
        within("change", i, fmax(c.drop, c.rise), least, least * (1 + 1e-8));
    }
    certreg_solver_destroy(solver);
    return tell("changes of a mean are at least the true ones", COUNT(change_rows));
}

static int radii_keep_below(void)
{
    certreg_bisection *bisection;
    if (certreg_bisection_create(NULL, NULL, &bisection)) return 1;
    for (size_t i = 0; i < COUNT(radius_rows); i++) {
        const certreg_bounds b =
            bounds_of(radius_rows[i].known, radius_rows[i].variance, 0, radius_rows[i].mean);
        certreg_radius found = {.struct_size = sizeof found};
        if (certreg_bisection_within(bisection, &b, 0, radius_rows[i].tolerance, &found)) bad++;
        const double most = radius_rows[i].radius;
        within("radius", i, found.radius, most * (1 - 1e-8), most);
    }
    certreg_bisection_destroy(bisection);
    return tell("radii of closed forms are at most the true ones", COUNT(radius_rows));
}

/* ---- what certificates are made of */
/* The mean of N' fresh values has the divergence that Hoeffding asks for, with room for logarithms
 * that are worse than those of this platform. */
static int served_thresholds_keep_above(void)
{
    enum { ROWS = 300 };
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t n = i % 3 == 0 ? 1000000000 : i % 3 == 1 ? 1000000 : 51;
        const double least = -exp2(0.05 * (double)i - 8), beta = i & 1 ? 0.5 : 0.01;
        const double got = cr_served_bounded((double)n, least, 1, beta);
        const long double span = 1 - (long double)least, zero = -least / span,
                          p = (got - (long double)least) / span,
                          need = -logl((long double)beta) / (long double)n;
        if (!(p < 1)) continue; /* nothing is promised */
        const long double divergence =
            zero * logl(zero / p) + (1 - zero) * (log1pl(-zero) - log1pl(-p));
        within("divergence", i, (double)(divergence - need), 2 * DBL_EPSILON, INFINITY);
    }
    return tell("thresholds of served means leave room for the logarithms", ROWS);
}

static int binomial_bounds_keep_above(void)
{
    for (size_t i = 0; i < COUNT(bound_rows); i++) {
        const double least = bound_rows[i].upper, n = (double)bound_rows[i].n,
                     slack = 4 * (1e-13 + 1e-14 * sqrt(n));
        within("upper bound", i,
               cr_binomial_upper(bound_rows[i].k, bound_rows[i].n, bound_rows[i].alpha), least,
               least * (1 + slack) + 2 * DBL_EPSILON);
    }
    return tell("binomial bounds are at least the true ones", COUNT(bound_rows));
}

static void in_ulps(const char *what, size_t row, double got, double want)
{
    const double room = 8 * fmax(fabs(want) * DBL_EPSILON, DBL_TRUE_MIN);
    within(what, row, got, want - room, want + room);
}

static int normal_is_accurate(void)
{
    for (size_t i = 0; i < COUNT(point_rows); i++) {
        in_ulps("density", i, cr_normal_pdf(point_rows[i].x), point_rows[i].pdf);
        in_ulps("cdf", i, cr_normal_cdf(point_rows[i].x), point_rows[i].cdf);
        in_ulps("tail", i, cr_normal_sf(point_rows[i].x), point_rows[i].sf);
    }
    for (size_t i = 0; i < COUNT(quantile_rows); i++)
        in_ulps("quantile", i, cr_normal_quantile(quantile_rows[i].p), quantile_rows[i].x);
    return tell("the normal distribution is accurate to 8 ulp",
                COUNT(point_rows) + COUNT(quantile_rows));
}

static int other_distributions_are_accurate(void)
{
    for (size_t i = 0; i < COUNT(student_rows); i++) {
        const double want = student_rows[i].t;
        within("quantile", i, cr_beta_student(student_rows[i].q, student_rows[i].degrees),
               want * (1 - 1e-12), want * (1 + 1e-12));
    }
    for (size_t i = 0; i < COUNT(beta_rows); i++) {
        const double want = beta_rows[i].value, x = beta_rows[i].x;
        within("beta", i, cr_beta_lower(beta_rows[i].a, beta_rows[i].b, x, 1 - x),
               want * (1 - 1e-12), want * (1 + 1e-12));
    }
    for (size_t i = 0; i < COUNT(cdf_rows); i++) {
        const double want = cdf_rows[i].cdf, slack = 1e-13 + 1e-14 * sqrt((double)cdf_rows[i].n);
        within("binomial", i, cr_binomial_cdf(cdf_rows[i].k, cdf_rows[i].n, cdf_rows[i].p),
               want * (1 - slack), want * (1 + slack));
    }
    return tell("Student, beta and binomial are accurate",
                COUNT(student_rows) + COUNT(beta_rows) + COUNT(cdf_rows));
}

int platform_exact(void)
{
    int failed = 0;
    failed += medians_keep_below() + orders_keep_outside();
    failed += served_means_keep_outside();
    failed += changes_keep_above() + radii_keep_below();
    failed += served_thresholds_keep_above();
    failed += binomial_bounds_keep_above() + normal_is_accurate();
    failed += other_distributions_are_accurate();
    return failed != 0;
}
