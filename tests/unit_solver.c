/* The worst shift: known values, closed forms, every limit by name, and bad input. */
#include "statistics/normal.h"
#include "certreg/certreg.h"
#include "certreg/solver.h"
#include "support/suite.h"
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROWS(table) ((int)(sizeof(table) / sizeof(table)[0]))
#define PI 3.14159265358979324
enum {
    M = CERTREG_CONSTRAINT_MEAN,
    V = CERTREG_CONSTRAINT_VARIANCE,
    G = CERTREG_CONSTRAINT_GRADIENT,
    R = CERTREG_CONSTRAINT_RANGE,
    ALL = M | V | G | R
};

static certreg_solver *solver;

static void setup(void)
{
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &solver), CERTREG_OK);
}

static void teardown(void)
{
    certreg_solver_destroy(solver);
}

static certreg_bounds known(uint32_t constraints, double mean, double variance, double gradient,
                            double lo, double hi)
{
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds),
                            .constraints = constraints,
                            .sigma = 1,
                            .mean_lo = mean,
                            .mean_hi = mean,
                            .variance_hi = variance,
                            .gradient_lo = gradient,
                            .gradient_hi = gradient,
                            .range_lo = lo,
                            .range_hi = hi};
}

static certreg_mean_change shift_of(const certreg_bounds *bounds, double radius)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    const certreg_status status = certreg_solver_worst_case(solver, bounds, 0, radius, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_solver_error(solver)->text);
    return out;
}

static void expect_status(const certreg_bounds *bounds, uint32_t constraints, double radius,
                          certreg_status want, const char *word)
{
    certreg_mean_change out = {.struct_size = sizeof out, .drop = 1, .rise = 1};
    const certreg_status got = certreg_solver_worst_case(solver, bounds, constraints, radius, &out);
    const certreg_error *why = certreg_solver_error(solver);
    ck_assert_msg(got == want, "status %d: %s", got, why->text);
    ck_assert_int_eq(why->status, want);
    ck_assert_msg(strstr(why->text, word) != NULL, "'%s' does not name %s", why->text, word);
    ck_assert_double_eq(out.drop, INFINITY); /* nothing proven is infinite */
    ck_assert_double_eq(out.rise, INFINITY);
    ck_assert_double_eq(out.mean_least, -INFINITY);
    ck_assert_double_eq(out.mean_greatest, INFINITY);
}

/* Never below the true value but for its own rounding, and above it by no more than a share. */
static void assert_tight(double got, double want, double share)
{
    ck_assert_msg(got >= want * (1 - 4 * DBL_EPSILON) && got <= want * (1 + share) + DBL_MIN,
                  "%.17g, want %.17g", got, want);
}

static double norm0(double r)
{
    return sqrt(expm1(r * r));
}

static double norm1(double r)
{
    double term = r * r, sum = 0;
    for (int j = 2; j < 60; j++) sum += term *= r * r / j;
    return sqrt(r < 1 ? sum : exp(r * r) - 1 - r * r);
}

/* ---- typical */
static const struct {
    double m, C, kappa, r, half, up, down;
} reference_rows[] = {
    {0, 0.07, 0.2, 0.5, PI, 0.13187827, 0.13187827},
    {2.5, 0.07, 0.15, 0.7, PI, 0.16034799, 0.18709193},
    {2.9, 0.6, 0.3, 0.5, PI, 0.12675903, 0.27246951},
    {1, 2, 0.8, 0.4, PI, 0.39511393, 0.43511337},
    {30, 100, 5, 1, 116, 11.76541581, 12.13015388},
    {30, 100, 5, 2, 116, 39.09198428, 46.7894376},
    {0, 0.9, 0.7, 1.5, 1, 0.85196477, 0.85196477},
};

START_TEST(reference_values_are_met_to_their_last_digit)
{
    const certreg_bounds bounds = known(ALL, reference_rows[_i].m, reference_rows[_i].C,
                                        reference_rows[_i].kappa, -reference_rows[_i].half,
                                        reference_rows[_i].half);
    const certreg_mean_change got = shift_of(&bounds, reference_rows[_i].r);
    const double last = 0.5e-8;
    ck_assert_double_eq_tol(got.rise, reference_rows[_i].up, last + 1e-8 * reference_rows[_i].up);
    ck_assert_double_eq_tol(got.drop, reference_rows[_i].down,
                            last + 1e-8 * reference_rows[_i].down);
    ck_assert_double_eq_tol(got.mean_greatest, bounds.mean_hi + got.rise, 1e-13);
    ck_assert_double_eq_tol(got.mean_least, bounds.mean_lo - got.drop, 1e-13);
    ck_assert_uint_eq(got.constraints, ALL);
}
END_TEST

