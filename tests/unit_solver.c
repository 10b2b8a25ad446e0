/* The worst shift: known values, closed forms, families of constraints, symmetry and limits. What
 * holds of random constraints is in prop_solver*.c. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/solver_fixture.h"

/* ---- known values: ref_solve of support/reference_dual.h returns them as primal and as dual */
static const struct {
    double m, C, kappa, r, half, up, down; /* mean, variance, gradient, radius, range, changes */
} known_values[] = {
    {0, 0.07, 0.2, 0.5, 3.14159265358979324, 0.13187827, 0.13187827},
    {2.5, 0.07, 0.15, 0.7, 3.14159265358979324, 0.16034799, 0.18709193},
    {2.9, 0.6, 0.3, 0.5, 3.14159265358979324, 0.12675903, 0.27246951},
    {1, 2, 0.8, 0.4, 3.14159265358979324, 0.39511393, 0.43511337},
    {30, 100, 5, 1, 116, 11.76541581, 12.13015388},
    {30, 100, 5, 2, 116, 39.09198428, 46.7894376},
    {0, 0.9, 0.7, 1.5, 1, 0.85196477, 0.85196477},
};

TEST_ROWS(worst_case_has_known_values_to_their_last_digit, known_values)
{
    const double up = known_values[_i].up, down = known_values[_i].down, last = 0.5e-8,
                 half = known_values[_i].half;
    const certreg_bounds bounds =
        known(ALL, known_values[_i].m, known_values[_i].C, known_values[_i].kappa, -half, half);
    const certreg_mean_change got = shift_of(&bounds, known_values[_i].r);
    ck_assert_double_eq_tol(got.rise, up, last + 1e-8 * up);
    ck_assert_double_eq_tol(got.drop, down, last + 1e-8 * down);
    ck_assert_double_eq_tol(got.mean_greatest, bounds.mean_hi + got.rise, 1e-13);
    ck_assert_double_eq_tol(got.mean_least, bounds.mean_lo - got.drop, 1e-13);
    ck_assert_uint_eq(got.constraints, ALL);
}

/* ---- closed forms */
/* The indicator of a half-space is the worst function for its own constraints, with and without its
 * gradient. */
static const struct {
    double p, r;
} half_spaces[] = {
    {0.5, 1e-4}, {0.5, 0.5}, {0.5, 3},  {0.9, 0.01}, {0.9, 1},      {0.1, 1}, {0.1, 3},
    {0.99, 2},   {0.01, 2},  {1e-6, 1}, {1e-6, 5},   {0.999999, 1}, {0.3, 6},
};

TEST_ROWS(worst_case_of_a_half_space_is_that_of_neyman_and_pearson, half_spaces)
{
    const double p = half_spaces[_i].p, r = half_spaces[_i].r, q = cr_normal_quantile(p),
                 up = cr_normal_cdf(q + r) - p, down = p - cr_normal_cdf(q - r),
                 lost = 8 * DBL_EPSILON * fmax(p, 1 - p); /* of the difference that is wanted */
    static const uint32_t families[] = {M | R, M | R | G, M | V | R, M | V | G | R};
    for (int i = 0; i < KIT_ROWS(families); i++) {
        /* The gradient is at most the half-space's: the exact number would admit nothing if it
         * were rounded up. */
        const certreg_bounds bounds =
            given(families[i], p, p, p * (1 - p), 0, cr_normal_pdf(q), 0, 1);
        const certreg_mean_change got = shift_of(&bounds, r);
        ck_assert_msg(got.rise >= up - lost && got.rise <= up * (1 + 2e-9) + lost,
                      "constraints %u: rise %.17g, want %.17g", families[i], got.rise, up);
        ck_assert_msg(got.drop >= down - lost && got.drop <= down * (1 + 2e-9) + lost,
                      "constraints %u: drop %.17g, want %.17g", families[i], got.drop, down);
    }
}

static const double radii[] = {1e-8, 1e-4, 0.01, 0.3, 1, 3, 6};

/* Norm of the likelihood ratio without its parts of order 0 to `order`. */
static double norm_beyond(int order, double r)
{
    double term = 1, sum = 0;
    for (int j = 1; j < 200; j++) {
        term *= r * r / j;
        if (j > order) sum += term;
    }
    return sqrt(sum);
}

