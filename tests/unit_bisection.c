/* The largest radius: closed forms, both questions, arrays, limits, and that it is the largest. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/hostile.h"
#include "support/solver_fixture.h"

/* Rounded down, and by no more than the promised 1e-9 (of 1e-5 at least: less is below what
 * doubles near 1 can tell apart). */
static void assert_certified(certreg_radius got, double want)
{
    ck_assert_int_eq(got.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(got.radius <= want * (1 + 1e-13) && got.radius >= want - 1e-9 * fmax(want, 1e-5),
                  "%.17g, want %.17g", got.radius, want);
}

static certreg_bounds probability(double p)
{
    return known(M | R, p, 0, 0, 0, 1);
}

static certreg_radius above_one(certreg_bounds bounds, double threshold)
{
    return above(&bounds, &threshold, 1);
}

/* ---- closed forms */
static const struct {
    double C, tolerance, sigma;
} variances[] = {
    {1, 0.1, 1}, {1, 1e-3, 1}, {1, 50, 0.25}, {2.5, 0.4, 0.5}, {1e-8, 1e-3, 1}, {4e6, 1, 2},
};

TEST_ROWS(bisection_within_by_variance_alone_has_a_closed_form, variances)
{
    const double C = variances[_i].C, tolerance = variances[_i].tolerance;
    certreg_bounds bounds = known(V, 0, C, 0, 0, 0);
    bounds.sigma = variances[_i].sigma;
    assert_certified(within(&bounds, tolerance),
                     bounds.sigma * sqrt(log1p(tolerance * tolerance / C)));
}

TEST_ROWS(bisection_within_of_an_affine_function_is_exact, variances)
{
    const double C = variances[_i].C, tolerance = 0.99 * variances[_i].tolerance;
    certreg_bounds bounds = known(V | G, 0, C, sqrt(C), 0, 0);
    bounds.sigma = variances[_i].sigma;
    const double want = tolerance / sqrt(C) * bounds.sigma, most = 10 * bounds.sigma;
    if (want < most) assert_certified(within(&bounds, tolerance), want);
    else assert_outcome(within(&bounds, tolerance), CERTREG_OUTCOME_CAPPED, most);
}

static const double shares[] = {0.500001, 0.51, 0.6, 0.75, 0.9, 0.99, 0.9999, 1 - 1e-9, 1 - 1e-15};

TEST_ROWS(bisection_above_by_probability_is_neyman_pearson, shares)
{
    const double p = shares[_i], threshold = (1 - p) + 0.2;
    certreg_bounds bounds = probability(p);
    bounds.mean_hi = 1, bounds.sigma = 0.3;
    assert_certified(above_one(bounds, 0.5), 0.3 * cr_normal_quantile(p));
    assert_certified(above_one(probability(0.95), threshold),
                     cr_normal_quantile(0.95) - cr_normal_quantile(threshold));
}

/* 0.25 - 0.6 exp(r^2/2) = -0.5 */
TEST(bisection_above_by_the_moment_alone_has_a_closed_form)
{
    const double threshold = -0.5;
    certreg_bounds bounds = known(Q, 0, 0, 0, 0, 0);
    bounds.moment_center = 0.25, bounds.moment_hi = 0.36;
    assert_certified(above_one(bounds, threshold), sqrt(2 * log(0.75 / 0.6)));
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds, &threshold, 1, V, &out),
                     CERTREG_E_INVALID);
}

static const double means[] = {0.1, 0.3, 0.5, 0.7, 0.9};

TEST_ROWS(bisection_within_is_the_lesser_of_drop_and_rise, means)
{
    const double p = means[_i], drop = cr_normal_quantile(p) - cr_normal_quantile(p - 0.05),
                 rise = cr_normal_quantile(p + 0.05) - cr_normal_quantile(p);
    const certreg_bounds bounds = probability(p);
    const certreg_radius got = within(&bounds, 0.05);
    assert_certified(got, fmin(drop, rise));
    if (fabs(drop - rise) > 1e-6)
        ck_assert_int_eq(got.limiting_side, drop < rise ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER);
}

/* A threshold needs the mean itself, also where the family makes do with the variance. */
TEST(bisection_family_leaves_out_constraints_but_the_mean)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1);
    certreg_radius out = {.struct_size = sizeof out}, more = out;
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, CERTREG_CONSTRAINTS_C, 0.1, &out),
                     CERTREG_OK);
    assert_certified(out, sqrt(log1p(0.01 / 0.2)));
    ck_assert_int_eq(
        certreg_bisection_within(bisection, &bounds, CERTREG_CONSTRAINTS_ECGM, 0.1, &more),
        CERTREG_OK);
    ck_assert_double_gt(more.radius, out.radius);
    ck_assert_int_eq(
        certreg_bisection_above(bisection, &bounds, NULL, 1, CERTREG_CONSTRAINTS_C, &out),
        CERTREG_OK);
    assert_certified(out, sqrt(log1p(0.09 / 0.2)));
}