/* A solver that loses breakpoints finds -13.78 here. */
START_TEST(breakpoints_far_apart_are_not_lost)
{
    const certreg_bounds bounds = known(ALL, -0.896, 0.03, 0.1067, -1, 1);
    ck_assert_double_eq_tol(shift_of(&bounds, 3.82).rise, 1.756, 1e-3);
}
END_TEST

/* The indicator of a half-space is the worst function for its own constraints, with and without its
 * gradient. */
static const struct {
    double p, r;
} half_space_rows[] = {
    {0.5, 1e-4}, {0.5, 0.5}, {0.5, 3},  {0.9, 0.01}, {0.9, 1},      {0.1, 1}, {0.1, 3},
    {0.99, 2},   {0.01, 2},  {1e-6, 1}, {1e-6, 5},   {0.999999, 1}, {0.3, 6},
};

START_TEST(half_space_moves_as_neyman_and_pearson_say)
{
    const double p = half_space_rows[_i].p, r = half_space_rows[_i].r, q = cr_normal_quantile(p);
    const double up = cr_normal_cdf(q + r) - p, down = p - cr_normal_cdf(q - r);
    static const uint32_t families[] = {M | R, M | R | G, M | V | R, M | V | G | R};
    for (int i = 0; i < ROWS(families); i++) {
        /* The gradient is at most the half-space's: the exact number would admit nothing if it were
         * rounded up. */
        certreg_bounds bounds =
            known(families[i], p, p * (1 - p), cr_normal_pdf(q) * (1 - 1e-15), 0, 1);
        bounds.gradient_lo = 0;
        bounds.gradient_hi = cr_normal_pdf(q);
        const certreg_mean_change got = shift_of(&bounds, r);
        const double lost = 8 * DBL_EPSILON * fmax(p, 1 - p); /* of the difference that is wanted */
        ck_assert_msg(got.rise >= up - lost && got.rise <= up * (1 + 2e-9) + lost,
                      "constraints %d: rise %.17g, want %.17g", i, got.rise, up);
        ck_assert_msg(got.drop >= down - lost && got.drop <= down * (1 + 2e-9) + lost,
                      "constraints %d: drop %.17g, want %.17g", i, got.drop, down);
    }
}
END_TEST

static const double radii[] = {1e-8, 1e-4, 0.01, 0.3, 0.7, 1, 1.7, 3, 6};

START_TEST(variance_alone_gives_the_likelihood_ratio_norm)
{
    const certreg_bounds bounds = known(V, 0, 2.5, 0, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, radii[_i]);
    assert_tight(got.rise, sqrt(2.5) * norm0(radii[_i]), 1e-13);
    ck_assert_double_eq(got.rise, got.drop);
    ck_assert_double_eq(got.mean_greatest, INFINITY); /* where the mean is, nobody said */
}
END_TEST

START_TEST(gradient_takes_its_order_out_of_the_variance)
{
    const certreg_bounds bounds = known(V | G, 0, 2.5, 0.4, 0, 0);
    assert_tight(shift_of(&bounds, radii[_i]).rise,
                 sqrt(2.5 - 0.16) * norm1(radii[_i]) + 0.4 * radii[_i], 1e-13);
}
END_TEST

/* The greatest of sqrt(C - k^2) T_1 + r k lies at k = sqrt(C) r / T_0, where the gradient says
 * nothing. */
START_TEST(gradient_interval_is_used_where_it_binds_only)
{
    certreg_bounds bounds = known(V | G, 0, 1, 0, 0, 0);
    const double r = radii[_i], best = r / norm0(r);
    bounds.gradient_hi = 1;
    assert_tight(shift_of(&bounds, r).rise, norm0(r), 1e-13);
    bounds.gradient_hi = 0.5 * best;
    assert_tight(shift_of(&bounds, r).rise,
                 sqrt(1 - 0.25 * best * best) * norm1(r) + 0.5 * best * r, 1e-13);
    bounds.gradient_lo = bounds.gradient_hi = 0.5 * (best + 1);
    assert_tight(shift_of(&bounds, r).rise,
                 sqrt(1 - bounds.gradient_lo * bounds.gradient_lo) * norm1(r) +
                     bounds.gradient_lo * r,
                 1e-7);
}
END_TEST

