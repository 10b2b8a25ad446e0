/* The worst shift at every limit of its constraints and radii, by name. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/solver_fixture.h"

/* ---- limits */
TEST_TIMES(no_variance_means_no_shift, 5)
{
    static const uint32_t families[] = {V, M | V, M | V | R, V | G, M | V | G | R};
    const certreg_bounds bounds = known(families[_i], 0.2, 0, 0, -1, 1);
    const certreg_mean_change got = shift_of(&bounds, 2);
    ck_assert_double_eq(got.rise, 0);
    ck_assert_double_eq(got.drop, 0);
}

TEST(gradient_above_the_deviation_is_infeasible)
{
    certreg_bounds bounds = known(V | G, 0, 0.25, 0.6, -1, 1);
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.constraints = ALL;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.gradient_lo = 0.1; /* the upper end is cut, not refused */
    ck_assert(shift_of(&bounds, 1).rise > 0);
}

TEST(gradient_equal_to_the_deviation_is_affine_and_fits_no_finite_range)
{
    certreg_bounds bounds = known(M | V | G, 0, 0.25, 0.5, -1, 1);
    assert_tight(shift_of(&bounds, 1.5).rise, 0.75, 1e-12);
    bounds.constraints = ALL;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.range_hi = INFINITY;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.range_lo = -INFINITY;
    assert_tight(shift_of(&bounds, 1.5).rise, 0.75, 1e-12);
}

TEST(correlation_beyond_the_half_spaces_is_infeasible)
{
    const double largest = 2 * cr_normal_pdf(cr_normal_quantile(0.8)); /* mean 0.6 within [-1, 1] */
    certreg_bounds bounds = known(M | G | R, 0.6, 0, largest * (1 + 1e-6), -1, 1);
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.gradient_lo = bounds.gradient_hi = largest * (1 - 1e-6);
    ck_assert_double_eq_tol(shift_of(&bounds, 1).rise,
                            2 * (cr_normal_cdf(cr_normal_quantile(0.8) + 1) - 0.8), 1e-6);
    bounds.mean_lo = 0.5; /* some mean of the box has room */
    bounds.gradient_lo = bounds.gradient_hi = largest * (1 + 1e-6);
    ck_assert(shift_of(&bounds, 1).rise > 0);
}

TEST(mean_outside_the_range_is_infeasible)
{
    certreg_bounds bounds = known(M | R, 1.5, 0, 0, -1, 1);
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "range");
    bounds.mean_lo = -3, bounds.mean_hi = -2;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "range");
}

TEST_TIMES(mean_at_an_end_of_the_range_cannot_move, 2)
{
    static const double ends[] = {-1, 1};
    certreg_bounds bounds = known(M | V | R, ends[_i], 0.5, 0, -1, 1);
    const certreg_mean_change got = shift_of(&bounds, 3);
    ck_assert_double_eq(got.rise, 0);
    ck_assert_double_eq(got.drop, 0);
    bounds.constraints = ALL;
    bounds.gradient_lo = bounds.gradient_hi = 0.1;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
}

TEST(mean_box_that_only_touches_an_end_can_move)
{
    certreg_bounds bounds = known(M | R, 1, 0, 0, -1, 1);
    bounds.mean_lo = 0.9;
    const certreg_mean_change got = shift_of(&bounds, 1);
    const double q = cr_normal_quantile(0.95);
    assert_tight(got.rise, 2 * (cr_normal_cdf(q + 1) - 0.95), 1e-9);
    assert_tight(got.drop, 2 * (0.95 - cr_normal_cdf(q - 1)), 1e-9);
    ck_assert_double_eq(got.mean_greatest, 1);
}

TEST_TIMES(range_open_on_one_side_is_the_limit_of_wide_ones, 4)
{
    static const uint32_t families[] = {M | V | R, ALL};
    certreg_bounds open = known(families[_i % 2], 0.2, 0.5, 0.2, 0, 1e7), wide = open;
    open.range_hi = INFINITY;
    if (_i / 2) open.range_lo = -INFINITY, wide.range_lo = -1e7, open.range_hi = wide.range_hi = 1;
    const certreg_mean_change got = shift_of(&open, 0.9), limit = shift_of(&wide, 0.9);
    ck_assert_double_eq_tol(got.rise, limit.rise, 1e-9 * got.rise);
    ck_assert_double_eq_tol(got.drop, limit.drop, 1e-9 * got.drop);
    open.constraints = families[_i % 2] & ~(uint32_t)R;
    const certreg_mean_change loose = shift_of(&open, 0.9);
    ck_assert(got.rise <= loose.rise * (1 + 1e-9) && got.drop <= loose.drop * (1 + 1e-9));
}

