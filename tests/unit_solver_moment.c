/* The second moment about a center: closed forms, families, limits by name, and bad input. */
#include <certreg/solver.h>
#include "support/solver_fixture.h"

static certreg_bounds about(uint32_t constraints)
{
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds),
                            .constraints = constraints,
                            .sigma = 1,
                            .mean_lo = 0.1,
                            .mean_hi = 0.3,
                            .variance_hi = 0.4,
                            .gradient_hi = 0.2,
                            .range_lo = -1,
                            .range_hi = 1.5,
                            .moment_center = 0.25,
                            .moment_hi = 0.36};
}

/* ---- typical */
static const double radii[] = {1e-6, 0.01, 0.3, 1, 2.5, 6};

TEST_ROWS(moment_alone_is_a_ball_of_mean_and_deviation, radii)
{
    const double r = radii[_i], norm = sqrt(expm1(r * r)), root = 0.6;
    const certreg_bounds bounds = about(Q);
    const certreg_mean_change got = shift_of(&bounds, r);
    ck_assert_uint_eq(got.constraints, Q);
    assert_tight(got.rise, root * norm, 1e-13);
    assert_tight(got.drop, root * norm, 1e-13);
    /* 1 + norm^2 = exp(r^2) */
    assert_tight(got.mean_greatest - 0.25, root * exp(0.5 * r * r), 1e-12);
    assert_tight(0.25 - got.mean_least, root * exp(0.5 * r * r), 1e-12);
}

TEST_ROWS(variance_binds_in_the_middle_and_moment_at_the_ends, radii)
{
    const double r = radii[_i], norm = sqrt(expm1(r * r));
    certreg_bounds bounds = about(Q | V);
    bounds.variance_hi = 0.2;
    /* where the two meet, or further out */
    const double both = fmax(sqrt(0.16), 0.6 / sqrt(1 + norm * norm));
    const certreg_mean_change got = shift_of(&bounds, r);
    assert_tight(got.rise, sqrt(0.2) * norm, 1e-13);
    assert_tight(got.mean_greatest - 0.25, both + sqrt(0.36 - both * both) * norm, 1e-12);
}

TEST_ROWS(center_outside_the_box_leaves_what_is_over, radii)
{
    const double r = radii[_i], norm = sqrt(expm1(r * r));
    certreg_bounds bounds = about(Q | M);
    bounds.moment_center = -0.2; /* the mean is at least 0.3 away */
    const certreg_mean_change got = shift_of(&bounds, r);
    assert_tight(got.rise, sqrt(0.36 - 0.09) * norm, 1e-13);
    assert_tight(got.drop, sqrt(0.36 - 0.09) * norm, 1e-13);
}

TEST_ROWS(drop_is_the_rise_of_the_mirror_image, radii)
{
    const certreg_bounds bounds = about(Q | M | G | R);
    certreg_bounds mirror = bounds;
    mirror.mean_lo = -bounds.mean_hi, mirror.mean_hi = -bounds.mean_lo;
    mirror.range_lo = -bounds.range_hi, mirror.range_hi = -bounds.range_lo;
    mirror.moment_center = -bounds.moment_center;
    const certreg_mean_change got = shift_of(&bounds, radii[_i]),
                              other = shift_of(&mirror, radii[_i]);
    ck_assert_double_eq(got.rise, other.drop);
    ck_assert_double_eq(got.drop, other.rise);
    ck_assert_double_eq(got.mean_least, -other.mean_greatest);
}

TEST_ROWS(units_of_the_output_do_not_matter, radii)
{
    const double unit = 1024;
    const certreg_bounds bounds = about(Q | M | G | R);
    certreg_bounds large = bounds;
    large.mean_lo *= unit, large.mean_hi *= unit, large.range_lo *= unit, large.range_hi *= unit;
    large.gradient_hi *= unit, large.moment_center *= unit, large.moment_hi *= unit * unit;
    const certreg_mean_change got = shift_of(&bounds, radii[_i]),
                              other = shift_of(&large, radii[_i]);
    ck_assert_double_eq_tol(other.rise, unit * got.rise, 1e-9 * unit * got.rise);
    ck_assert_double_eq_tol(other.mean_least, unit * got.mean_least, 1e-9 * unit);
}

/* The moment is used where it is named, where nothing is, and where mean and variance are: it
 * bounds the two together. */
TEST(family_uses_the_moment_with_mean_and_variance)
{
    static const struct {
        uint32_t constraints, used;
    } rows[] = {
        {0, M | V | G | R | Q},
        {Q, Q},
        {M | V, M | V | Q},
        {M | V | R, M | V | R | Q},
        {M, M},
        {V, V},
        {V | G, V | G},
        {R | G, R | G},
        {Q | R, Q | R},
        {M | V | G | R, M | V | G | R | Q},
    };
    for (int i = 0; i < KIT_ROWS(rows); i++) {
        const certreg_bounds all = about(M | V | G | R | Q);
        certreg_bounds only = all;
        only.constraints = rows[i].used | M; /* a mean that is given limits the box in every family
                                              */
        const certreg_mean_change got = shift_by(&all, rows[i].constraints, 0.7, 0),
                                  want = shift_of(&only, 0.7);
        ck_assert_uint_eq(got.constraints, rows[i].used);
        if (rows[i].used != M) ck_assert_double_eq(got.rise, want.rise);
    }
}

