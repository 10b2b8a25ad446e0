/* The largest radius: closed forms, both questions, outcomes, arrays, and bad input. */
#include "statistics/normal.h"
#include "certreg/certreg.h"
#include "certreg/solver.h"
#include "support/solver_fixture.h"
#include "support/suite.h"
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROWS(table) ((int)(sizeof(table) / sizeof(table)[0]))
enum {
    M = CERTREG_CONSTRAINT_MEAN,
    V = CERTREG_CONSTRAINT_VARIANCE,
    G = CERTREG_CONSTRAINT_GRADIENT,
    R = CERTREG_CONSTRAINT_RANGE,
    ALL = M | V | G | R
};

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

static certreg_radius within(const certreg_bounds *bounds, double tolerance)
{
    certreg_radius out = {.struct_size = sizeof out};
    const certreg_status status = certreg_bisection_within(bisection, bounds, 0, tolerance, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    return out;
}

static certreg_radius above(const certreg_bounds *bounds, const double *threshold, size_t count)
{
    certreg_radius out = {.struct_size = sizeof out};
    const certreg_status status =
        certreg_bisection_above(bisection, bounds, threshold, count, 0, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    return out;
}

/* Rounded down, and by no more than the promised 1e-9 (of 1e-5 at least: less is below what doubles
 * near 1 can tell apart). */
static void assert_certified(certreg_radius got, double want)
{
    ck_assert_int_eq(got.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(got.radius <= want * (1 + 1e-13) && got.radius >= want - 1e-9 * fmax(want, 1e-5),
                  "%.17g, want %.17g", got.radius, want);
}

static void assert_outcome(certreg_radius got, int32_t outcome, double radius)
{
    ck_assert_int_eq(got.outcome, outcome);
    ck_assert_double_le(got.radius, radius);
    ck_assert_double_ge(got.radius, radius * (1 - 4 * DBL_EPSILON));
}

/* ---- typical */
static const struct {
    double C, tolerance, sigma;
} closed_rows[] = {
    {1, 0.1, 1}, {1, 1e-3, 1}, {1, 50, 0.25}, {2.5, 0.4, 0.5}, {1e-8, 1e-3, 1}, {4e6, 1, 2},
};

START_TEST(variance_alone_gives_the_papers_closed_radius)
{
    certreg_bounds bounds = known(V, 0, closed_rows[_i].C, 0, 0, 0);
    bounds.sigma = closed_rows[_i].sigma;
    const double share = closed_rows[_i].tolerance * closed_rows[_i].tolerance / closed_rows[_i].C;
    assert_certified(within(&bounds, closed_rows[_i].tolerance), bounds.sigma * sqrt(log1p(share)));
}
END_TEST

START_TEST(affine_function_keeps_its_value_for_tolerance_over_slope)
{
    certreg_bounds bounds = known(V | G, 0, closed_rows[_i].C, sqrt(closed_rows[_i].C), 0, 0);
    bounds.sigma = closed_rows[_i].sigma;
    const double want =
        fmin(10, 0.99 * closed_rows[_i].tolerance / bounds.gradient_hi) * bounds.sigma;
    const certreg_radius got = within(&bounds, 0.99 * closed_rows[_i].tolerance);
    if (want < 10 * bounds.sigma) assert_certified(got, want);
    else assert_outcome(got, CERTREG_OUTCOME_CAPPED, want);
}
END_TEST

static const double shares[] = {0.500001, 0.51, 0.6, 0.75, 0.9, 0.99, 0.9999, 1 - 1e-9, 1 - 1e-15};

START_TEST(probability_alone_gives_the_neyman_pearson_radius)
{
    const double p = shares[_i];
    certreg_bounds bounds = known(M | R, p, 0, 0, 0, 1);
    const double half = 0.5;
    bounds.mean_hi = 1;
    bounds.sigma = 0.3;
    assert_certified(above(&bounds, &half, 1), 0.3 * cr_normal_quantile(p));
}
END_TEST

START_TEST(threshold_moves_the_neyman_pearson_radius_by_its_quantile)
{
    const double p = 0.95, threshold = (1 - shares[_i]) + 0.2;
    const certreg_bounds bounds = known(M | R, p, 0, 0, 0, 1);
    assert_certified(above(&bounds, &threshold, 1),
                     cr_normal_quantile(p) - cr_normal_quantile(threshold));
}
END_TEST

START_TEST(within_is_the_lesser_of_drop_and_rise)
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
END_TEST

START_TEST(several_functions_share_the_least_radius_and_the_binding_one_is_told)
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
END_TEST

START_TEST(thresholds_left_out_are_zero)
{
    const certreg_bounds bounds = known(M | R, 0.6, 0, 0, -1, 1);
    const double zero = 0;
    const certreg_radius got = above(&bounds, NULL, 1);
    assert_certified(got, cr_normal_quantile(0.8));
    ck_assert_double_eq(got.radius, above(&bounds, &zero, 1).radius);
}
END_TEST

START_TEST(array_is_stepped_by_its_first_struct_size)
{
    struct {
        certreg_bounds known;
        double later;
    } bounds[3] = {{known(M | R, 0.9, 0, 0, 0, 1), 0},
                   {known(M | R, 0.7, 0, 0, 0, 1), 0},
                   {known(M | R, 0.8, 0, 0, 0, 1), 0}};
    const double threshold[3] = {0.5, 0.5, 0.5};
    bounds[0].known.struct_size = sizeof bounds[0];
    bounds[1].known.struct_size = bounds[2].known.struct_size = 0; /* only that of the first is read
                                                                    */
    const certreg_radius got = above(&bounds[0].known, threshold, 3);
    assert_certified(got, cr_normal_quantile(0.7));
    ck_assert_uint_eq(got.limiting, 1);
    certreg_radius out = {.struct_size = sizeof out};
    bounds[1].later = 1;
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds[0].known, threshold, 3, 0, &out),
                     CERTREG_E_VERSION);
    ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "bounds[1]"));
}
END_TEST

