/* What the plans of the solver and of the bisection set: accuracy, cap, memory; and bad plans. */
#include <certreg/solver.h>
#include "support/solver_plans.h"
#include "support/suite.h"

/* ---- accuracy and cap */
/* One search may find such a radius where another finds none. */
#define NEXT_TO_NOTHING 1e-12

static const double accuracies[] = {1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.5};

static certreg_bounds any_bounds(uint64_t seed, double *tolerance)
{
    const hostile h = row(seed);
    dice d = dice_of(seed);
    const ref_problem p = random_problem(&d);
    *tolerance = seed % 2 ? sqrt(p.variance) * exp(dice_between(&d, -4, 1)) : h.tolerance;
    return seed % 2 ? problem_bounds(&p) : h.bounds;
}

TEST_ROWS(radius_is_within_its_accuracy_of_the_largest_and_never_above, accuracies)
{
    certreg_bisection *coarse = with((certreg_bisection_plan){.accuracy = accuracies[_i]});
    for (uint64_t seed = 0; seed < 200; seed++) {
        double tolerance;
        const certreg_bounds b = any_bounds(seed, &tolerance);
        const double want = radius_of(bisection, &b, tolerance).radius;
        if (bisection_info(bisection).loose) continue;
        const double got = radius_of(coarse, &b, tolerance).radius;
        ck_assert_msg(got <= want * (1 + 1e-9) + NEXT_TO_NOTHING &&
                          got >= want * (1 - accuracies[_i]),
                      "seed %llu: %.17g of %.17g", (unsigned long long)seed, got, want);
    }
    certreg_bisection_destroy(coarse);
}

/* Each function may end where the one before it has left off, a little lower. */
TEST(accuracy_does_not_add_up_over_functions)
{
    enum { FUNCTIONS = 12 };
    certreg_bounds several[FUNCTIONS];
    double threshold[FUNCTIONS];
    certreg_radius fine = {.struct_size = sizeof fine}, got = fine;
    for (int i = 0; i < FUNCTIONS; i++) {
        several[i] = ordinary;
        several[i].mean_hi += 1e-3 * i, several[i].variance_hi += 1e-3 * i;
        threshold[i] = -0.2;
    }
    certreg_bisection *coarse = with((certreg_bisection_plan){.accuracy = 0.05});
    ck_assert_int_eq(certreg_bisection_above(bisection, several, threshold, FUNCTIONS, 0, &fine),
                     CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_above(coarse, several, threshold, FUNCTIONS, 0, &got),
                     CERTREG_OK);
    ck_assert_double_le(got.radius, fine.radius * (1 + 1e-9));
    ck_assert_double_ge(got.radius, fine.radius * 0.95);
    certreg_bisection_destroy(coarse);
}

TEST(coarse_radius_takes_fewer_evaluations)
{
    certreg_bisection *coarse = with((certreg_bisection_plan){.accuracy = 0.01});
    uint32_t fine = 0, less = 0;
    for (int i = 1; i <= 20; i++) {
        radius_of(bisection, &ordinary, 0.02 * i), radius_of(coarse, &ordinary, 0.02 * i);
        fine += bisection_info(bisection).evaluations, less += bisection_info(coarse).evaluations;
    }
    ck_assert_uint_lt(less, fine);
    certreg_bisection_destroy(coarse);
}

static const double caps[] = {10, 3, 0.5, 1e-3};

TEST_ROWS(search_ends_at_the_cap, caps)
{
    certreg_bisection *capped = with((certreg_bisection_plan){.cap = caps[_i]});
    for (uint64_t seed = 0; seed < 200; seed++) {
        double tolerance;
        const certreg_bounds b = any_bounds(seed, &tolerance);
        const certreg_radius want = radius_of(bisection, &b, tolerance);
        if (bisection_info(bisection).loose) continue;
        const certreg_radius got = radius_of(capped, &b, tolerance);
        const double most = caps[_i] * b.sigma;
        ck_assert_msg(got.radius <= most && fabs(got.radius - fmin(want.radius, most)) <=
                                                1e-9 * got.radius + NEXT_TO_NOTHING,
                      "seed %llu: %.17g, not %.17g", (unsigned long long)seed, got.radius,
                      want.radius);
        if (want.radius > most * (1 + 1e-9)) ck_assert_int_eq(got.outcome, CERTREG_OUTCOME_CAPPED);
        if (want.radius > NEXT_TO_NOTHING && want.radius < most * (1 - 1e-9))
            ck_assert_int_eq(got.outcome, want.outcome);
    }
    certreg_bisection_destroy(capped);
}

/* ---- plans */
TEST(plan_of_zeros_is_the_default)
{
    certreg_bisection *zeros = with((certreg_bisection_plan){0});
    const certreg_radius want = radius_of(bisection, &ordinary, 0.2),
                         got = radius_of(zeros, &ordinary, 0.2);
    ck_assert_mem_eq(&got, &want, sizeof got);
    certreg_bisection_destroy(zeros);
}