START_TEST(affine_function_moves_by_its_slope)
{
    certreg_bounds bounds = known(V | G, 0, 2.25, 1.5, 0, 0);
    bounds.sigma = 0.5;
    assert_tight(shift_of(&bounds, radii[_i]).rise, 1.5 * radii[_i] / 0.5, 1e-12);
}
END_TEST

START_TEST(drop_is_the_rise_of_the_mirror_image)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1.5),
                   mirror = known(ALL, -0.3, 0.2, 0.15, -1.5, 1);
    bounds.mean_lo = 0.2, mirror.mean_hi = -0.2, bounds.gradient_lo = mirror.gradient_lo = 0.1;
    const certreg_mean_change got = shift_of(&bounds, radii[_i]),
                              other = shift_of(&mirror, radii[_i]);
    ck_assert_double_eq(got.drop, other.rise);
    ck_assert_double_eq(got.rise, other.drop);
    ck_assert_double_eq(got.mean_least, -other.mean_greatest);
}
END_TEST

START_TEST(units_of_the_output_and_of_the_noise_do_not_matter)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1.5),
                   large = known(ALL, 3e7, 2e15, 1.5e7, -1e8, 1.5e8);
    large.sigma = 4;
    const certreg_mean_change got = shift_of(&bounds, radii[_i]),
                              other = shift_of(&large, 4 * radii[_i]);
    ck_assert_double_eq_tol(other.rise / 1e8, got.rise, 1e-9 * got.rise);
    ck_assert_double_eq_tol(other.drop / 1e8, got.drop, 1e-9 * got.drop);
}
END_TEST

START_TEST(every_further_fact_can_only_tighten)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1.5);
    for (uint32_t constraints = 1; constraints <= ALL; constraints++)
        for (uint32_t constraint = 1; constraint <= R; constraint *= 2) {
            certreg_mean_change few = {.struct_size = sizeof few}, more = few;
            ck_assert_int_eq(
                certreg_solver_worst_case(solver, &bounds, constraints, radii[_i], &few),
                CERTREG_OK);
            ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, constraints | constraint,
                                                       radii[_i], &more),
                             CERTREG_OK);
            ck_assert_msg(more.rise <= few.rise * (1 + 1e-9), "families %u and %u", constraints,
                          constraints | constraint);
            ck_assert_msg(more.drop <= few.drop * (1 + 1e-9), "families %u and %u", constraints,
                          constraints | constraint);
        }
}
END_TEST

START_TEST(family_leaves_out_facts_as_if_they_were_not_there)
{
    const uint32_t constraints = (uint32_t)_i;
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1.5),
                         fewer = known(constraints, 0.3, 0.2, 0.15, -1, 1.5);
    certreg_mean_change got = {.struct_size = sizeof got};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, constraints, 0.8, &got),
                     CERTREG_OK);
    const certreg_mean_change want = shift_of(&fewer, 0.8);
    ck_assert_uint_eq(got.constraints, constraints);
    if (constraints & M) ck_assert_double_eq(got.rise, want.rise);
    if (constraints & M) ck_assert_double_eq(got.drop, want.drop);
    ck_assert(got.rise <= want.rise && got.drop <= want.drop);
}
END_TEST

START_TEST(shifted_mean_over_a_box_is_tighter_than_its_parts)
{
    certreg_bounds bounds = known(M | R, 0.3, 0, 0, -1, 1);
    bounds.mean_lo = -0.5;
    bounds.mean_hi = 0.8;
    const certreg_mean_change got = shift_of(&bounds, 1);
    const double high = cr_normal_quantile(0.9), low = cr_normal_quantile(0.25);
    assert_tight(got.mean_greatest, 2 * cr_normal_cdf(high + 1) - 1, 1e-12);
    ck_assert_double_eq_tol(got.mean_least, 2 * cr_normal_cdf(low - 1) - 1, 1e-12);
    assert_tight(got.rise, 2 * (2 * cr_normal_cdf(0.5) - 1), 1e-9); /* the half-space around the
                                                                       middle moves most */
    ck_assert(got.mean_greatest < bounds.mean_hi + got.rise - 0.1 &&
              got.mean_least > bounds.mean_lo - got.drop + 0.1);
}
END_TEST

/* ---- limits */
START_TEST(no_variance_means_no_shift)
{
    static const uint32_t families[] = {V, M | V, M | V | R, V | G, M | V | G | R};
    const certreg_bounds bounds = known(families[_i], 0.2, 0, 0, -1, 1);
    const certreg_mean_change got = shift_of(&bounds, 2);
    ck_assert_double_eq(got.rise, 0);
    ck_assert_double_eq(got.drop, 0);
}
END_TEST