/* The greatest of sqrt(C - k^2) T_1 + r k lies at k = sqrt(C) r / T_0. */
TEST_ROWS(worst_case_without_a_range_has_a_closed_form, radii)
{
    const double r = radii[_i], C = 2.5, all = norm_beyond(0, r), rest = norm_beyond(1, r),
                 best = sqrt(C) * r / all;
    certreg_bounds bounds = known(V, 0, C, 0, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, r);
    assert_tight(got.rise, sqrt(C) * all, 1e-13);
    ck_assert_double_eq(got.rise, got.drop);
    ck_assert_double_eq(got.mean_greatest, INFINITY);         /* where the mean is, nobody said */
    bounds.constraints = V | G, bounds.gradient_hi = sqrt(C); /* does not bind */
    assert_tight(shift_of(&bounds, r).rise, sqrt(C) * all, 1e-13);
    bounds.gradient_hi = 0.5 * best;
    assert_tight(shift_of(&bounds, r).rise, sqrt(C - 0.25 * best * best) * rest + 0.5 * best * r,
                 1e-13);
    bounds.gradient_lo = bounds.gradient_hi = 0.5 * (best + sqrt(C));
    assert_tight(shift_of(&bounds, r).rise,
                 sqrt(fmax(0, C - pow(bounds.gradient_lo, 2))) * rest + bounds.gradient_lo * r,
                 1e-7);
    bounds.gradient_lo = bounds.gradient_hi = sqrt(C), bounds.sigma = 0.5; /* affine */
    assert_tight(shift_of(&bounds, r).rise, sqrt(C) * r / 0.5, 1e-12);
}

TEST_ROWS(worst_case_by_the_moment_alone_has_a_closed_form, radii)
{
    const double r = radii[_i], root = sqrt(0.22);
    const certreg_bounds bounds = of_kinds(Q);
    const certreg_mean_change got = shift_of(&bounds, r);
    assert_tight(got.rise, root * norm_beyond(0, r), 1e-13);
    assert_tight(got.drop, root * norm_beyond(0, r), 1e-13);
    /* 1 + norm^2 = exp(r^2) */
    assert_tight(got.mean_greatest - 0.25, root * exp(0.5 * r * r), 1e-12);
    assert_tight(0.25 - got.mean_least, root * exp(0.5 * r * r), 1e-12);
}

TEST(worst_case_by_the_range_alone_is_a_central_half_space)
{
    const certreg_bounds bounds = known(R, 0, 0, 0, -1, 2);
    const certreg_mean_change tiny = shift_of(&bounds, 0.01), huge = shift_of(&bounds, 20);
    assert_tight(tiny.rise, 3 * (2 * cr_normal_cdf(0.005) - 1), 1e-9);
    ck_assert_double_eq_tol(huge.rise, 3, 1e-12);
    ck_assert_double_eq_tol(huge.drop, 3, 1e-12);
}

TEST(worst_case_of_the_mean_in_a_box_is_tighter_than_its_parts)
{
    const certreg_bounds bounds = given(M | R, -0.5, 0.8, 0, 0, 0, -1, 1),
                         touching = given(M | R, 0.9, 1, 0, 0, 0, -1, 1);
    const certreg_mean_change got = shift_of(&bounds, 1), at_end = shift_of(&touching, 1);
    const double high = cr_normal_quantile(0.9), low = cr_normal_quantile(0.25);
    assert_tight(got.mean_greatest, 2 * cr_normal_cdf(high + 1) - 1, 1e-12);
    ck_assert_double_eq_tol(got.mean_least, 2 * cr_normal_cdf(low - 1) - 1, 1e-12);
    ck_assert(got.mean_greatest < bounds.mean_hi + got.rise - 0.1 &&
              got.mean_least > bounds.mean_lo - got.drop + 0.1);
    assert_tight(at_end.rise, 2 * (cr_normal_cdf(cr_normal_quantile(0.95) + 1) - 0.95), 1e-9);
    ck_assert_double_eq(at_end.mean_greatest, 1);
}