START_TEST(family_leaves_facts_out)
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
END_TEST

/* A threshold needs the mean itself, also where the family makes do with the variance. */
START_TEST(family_without_the_mean_still_keeps_it_above)
{
    const certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.15, -1, 1);
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(
        certreg_bisection_above(bisection, &bounds, NULL, 1, CERTREG_CONSTRAINTS_C, &out),
        CERTREG_OK);
    assert_certified(out, sqrt(log1p(0.09 / 0.2)));
}
END_TEST

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

static certreg_mean_change shift_at(const certreg_bounds *bounds, double radius)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    const certreg_status status = certreg_solver_worst_case(solver, bounds, 0, radius, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_solver_error(solver)->text);
    return out;
}

START_TEST(tolerance_holds_at_the_radius_and_fails_just_beyond)
{
    const certreg_bounds bounds = random_bounds(_i);
    const double room = fmax(1.2, sqrt(bounds.variance_hi)), tolerance = room * exp(-4 * uniform());
    certreg_radius got = {.struct_size = sizeof got};
    const certreg_status status = certreg_bisection_within(bisection, &bounds, 0, tolerance, &got);
    if (status == CERTREG_E_INFEASIBLE) return;
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status,
                  certreg_bisection_error(bisection)->text);
    const certreg_mean_change at = shift_at(&bounds, got.radius);
    ck_assert_msg(fmax(at.drop, at.rise) <= tolerance * (1 + 1e-9),
                  "shifts %.17g %.17g, tolerance %.17g", at.drop, at.rise, tolerance);
    if (got.outcome == CERTREG_OUTCOME_CAPPED) return;
    const certreg_mean_change beyond = shift_at(&bounds, got.radius * (1 + 1e-8));
    ck_assert_msg(fmax(beyond.drop, beyond.rise) > tolerance, "%.17g is not the largest radius",
                  got.radius);
    ck_assert(got.limiting_side == CERTREG_SIDE_LOWER ? beyond.drop > tolerance
                                                      : beyond.rise > tolerance);
}
END_TEST

START_TEST(mean_stays_above_at_the_radius_and_not_just_beyond)
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
    ck_assert_double_ge(shift_at(&bounds, got.radius).mean_least, threshold - 1e-9 * size);
    if (got.outcome == CERTREG_OUTCOME_CAPPED) return;
    ck_assert_msg(shift_at(&bounds, got.radius * (1 + 1e-8)).mean_least <= threshold,
                  "%.17g is not the largest radius", got.radius);
}
END_TEST

