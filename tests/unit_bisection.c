/* The largest radius: closed forms, both questions, arrays, and that it is the largest. */
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

/* ---- typical */
static const struct {
    double C, tolerance, sigma;
} closed_rows[] = {
    {1, 0.1, 1}, {1, 1e-3, 1}, {1, 50, 0.25}, {2.5, 0.4, 0.5}, {1e-8, 1e-3, 1}, {4e6, 1, 2},
};

TEST_ROWS(variance_alone_gives_the_papers_closed_radius, closed_rows)
{
    certreg_bounds bounds = known(V, 0, closed_rows[_i].C, 0, 0, 0);
    bounds.sigma = closed_rows[_i].sigma;
    const double share = closed_rows[_i].tolerance * closed_rows[_i].tolerance / closed_rows[_i].C;
    assert_certified(within(&bounds, closed_rows[_i].tolerance), bounds.sigma * sqrt(log1p(share)));
}

TEST_ROWS(affine_function_keeps_its_value_for_tolerance_over_slope, closed_rows)
{
    certreg_bounds bounds = known(V | G, 0, closed_rows[_i].C, sqrt(closed_rows[_i].C), 0, 0);
    bounds.sigma = closed_rows[_i].sigma;
    const double want =
        fmin(10, 0.99 * closed_rows[_i].tolerance / bounds.gradient_hi) * bounds.sigma;
    const certreg_radius got = within(&bounds, 0.99 * closed_rows[_i].tolerance);
    if (want < 10 * bounds.sigma) assert_certified(got, want);
    else assert_outcome(got, CERTREG_OUTCOME_CAPPED, want);
}

static const double shares[] = {0.500001, 0.51, 0.6, 0.75, 0.9, 0.99, 0.9999, 1 - 1e-9, 1 - 1e-15};

TEST_ROWS(probability_alone_gives_the_neyman_pearson_radius, shares)
{
    const double p = shares[_i];
    certreg_bounds bounds = known(M | R, p, 0, 0, 0, 1);
    const double half = 0.5;
    bounds.mean_hi = 1;
    bounds.sigma = 0.3;
    assert_certified(above(&bounds, &half, 1), 0.3 * cr_normal_quantile(p));
}

TEST_ROWS(threshold_moves_the_neyman_pearson_radius_by_its_quantile, shares)
{
    const double p = 0.95, threshold = (1 - shares[_i]) + 0.2;
    const certreg_bounds bounds = known(M | R, p, 0, 0, 0, 1);
    assert_certified(above(&bounds, &threshold, 1),
                     cr_normal_quantile(p) - cr_normal_quantile(threshold));
}

TEST_TIMES(within_is_the_lesser_of_drop_and_rise, 5)
{
    static const double means[] = {0.1, 0.3, 0.5, 0.7, 0.9};
    const double p = means[_i], tolerance = 0.05;
    const certreg_bounds bounds = known(M | R, p, 0, 0, 0, 1);
    const double drop = cr_normal_quantile(p) - cr_normal_quantile(p - tolerance);
    const double rise = cr_normal_quantile(p + tolerance) - cr_normal_quantile(p);
    const certreg_radius got = within(&bounds, tolerance);
    assert_certified(got, fmin(drop, rise));
    if (fabs(drop - rise) > 1e-6)
        ck_assert_int_eq(got.limiting_side, drop < rise ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER);
}

TEST(several_functions_share_the_least_radius_and_the_binding_one_is_told)
{
    certreg_bounds bounds[4];
    static const double means[4] = {0.9, 0.95, 0.8, 0.99};
    const double threshold[4] = {0.5, 0.9, 0.5, 0.5};
    for (int i = 0; i < 4; i++) bounds[i] = known(M | R, means[i], 0, 0, 0, 1);
    certreg_radius got = above(bounds, threshold, 4);
    assert_certified(got, cr_normal_quantile(0.95) - cr_normal_quantile(0.9));
    ck_assert_uint_eq(got.limiting, 1);
    got = above(bounds + 2, threshold + 2, 2);
    assert_certified(got, cr_normal_quantile(0.8));
    ck_assert_uint_eq(got.limiting, 0);
}

TEST(thresholds_left_out_are_zero)
{
    const certreg_bounds bounds = known(M | R, 0.6, 0, 0, -1, 1);
    const double zero = 0;
    const certreg_radius got = above(&bounds, NULL, 1);
    assert_certified(got, cr_normal_quantile(0.8));
    ck_assert_double_eq(got.radius, above(&bounds, &zero, 1).radius);
}