/* ---- arrays */
TEST(bisection_above_of_several_is_the_least_and_names_it)
{
    const certreg_bounds bounds[4] = {probability(0.9), probability(0.95), probability(0.8),
                                      probability(0.99)};
    const double threshold[4] = {0.5, 0.9, 0.5, 0.5};
    const certreg_radius of_all = above(bounds, threshold, 4),
                         of_two = above(bounds + 2, threshold + 2, 2);
    assert_certified(of_all, cr_normal_quantile(0.95) - cr_normal_quantile(0.9));
    assert_certified(of_two, cr_normal_quantile(0.8));
    ck_assert(of_all.limiting == 1 && of_two.limiting == 0);
}

TEST(bisection_above_has_thresholds_of_zero_by_default)
{
    const certreg_bounds bounds = known(M | R, 0.6, 0, 0, -1, 1);
    assert_certified(above(&bounds, NULL, 1), cr_normal_quantile(0.8));
    ck_assert_double_eq(above(&bounds, NULL, 1).radius, above_one(bounds, 0).radius);
}

TEST(bisection_above_steps_arrays_by_their_first_struct_size)
{
    struct {
        certreg_bounds known;
        double later;
    } bounds[3] = {{probability(0.9), 0}, {probability(0.7), 0}, {probability(0.8), 0}};
    const double threshold[3] = {0.5, 0.5, 0.5};
    bounds[0].known.struct_size = sizeof bounds[0];
    /* only that of the first is read */
    bounds[1].known.struct_size = bounds[2].known.struct_size = 0;
    const certreg_radius got = above(&bounds[0].known, threshold, 3);
    assert_certified(got, cr_normal_quantile(0.7));
    ck_assert_uint_eq(got.limiting, 1);
    certreg_radius out = {.struct_size = sizeof out};
    bounds[1].later = 1;
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds[0].known, threshold, 3, 0, &out),
                     CERTREG_E_VERSION);
    KIT_SAYS(certreg_bisection_error(bisection), "bounds[1]");
}

/* ---- limits */
TEST(bisection_caps_what_cannot_happen)
{
    const certreg_bounds still = known(M | V | R, 0.25, 0, 0, 0, 1),
                         range_alone = probability(0.25), at_end = probability(1),
                         all = given(ALL, 0.25, 0.25, 0.1, 0, 0.2, 0, 1);
    const double below[] = {-1e-12, -1, -INFINITY};
    certreg_bounds coarse = range_alone;
    coarse.sigma = 0.5;
    assert_outcome(within(&coarse, 0.7500001), CERTREG_OUTCOME_CAPPED, 5);
    assert_outcome(within(&all, 0.7500001), CERTREG_OUTCOME_CAPPED, 10);
    assert_outcome(within(&still, 1e-9), CERTREG_OUTCOME_CAPPED, 10);
    assert_outcome(above(&still, NULL, 1), CERTREG_OUTCOME_CAPPED, 10);
    assert_outcome(within(&at_end, 1e-9), CERTREG_OUTCOME_CAPPED, 10);
    for (int i = 0; i < KIT_ROWS(below); i++)
        assert_outcome(above_one(range_alone, below[i]), CERTREG_OUTCOME_CAPPED, 10);
    /* a half-space is above 0 at every radius, until rounding ends it */
    ck_assert_double_gt(above_one(probability(0.75), 0).radius, 5);
}

static const double too_high[] = {0.3, 0.300000001, 2, INFINITY};

TEST_ROWS(bisection_above_abstains_if_the_mean_is_not_above, too_high)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.1, -1, 1);
    assert_outcome(above_one(bounds, too_high[_i]), CERTREG_OUTCOME_ABSTAINED, 0);
    bounds.mean_hi = 0.9; /* the whole box counts */
    assert_outcome(above_one(bounds, too_high[_i]), CERTREG_OUTCOME_ABSTAINED, 0);
}

TEST(bisection_above_abstains_for_one_hopeless_function)
{
    const certreg_bounds bounds[3] = {probability(0.9), probability(0.4), probability(0.9)};
    const double threshold[3] = {0.5, 0.5, 0.5};
    const certreg_radius got = above(bounds, threshold, 3);
    assert_outcome(got, CERTREG_OUTCOME_ABSTAINED, 0);
    ck_assert_uint_eq(got.limiting, 1);
}

TEST(bisection_within_abstains_if_nothing_is_bounded)
{
    static const uint32_t boundless[] = {0, M, G, M | G};
    for (int i = 0; i < KIT_ROWS(boundless); i++) {
        const certreg_bounds bounds = known(boundless[i], 0.3, 0.2, 0.1, -1, 1);
        assert_outcome(within(&bounds, 0.1), CERTREG_OUTCOME_ABSTAINED, 0);
    }
    /* the drop is bounded, the rise is not */
    const certreg_bounds open = known(M | R, 0.3, 0, 0, 0, INFINITY);
    assert_outcome(within(&open, 0.31), CERTREG_OUTCOME_ABSTAINED, 0);
    assert_outcome(above_one(open, -0.1), CERTREG_OUTCOME_CAPPED, 10);
}

