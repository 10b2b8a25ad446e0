/* What the statistics of a call say, and that a limit of evaluations costs tightness only. */
#include <certreg/solver.h>
#include "support/solver_plans.h"
#include "support/suite.h"

enum { ROWS_EACH = 100, BLOCKS = 6 };

static certreg_mean_change change_of(certreg_solver *s, const certreg_bounds *b, double radius)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_solver_worst_case(s, b, 0, radius, &out), CERTREG_OK);
    return out;
}

static certreg_solve_info solver_info(certreg_solver *s)
{
    certreg_solve_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(certreg_solver_info(s, &info), CERTREG_OK);
    return info;
}

/* ---- statistics */
TEST(nothing_is_told_before_the_first_call)
{
    const certreg_solve_info nothing = {.struct_size = sizeof nothing},
                             of_solver = solver_info(solver),
                             of_bisection = bisection_info(bisection);
    ck_assert_mem_eq(&of_solver, &nothing, sizeof nothing);
    ck_assert_mem_eq(&of_bisection, &nothing, sizeof nothing);
}

static void assert_counted(certreg_solve_info info, uint32_t limit)
{
    ck_assert(info.evaluations > 0 && info.evaluations <= limit);
    ck_assert_uint_ge(info.points, 20 * (uint64_t)info.evaluations);
    ck_assert(info.seconds >= 0 && isfinite(info.seconds));
    ck_assert_uint_eq(info.loose, 0);
    ck_assert_uint_eq(info.refinements, 0);
    ck_assert_uint_eq(info.fallbacks, 0);
    ck_assert_uint_eq(info.reserved, 0);
}

TEST(ordinary_call_is_counted_and_conclusive)
{
    change_of(solver, &ordinary, 0.3);
    assert_counted(solver_info(solver), CERTREG_WORST_CASE_EVALUATIONS);
    radius_of(bisection, &ordinary, 0.2);
    assert_counted(bisection_info(bisection), CERTREG_RADIUS_EVALUATIONS);
}

TEST(statistics_are_of_the_last_call_alone)
{
    change_of(solver, &ordinary, 0.3), radius_of(bisection, &ordinary, 0.2);
    const certreg_solve_info s = solver_info(solver), b = bisection_info(bisection);
    change_of(solver, &ordinary, 0.7), radius_of(bisection, &ordinary, 0.01);
    change_of(solver, &ordinary, 0.3), radius_of(bisection, &ordinary, 0.2);
    ck_assert_uint_eq(solver_info(solver).evaluations, s.evaluations);
    ck_assert_uint_eq(solver_info(solver).points, s.points);
    ck_assert_uint_eq(bisection_info(bisection).evaluations, b.evaluations);
    ck_assert_uint_eq(bisection_info(bisection).points, b.points);
}

TEST(functions_are_counted_together)
{
    const certreg_bounds two[2] = {ordinary, ordinary};
    const double threshold[2] = {-0.2, -0.2};
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_above(bisection, two, threshold, 1, 0, &out), CERTREG_OK);
    const uint32_t one = bisection_info(bisection).evaluations;
    ck_assert_int_eq(certreg_bisection_above(bisection, two, threshold, 2, 0, &out), CERTREG_OK);
    ck_assert_uint_gt(bisection_info(bisection).evaluations, one);
}

/* Bounds at which two quadratures of one integral still disagree when both are finer. */
TEST(final_evaluations_that_disagree_are_told)
{
    const hostile h = row(1926);
    change_of(solver, &h.bounds, h.r);
    const certreg_solve_info info = solver_info(solver);
    ck_assert_uint_gt(info.refinements, 0);
    ck_assert_uint_gt(info.fallbacks, 0);
    ck_assert_uint_gt(info.loose, 0);
}

TEST(reading_statistics_keeps_the_error_of_the_last_call)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &ordinary, 0, -1, &out), CERTREG_E_INVALID);
    solver_info(solver);
    ck_assert_ptr_nonnull(strstr(certreg_solver_error(solver)->text, "radius"));
}

TEST(statistics_need_a_handle_and_a_struct)
{
    certreg_solve_info info = {.struct_size = sizeof info}, unsized = {.struct_size = 12};
    ck_assert_int_eq(certreg_solver_info(NULL, &info), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_info(NULL, &info), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_info(solver, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_solver_error(solver)->text, "info"));
    ck_assert_int_eq(certreg_bisection_info(bisection, &unsized), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "info.struct_size"));
}

/* ---- limits of evaluations */
static int is_looser(certreg_mean_change bound, certreg_mean_change than)
{
    return bound.rise > than.rise * (1 + 1e-7) || bound.drop > than.drop * (1 + 1e-7);
}

TEST_TIMES(limited_bound_is_looser_and_says_so_but_never_wrong, BLOCKS)
{
    const certreg_solver_plan plan = {.struct_size = sizeof plan,
                                      .max_evaluations = CERTREG_LEAST_WORST_CASE_EVALUATIONS};
    certreg_solver *limited;
    int looser = 0;
    ck_assert_int_eq(certreg_solver_create(&plan, NULL, &limited), CERTREG_OK);
    for (uint64_t seed = (uint64_t)_i * ROWS_EACH; seed < (uint64_t)(_i + 1) * ROWS_EACH; seed++) {
        const hostile h = row(seed);
        const certreg_mean_change got = change_of(limited, &h.bounds, h.r);
        const certreg_solve_info info = solver_info(limited);
        ck_assert_msg(h.rise <= got.rise && -h.rise <= got.drop, "seed %llu",
                      (unsigned long long)seed);
        ck_assert_uint_le(info.evaluations, plan.max_evaluations);
        if (!is_looser(got, change_of(solver, &h.bounds, h.r))) continue;
        ck_assert_msg(info.loose > 0, "seed %llu", (unsigned long long)seed);
        looser++;
    }
    ck_assert_int_gt(looser, 0);
    certreg_solver_destroy(limited);
}

TEST_TIMES(limited_radius_is_smaller_and_says_so_but_never_wrong, BLOCKS)
{
    certreg_bisection *limited =
        with((certreg_bisection_plan){.max_evaluations = CERTREG_LEAST_RADIUS_EVALUATIONS});
    int smaller = 0;
    for (uint64_t seed = (uint64_t)_i * ROWS_EACH; seed < (uint64_t)(_i + 1) * ROWS_EACH; seed++) {
        const hostile h = row(seed);
        const double got = radius_of(limited, &h.bounds, h.tolerance).radius;
        const certreg_solve_info info = bisection_info(limited);
        ck_assert_msg(!(got >= h.r) || fabsl(h.rise) <= h.tolerance, "seed %llu",
                      (unsigned long long)seed);
        ck_assert_uint_le(info.evaluations, CERTREG_LEAST_RADIUS_EVALUATIONS);
        if (got >= radius_of(bisection, &h.bounds, h.tolerance).radius * (1 - 1e-7)) continue;
        ck_assert_msg(info.loose > 0, "seed %llu", (unsigned long long)seed);
        smaller++;
    }
    ck_assert_int_gt(smaller, 0);
    certreg_bisection_destroy(limited);
}

FIXTURE(setup, teardown)
TEST_MAIN("solver_info")
