/* The worst function: closed forms, what it looks like, limits, and what is refused. That it is
 * the optimal one of its constraints, and its multipliers, are in prop_solver.c. */
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include "statistics/normal.h"
#include "support/function_moments.h"
#include "support/solver_fixture.h"

static certreg_worst_function worst(const certreg_bounds *bounds, uint32_t constraints, double r,
                                    int32_t side)
{
    certreg_worst_function out = {.struct_size = sizeof out};
    const certreg_status status =
        certreg_solver_worst_function(solver, bounds, constraints, r, side, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_solver_error(solver)->text);
    return out;
}

static double ratio(double t, double r)
{
    return expm1(r * (t - 0.5 * r));
}

static const double places[] = {-4, -1.7, -0.3, 0, 0.1, 0.9, 2.2, 5};

/* ---- closed forms */
static const double radii[] = {0.01, 0.2, 0.5, 1, 2.5};

TEST_ROWS(worst_function_by_variance_alone_is_the_likelihood_ratio, radii)
{
    const double r = radii[_i], C = 2.5, m = 0.3;
    const certreg_bounds bounds = known(M | V, m, C, 0, 0, 0);
    for (int side = -1; side <= 1; side += 2) {
        const certreg_worst_function f = worst(&bounds, 0, r, side);
        for (int i = 0; i < KIT_ROWS(places); i++) {
            const double want = m + side * sqrt(C / expm1(r * r)) * ratio(places[i], r);
            ck_assert_double_eq_tol(function_at(&f, places[i]), want, 1e-13 * (1 + fabs(want)));
        }
        assert_tight(f.bound, sqrt(C * expm1(r * r)), 1e-13);
        ck_assert_double_eq_tol(f.change, f.bound, 1e-12 * f.bound);
        ck_assert_double_eq_tol(f.variance, C, 1e-12 * C);
        ck_assert_double_eq_tol(f.by_variance, 0.5 * f.bound / C, 1e-12 * f.bound);
        ck_assert(f.by_mean == 0 && f.by_gradient == 0);
        ck_assert(f.region_count == 1 && f.regions[0] == CERTREG_REGION_BETWEEN);
        ck_assert(f.range_lo == -INFINITY && f.range_hi == INFINITY);
    }
}

TEST_ROWS(worst_function_by_the_range_alone_is_a_half_space, radii)
{
    const double p = 0.3, q = cr_normal_quantile(1 - p), r = radii[_i];
    const certreg_bounds bounds = known(M | R, p, 0, 0, 0, 1);
    const certreg_worst_function f = worst(&bounds, 0, r, CERTREG_SIDE_UPPER);
    ck_assert(f.region_count == 2 && f.regions[0] == CERTREG_REGION_LO &&
              f.regions[1] == CERTREG_REGION_HI);
    ck_assert_double_eq_tol(f.breakpoints[0], q, 1e-14);
    ck_assert_double_eq(f.by_variance, 0);
    ck_assert_double_eq(function_at(&f, q - 1e-9), 0);
    ck_assert_double_eq(function_at(&f, q + 1e-9), 1);
    ck_assert_double_eq_tol(f.change, cr_normal_cdf(r - q) - p, 1e-13);
    ck_assert_double_eq_tol(f.by_mean, ratio(q, r), 1e-12 * (1 + ratio(q, r)));
}

TEST(worst_function_follows_the_unit)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.25, 0, 1), scaled = bounds;
    scaled.sigma = 0.25;
    scaled.mean_lo = scaled.mean_hi = 300, scaled.variance_hi = 2e5, scaled.range_hi = 1000;
    scaled.gradient_lo = scaled.gradient_hi = 250;
    const certreg_worst_function a = worst(&bounds, 0, 0.5, CERTREG_SIDE_LOWER),
                                 b = worst(&scaled, 0, 0.125, CERTREG_SIDE_LOWER);
    ck_assert_double_eq_tol(b.change, 1000 * a.change, 1e-9);
    ck_assert_double_eq_tol(b.by_variance, a.by_variance / 1000, 1e-9);
    ck_assert_double_eq(b.radius, 0.125);
    for (int i = 0; i < KIT_ROWS(places); i++)
        ck_assert_double_eq_tol(function_at(&b, places[i]), 1000 * function_at(&a, places[i]),
                                1e-6);
}