/* ---- limits */
START_TEST(tolerance_beyond_the_range_is_capped)
{
    certreg_bounds bounds = known(M | R, 0.25, 0, 0, 0, 1);
    bounds.sigma = 0.5;
    assert_outcome(within(&bounds, 0.7500001), CERTREG_OUTCOME_CAPPED, 5);
    bounds.constraints = ALL, bounds.variance_hi = 0.1, bounds.gradient_hi = 0.2;
    bounds.gradient_lo = 0;
    assert_outcome(within(&bounds, 0.7500001), CERTREG_OUTCOME_CAPPED, 5);
}
END_TEST

START_TEST(function_that_cannot_vary_is_capped)
{
    certreg_bounds bounds = known(M | V | R, 0.25, 0, 0, 0, 1);
    assert_outcome(within(&bounds, 1e-9), CERTREG_OUTCOME_CAPPED, 10);
    assert_outcome(above(&bounds, NULL, 1), CERTREG_OUTCOME_CAPPED, 10);
    bounds = known(M | R, 1, 0, 0, 0, 1);
    assert_outcome(within(&bounds, 1e-9), CERTREG_OUTCOME_CAPPED, 10);
}
END_TEST

START_TEST(threshold_below_the_range_is_capped)
{
    const certreg_bounds bounds = known(M | R, 0.25, 0, 0, 0, 1);
    const double thresholds[] = {-1e-12, -1, -INFINITY};
    assert_outcome(above(&bounds, thresholds + _i, 1), CERTREG_OUTCOME_CAPPED, 10);
}
END_TEST

START_TEST(threshold_at_the_end_of_the_range_ends_where_rounding_does)
{
    const certreg_bounds bounds = known(M | R, 0.75, 0, 0, 0, 1);
    const certreg_radius got = above(&bounds, NULL, 1); /* the half-space is above 0 at every radius
                                                         */
    ck_assert(got.radius > 5);
}
END_TEST

START_TEST(mean_not_above_its_threshold_abstains)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.1, -1, 1);
    const double thresholds[] = {0.3, 0.300000001, 2, INFINITY};
    assert_outcome(above(&bounds, thresholds + _i, 1), CERTREG_OUTCOME_ABSTAINED, 0);
    bounds.mean_hi = 0.9; /* the whole box counts */
    assert_outcome(above(&bounds, thresholds + _i, 1), CERTREG_OUTCOME_ABSTAINED, 0);
}
END_TEST

START_TEST(one_hopeless_function_makes_all_abstain)
{
    const certreg_bounds bounds[3] = {known(M | R, 0.9, 0, 0, 0, 1), known(M | R, 0.4, 0, 0, 0, 1),
                                      known(M | R, 0.9, 0, 0, 0, 1)};
    const double threshold[3] = {0.5, 0.5, 0.5};
    const certreg_radius got = above(bounds, threshold, 3);
    assert_outcome(got, CERTREG_OUTCOME_ABSTAINED, 0);
    ck_assert_uint_eq(got.limiting, 1);
}
END_TEST

START_TEST(facts_that_bound_nothing_abstain)
{
    static const uint32_t constraints[] = {0, M, G, M | G};
    const certreg_bounds bounds = known(constraints[_i], 0.3, 0.2, 0.1, -1, 1);
    assert_outcome(within(&bounds, 0.1), CERTREG_OUTCOME_ABSTAINED, 0);
}
END_TEST

START_TEST(open_side_of_a_range_without_variance_abstains)
{
    const certreg_bounds bounds = known(M | R, 0.3, 0, 0, 0, INFINITY);
    assert_outcome(within(&bounds, 0.1), CERTREG_OUTCOME_ABSTAINED, 0);
    assert_outcome(within(&bounds, 0.31), CERTREG_OUTCOME_ABSTAINED, 0); /* the drop is bounded, the
                                                                            rise is not */
    assert_outcome(above(&bounds, (double[]){-0.1}, 1), CERTREG_OUTCOME_CAPPED, 10);
}
END_TEST

START_TEST(tiny_tolerance_gives_a_tiny_radius)
{
    const certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    const double tolerance = pow(10, -4 - _i);
    const certreg_radius got = within(&bounds, tolerance);
    ck_assert_int_eq(got.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_double_eq_tol(got.radius, tolerance / 0.15,
                            100 * tolerance * tolerance + 1e-9 * tolerance);
}
END_TEST

START_TEST(infeasible_bounds_are_an_error_and_no_radius)
{
    const certreg_bounds bounds = known(ALL, 0.95, 0.2, 0.4, -1, 1);
    certreg_radius out = {.struct_size = sizeof out, .radius = 1};
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, 0, 0.1, &out),
                     CERTREG_E_INFEASIBLE);
    assert_outcome(out, CERTREG_OUTCOME_ABSTAINED, 0);
    out.radius = 1;
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds, NULL, 1, 0, &out),
                     CERTREG_E_INFEASIBLE);
    assert_outcome(out, CERTREG_OUTCOME_ABSTAINED, 0);
}
END_TEST