START_TEST(no_gradient_leaves_the_second_order)
{
    const certreg_bounds wide = known(ALL, 0, 1e-6, 0, -1e6, 1e6),
                         tight = known(ALL, 0, 0.2, 0, -1, 1);
    ck_assert_double_eq_tol(shift_of(&wide, 0.5).rise, 1e-3 * norm1(0.5), 1e-12);
    const double second = shift_of(&tight, 1e-4).rise;
    ck_assert_msg(second > 0 && second < 1e-8, "%g", second);
}
END_TEST

START_TEST(gradient_above_the_deviation_is_infeasible)
{
    certreg_bounds bounds = known(V | G, 0, 0.25, 0.6, -1, 1);
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.constraints = ALL;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "gradient_lo");
    bounds.gradient_lo = 0.1; /* the upper end is cut, not refused */
    ck_assert(shift_of(&bounds, 1).rise > 0);
}
END_TEST

START_TEST(gradient_equal_to_the_deviation_is_affine_and_fits_no_finite_range)
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
END_TEST

START_TEST(correlation_beyond_the_half_spaces_is_infeasible)
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
END_TEST

START_TEST(mean_outside_the_range_is_infeasible)
{
    certreg_bounds bounds = known(M | R, 1.5, 0, 0, -1, 1);
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "range");
    bounds.mean_lo = -3, bounds.mean_hi = -2;
    expect_status(&bounds, 0, 1, CERTREG_E_INFEASIBLE, "range");
}
END_TEST

START_TEST(mean_at_an_end_of_the_range_cannot_move)
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
END_TEST

START_TEST(mean_box_that_only_touches_an_end_can_move)
{
    certreg_bounds bounds = known(M | R, 1, 0, 0, -1, 1);
    bounds.mean_lo = 0.9;
    const certreg_mean_change got = shift_of(&bounds, 1);
    const double q = cr_normal_quantile(0.95);
    assert_tight(got.rise, 2 * (cr_normal_cdf(q + 1) - 0.95), 1e-9);
    assert_tight(got.drop, 2 * (0.95 - cr_normal_cdf(q - 1)), 1e-9);
    ck_assert_double_eq(got.mean_greatest, 1);
}
END_TEST

START_TEST(range_open_on_one_side_is_the_limit_of_wide_ones)
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
END_TEST

START_TEST(range_open_on_one_side_without_variance_is_no_bound_on_that_side)
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
END_TEST

START_TEST(facts_that_bound_nothing_give_an_infinite_shift)
{
    static const uint32_t families[] = {0, M, G, M | G};
    const certreg_bounds bounds = known(families[_i], 0.2, 0.5, 0.1, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, 1e-3);
    ck_assert_double_eq(got.rise, INFINITY);
    ck_assert_double_eq(got.drop, INFINITY);
    ck_assert_double_eq(got.mean_least, -INFINITY);
    ck_assert_double_eq(got.mean_greatest, INFINITY);
}
END_TEST

START_TEST(range_alone_bounds_by_its_span)
{
    const certreg_bounds bounds = known(R, 0, 0, 0, -1, 2);
    const certreg_mean_change tiny = shift_of(&bounds, 0.01), huge = shift_of(&bounds, 20);
    assert_tight(tiny.rise, 3 * (2 * cr_normal_cdf(0.005) - 1), 1e-9); /* the mean may be anywhere
                                                                          within */
    ck_assert_double_eq_tol(huge.rise, 3, 1e-12);
    ck_assert_double_eq_tol(huge.drop, 3, 1e-12);
}
END_TEST

START_TEST(radius_zero_moves_nothing)
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
END_TEST

START_TEST(huge_radius_leaves_the_range)
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
END_TEST

START_TEST(vanishing_radius_moves_by_the_gradient)
{
    certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    for (double r = 1e-4; r > 1e-12; r /= 10)
        ck_assert_double_eq_tol(shift_of(&bounds, r).rise, 0.15 * r, 2 * r * r + 1e-20);
}
END_TEST

START_TEST(handle_lives_in_callers_memory)
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
END_TEST