/* At the edge of what is feasible (the infeasible side is in unit_solver_refusals.c). */
TEST(worst_case_of_functions_that_only_just_exist)
{
    const certreg_bounds affine = known(M | V | G, 0, 0.25, 0.5, 0, 0),
                         unbounded = known(ALL, 0, 0.25, 0.5, -INFINITY, INFINITY),
                         half_space = known(M | G | R, 0.6, 0, 0.55992384 * (1 - 1e-6), -1, 1),
                         some_mean = given(M | G | R, 0.5, 0.6, 0, 0.55993, 0.55993, -1, 1),
                         cut = given(ALL, 0, 0, 0.25, 0.1, 0.6, -1, 1);
    assert_tight(shift_of(&affine, 1.5).rise, 0.75, 1e-12);
    assert_tight(shift_of(&unbounded, 1.5).rise, 0.75, 1e-12);
    ck_assert_double_eq_tol(shift_of(&half_space, 1).rise,
                            2 * (cr_normal_cdf(cr_normal_quantile(0.8) + 1) - 0.8), 1e-6);
    ck_assert_double_gt(shift_of(&some_mean, 1).rise, 0);
    ck_assert_double_gt(shift_of(&cut, 1).rise, 0); /* the upper end of the gradient is cut */
}

/* ---- families */
/* But for searches that are not sure of their end. */
TEST_RANGE(worst_case_drop_is_the_rise_of_the_mirror_image, 1, SETS + 1)
{
    static const double shifts[] = {1e-8, 0.01, 0.7, 3};
    const certreg_bounds bounds = of_kinds(kinds_of((uint32_t)_i));
    certreg_bounds mirror = bounds;
    mirror.mean_lo = -bounds.mean_hi, mirror.mean_hi = -bounds.mean_lo;
    mirror.range_lo = -bounds.range_hi, mirror.range_hi = -bounds.range_lo;
    mirror.moment_center = -bounds.moment_center;
    for (int i = 0; i < KIT_ROWS(shifts); i++) {
        const certreg_mean_change got = shift_of(&bounds, shifts[i]);
        const uint32_t unsure = solver_info(solver).loose;
        const certreg_mean_change other = shift_of(&mirror, shifts[i]);
        if (unsure || solver_info(solver).loose) continue;
        ck_assert_double_eq(got.drop, other.rise);
        ck_assert_double_eq(got.rise, other.drop);
        ck_assert_double_eq(got.mean_least, -other.mean_greatest);
    }
}

/* The moment is also used where mean and variance are: it bounds the two together. A mean that is
 * given limits the box in every family. */
TEST_RANGE(worst_case_family_leaves_out_constraints, 1, ALL + 1)
{
    const uint32_t family = (uint32_t)_i, both = M | V;
    for (int moment = 0; moment < 2; moment++) {
        const certreg_bounds all = of_kinds(moment ? ALL | Q : ALL);
        const uint32_t used = family | (moment && (family & both) == both ? (uint32_t)Q : 0);
        certreg_bounds only = all;
        only.constraints = used | M;
        const certreg_mean_change got = shift_by(&all, family, 0.7, 0), want = shift_of(&only, 0.7);
        ck_assert_uint_eq(got.constraints, used);
        ck_assert_double_eq(got.rise, want.rise);
        ck_assert_double_eq(got.drop, want.drop);
    }
    const certreg_bounds every = of_kinds(EVERY_KIND);
    ck_assert_uint_eq(shift_of(&every, 0.7).constraints, EVERY_KIND);
}

/* ---- limits */
TEST_RANGE(worst_case_at_radius_zero_is_zero, 1, SETS + 1)
{
    const uint32_t constraints = kinds_of((uint32_t)_i);
    if (!(constraints & (V | R | Q))) return; /* nothing bounds the function: see below */
    const certreg_bounds bounds = of_kinds(constraints);
    const certreg_mean_change got = shift_of(&bounds, 0);
    ck_assert(got.rise == 0 && got.drop == 0);
    if (constraints & M) ck_assert(got.mean_least == 0.2 && got.mean_greatest == 0.3);
    if (constraints == Q) ck_assert_double_eq_tol(got.mean_greatest, 0.25 + sqrt(0.22), 1e-15);
}

static const uint32_t unvarying[] = {V, M | V, M | V | R, V | G, ALL, Q, Q | R};