TEST(range_open_on_one_side_without_variance_is_no_bound_on_that_side)
{
    certreg_bounds bounds = known(M | R, 0.2, 0, 0, 0, INFINITY);
    certreg_mean_change got = shift_of(&bounds, 0.5);
    ck_assert_double_eq(got.rise, INFINITY);
    ck_assert_double_eq_tol(got.drop, 0.2, 1e-15);
    ck_assert_double_ge(got.mean_least, 0);
    bounds.range_lo = -INFINITY, bounds.range_hi = 1;
    got = shift_of(&bounds, 0.5);
    ck_assert_double_eq_tol(got.rise, 0.8, 1e-15);
    ck_assert_double_eq(got.drop, INFINITY);
}

TEST_TIMES(facts_that_bound_nothing_give_an_infinite_shift, 4)
{
    static const uint32_t families[] = {0, M, G, M | G};
    const certreg_bounds bounds = known(families[_i], 0.2, 0.5, 0.1, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, 1e-3);
    ck_assert_double_eq(got.rise, INFINITY);
    ck_assert_double_eq(got.drop, INFINITY);
    ck_assert_double_eq(got.mean_least, -INFINITY);
    ck_assert_double_eq(got.mean_greatest, INFINITY);
}

TEST(range_alone_bounds_by_its_span)
{
    const certreg_bounds bounds = known(R, 0, 0, 0, -1, 2);
    const certreg_mean_change tiny = shift_of(&bounds, 0.01), huge = shift_of(&bounds, 20);
    /* the mean may be anywhere within */
    assert_tight(tiny.rise, 3 * (2 * cr_normal_cdf(0.005) - 1), 1e-9);
    ck_assert_double_eq_tol(huge.rise, 3, 1e-12);
    ck_assert_double_eq_tol(huge.drop, 3, 1e-12);
}

TEST_TIMES(radius_zero_moves_nothing, ALL + 1)
{
    const uint32_t constraints = (uint32_t)_i;
    if (!(constraints & (V | R))) return; /* nothing bounds the function: see above */
    certreg_bounds bounds = known(constraints, 0.3, 0.2, 0.15, -1, 1.5);
    bounds.mean_lo = 0.1;
    const certreg_mean_change got = shift_of(&bounds, 0);
    ck_assert_double_eq(got.rise, 0);
    ck_assert_double_eq(got.drop, 0);
    if (constraints & M) ck_assert_double_eq(got.mean_greatest, 0.3);
    if (constraints & M) ck_assert_double_eq(got.mean_least, 0.1);
}

TEST_TIMES(huge_radius_leaves_the_range, 7)
{
    static const double far[] = {9, 14, 25.9, 26.1, 1e3, 1e300, INFINITY};
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1.5);
    bounds.mean_lo = 0.1;
    const certreg_mean_change got = shift_of(&bounds, far[_i]);
    ck_assert(got.rise > 1 && got.rise <= 1.4 * (1 + DBL_EPSILON));
    ck_assert(got.drop > 1 && got.drop <= 1.3 * (1 + DBL_EPSILON));
    ck_assert(got.mean_greatest <= 1.5 && got.mean_least >= -1);
    bounds.constraints = V;
    ck_assert(shift_of(&bounds, far[_i]).rise > 1e15);
}

TEST(vanishing_radius_moves_by_the_gradient)
{
    certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    for (double r = 1e-4; r > 1e-12; r /= 10)
        ck_assert_double_eq_tol(shift_of(&bounds, r).rise, 0.15 * r, 2 * r * r + 1e-20);
}

TEST(handle_lives_in_callers_memory)
{
    _Alignas(64) unsigned char room[4096];
    certreg_solver *own;
    const size_t size = certreg_solver_size();
    ck_assert_uint_le(size, sizeof room);
    ck_assert_int_eq(
        certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                     .memory = room,
                                                     .memory_bytes = size - 1},
                              NULL, &own),
        CERTREG_E_SMALL_MEMORY);
    ck_assert_ptr_null(own);
    ck_assert_int_eq(
        certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                     .memory = room + 8,
                                                     .memory_bytes = size},
                              NULL, &own),
        CERTREG_E_INVALID);
    ck_assert_int_eq(
        certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                     .memory = room,
                                                     .memory_bytes = size},
                              NULL, &own),
        CERTREG_OK);
    ck_assert_ptr_eq(own, room);
    certreg_solver_destroy(own);
    certreg_solver_destroy(NULL);
}

FIXTURE(setup, teardown)
TEST_MAIN("solver limits")
