/* Rows of numbers that pass through libm: certificates of every kind, how far means move, radii of
 * bounds filled by hand, angles of pairs. */
#include "golden/rows.h"
#include "platforms/platform.h"
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static certreg_bounds bounds_of(int i)
{
    static const double spread[4] = {1e-3, 0.03, 0.2, 0.9}, middle[3] = {0, 0.3, -0.8};
    static const uint32_t known[4] = {CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG,
                                      CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM};
    const double m = middle[i % 3], d = spread[i / 3 % 4] * (1 - fabs(m));
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds),
                            .constraints = known[i / 12 % 4],
                            .sigma = 0.5,
                            .mean_lo = m - 0.01 * d,
                            .mean_hi = m + 0.01 * d,
                            .variance_hi = d * d,
                            .gradient_lo = 0.1 * d,
                            .gradient_hi = (i & 1 ? 0.3 : 0.8) * d,
                            .range_lo = -1,
                            .range_hi = 1};
}

static int print_solver(void)
{
    certreg_solver *solver;
    certreg_bisection *bisection;
    if (certreg_solver_create(NULL, NULL, &solver)) return 1;
    if (certreg_bisection_create(NULL, NULL, &bisection)) return 1;
    for (int i = 0; i < 48; i++) {
        const certreg_bounds b = bounds_of(i);
        for (double r = 0.01; r < 5; r *= 5) {
            certreg_mean_change c = {.struct_size = sizeof c};
            const int status = certreg_solver_worst_case(solver, &b, 0, r, &c);
            printf("change-%d %g : %d %.17g %.17g %.17g %.17g\n", i, r, status, c.drop, c.rise,
                   c.mean_least, c.mean_greatest);
        }
        for (double tolerance = 0.01; tolerance < 1; tolerance *= 3) {
            certreg_radius radius = {.struct_size = sizeof radius};
            const int status = certreg_bisection_within(bisection, &b, 0, tolerance, &radius);
            printf("radius-%d %g : %d %d %.17g\n", i, tolerance, status, (int)radius.outcome,
                   radius.radius);
        }
    }
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    return 0;
}

/* ---- rules of prediction intervals */
static void print_rules(void)
{
    for (int i = 0; i < 6; i++) {
        const certreg_coverage c = {.struct_size = sizeof c,
                                    .alpha = i & 1 ? 0.01 : 0.1,
                                    .radius = 0.2 * (i % 3),
                                    .sigma = 0.5,
                                    .points = 2000,
                                    .calibration_samples = 1000,
                                    .samples = 500};
        certreg_rule rule = {.struct_size = sizeof rule};
        const int status = certreg_interval_rule(&c, NULL, NULL, &rule);
        printf("rule-%d : %d %d\n", i, status, (int)rule.least_points);
    }
}

/* ---- angles of pairs, which atan2 gives */
enum { SAMPLES = 40 };

static int pair_of(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < 2 * b->rows; i++) {
        const float larger = b->x[i] * 3; /* rounded to float, whatever FLT_EVAL_METHOD is */
        b->y[i] = larger - 0.5f;
    }
    return 0;
}

static int print_pairs(void)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const float z[2] = {0.1f, 0.2f};
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = pair_of,
                             .inputs = 2,
                             .outputs = 1,
                             .batch = SAMPLES,
                             .kind = &kind};
    const certreg_plan p = {
        .struct_size = sizeof p, .max_samples = SAMPLES, .seed = 1, .pilot = SIZE_MAX};
    certreg_estimator *e;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) return 1;
    certreg_estimator_begin(e, z, 1, 3);
    certreg_question q = {
        .struct_size = sizeof q, .tolerance = 0.5, .statistic = CERTREG_STATISTIC_CIRCULAR_MEAN};
    for (int statistic = CERTREG_STATISTIC_MEDIAN; statistic <= CERTREG_STATISTIC_CIRCULAR_MEAN;
         statistic++) {
        double told = NAN;
        q.statistic = statistic, q.huber_width = statistic == CERTREG_STATISTIC_HUBER ? 0.3 : 0;
        certreg_estimator_sample(e, 0, SAMPLES);
        const int status = certreg_estimator_estimate(e, &q, &told);
        printf("angle-of-pairs-%d : %d %.17g\n", statistic, status, told);
    }
    certreg_estimator_destroy(e);
    return 0;
}

int platform_rows(void)
{
    const rows_where cpu = {.name = "cpu", .constraints = CERTREG_CONSTRAINTS_ECGM};
    print_rules();
    return rows_print(&cpu) || print_solver() || print_pairs();
}
