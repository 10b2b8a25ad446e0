/* Facts chosen to break the solver: what is given out always covers the function that the facts were taken from, always comes, within the
 * evaluations that the header states, and does not depend on units. Every row is a seed. */
#include "solver/solver.h"
#include "support/hostile.h"
#include "support/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { ALL = 63, ROWS_EACH = 50, BLOCKS = 20 };

static certreg_solver *solver;
static certreg_bisection *bisection;

static void setup(void)
{
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, NULL, 0, &bisection), CERTREG_OK);
}

static void teardown(void)
{
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}

static certreg_shift shift_of(const certreg_bounds *bounds, double r)
{
    certreg_shift out = {.struct_size = sizeof out};
    const certreg_status status = certreg_solver_shift(solver, bounds, 0, r, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status, certreg_solver_error(solver)->text);
    return out;
}

static certreg_radius within(const certreg_bounds *bounds, double tolerance)
{
    certreg_radius out = {.struct_size = sizeof out};
    const certreg_status status = certreg_bisection_within(bisection, bounds, 0, tolerance, &out);
    ck_assert_msg(status == CERTREG_OK, "status %d: %s", status, certreg_bisection_error(bisection)->text);
    return out;
}

static hostile row(uint64_t seed)
{
    dice d = dice_of(900000000 + seed);
    hostile h = random_hostile(&d);
    h.bounds.facts = 1 + (uint32_t)dice_between(&d, 0, ALL - 1e-3);
    return h;
}

START_TEST(no_function_moves_further_than_the_bound_of_its_own_facts)
{
    for (uint64_t seed = (uint64_t)_i * ROWS_EACH; seed < (uint64_t)(_i + 1) * ROWS_EACH; seed++) {
        const hostile h = row(seed);
        const certreg_shift got = shift_of(&h.bounds, h.r);
        ck_assert_msg(h.rise <= got.rise && -h.rise <= got.drop, "seed %llu: moves by %.17Lg, bounds -%.17g and %.17g", (unsigned long long)seed,
                      h.rise, got.drop, got.rise);
        ck_assert(h.tolerance == 0 || within(&h.bounds, h.tolerance).radius >= 0);
    }
}
END_TEST

START_TEST(evaluations_stay_within_the_limits_that_the_header_states)
{
    for (uint64_t seed = (uint64_t)_i * ROWS_EACH; seed < (uint64_t)(_i + 1) * ROWS_EACH; seed++) {
        const hostile h = row(1000000 + seed);
        shift_of(&h.bounds, h.r);
        ck_assert_msg(solver->effort.used <= CERTREG_SHIFT_EVALUATIONS, "seed %llu: %d", (unsigned long long)seed, solver->effort.used);
        if (!(h.tolerance > 0)) continue;
        within(&h.bounds, h.tolerance);
        ck_assert_msg(solver->effort.used <= CERTREG_RADIUS_EVALUATIONS, "seed %llu: %d", (unsigned long long)seed, solver->effort.used);
    }
}
END_TEST

static certreg_bounds scaled(certreg_bounds b, int k)
{
    b.mean_lo = ldexp(b.mean_lo, k), b.mean_hi = ldexp(b.mean_hi, k);
    b.range_lo = ldexp(b.range_lo, k), b.range_hi = ldexp(b.range_hi, k);
    b.gradient_lo = ldexp(b.gradient_lo, k), b.gradient_hi = ldexp(b.gradient_hi, k);
    b.second_order_hi = ldexp(b.second_order_hi, k), b.moment_centre = ldexp(b.moment_centre, k);
    b.variance_hi = ldexp(b.variance_hi, 2 * k), b.moment_hi = ldexp(b.moment_hi, 2 * k);
    return b;
}

START_TEST(unit_of_the_output_does_not_matter_down_to_2_to_the_minus_500)
{
    for (uint32_t facts = 1; facts <= ALL; facts++) {
        const int k = _i ? -500 : 500;
        certreg_bounds b = {.struct_size = sizeof b, .facts = facts, .sigma = 0.75, .mean_lo = 0.25, .mean_hi = 0.375, .variance_hi = 0.2,
                            .gradient_lo = 0.1, .gradient_hi = 0.15, .range_lo = -1, .range_hi = 1.5, .second_order_hi = 0.05,
                            .moment_centre = 0.3, .moment_hi = 0.22};
        const certreg_bounds other = scaled(b, k);
        const certreg_shift want = shift_of(&b, 1), got = shift_of(&other, 1);
        ck_assert_double_eq(got.rise, ldexp(want.rise, k));
        ck_assert_double_eq(got.drop, ldexp(want.drop, k));
        ck_assert_double_eq(within(&other, ldexp(0.25, k)).radius, within(&b, 0.25).radius);
    }
}
END_TEST

/* ---- inputs that once broke it -------------------------------------------------------------------------------------------------------- */
static certreg_bounds given(uint32_t facts, double mean_lo, double mean_hi, double variance, double gradient_lo, double gradient_hi, double lo,
                            double hi)
{
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds), .facts = facts, .sigma = 1, .mean_lo = mean_lo, .mean_hi = mean_hi,
                            .variance_hi = variance, .gradient_lo = gradient_lo, .gradient_hi = gradient_hi, .range_lo = lo, .range_hi = hi};
}