TEST(calls_do_not_depend_on_earlier_ones)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        const hostile one = row(seed), other = row(seed + 1);
        const certreg_radius want = radius_of(bisection, &one.bounds, one.tolerance);
        radius_of(bisection, &other.bounds, other.tolerance);
        const certreg_radius got = radius_of(bisection, &one.bounds, one.tolerance);
        ck_assert_mem_eq(&got, &want, sizeof got);
    }
}

static _Alignas(64) unsigned char memory[1 << 15];

static const struct {
    certreg_solver_plan plan;
    certreg_status status;
    const char *word;
} solver_plans[] = {
    {{.struct_size = 12}, CERTREG_E_INVALID, "plan.struct_size"},
    {{.max_evaluations = CERTREG_LEAST_WORST_CASE_EVALUATIONS - 1},
     CERTREG_E_INVALID,
     "plan.max_evaluations"},
    {{.max_evaluations = UINT32_MAX}, CERTREG_E_INVALID, "plan.max_evaluations"},
    {{.memory = memory + 8, .memory_bytes = sizeof memory - 8}, CERTREG_E_INVALID, "plan.memory"},
    {{.memory = memory, .memory_bytes = 8}, CERTREG_E_SMALL_MEMORY, "plan.memory_bytes"},
};

TEST_ROWS(bad_solver_plan_is_named, solver_plans)
{
    certreg_solver_plan plan = solver_plans[_i].plan;
    certreg_error why = {.struct_size = sizeof why};
    certreg_solver *made = solver;
    if (!plan.struct_size) plan.struct_size = sizeof plan;
    ck_assert_int_eq(certreg_solver_create(&plan, &why, &made), solver_plans[_i].status);
    ck_assert_ptr_null(made);
    ck_assert_int_eq(why.status, solver_plans[_i].status);
    ck_assert_msg(strstr(why.text, solver_plans[_i].word) != NULL, "%s", why.text);
}

static const struct {
    certreg_bisection_plan plan;
    certreg_status status;
    const char *word;
} bisection_plans[] = {
    {{.struct_size = 12}, CERTREG_E_INVALID, "plan.struct_size"},
    {{.max_evaluations = CERTREG_LEAST_RADIUS_EVALUATIONS - 1},
     CERTREG_E_INVALID,
     "plan.max_evaluations"},
    {{.accuracy = 1e-10}, CERTREG_E_INVALID, "plan.accuracy"},
    {{.accuracy = 0.51}, CERTREG_E_INVALID, "plan.accuracy"},
    {{.accuracy = NAN}, CERTREG_E_INVALID, "plan.accuracy"},
    {{.cap = -1}, CERTREG_E_INVALID, "plan.cap"},
    {{.cap = 10.1}, CERTREG_E_INVALID, "plan.cap"},
    {{.cap = NAN}, CERTREG_E_INVALID, "plan.cap"},
    {{.memory = memory + 8, .memory_bytes = sizeof memory - 8}, CERTREG_E_INVALID, "plan.memory"},
    {{.memory = memory, .memory_bytes = 8}, CERTREG_E_SMALL_MEMORY, "plan.memory_bytes"},
};

TEST_ROWS(bad_bisection_plan_is_named, bisection_plans)
{
    certreg_bisection_plan plan = bisection_plans[_i].plan;
    certreg_error why = {.struct_size = sizeof why};
    certreg_bisection *made = bisection;
    if (!plan.struct_size) plan.struct_size = sizeof plan;
    ck_assert_int_eq(certreg_bisection_create(&plan, &why, &made), bisection_plans[_i].status);
    ck_assert_ptr_null(made);
    ck_assert_int_eq(why.status, bisection_plans[_i].status);
    ck_assert_msg(strstr(why.text, bisection_plans[_i].word) != NULL, "%s", why.text);
}

TEST(create_needs_a_place_for_the_handle)
{
    certreg_error why = {.struct_size = sizeof why};
    ck_assert_int_eq(certreg_solver_create(NULL, &why, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "out"));
    ck_assert_int_eq(certreg_bisection_create(NULL, &why, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "out"));
}

TEST(later_plans_are_refused_where_they_say_something_new)
{
    struct {
        certreg_bisection_plan known;
        double later;
    } plan = {{.struct_size = sizeof plan}, 0};
    certreg_bisection *made = NULL;
    ck_assert_int_eq(certreg_bisection_create(&plan.known, NULL, &made), CERTREG_OK);
    certreg_bisection_destroy(made);
    plan.later = 1;
    ck_assert_int_eq(certreg_bisection_create(&plan.known, NULL, &made), CERTREG_E_VERSION);
}

FIXTURE(setup, teardown)
TEST_MAIN("solver_plan")