TEST(worst_function_has_breakpoints_where_it_is_clipped)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.25, 0, 1);
    for (int side = -1; side <= 1; side += 2) {
        const certreg_worst_function f = worst(&bounds, 0, 0.5, side);
        ck_assert_uint_eq(f.region_count, 5);
        for (uint32_t i = 0; i + 1 < f.region_count; i++) {
            const int there = f.regions[i] ? f.regions[i] : f.regions[i + 1];
            ck_assert_int_eq(there, i % 3 ? -side : side); /* a rise is high on the outside */
            ck_assert_double_eq_tol(function_at(&f, f.breakpoints[i]), there > 0 ? 1 : 0, 1e-9);
        }
    }
}

TEST(worst_function_by_the_moment_has_the_greatest_variance)
{
    certreg_bounds bounds = given(M | Q, -1, 2, 0, 0, 0, 0, 0);
    bounds.moment_center = 0.5, bounds.moment_hi = 2;
    const certreg_worst_function f = worst(&bounds, 0, 0.8, CERTREG_SIDE_UPPER);
    ck_assert_double_eq_tol(f.mean, 0.5, 1e-12);
    ck_assert_double_eq_tol(f.variance, 2, 1e-12);
    ck_assert_double_ge(f.change, f.bound * (1 - 1e-12));
}

TEST(worst_function_that_cannot_vary_is_constant)
{
    const certreg_bounds bounds = known(M | V, 3, 0, 0, 0, 0),
                         top = known(M | V | R, 1, 1, 0, 0, 1);
    const certreg_worst_function f = worst(&bounds, 0, 1, CERTREG_SIDE_LOWER),
                                 g = worst(&top, 0, 1, CERTREG_SIDE_UPPER);
    ck_assert(f.region_count == 1 && f.regions[0] == CERTREG_REGION_BETWEEN && f.variance == 0);
    ck_assert(f.change == 0 && f.bound == 0 && function_at(&f, 1.5) == 3);
    ck_assert(g.change == 0 && g.bound == 0 && function_at(&g, -2) == 1);
}

/* ---- limits */
/* Where one end of the range is open and no mean is known, the function is one without a range, and
 * says so. */
TEST(worst_function_does_not_use_a_range_that_bounds_nothing)
{
    const certreg_bounds bounds = given(V | G | R, 0, 0, 1, 0, 0.5, -1, INFINITY),
                         known_mean = given(M | V | G | R, 0, 0, 1, 0, 0.5, -1, INFINITY);
    for (int side = -1; side <= 1; side += 2) {
        const certreg_worst_function f = worst(&bounds, 0, 0.5, side);
        ck_assert_uint_eq(f.constraints, V | G);
        ck_assert(f.range_lo == -INFINITY && f.range_hi == INFINITY);
        ck_assert_uint_eq(worst(&known_mean, 0, 0.5, side).constraints, M | V | G | R);
    }
}

TEST(worst_function_at_extreme_radii)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.25, 0, 1),
                         ratio_only = known(M | V, 0.3, 0.2, 0, 0, 0);
    static const double far[] = {1e-300, 1e-12, 1e-6, 6, 13.9};
    for (int i = 0; i < KIT_ROWS(far); i++) {
        const certreg_worst_function f = worst(&ratio_only, 0, far[i], CERTREG_SIDE_UPPER);
        ck_assert_double_ge(f.change, f.bound * (1 - 1e-9));
        if (far[i] > 6) continue;
        const certreg_worst_function g = worst(&bounds, 0, far[i], CERTREG_SIDE_UPPER);
        ck_assert_double_ge(g.change, g.bound * (1 - 1e-6));
    }
}

