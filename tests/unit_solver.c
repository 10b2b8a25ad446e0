/* The worst shift: known values, closed forms, and what it does not depend on. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/solver_fixture.h"

static const double pi = 3.14159265358979324;

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
    {0, 0.07, 0.2, 0.5, pi, 0.13187827, 0.13187827},
    {2.5, 0.07, 0.15, 0.7, pi, 0.16034799, 0.18709193},
    {2.9, 0.6, 0.3, 0.5, pi, 0.12675903, 0.27246951},
    {1, 2, 0.8, 0.4, pi, 0.39511393, 0.43511337},
    {30, 100, 5, 1, 116, 11.76541581, 12.13015388},
    {30, 100, 5, 2, 116, 39.09198428, 46.7894376},
    {0, 0.9, 0.7, 1.5, 1, 0.85196477, 0.85196477},
};

TEST_ROWS(reference_values_are_met_to_their_last_digit, reference_rows)
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

/* A solver that loses breakpoints finds -13.78 here. */
TEST(breakpoints_far_apart_are_not_lost)
{
    const certreg_bounds bounds = known(ALL, -0.896, 0.03, 0.1067, -1, 1);
    ck_assert_double_eq_tol(shift_of(&bounds, 3.82).rise, 1.756, 1e-3);
}

/* The indicator of a half-space is the worst function for its own constraints, with and without its
 * gradient. */
static const struct {
    double p, r;
} half_space_rows[] = {
    {0.5, 1e-4}, {0.5, 0.5}, {0.5, 3},  {0.9, 0.01}, {0.9, 1},      {0.1, 1}, {0.1, 3},
    {0.99, 2},   {0.01, 2},  {1e-6, 1}, {1e-6, 5},   {0.999999, 1}, {0.3, 6},
};

TEST_ROWS(half_space_moves_as_neyman_and_pearson_say, half_space_rows)
{
    const double p = half_space_rows[_i].p, r = half_space_rows[_i].r, q = cr_normal_quantile(p);
    const double up = cr_normal_cdf(q + r) - p, down = p - cr_normal_cdf(q - r);
    static const uint32_t families[] = {M | R, M | R | G, M | V | R, M | V | G | R};
    for (int i = 0; i < KIT_ROWS(families); i++) {
        /* The gradient is at most the half-space's: the exact number would admit nothing if it
         * were rounded up. */
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

static const double radii[] = {1e-8, 1e-4, 0.01, 0.3, 0.7, 1, 1.7, 3, 6};

TEST_ROWS(variance_alone_gives_the_likelihood_ratio_norm, radii)
{
    const certreg_bounds bounds = known(V, 0, 2.5, 0, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, radii[_i]);
    assert_tight(got.rise, sqrt(2.5) * norm0(radii[_i]), 1e-13);
    ck_assert_double_eq(got.rise, got.drop);
    ck_assert_double_eq(got.mean_greatest, INFINITY); /* where the mean is, nobody said */
}

TEST_ROWS(gradient_takes_its_order_out_of_the_variance, radii)
{
    const certreg_bounds bounds = known(V | G, 0, 2.5, 0.4, 0, 0);
    assert_tight(shift_of(&bounds, radii[_i]).rise,
                 sqrt(2.5 - 0.16) * norm1(radii[_i]) + 0.4 * radii[_i], 1e-13);
}

/* The greatest of sqrt(C - k^2) T_1 + r k lies at k = sqrt(C) r / T_0, where the gradient says
 * nothing. */
TEST_ROWS(gradient_interval_is_used_where_it_binds_only, radii)
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

TEST_ROWS(affine_function_moves_by_its_slope, radii)
{
    certreg_bounds bounds = known(V | G, 0, 2.25, 1.5, 0, 0);
    bounds.sigma = 0.5;
    assert_tight(shift_of(&bounds, radii[_i]).rise, 1.5 * radii[_i] / 0.5, 1e-12);
}

TEST_ROWS(drop_is_the_rise_of_the_mirror_image, radii)
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

TEST_ROWS(units_of_the_output_and_of_the_noise_do_not_matter, radii)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1.5),
                   large = known(ALL, 3e7, 2e15, 1.5e7, -1e8, 1.5e8);
    large.sigma = 4;
    const certreg_mean_change got = shift_of(&bounds, radii[_i]),
                              other = shift_of(&large, 4 * radii[_i]);
    ck_assert_double_eq_tol(other.rise / 1e8, got.rise, 1e-9 * got.rise);
    ck_assert_double_eq_tol(other.drop / 1e8, got.drop, 1e-9 * got.drop);
}

TEST_ROWS(every_further_fact_can_only_tighten, radii)
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

TEST_RANGE(family_leaves_out_facts_as_if_they_were_not_there, 1, ALL + 1)
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

TEST(shifted_mean_over_a_box_is_tighter_than_its_parts)
{
    certreg_bounds bounds = known(M | R, 0.3, 0, 0, -1, 1);
    bounds.mean_lo = -0.5;
    bounds.mean_hi = 0.8;
    const certreg_mean_change got = shift_of(&bounds, 1);
    const double high = cr_normal_quantile(0.9), low = cr_normal_quantile(0.25);
    assert_tight(got.mean_greatest, 2 * cr_normal_cdf(high + 1) - 1, 1e-12);
    ck_assert_double_eq_tol(got.mean_least, 2 * cr_normal_cdf(low - 1) - 1, 1e-12);
    /* the half-space around the middle moves most */
    assert_tight(got.rise, 2 * (2 * cr_normal_cdf(0.5) - 1), 1e-9);
    ck_assert(got.mean_greatest < bounds.mean_hi + got.rise - 0.1 &&
              got.mean_least > bounds.mean_lo - got.drop + 0.1);
}

TEST(no_gradient_leaves_the_second_order)
{
    const certreg_bounds wide = known(ALL, 0, 1e-6, 0, -1e6, 1e6),
                         tight = known(ALL, 0, 0.2, 0, -1, 1);
    ck_assert_double_eq_tol(shift_of(&wide, 0.5).rise, 1e-3 * norm1(0.5), 1e-12);
    const double second = shift_of(&tight, 1e-4).rise;
    ck_assert_msg(second > 0 && second < 1e-8, "%g", second);
}

FIXTURE(setup, teardown)
TEST_MAIN("solver")