START_TEST(handle_lives_in_callers_memory)
{
    _Alignas(64) unsigned char room[4096];
    certreg_bisection *own;
    const size_t size = certreg_bisection_size();
    ck_assert_uint_le(size, sizeof room);
    ck_assert_int_eq(certreg_bisection_create(
                         &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                                   .memory = room,
                                                   .memory_bytes = size - 1},
                         NULL, &own),
                     CERTREG_E_SMALL_MEMORY);
    ck_assert_ptr_null(own);
    ck_assert_int_eq(certreg_bisection_create(
                         &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                                   .memory = room + 8,
                                                   .memory_bytes = size},
                         NULL, &own),
                     CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_create(
                         &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                                   .memory = room,
                                                   .memory_bytes = size},
                         NULL, &own),
                     CERTREG_OK);
    ck_assert_ptr_eq(own, room);
    certreg_bisection_destroy(own);
    certreg_bisection_destroy(NULL);
}
END_TEST

/* ---- bad input */
static void assert_refused(certreg_status got, certreg_status want, const certreg_radius *out,
                           const char *word)
{
    const certreg_error *why = certreg_bisection_error(bisection);
    ck_assert_msg(got == want && why->status == want, "status %d: %s", got, why->text);
    ck_assert_msg(strstr(why->text, word) != NULL, "'%s' does not name %s", why->text, word);
    assert_outcome(*out, CERTREG_OUTCOME_ABSTAINED, 0);
}

START_TEST(bad_tolerance_is_named)
{
    static const double wrong[] = {NAN, 0, -1, INFINITY, -INFINITY};
    const certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    assert_refused(certreg_bisection_within(bisection, &bounds, 0, wrong[_i], &out),
                   CERTREG_E_INVALID, &out, "tolerance");
}
END_TEST