TEST(array_is_stepped_by_its_first_struct_size)
{
    struct {
        certreg_bounds known;
        double later;
    } bounds[3] = {{known(M | R, 0.9, 0, 0, 0, 1), 0},
                   {known(M | R, 0.7, 0, 0, 0, 1), 0},
                   {known(M | R, 0.8, 0, 0, 0, 1), 0}};
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

TEST(family_leaves_facts_out)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1);
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, CERTREG_CONSTRAINTS_C, 0.1, &out),
                     CERTREG_OK);
    assert_certified(out, sqrt(log1p(0.01 / 0.2)));
    const double least = out.radius;
    ck_assert_int_eq(
        certreg_bisection_within(bisection, &bounds, CERTREG_CONSTRAINTS_ECGM, 0.1, &out),
        CERTREG_OK);
    ck_assert(out.radius > least);
}

/* A threshold needs the mean itself, also where the family makes do with the variance. */
TEST(family_without_the_mean_still_keeps_it_above)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1);
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(
        certreg_bisection_above(bisection, &bounds, NULL, 1, CERTREG_CONSTRAINTS_C, &out),
        CERTREG_OK);
    assert_certified(out, sqrt(log1p(0.09 / 0.2)));
}

/* ---- random: the radius is where the condition ends */
static uint64_t random_state;

static double uniform(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t x = random_state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static certreg_bounds random_bounds(int row)
{
    random_state = (uint64_t)row * 0x5851f42d4c957f2du;
    const double lo = -1 - uniform(), hi = 1 + uniform(), m = lo + (hi - lo) * uniform();
    const double most = (hi - m) * (m - lo),
                 C = most * (uniform() < 0.2 ? 1.2 : exp(-5 * uniform()));
    certreg_bounds bounds = known(ALL, m, C, 0, lo, hi);
    bounds.gradient_hi = sqrt(fmin(C, most)) * 0.7 * uniform();
    bounds.gradient_lo = row % 3 ? 0 : 0.5 * bounds.gradient_hi;
    bounds.sigma = 0.1 + uniform();
    const double half = row % 2 ? 0 : 0.03 * uniform();
    bounds.mean_lo = fmax(lo, m - half);
    bounds.mean_hi = fmin(hi, m + half);
    if (row % 5 == 1) bounds.range_hi = INFINITY;
    if (row % 7 == 1) bounds.constraints &= ~(uint32_t)G;
    return bounds;
}

TEST_TIMES(tolerance_holds_at_the_radius_and_fails_just_beyond, 400)
{
    const certreg_bounds bounds = random_bounds(_i);
    const double room = fmax(1.2, sqrt(bounds.variance_hi)), tolerance = room * exp(-4 * uniform());
    certreg_radius got = {.struct_size = sizeof got};
    const certreg_status status = certreg_bisection_within(bisection, &bounds, 0, tolerance, &got);
    if (status == CERTREG_E_INFEASIBLE) return;
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    const certreg_mean_change at = shift_of(&bounds, got.radius);
    ck_assert_msg(fmax(at.drop, at.rise) <= tolerance * (1 + 1e-9),
                  "shifts %.17g %.17g, tolerance %.17g", at.drop, at.rise, tolerance);
    if (got.outcome == CERTREG_OUTCOME_CAPPED) return;
    const certreg_mean_change beyond = shift_of(&bounds, got.radius * (1 + 1e-8));
    ck_assert_msg(fmax(beyond.drop, beyond.rise) > tolerance, "%.17g is not the largest radius",
                  got.radius);
    ck_assert(got.limiting_side == CERTREG_SIDE_LOWER ? beyond.drop > tolerance
                                                      : beyond.rise > tolerance);
}

TEST_TIMES(mean_stays_above_at_the_radius_and_not_just_beyond, 400)
{
    const certreg_bounds bounds = random_bounds(_i);
    const double threshold =
        bounds.mean_lo - (bounds.mean_lo - bounds.range_lo) * (0.01 + 0.9 * uniform());
    certreg_radius got = {.struct_size = sizeof got};
    const certreg_status status =
        certreg_bisection_above(bisection, &bounds, &threshold, 1, 0, &got);
    if (status == CERTREG_E_INFEASIBLE) return;
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    const double size = fabs(threshold) + (bounds.mean_lo - threshold);
    ck_assert_double_ge(shift_of(&bounds, got.radius).mean_least, threshold - 1e-9 * size);
    if (got.outcome == CERTREG_OUTCOME_CAPPED) return;
    ck_assert_msg(shift_of(&bounds, got.radius * (1 + 1e-8)).mean_least <= threshold,
                  "%.17g is not the largest radius", got.radius);
}

/* Without a range the bound has a closed form, and which of its forms is the least depends on the
 * radius. A tolerance next to the rounding of the mean is left out. */
TEST(radius_by_moment_and_second_order_is_the_largest)
{
    int searched = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        dice d = dice_of(4100000 + seed);
        const hostile h = random_hostile(&d);
        certreg_bounds b = h.bounds;
        b.constraints = M | G | H | Q | (seed % 2 ? V : 0);
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

FIXTURE(setup, teardown)
TEST_MAIN("bisection")