/* ---- bad input */
#define FIELD(name) #name, offsetof(certreg_bounds, name)
static const struct {
    const char *name;
    size_t offset;
    double value;
} bad_rows[] = {
    {FIELD(sigma), NAN},          {FIELD(sigma), 0},
    {FIELD(sigma), -1},           {FIELD(sigma), INFINITY},
    {FIELD(mean_lo), NAN},        {FIELD(mean_hi), NAN},
    {FIELD(mean_lo), INFINITY},   {FIELD(mean_hi), -INFINITY},
    {FIELD(mean_lo), 0.5},        {FIELD(variance_hi), NAN},
    {FIELD(variance_hi), -1e-9},  {FIELD(variance_hi), INFINITY},
    {FIELD(gradient_lo), NAN},    {FIELD(gradient_lo), -1e-9},
    {FIELD(gradient_lo), 0.3},    {FIELD(gradient_lo), INFINITY},
    {FIELD(gradient_hi), NAN},    {FIELD(gradient_hi), -1},
    {FIELD(gradient_hi), 0.01},   {FIELD(range_lo), NAN},
    {FIELD(range_hi), NAN},       {FIELD(range_lo), 2},
    {FIELD(range_hi), -2},        {FIELD(range_lo), INFINITY},
    {FIELD(range_hi), -INFINITY},
};

static certreg_bounds spoilt(int row)
{
    certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    bounds.gradient_lo = 0.1;
    memcpy((unsigned char *)&bounds + bad_rows[row].offset, &bad_rows[row].value, sizeof(double));
    return bounds;
}

START_TEST(bad_field_is_named)
{
    const certreg_bounds bounds = spoilt(_i);
    expect_status(&bounds, 0, 1, CERTREG_E_INVALID, bad_rows[_i].name);
}
END_TEST

/* Fields of constraints that are not named hold nothing, so nothing can be wrong with them. */
START_TEST(field_of_an_unnamed_fact_is_not_read)
{
    certreg_bounds bounds = known(0, NAN, NAN, NAN, NAN, NAN);
    static const uint32_t constraints[] = {M, V, G, R};
    bounds.constraints = constraints[_i];
    if (bounds.constraints & M) bounds.mean_lo = bounds.mean_hi = 0.2;
    if (bounds.constraints & V) bounds.variance_hi = 1;
    if (bounds.constraints & G) bounds.gradient_lo = bounds.gradient_hi = 0.1;
    if (bounds.constraints & R) bounds.range_lo = 0, bounds.range_hi = 1;
    ck_assert(shift_of(&bounds, 1).rise > 0);
}
END_TEST

START_TEST(bad_radius_is_named)
{
    static const double wrong[] = {NAN, -1e-300, -1, -INFINITY};
    const certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    expect_status(&bounds, 0, wrong[_i], CERTREG_E_INVALID, "radius");
}
END_TEST

START_TEST(unknown_facts_and_families_are_refused)
{
    certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    expect_status(&bounds, 64, 1, CERTREG_E_INVALID, "constraints");
    expect_status(&bounds, 64, 1, CERTREG_E_INVALID, "constraints");
    bounds.constraints |= 64;
    expect_status(&bounds, 0, 1, CERTREG_E_INVALID, "constraints");
}
END_TEST

START_TEST(structs_of_other_versions_are_told_apart)
{
    struct {
        certreg_bounds known;
        double later;
    } newer = {known(ALL, 0.2, 0.5, 0.2, -1, 1.5), 0};
    newer.known.struct_size = sizeof newer;
    ck_assert(shift_of(&newer.known, 1).rise > 0);
    newer.later = 1;
    expect_status(&newer.known, 0, 1, CERTREG_E_VERSION, "bounds");
    newer.known.struct_size = sizeof newer.known - 8;
    expect_status(&newer.known, 0, 1, CERTREG_E_INVALID, "struct_size");
    expect_status(NULL, 0, 1, CERTREG_E_INVALID, "bounds");
}
END_TEST

START_TEST(output_of_a_wrong_size_is_not_touched)
{
    const certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    certreg_mean_change out = {.struct_size = 12, .rise = 7};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, &out), CERTREG_E_INVALID);
    ck_assert_double_eq(out.rise, 7);
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, NULL), CERTREG_E_INVALID);
    struct {
        certreg_mean_change known;
        double later;
    } newer = {{.struct_size = sizeof newer}, 7};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, &newer.known), CERTREG_OK);
    ck_assert_double_eq(newer.later, 0);
    ck_assert_uint_eq(newer.known.struct_size, sizeof newer);
}
END_TEST