TEST(worst_function_values_at_several_places)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.25, 0, 1);
    certreg_worst_function f = worst(&bounds, 0, 0.5, CERTREG_SIDE_LOWER);
    double t[] = {-1, 0.5, NAN, INFINITY, -INFINITY, 2};
    const double first = function_at(&f, -1), last = function_at(&f, 2);
    ck_assert_int_eq(certreg_worst_function_values(&f, 6, t, t), CERTREG_OK);
    ck_assert(t[0] == first && t[5] == last);
    ck_assert(isnan(t[2]) && isnan(t[3]) && isnan(t[4]));
    ck_assert_int_eq(certreg_worst_function_values(&f, 0, NULL, NULL), CERTREG_OK);
    ck_assert_int_eq(certreg_worst_function_values(&f, 1, NULL, t), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_worst_function_values(&f, 1, t, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_worst_function_values(NULL, 1, t, t), CERTREG_E_INVALID);
    for (uint32_t wrong = 0; wrong <= CERTREG_MOST_REGIONS + 1; wrong += CERTREG_MOST_REGIONS + 1) {
        f.region_count = wrong;
        ck_assert_int_eq(certreg_worst_function_values(&f, 1, t, t), CERTREG_E_INVALID);
    }
    f.struct_size = 8;
    ck_assert_int_eq(certreg_worst_function_values(&f, 1, t, t), CERTREG_E_INVALID);
}

/* ---- refusals */
static const struct {
    uint32_t constraints; /* 0: no bounds */
    double mean, variance, gradient, lo, hi, radius;
    int32_t side;
    certreg_status status;
    const char *word;
} refused[] = {
    /* constraints, mean, variance, gradient, lo, hi, radius, side, status, word */
    {ALL, 0.3, 0.2, 0.25, 0, 1, 0.5, 0, CERTREG_E_INVALID, "side is 0"},
    {ALL, 0.3, 0.2, 0.25, 0, 1, 0.5, CERTREG_SIDE_NEAR_UPPER, CERTREG_E_INVALID, "side is 2"},
    {ALL, 0.3, 0.2, 0.25, 0, 1, 0, 1, CERTREG_E_INVALID, "radius is 0"},
    {ALL, 0.3, 0.2, 0.25, 0, 1, -1, 1, CERTREG_E_INVALID, "radius is -1"},
    {ALL, 0.3, 0.2, 0.25, 0, 1, NAN, 1, CERTREG_E_INVALID, "radius is"},
    {ALL, 0.3, 0.2, 0.25, 0, 1, INFINITY, 1, CERTREG_E_INVALID, "radius is inf"},
    {ALL, 0.3, 0.2, 0.25, 0, 1, 27, 1, CERTREG_E_INVALID, "up to 26 sigma"},
    {V, 0, 1, 0, 0, 0, 15, 1, CERTREG_E_INVALID, "up to 14 sigma"},
    {ALL, 0.3, 0.2, 0.6, 0, 1, 0.5, 1, CERTREG_E_INFEASIBLE, "gradient_lo"},
    {M | R, 0.3, 0, 0, -INFINITY, 1, 0.5, 1, CERTREG_E_INVALID, "no function"},
    {M | R, 0.3, 0, 0, -INFINITY, 1, 0.5, -1, CERTREG_E_INVALID, "without a bound"},
    {M | R, 0.3, 0, 0, -INFINITY, INFINITY, 0.5, 1, CERTREG_E_INVALID, "without a bound"},
    {0, 0, 0, 0, 0, 0, 0.5, 1, CERTREG_E_INVALID, "bounds"},
};

TEST_ROWS(worst_function_refuses_what_has_none, refused)
{
    const certreg_bounds of_row = known(refused[_i].constraints, refused[_i].mean,
                                        refused[_i].variance, refused[_i].gradient, refused[_i].lo,
                                        refused[_i].hi);
    const certreg_bounds *b = of_row.constraints ? &of_row : NULL;
    certreg_worst_function out = {.struct_size = sizeof out, .region_count = 3, .change = 1};
    const certreg_status got =
        certreg_solver_worst_function(solver, b, 0, refused[_i].radius, refused[_i].side, &out);
    const certreg_error *why = certreg_solver_error(solver);
    ck_assert_msg(got == refused[_i].status, "status %d: %s", got, why->text);
    KIT_SAYS(why, refused[_i].word);
    ck_assert(out.region_count == 0 && out.change == 0 && out.bound == INFINITY);
    ck_assert_int_eq(
        certreg_solver_worst_function(solver, b, 0, refused[_i].radius, refused[_i].side, NULL),
        CERTREG_E_INVALID);
}

SOLVER_MAIN("worst function")