START_TEST(least_variances_that_a_double_holds_are_taken_as_they_are)
{
    const certreg_bounds least = given(CERTREG_VARIANCE, 0, 0, 1e-307, 0, 0, 0, 0), far = given(CERTREG_VARIANCE, 0, 0, 1e-290, 0, 0, 0, 0);
    ck_assert_double_eq_tol(within(&least, 1.685e-154).radius, 0.5, 1e-3);
    ck_assert_double_ge(shift_of(&far, 9).drop, 1e-145 * exp(40.5) * (1 - 1e-12));
}
END_TEST

START_TEST(rounding_of_the_radius_takes_nothing_off_the_bound)
{
    certreg_bounds b = given(CERTREG_VARIANCE, 0, 0, 1638.7059222015382, 0, 0, 0, 0);
    b.sigma = 0.19978451350590259;
    const long double r = 4.728467421933324L / (long double)b.sigma;
    ck_assert((long double)shift_of(&b, 4.728467421933324).rise >= sqrtl((long double)b.variance_hi * expm1l(r * r)));
}
END_TEST

START_TEST(least_radii_give_a_positive_bound)
{
    const certreg_bounds b = given(15, 0.1, 0.1, 0.2, 0.15, 0.15, -1, 1);
    certreg_bounds coarse = b;
    coarse.sigma = 1e300;
    ck_assert_double_gt(shift_of(&coarse, 1e-300).rise, 0);
    ck_assert_double_gt(shift_of(&b, 1e-300).rise, 1.4e-301);
}
END_TEST

START_TEST(gradient_added_does_not_enlarge_the_bound)
{
    const double m = -0.046892412913494864, r = 0.063455700633618509;
    const certreg_bounds all = given(15, m, m, 0.00015672592732602551, 0.0012004993641987463, 1.2004993641987463, -0.047241663060180655, 0.40399393403227613);
    certreg_bounds fewer = all;
    fewer.facts = 11;
    ck_assert_double_le(shift_of(&all, r).rise, shift_of(&fewer, r).rise * (1 + 1e-9));
    ck_assert_double_le(shift_of(&all, r).drop, shift_of(&fewer, r).drop * (1 + 1e-9));
}
END_TEST

START_TEST(feasible_facts_at_the_edge_get_an_answer)
{
    const certreg_bounds end = given(13, -0.97000990550163402, -0.97000983103561056, 0, 4.579677425256509e-11, 4.5796790817065048e-11,
                                     -0.97000983104217109, 0.68898101074825258);
    const certreg_bounds tiny = given(13, 1.0409141636138175, 1.0409141636138179, 0, 0, 8.3613689935725915e-18, -4.7792701476601289, 1.0409141636138177);
    certreg_bounds half = given(47, 0.65558791061610611, INFINITY, 0.015927288195311574, 0.074190203870388521, 0.074190203870388549,
                                -0.070994163397230525, 0.9145633044176209);
    half.moment_centre = 0.9145633044176209, half.moment_hi = 0.082995542789961199;
    shift_of(&end, 1), shift_of(&tiny, 0.12367791422060131), shift_of(&half, 8.9530884393978667);
}
END_TEST

/* A linear programme over functions of one variable gives .01113. */
START_TEST(second_order_counts_with_either_sign)
{
    certreg_bounds b = given(CERTREG_MEAN | CERTREG_RANGE | CERTREG_SECOND_ORDER, 0.9, 0.9, 0, 0, 0, -1, 1);
    b.second_order_hi = 0.02;
    ck_assert_double_eq_tol(shift_of(&b, 0.1).rise, 0.01113, 1e-5);
}
END_TEST

START_TEST(bound_with_the_second_order_grows_through_the_least_radius_of_its_use)
{
    certreg_bounds b = given(CERTREG_MEAN | CERTREG_RANGE | CERTREG_SECOND_ORDER, 0.9, 0.9, 0, 0, 0, -1, 1);
    b.second_order_hi = 0.02;
    double before = 0;
    for (double r = 1e-4; r < 1; r *= 1.1) {
        const double now = shift_of(&b, r).drop;
        ck_assert(now >= before * (1 - 1e-10));
        before = now;
    }
}
END_TEST

static Suite *suite_of(void)
{
    Suite *suite = suite_create("solver_hostile");
    TCase *tests = kit_case(suite, "limits", 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, no_function_moves_further_than_the_bound_of_its_own_facts, 0, BLOCKS);
    tcase_add_loop_test(tests, evaluations_stay_within_the_limits_that_the_header_states, 0, BLOCKS);
    tcase_add_loop_test(tests, unit_of_the_output_does_not_matter_down_to_2_to_the_minus_500, 0, 2);
    tcase_add_test(tests, least_variances_that_a_double_holds_are_taken_as_they_are);
    tcase_add_test(tests, rounding_of_the_radius_takes_nothing_off_the_bound);
    tcase_add_test(tests, least_radii_give_a_positive_bound);
    tcase_add_test(tests, gradient_added_does_not_enlarge_the_bound);
    tcase_add_test(tests, feasible_facts_at_the_edge_get_an_answer);
    tcase_add_test(tests, second_order_counts_with_either_sign);
    tcase_add_test(tests, bound_with_the_second_order_grows_through_the_least_radius_of_its_use);
    return suite;
}

int main(void)
{
    return kit_run(suite_of());
}