START_TEST(no_handle_is_refused)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    const certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    ck_assert_int_eq(certreg_solver_worst_case(NULL, &bounds, 0, 1, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_null(certreg_solver_error(NULL));
}
END_TEST

START_TEST(error_of_the_last_call_is_forgotten)
{
    certreg_bounds bounds = spoilt(0);
    expect_status(&bounds, 0, 1, CERTREG_E_INVALID, "sigma");
    bounds.sigma = 1;
    shift_of(&bounds, 1);
    ck_assert_int_eq(certreg_solver_error(solver)->status, CERTREG_OK);
}
END_TEST

/* ---- all */
static TCase *add_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, 20);
    tcase_add_checked_fixture(tests, setup, teardown);
    suite_add_tcase(suite, tests);
    return tests;
}

static void add_typical(TCase *tests)
{
    tcase_add_loop_test(tests, reference_values_are_met_to_their_last_digit, 0,
                        ROWS(reference_rows));
    tcase_add_test(tests, breakpoints_far_apart_are_not_lost);
    tcase_add_loop_test(tests, half_space_moves_as_neyman_and_pearson_say, 0,
                        ROWS(half_space_rows));
    tcase_add_loop_test(tests, variance_alone_gives_the_likelihood_ratio_norm, 0, ROWS(radii));
    tcase_add_loop_test(tests, gradient_takes_its_order_out_of_the_variance, 0, ROWS(radii));
    tcase_add_loop_test(tests, gradient_interval_is_used_where_it_binds_only, 0, ROWS(radii));
    tcase_add_loop_test(tests, affine_function_moves_by_its_slope, 0, ROWS(radii));
    tcase_add_loop_test(tests, drop_is_the_rise_of_the_mirror_image, 0, ROWS(radii));
    tcase_add_loop_test(tests, units_of_the_output_and_of_the_noise_do_not_matter, 0, ROWS(radii));
    tcase_add_loop_test(tests, every_further_fact_can_only_tighten, 0, ROWS(radii));
    tcase_add_loop_test(tests, family_leaves_out_facts_as_if_they_were_not_there, 1, ALL + 1);
    tcase_add_test(tests, shifted_mean_over_a_box_is_tighter_than_its_parts);
}

static void add_limits(TCase *tests)
{
    tcase_add_loop_test(tests, no_variance_means_no_shift, 0, 5);
    tcase_add_test(tests, no_gradient_leaves_the_second_order);
    tcase_add_test(tests, gradient_above_the_deviation_is_infeasible);
    tcase_add_test(tests, gradient_equal_to_the_deviation_is_affine_and_fits_no_finite_range);
    tcase_add_test(tests, correlation_beyond_the_half_spaces_is_infeasible);
    tcase_add_test(tests, mean_outside_the_range_is_infeasible);
    tcase_add_loop_test(tests, mean_at_an_end_of_the_range_cannot_move, 0, 2);
    tcase_add_test(tests, mean_box_that_only_touches_an_end_can_move);
    tcase_add_loop_test(tests, range_open_on_one_side_is_the_limit_of_wide_ones, 0, 4);
    tcase_add_test(tests, range_open_on_one_side_without_variance_is_no_bound_on_that_side);
    tcase_add_loop_test(tests, facts_that_bound_nothing_give_an_infinite_shift, 0, 4);
    tcase_add_test(tests, range_alone_bounds_by_its_span);
    tcase_add_loop_test(tests, radius_zero_moves_nothing, 0, ALL + 1);
    tcase_add_loop_test(tests, huge_radius_leaves_the_range, 0, 7);
    tcase_add_test(tests, vanishing_radius_moves_by_the_gradient);
    tcase_add_test(tests, handle_lives_in_callers_memory);
}

static void add_bad_input(TCase *tests)
{
    tcase_add_loop_test(tests, bad_field_is_named, 0, ROWS(bad_rows));
    tcase_add_loop_test(tests, field_of_an_unnamed_fact_is_not_read, 0, 4);
    tcase_add_loop_test(tests, bad_radius_is_named, 0, 4);
    tcase_add_test(tests, unknown_facts_and_families_are_refused);
    tcase_add_test(tests, structs_of_other_versions_are_told_apart);
    tcase_add_test(tests, output_of_a_wrong_size_is_not_touched);
    tcase_add_test(tests, no_handle_is_refused);
    tcase_add_test(tests, error_of_the_last_call_is_forgotten);
}

int main(void)
{
    Suite *suite = suite_create("solver");
    add_typical(add_case(suite, "typical"));
    add_limits(add_case(suite, "limits"));
    add_bad_input(add_case(suite, "bad_input"));
    return kit_run(suite);
}
