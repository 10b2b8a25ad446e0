/* The largest radius at its limits: capped, abstained, tiny; and bad input. */
#include <certreg/solver.h>
#include "support/solver_fixture.h"

/* ---- limits */
TEST(tolerance_beyond_the_range_is_capped)
{
    certreg_bounds bounds = known(M | R, 0.25, 0, 0, 0, 1);
    bounds.sigma = 0.5;
    assert_outcome(within(&bounds, 0.7500001), CERTREG_OUTCOME_CAPPED, 5);
    bounds.constraints = ALL, bounds.variance_hi = 0.1, bounds.gradient_hi = 0.2;
    bounds.gradient_lo = 0;
    assert_outcome(within(&bounds, 0.7500001), CERTREG_OUTCOME_CAPPED, 5);
}

TEST(function_that_cannot_vary_is_capped)
{
    certreg_bounds bounds = known(M | V | R, 0.25, 0, 0, 0, 1);
    assert_outcome(within(&bounds, 1e-9), CERTREG_OUTCOME_CAPPED, 10);
    assert_outcome(above(&bounds, NULL, 1), CERTREG_OUTCOME_CAPPED, 10);
    bounds = known(M | R, 1, 0, 0, 0, 1);
    assert_outcome(within(&bounds, 1e-9), CERTREG_OUTCOME_CAPPED, 10);
}

TEST_TIMES(threshold_below_the_range_is_capped, 3)
{
    const certreg_bounds bounds = known(M | R, 0.25, 0, 0, 0, 1);
    const double thresholds[] = {-1e-12, -1, -INFINITY};
    assert_outcome(above(&bounds, thresholds + _i, 1), CERTREG_OUTCOME_CAPPED, 10);
}

TEST(threshold_at_the_end_of_the_range_ends_where_rounding_does)
{
    const certreg_bounds bounds = known(M | R, 0.75, 0, 0, 0, 1);
    /* the half-space is above 0 at every radius */
    const certreg_radius got = above(&bounds, NULL, 1);
    ck_assert(got.radius > 5);
}

TEST_TIMES(mean_not_above_its_threshold_abstains, 4)
{
    certreg_bounds bounds = known(ALL, 0.3, 0.2, 0.1, -1, 1);
    const double thresholds[] = {0.3, 0.300000001, 2, INFINITY};
    assert_outcome(above(&bounds, thresholds + _i, 1), CERTREG_OUTCOME_ABSTAINED, 0);
    bounds.mean_hi = 0.9; /* the whole box counts */
    assert_outcome(above(&bounds, thresholds + _i, 1), CERTREG_OUTCOME_ABSTAINED, 0);
}

TEST(one_hopeless_function_makes_all_abstain)
{
    const certreg_bounds bounds[3] = {known(M | R, 0.9, 0, 0, 0, 1), known(M | R, 0.4, 0, 0, 0, 1),
                                      known(M | R, 0.9, 0, 0, 0, 1)};
    const double threshold[3] = {0.5, 0.5, 0.5};
    const certreg_radius got = above(bounds, threshold, 3);
    assert_outcome(got, CERTREG_OUTCOME_ABSTAINED, 0);
    ck_assert_uint_eq(got.limiting, 1);
}

TEST_TIMES(facts_that_bound_nothing_abstain, 4)
{
    static const uint32_t constraints[] = {0, M, G, M | G};
    const certreg_bounds bounds = known(constraints[_i], 0.3, 0.2, 0.1, -1, 1);
    assert_outcome(within(&bounds, 0.1), CERTREG_OUTCOME_ABSTAINED, 0);
}

TEST(open_side_of_a_range_without_variance_abstains)
{
    const certreg_bounds bounds = known(M | R, 0.3, 0, 0, 0, INFINITY);
    assert_outcome(within(&bounds, 0.1), CERTREG_OUTCOME_ABSTAINED, 0);
    /* the drop is bounded, the rise is not */
    assert_outcome(within(&bounds, 0.31), CERTREG_OUTCOME_ABSTAINED, 0);
    assert_outcome(above(&bounds, (double[]){-0.1}, 1), CERTREG_OUTCOME_CAPPED, 10);
}

TEST_TIMES(tiny_tolerance_gives_a_tiny_radius, 8)
{
    const certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    const double tolerance = pow(10, -4 - _i);
    const certreg_radius got = within(&bounds, tolerance);
    ck_assert_int_eq(got.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_double_eq_tol(got.radius, tolerance / 0.15,
                            100 * tolerance * tolerance + 1e-9 * tolerance);
}

TEST(infeasible_bounds_are_an_error_and_no_radius)
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

TEST(handle_lives_in_callers_memory)
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

/* ---- bad input */
static void assert_refused(certreg_status got, certreg_status want, const certreg_radius *out,
                           const char *word)
{
    const certreg_error *why = certreg_bisection_error(bisection);
    ck_assert_msg(got == want && why->status == want, "status %d: %s", got, why->text);
    ck_assert_msg(strstr(why->text, word) != NULL, "'%s' does not name %s", why->text, word);
    assert_outcome(*out, CERTREG_OUTCOME_ABSTAINED, 0);
}

TEST_TIMES(bad_tolerance_is_named, 5)
{
    static const double wrong[] = {NAN, 0, -1, INFINITY, -INFINITY};
    const certreg_bounds bounds = known(ALL, 0.1, 0.2, 0.15, -1, 1);
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    assert_refused(certreg_bisection_within(bisection, &bounds, 0, wrong[_i], &out),
                   CERTREG_E_INVALID, &out, "tolerance");
}

TEST(bad_threshold_is_named_with_its_index)
{
    const certreg_bounds bounds[2] = {known(M | R, 0.9, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    assert_refused(certreg_bisection_above(bisection, bounds, (double[]){0.5, NAN}, 2, 0, &out),
                   CERTREG_E_INVALID, &out, "threshold[1]");
}

TEST(bad_bounds_are_refused)
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

/* A later element that is bad is refused even where an earlier one already makes the radius 0. */
TEST(bad_element_is_refused_behind_a_hopeless_one)
{
    certreg_bounds bounds[2] = {known(M | R, 0.1, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    const double threshold[2] = {0.5, 0.5};
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    bounds[1].range_hi = NAN;
    assert_refused(certreg_bisection_above(bisection, bounds, threshold, 2, 0, &out),
                   CERTREG_E_INVALID, &out, "range_hi");
}

TEST(unlike_sigmas_and_missing_means_are_named)
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

TEST(output_of_a_wrong_size_is_not_touched)
{
    const certreg_bounds bounds = known(M | R, 0.9, 0, 0, 0, 1);
    certreg_radius out = {.struct_size = 12, .radius = 7};
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, 0, 0.1, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_above(bisection, &bounds, NULL, 1, 0, &out),
                     CERTREG_E_INVALID);
    ck_assert_double_eq(out.radius, 7);
    ck_assert_int_eq(certreg_bisection_within(bisection, &bounds, 0, 0.1, NULL), CERTREG_E_INVALID);
}

TEST(no_handle_is_refused)
{
    const certreg_bounds bounds = known(M | R, 0.9, 0, 0, 0, 1);
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_within(NULL, &bounds, 0, 0.1, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_above(NULL, &bounds, NULL, 1, 0, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_null(certreg_bisection_error(NULL));
}

FIXTURE(setup, teardown)
TEST_MAIN("bisection limits")