START_TEST(bad_threshold_is_named_with_its_index)
{
    const certreg_bounds bounds[2] = {known(M | R, 0.9, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    assert_refused(certreg_bisection_above(bisection, bounds, (double[]){0.5, NAN}, 2, 0, &out),
                   CERTREG_E_INVALID, &out, "threshold[1]");
}
END_TEST

START_TEST(bad_bounds_are_refused)
{
    certreg_bounds bounds[2] = {known(M | R, 0.9, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    bounds[0].mean_lo = NAN;
    assert_refused(certreg_bisection_within(bisection, bounds, 0, 0.1, &out), CERTREG_E_INVALID,
                   &out, "mean_lo");
    assert_refused(certreg_bisection_above(bisection, bounds, NULL, 2, 0, &out), CERTREG_E_INVALID,
                   &out, "mean_lo");
    assert_refused(certreg_bisection_within(bisection, NULL, 0, 0.1, &out), CERTREG_E_INVALID, &out,
                   "bounds");
    assert_refused(certreg_bisection_above(bisection, NULL, NULL, 1, 0, &out), CERTREG_E_INVALID,
                   &out, "bounds");
    assert_refused(certreg_bisection_above(bisection, bounds + 1, NULL, 0, 0, &out),
                   CERTREG_E_INVALID, &out, "count");
    assert_refused(certreg_bisection_above(bisection, bounds + 1, NULL, 1, 64, &out),
                   CERTREG_E_INVALID, &out, "constraints");
}
END_TEST

/* A later element that is bad is refused even where an earlier one already makes the radius 0. */
START_TEST(bad_element_is_refused_behind_a_hopeless_one)
{
    certreg_bounds bounds[2] = {known(M | R, 0.1, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    const double threshold[2] = {0.5, 0.5};
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    bounds[1].range_hi = NAN;
    assert_refused(certreg_bisection_above(bisection, bounds, threshold, 2, 0, &out),
                   CERTREG_E_INVALID, &out, "range_hi");
}
END_TEST

START_TEST(unlike_sigmas_and_missing_means_are_named)
{
    certreg_bounds bounds[2] = {known(M | R, 0.9, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    bounds[1].sigma = 2;
    assert_refused(certreg_bisection_above(bisection, bounds, NULL, 2, 0, &out), CERTREG_E_INVALID,
                   &out, "bounds[1].sigma");
    bounds[1].sigma = 1;
    bounds[1].constraints = R;
    assert_refused(certreg_bisection_above(bisection, bounds, NULL, 2, 0, &out), CERTREG_E_INVALID,
                   &out, "bounds[1].constraints");
}
END_TEST

START_TEST(output_of_a_wrong_size_is_not_touched)
{
    const certreg_bounds bounds = known(M | R, 0.9, 0, 0, 0, 1);
    certreg_radius out = {.struct_size = 12, .radius = 7};
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, 0, 0.1, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds, NULL, 1, 0, &out),
                     CERTREG_E_INVALID);
    ck_assert_double_eq(out.radius, 7);
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, 0, 0.1, NULL), CERTREG_E_INVALID);
}
END_TEST

START_TEST(no_handle_is_refused)
{
    const certreg_bounds bounds = known(M | R, 0.9, 0, 0, 0, 1);
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_within(NULL, &bounds, 0, 0.1, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_above(NULL, &bounds, NULL, 1, 0, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_null(certreg_bisection_error(NULL));
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
    tcase_add_loop_test(tests, variance_alone_gives_the_papers_closed_radius, 0, ROWS(closed_rows));
    tcase_add_loop_test(tests, affine_function_keeps_its_value_for_tolerance_over_slope, 0,
                        ROWS(closed_rows));
    tcase_add_loop_test(tests, probability_alone_gives_the_neyman_pearson_radius, 0, ROWS(shares));
    tcase_add_loop_test(tests, threshold_moves_the_neyman_pearson_radius_by_its_quantile, 0,
                        ROWS(shares));
    tcase_add_loop_test(tests, within_is_the_lesser_of_drop_and_rise, 0, 5);
    tcase_add_test(tests, several_functions_share_the_least_radius_and_the_binding_one_is_told);
    tcase_add_test(tests, thresholds_left_out_are_zero);
    tcase_add_test(tests, array_is_stepped_by_its_first_struct_size);
    tcase_add_test(tests, family_leaves_facts_out);
    tcase_add_test(tests, family_without_the_mean_still_keeps_it_above);
    tcase_add_loop_test(tests, tolerance_holds_at_the_radius_and_fails_just_beyond, 0, 400);
    tcase_add_loop_test(tests, mean_stays_above_at_the_radius_and_not_just_beyond, 0, 400);
}

static void add_limits(TCase *tests)
{
    tcase_add_test(tests, tolerance_beyond_the_range_is_capped);
    tcase_add_test(tests, function_that_cannot_vary_is_capped);
    tcase_add_loop_test(tests, threshold_below_the_range_is_capped, 0, 3);
    tcase_add_test(tests, threshold_at_the_end_of_the_range_ends_where_rounding_does);
    tcase_add_loop_test(tests, mean_not_above_its_threshold_abstains, 0, 4);
    tcase_add_test(tests, one_hopeless_function_makes_all_abstain);
    tcase_add_loop_test(tests, facts_that_bound_nothing_abstain, 0, 4);
    tcase_add_test(tests, open_side_of_a_range_without_variance_abstains);
    tcase_add_loop_test(tests, tiny_tolerance_gives_a_tiny_radius, 0, 8);
    tcase_add_test(tests, infeasible_bounds_are_an_error_and_no_radius);
    tcase_add_test(tests, handle_lives_in_callers_memory);
}

static void add_bad_input(TCase *tests)
{
    tcase_add_loop_test(tests, bad_tolerance_is_named, 0, 5);
    tcase_add_test(tests, bad_threshold_is_named_with_its_index);
    tcase_add_test(tests, bad_bounds_are_refused);
    tcase_add_test(tests, bad_element_is_refused_behind_a_hopeless_one);
    tcase_add_test(tests, unlike_sigmas_and_missing_means_are_named);
    tcase_add_test(tests, output_of_a_wrong_size_is_not_touched);
    tcase_add_test(tests, no_handle_is_refused);
}

int main(void)
{
    Suite *suite = suite_create("bisection");
    add_typical(add_case(suite, "typical"));
    add_limits(add_case(suite, "limits"));
    add_bad_input(add_case(suite, "bad_input"));
    return kit_run(suite);
}