TEST_RANGE(bisection_within_a_tiny_tolerance_is_tiny, 4, 12)
{
    const certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    const double tolerance = pow(10, -_i);
    const certreg_radius got = within(&bounds, tolerance);
    ck_assert_int_eq(got.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_double_eq_tol(got.radius, tolerance / 0.15,
                            100 * tolerance * tolerance + 1e-9 * tolerance);
}

/* ---- random: the radius is where the condition ends */
static certreg_bounds random_bounds(dice *d, int row)
{
    const double lo = -dice_between(d, 1, 2), hi = dice_between(d, 1, 2),
                 m = dice_between(d, lo, hi), most = (hi - m) * (m - lo),
                 half = row % 2 ? 0 : dice_between(d, 0, 0.03),
                 C = most * (row % 5 == 2 ? 1.2 : exp(-dice_between(d, 0, 5))),
                 gradient = sqrt(fmin(C, most)) * dice_between(d, 0, 0.7);
    certreg_bounds b = given(row % 7 == 1 ? M | V | R : ALL, fmax(lo, m - half), fmin(hi, m + half),
                             C, row % 3 ? 0 : 0.5 * gradient, gradient, lo,
                             row % 5 == 1 ? INFINITY : hi);
    b.sigma = dice_between(d, 0.1, 1.1);
    return b;
}

/* Both questions about the same bounds; few of them are infeasible. */
TEST(bisection_radius_is_the_largest_for_random_bounds)
{
    int asked = 0;
    for (int row = 0; row < 400; row++) {
        dice d = dice_of(4700000 + (uint64_t)row);
        const certreg_bounds b = random_bounds(&d, row);
        const double room = fmax(1.2, sqrt(b.variance_hi)),
                     tolerance = room * exp(-dice_between(&d, 0, 4)),
                     threshold = b.mean_lo - (b.mean_lo - b.range_lo) * dice_between(&d, 0.01, 0.9),
                     size = fabs(threshold) + (b.mean_lo - threshold);
        certreg_radius got = {.struct_size = sizeof got};
        if (certreg_bisection_within(bisection, &b, 0, tolerance, &got) == CERTREG_E_INFEASIBLE)
            continue;
        const certreg_radius kept = within(&b, tolerance), over = above_one(b, threshold);
        const certreg_mean_change at = shift_of(&b, kept.radius),
                                  beyond = shift_of(&b, kept.radius * (1 + 1e-8));
        const double least = shift_of(&b, over.radius).mean_least,
                     lower = shift_of(&b, over.radius * (1 + 1e-8)).mean_least;
        asked++;
        ck_assert_msg(fmax(at.drop, at.rise) <= tolerance * (1 + 1e-9),
                      "row %d: shifts %.17g %.17g, tolerance %.17g", row, at.drop, at.rise,
                      tolerance);
        if (kept.outcome != CERTREG_OUTCOME_CAPPED)
            ck_assert_msg((kept.limiting_side == CERTREG_SIDE_LOWER ? beyond.drop : beyond.rise) >
                              tolerance,
                          "row %d: %.17g is not the largest radius", row, kept.radius);
        ck_assert_msg(least >= threshold - 1e-9 * size, "row %d: %.17g below %.17g", row, least,
                      threshold);
        if (over.outcome != CERTREG_OUTCOME_CAPPED)
            ck_assert_msg(lower <= threshold, "row %d: %.17g is not the largest radius", row,
                          over.radius);
    }
    ck_assert_int_gt(asked, 300);
}

/* Without a range the bound has a closed form. A tolerance next to the rounding of the mean is left
 * out. */
TEST(bisection_radius_by_the_moment_is_the_largest)
{
    int searched = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        dice d = dice_of(4100000 + seed);
        const hostile h = random_hostile(&d);
        certreg_bounds b = h.bounds;
        b.constraints = M | G | Q | (seed % 2 ? V : 0);
        const double threshold = b.mean_lo - h.tolerance;
        if (h.tolerance < 1e-6 * fabs(b.mean_lo)) continue;
        const certreg_radius got = above(&b, &threshold, 1);
        if (got.outcome != CERTREG_OUTCOME_CERTIFIED) continue;
        searched++;
        ck_assert_msg(shift_of(&b, got.radius * (1 + 1e-8)).mean_least <= threshold,
                      "seed %llu: %.17g is not the largest radius", (unsigned long long)seed,
                      got.radius);
    }
    ck_assert_int_gt(searched, 1000);
}

SOLVER_MAIN("bisection")