TEST_ROWS(worst_case_without_variance_or_moment_is_zero, unvarying)
{
    certreg_bounds bounds = known(unvarying[_i], 0.25, 0, 0, -1, 1);
    bounds.moment_center = 0.25;
    const certreg_mean_change got = shift_of(&bounds, 2);
    ck_assert(got.rise == 0 && got.drop == 0);
    if (unvarying[_i] & Q) ck_assert(got.mean_least == 0.25 && got.mean_greatest == 0.25);
}

TEST_TIMES(worst_case_of_a_mean_at_an_end_of_the_range_is_zero, 2)
{
    const certreg_bounds bounds = known(M | V | R, _i ? 1 : -1, 0.5, 0, -1, 1);
    const certreg_mean_change got = shift_of(&bounds, 3);
    ck_assert(got.rise == 0 && got.drop == 0);
}

/* All of the moment is the square of the distance: what is left of the variance is rounding, and
 * is not taken for nothing. */
TEST_TIMES(worst_case_of_a_mean_at_the_end_of_the_moment_is_tiny, 2)
{
    certreg_bounds bounds = known(Q | M | (_i ? (uint32_t)R : 0), 0.25 + 0.6, 0, 0, -1, 1.5);
    bounds.moment_center = 0.25, bounds.moment_hi = 0.36;
    const certreg_mean_change got = shift_of(&bounds, 1);
    ck_assert(got.rise >= 0 && got.rise < 1e-7 && got.drop >= 0 && got.drop < 1e-7);
}

static const uint32_t boundless[] = {0, M, G, M | G};

TEST_ROWS(worst_case_is_infinite_if_nothing_is_bounded, boundless)
{
    const certreg_bounds bounds = known(boundless[_i], 0.2, 0.5, 0.1, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, 1e-3);
    ck_assert(got.rise == INFINITY && got.drop == INFINITY);
    ck_assert(got.mean_least == -INFINITY && got.mean_greatest == INFINITY);
}

TEST(worst_case_is_infinite_on_the_open_side_of_the_range)
{
    const certreg_bounds above = known(M | R, 0.2, 0, 0, 0, INFINITY),
                         below = known(M | R, 0.2, 0, 0, -INFINITY, 1);
    const certreg_mean_change up = shift_of(&above, 0.5), down = shift_of(&below, 0.5);
    ck_assert(up.rise == INFINITY && up.mean_least >= 0 && down.drop == INFINITY);
    ck_assert_double_eq_tol(up.drop, 0.2, 1e-15);
    ck_assert_double_eq_tol(down.rise, 0.8, 1e-15);
}

static const double far[] = {9, 14, 25.9, 26.1, 1e3, 1e300, INFINITY};

TEST_ROWS(worst_case_at_huge_radii_leaves_the_range, far)
{
    certreg_bounds bounds = given(ALL, 0.1, 0.3, 0.2, 0.15, 0.15, -1, 1.5);
    const certreg_mean_change got = shift_of(&bounds, far[_i]);
    ck_assert(got.rise > 1 && got.rise <= 1.4 * (1 + DBL_EPSILON));
    ck_assert(got.drop > 1 && got.drop <= 1.3 * (1 + DBL_EPSILON));
    ck_assert(got.mean_greatest <= 1.5 && got.mean_least >= -1);
    bounds.constraints = V;
    ck_assert(shift_of(&bounds, far[_i]).rise > 1e15);
}

TEST(worst_case_of_extreme_moments_neither_overflows_nor_vanishes)
{
    static const double hi[] = {5e-324, 1e-300, 1e-200, 1e200, 1e300, DBL_MAX},
                        center[] = {0, 1e-160, 1, 1e150, -1e300, DBL_MAX};
    for (int i = 0; i < KIT_ROWS(hi); i++)
        for (int j = 0; j < KIT_ROWS(center); j++) {
            certreg_bounds bounds = of_kinds(Q);
            bounds.moment_hi = hi[i], bounds.moment_center = center[j];
            const certreg_mean_change got = shift_of(&bounds, 1);
            ck_assert(got.rise >= sqrt(hi[i]) * sqrt(expm1(1)) * (1 - 1e-15));
            ck_assert(got.mean_greatest >= center[j] + sqrt(hi[i]));
        }
}

SOLVER_MAIN("solver")