TEST(threshold_needs_no_other_fact_about_the_mean)
{
    const double threshold = -0.5;
    const certreg_bounds bounds = about(Q);
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds, &threshold, 1, 0, &out),
                     CERTREG_OK);
    ck_assert_int_eq(out.outcome, CERTREG_OUTCOME_CERTIFIED); /* 0.25 - 0.6 exp(r^2/2) = -0.5 */
    ck_assert_double_eq_tol(out.radius, sqrt(2 * log(0.75 / 0.6)), 1e-9);
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds, &threshold, 1, V, &out),
                     CERTREG_E_INVALID);
}

/* ---- limits */
TEST_TIMES(no_moment_means_no_shift, 2)
{
    certreg_bounds bounds = about(_i ? Q | R : Q);
    bounds.moment_hi = 0;
    const certreg_mean_change got = shift_of(&bounds, 2);
    ck_assert_double_eq(got.rise, 0);
    ck_assert_double_eq(got.drop, 0);
    ck_assert_double_eq(got.mean_least, 0.25);
    ck_assert_double_eq(got.mean_greatest, 0.25);
}

/* All of the moment is the square of the distance: what is left of the variance is rounding, and
 * is not taken for nothing. */
TEST_TIMES(mean_at_the_end_that_the_moment_allows_has_hardly_a_variance, 2)
{
    certreg_bounds bounds = about(Q | M | (_i ? (uint32_t)R : 0));
    bounds.mean_lo = bounds.mean_hi = 0.25 + 0.6;
    const certreg_mean_change got = shift_of(&bounds, 1);
    ck_assert(got.rise >= 0 && got.rise < 1e-7 && got.drop >= 0 && got.drop < 1e-7);
}

TEST(moment_beyond_what_the_range_allows_adds_nothing)
{
    certreg_bounds bounds = about(M | R | Q), without = about(M | R);
    bounds.moment_hi = 100;
    ck_assert_double_eq_tol(shift_of(&bounds, 0.8).rise, shift_of(&without, 0.8).rise, 1e-9);
}

TEST_TIMES(radius_zero_moves_nothing, 2)
{
    const certreg_bounds bounds = about(_i ? Q | R : Q);
    const certreg_mean_change got = shift_of(&bounds, 0);
    ck_assert_double_eq(got.rise, 0);
    ck_assert_double_eq(got.drop, 0);
    ck_assert_double_eq_tol(got.mean_greatest, 0.85, 1e-15);
}

TEST(open_range_with_a_moment_is_bounded_on_both_sides)
{
    certreg_bounds bounds = about(Q | R);
    bounds.range_hi = INFINITY;
    const certreg_mean_change got = shift_of(&bounds, 1);
    ck_assert(isfinite(got.rise) && isfinite(got.drop) && got.drop < got.rise);
    ck_assert_double_ge(got.mean_least, -1);
}

TEST(no_mean_within_the_moment_is_infeasible)
{
    certreg_bounds bounds = about(Q | M);
    bounds.moment_hi = 1e-4;
    bounds.mean_lo = 0.27;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "moment_hi");
    bounds = about(Q | R);
    bounds.moment_center = 3;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "moment_hi");
    bounds = about(Q | G);
    bounds.gradient_lo = bounds.gradient_hi = 0.61;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
}

/* ---- bad input */
TEST(bad_field_is_named)
{
    static const struct {
        const char *name;
        size_t offset;
        double value;
    } rows[] = {
        {"moment_center", offsetof(certreg_bounds, moment_center), NAN},
        {"moment_center", offsetof(certreg_bounds, moment_center), INFINITY},
        {"moment_center", offsetof(certreg_bounds, moment_center), -INFINITY},
        {"moment_hi", offsetof(certreg_bounds, moment_hi), NAN},
        {"moment_hi", offsetof(certreg_bounds, moment_hi), -1e-300},
        {"moment_hi", offsetof(certreg_bounds, moment_hi), INFINITY},
    };
    for (int i = 0; i < KIT_ROWS(rows); i++) {
        certreg_bounds bounds = about(Q | M | R);
        memcpy((unsigned char *)&bounds + rows[i].offset, &rows[i].value, sizeof(double));
        expect_status(&bounds, 0, 1, CERTREG_E_INVALID, rows[i].name);
        bounds.constraints = M | R; /* not named, not read */
        ck_assert(shift_of(&bounds, 1).rise > 0);
    }
}

TEST(extreme_numbers_neither_overflow_into_a_bound_nor_vanish)
{
    static const double hi[] = {5e-324, 1e-300, 1e-200, 1e200, 1e300, DBL_MAX},
                        center[] = {0, 1e-160, 1, 1e150, -1e300, DBL_MAX};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            certreg_bounds bounds = about(Q);
            bounds.moment_hi = hi[i], bounds.moment_center = center[j];
            const certreg_mean_change got = shift_of(&bounds, 1);
            ck_assert(got.rise >= sqrt(hi[i]) * sqrt(expm1(1)) * (1 - 1e-15));
            ck_assert(got.mean_greatest >= center[j] + sqrt(hi[i]));
        }
}

FIXTURE(setup, teardown)
TEST_MAIN("solver_moment_unit")
