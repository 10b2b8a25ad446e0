/* A solver and a bisection of their own for every test, constraints to ask them about, and their
 * answers, checked. */
#ifndef SUPPORT_SOLVER_FIXTURE_H
#define SUPPORT_SOLVER_FIXTURE_H
#include "support/api_kit.h"
#include <certreg/solver.h>

enum {
    M = CERTREG_CONSTRAINT_MEAN,
    V = CERTREG_CONSTRAINT_VARIANCE,
    G = CERTREG_CONSTRAINT_GRADIENT,
    R = CERTREG_CONSTRAINT_RANGE,
    Q = CERTREG_CONSTRAINT_MOMENT,
    ALL = M | V | G | R,
    EVERY_KIND = ALL | Q,
    SETS = 31 /* of kinds: their numbers are 1 to SETS */
};

static certreg_solver *solver;
static certreg_bisection *bisection;

static inline void setup(void)
{
    kit_open_solver(&solver, &bisection);
}

#define SOLVER_MAIN(about) FIXTURE(setup, NULL) KIT_MAIN(about)

/* ---- constraints */
static inline uint32_t kinds_of(uint32_t set)
{
    return (set & ALL) | (set & 16 ? Q : 0);
}

static inline certreg_bounds given(uint32_t constraints, double mean_lo, double mean_hi,
                                   double variance, double gradient_lo, double gradient_hi,
                                   double lo, double hi)
{
    return BOUNDS(.constraints = constraints, .sigma = 1, .mean_lo = mean_lo, .mean_hi = mean_hi,
                  .variance_hi = variance, .gradient_lo = gradient_lo, .gradient_hi = gradient_hi,
                  .range_lo = lo, .range_hi = hi);
}

static inline certreg_bounds known(uint32_t constraints, double mean, double variance,
                                   double gradient, double lo, double hi)
{
    return given(constraints, mean, mean, variance, gradient, gradient, lo, hi);
}

/* Some of every kind that a mask can name. */
static inline certreg_bounds of_kinds(uint32_t constraints)
{
    certreg_bounds b = given(constraints, 0.2, 0.3, 0.2, 0.1, 0.15, -1, 1.5);
    b.moment_center = 0.25, b.moment_hi = 0.22;
    return b;
}

/* ---- answers */
/* The seed is that of random constraints, so that a failure can be repeated. */
static inline certreg_mean_change shift_by(const certreg_bounds *bounds, uint32_t constraints,
                                           double radius, uint64_t seed)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    const certreg_status status =
        certreg_solver_worst_case(solver, bounds, constraints, radius, &out);
    ck_assert_msg(status == CERTREG_OK, "seed %llu: status %d: %s", (unsigned long long)seed,
                  status, certreg_solver_error(solver)->text);
    return out;
}

static inline certreg_mean_change shift_of(const certreg_bounds *bounds, double radius)
{
    return shift_by(bounds, 0, radius, 0);
}

static inline certreg_solve_info solver_info(certreg_solver *s)
{
    certreg_solve_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(certreg_solver_info(s, &info), CERTREG_OK);
    return info;
}

static inline certreg_solve_info bisection_info(certreg_bisection *b)
{
    certreg_solve_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(certreg_bisection_info(b, &info), CERTREG_OK);
    return info;
}

static inline certreg_radius within(const certreg_bounds *bounds, double tolerance)
{
    certreg_radius out = {.struct_size = sizeof out};
    const certreg_status status = certreg_bisection_within(bisection, bounds, 0, tolerance, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    return out;
}

static inline certreg_radius above(const certreg_bounds *bounds, const double *threshold,
                                   size_t count)
{
    certreg_radius out = {.struct_size = sizeof out};
    const certreg_status status =
        certreg_bisection_above(bisection, bounds, threshold, count, 0, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    return out;
}

/* Never below the true value but for its own rounding, and above it by no more than a share. */
static inline void assert_tight(double got, double want, double share)
{
    const double size = fabs(want);
    ck_assert_msg(got >= want - 4 * DBL_EPSILON * size && got <= want + share * size,
                  "%.17g, want %.17g", got, want);
}

/* A radius rounded down by no more than its rounding. */
static inline void assert_outcome(certreg_radius got, int32_t outcome, double radius)
{
    ck_assert_int_eq(got.outcome, outcome);
    ck_assert_double_le(got.radius, radius);
    ck_assert_double_ge(got.radius, radius * (1 - 4 * DBL_EPSILON));
}

#endif
