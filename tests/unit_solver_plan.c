/* What the plans of the solver and of the bisection set: accuracy, cap, memory, limits of
 * evaluations (which cost tightness only); what the statistics of a call say; and bad plans. */
#include <certreg/solver.h>
#include "support/hostile.h"
#include "support/solver_fixture.h"

/* ---- bounds, and handles of other plans */
static hostile hard(uint64_t seed)
{
    dice d = dice_of(550000000 + seed);
    hostile h = random_hostile(&d);
    h.bounds.constraints = kinds_of(1 + (uint32_t)dice_between(&d, 0, SETS - 1e-3));
    return h;
}

static const certreg_bounds ordinary = {.struct_size = sizeof ordinary,
                                        .constraints = CERTREG_CONSTRAINTS_ECGM,
                                        .sigma = 0.5,
                                        .mean_lo = 0.1,
                                        .mean_hi = 0.15,
                                        .variance_hi = 0.3,
                                        .gradient_hi = 0.2,
                                        .range_lo = -1,
                                        .range_hi = 1};

static certreg_radius radius_of(certreg_bisection *b, const certreg_bounds *bounds,
                                double tolerance)
{
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_within(b, bounds, 0, tolerance, &out), CERTREG_OK);
    return out;
}

static certreg_mean_change change_of(certreg_solver *s, const certreg_bounds *b, double radius)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_solver_worst_case(s, b, 0, radius, &out), CERTREG_OK);
    return out;
}

static certreg_bisection *with(certreg_bisection_plan plan)
{
    certreg_bisection *b;
    plan.struct_size = sizeof plan;
    ck_assert_int_eq(certreg_bisection_create(&plan, NULL, &b), CERTREG_OK);
    kit_close_later(kit_destroy_bisection, b);
    return b;
}

/* ---- accuracy and cap */
/* One search may find such a radius where another finds none. */
#define NEXT_TO_NOTHING 1e-12

static const double accuracies[] = {1e-9, 1e-7, 1e-5, 1e-3, 0.1, 0.5};

static certreg_bounds any_bounds(uint64_t seed, double *tolerance)
{
    const hostile h = hard(seed);
    dice d = dice_of(seed);
    const ref_problem p = random_problem(&d);
    *tolerance = seed % 2 ? sqrt(p.variance) * exp(dice_between(&d, -4, 1)) : h.tolerance;
    return seed % 2 ? problem_bounds(&p) : h.bounds;
}

TEST_ROWS(bisection_accuracy_bounds_the_loss_of_the_radius, accuracies)
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
}

/* Each function may end where the one before it has left off, a little lower. */
TEST(bisection_accuracy_does_not_add_up_over_functions)
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
}

TEST(bisection_that_is_coarse_takes_fewer_evaluations)
{
    certreg_bisection *coarse = with((certreg_bisection_plan){.accuracy = 0.01});
    uint32_t fine = 0, less = 0;
    for (int i = 1; i <= 20; i++) {
        radius_of(bisection, &ordinary, 0.02 * i), radius_of(coarse, &ordinary, 0.02 * i);
        fine += bisection_info(bisection).evaluations, less += bisection_info(coarse).evaluations;
    }
    ck_assert_uint_lt(less, fine);
}

static const double caps[] = {10, 3, 0.5, 1e-3};

TEST_ROWS(bisection_ends_at_the_cap, caps)
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
}

/* ---- statistics */
TEST(solver_info_is_zero_before_the_first_call)
{
    const certreg_solve_info nothing = {.struct_size = sizeof nothing},
                             of_solver = solver_info(solver),
                             of_bisection = bisection_info(bisection);
    ck_assert_mem_eq(&of_solver, &nothing, sizeof nothing);
    ck_assert_mem_eq(&of_bisection, &nothing, sizeof nothing);
}

static void assert_counted(certreg_solve_info info, uint32_t limit)
{
    ck_assert(info.evaluations > 0 && info.evaluations <= limit);
    ck_assert_uint_ge(info.points, 20 * (uint64_t)info.evaluations);
    ck_assert(info.seconds >= 0 && isfinite(info.seconds));
    ck_assert_uint_eq(info.loose, 0);
    ck_assert_uint_eq(info.refinements, 0);
    ck_assert_uint_eq(info.fallbacks, 0);
    ck_assert_uint_eq(info.reserved, 0);
}

TEST(solver_info_of_an_ordinary_call)
{
    change_of(solver, &ordinary, 0.3);
    assert_counted(solver_info(solver), CERTREG_WORST_CASE_EVALUATIONS);
    radius_of(bisection, &ordinary, 0.2);
    assert_counted(bisection_info(bisection), CERTREG_RADIUS_EVALUATIONS);
}

TEST(solver_info_does_not_depend_on_earlier_calls)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        const hostile one = hard(seed), other = hard(seed + 1);
        certreg_radius radius[2];
        certreg_mean_change change[2];
        certreg_solve_info info[2][2];
        for (int again = 0; again < 2; again++) {
            radius[again] = radius_of(bisection, &one.bounds, one.tolerance);
            change[again] = change_of(solver, &one.bounds, one.r);
            info[again][0] = bisection_info(bisection), info[again][1] = solver_info(solver);
            info[again][0].seconds = info[again][1].seconds = 0;
            radius_of(bisection, &other.bounds, other.tolerance);
            change_of(solver, &other.bounds, other.r);
        }
        ck_assert_mem_eq(radius, radius + 1, sizeof *radius);
        ck_assert_mem_eq(change, change + 1, sizeof *change);
        ck_assert_mem_eq(info, info + 1, sizeof *info);
    }
}

TEST(bisection_info_counts_all_functions_together)
{
    const certreg_bounds two[2] = {ordinary, ordinary};
    const double threshold[2] = {-0.2, -0.2};
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_above(bisection, two, threshold, 1, 0, &out), CERTREG_OK);
    const uint32_t one = bisection_info(bisection).evaluations;
    ck_assert_int_eq(certreg_bisection_above(bisection, two, threshold, 2, 0, &out), CERTREG_OK);
    ck_assert_uint_gt(bisection_info(bisection).evaluations, one);
}

#if defined(__x86_64__)
/* Bounds at which two quadratures of one integral still disagree when both are finer. A search
 * found them on x86-64; elsewhere libm's last bits differ, and they agree. */
TEST(solver_info_reports_final_evaluations_that_disagree)
{
    const hostile h = hard(10109);
    change_of(solver, &h.bounds, h.r);
    const certreg_solve_info info = solver_info(solver);
    ck_assert_uint_gt(info.refinements, 0);
    ck_assert_uint_gt(info.fallbacks, 0);
    ck_assert_uint_gt(info.loose, 0);
}
#endif

TEST(solver_info_needs_a_handle_and_keeps_the_error)
{
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_solve_info info = {.struct_size = sizeof info}, unsized = {.struct_size = 12};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &ordinary, 0, -1, &change),
                     CERTREG_E_INVALID);
    solver_info(solver);
    KIT_SAYS(certreg_solver_error(solver), "radius");
    ck_assert_int_eq(certreg_solver_info(NULL, &info), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_info(NULL, &info), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_info(solver, NULL), CERTREG_E_INVALID);
    KIT_SAYS(certreg_solver_error(solver), "info");
    ck_assert_int_eq(certreg_bisection_info(bisection, &unsized), CERTREG_E_INVALID);
    KIT_SAYS(certreg_bisection_error(bisection), "info.struct_size");
}

/* ---- limits of evaluations */
static int is_looser(certreg_mean_change bound, certreg_mean_change than)
{
    return bound.rise > than.rise * (1 + 1e-7) || bound.drop > than.drop * (1 + 1e-7);
}

enum { ROWS = 900 };

TEST(solver_of_few_evaluations_is_looser_but_never_wrong)
{
    const certreg_solver_plan plan =
        STRUCT(certreg_solver_plan, .max_evaluations = CERTREG_LEAST_WORST_CASE_EVALUATIONS);
    certreg_solver *limited;
    int looser = 0;
    ck_assert_int_eq(certreg_solver_create(&plan, NULL, &limited), CERTREG_OK);
    kit_close_later(kit_destroy_solver, limited);
    for (int seed = 0; seed < ROWS; seed++) {
        const hostile h = hard((uint64_t)seed);
        const certreg_mean_change got = change_of(limited, &h.bounds, h.r);
        const certreg_solve_info info = solver_info(limited);
        ck_assert_msg(h.rise <= got.rise && -h.rise <= got.drop, "seed %d", seed);
        ck_assert_uint_le(info.evaluations, plan.max_evaluations);
        if (!is_looser(got, change_of(solver, &h.bounds, h.r))) continue;
        ck_assert_msg(info.loose > 0, "seed %d", seed);
        looser++;
    }
    ck_assert_int_gt(looser, 2);
}

TEST(bisection_of_few_evaluations_is_smaller_but_never_wrong)
{
    certreg_bisection *limited =
        with((certreg_bisection_plan){.max_evaluations = CERTREG_LEAST_RADIUS_EVALUATIONS});
    int smaller = 0;
    for (int seed = 0; seed < ROWS; seed++) {
        const hostile h = hard((uint64_t)seed);
        const double got = radius_of(limited, &h.bounds, h.tolerance).radius;
        const certreg_solve_info info = bisection_info(limited);
        ck_assert_msg(!(got >= h.r) || fabsl(h.rise) <= h.tolerance, "seed %d", seed);
        ck_assert_uint_le(info.evaluations, CERTREG_LEAST_RADIUS_EVALUATIONS);
        if (got >= radius_of(bisection, &h.bounds, h.tolerance).radius * (1 - 1e-7)) continue;
        ck_assert_msg(info.loose > 0, "seed %d", seed);
        smaller++;
    }
    ck_assert_int_gt(smaller, 2);
}

/* ---- plans */
TEST(bisection_plan_of_zeros_is_the_default)
{
    certreg_bisection *zeros = with((certreg_bisection_plan){0});
    const certreg_radius want = radius_of(bisection, &ordinary, 0.2),
                         got = radius_of(zeros, &ordinary, 0.2);
    ck_assert_mem_eq(&got, &want, sizeof got);
}

static _Alignas(64) unsigned char memory[1 << 15];

/* Plans that are refused, and the field that is named. The solver's plan has the fields that the
 * bisection's begins with, so that rows without accuracy and cap are for both. */
static const struct {
    certreg_bisection_plan plan;
    certreg_status status;
    const char *word;
} bad_plans[] = {
    {{.struct_size = 12}, CERTREG_E_INVALID, "plan.struct_size"},
    {{.max_evaluations = UINT32_MAX}, CERTREG_E_INVALID, "plan.max_evaluations"},
    {{.max_evaluations = 1}, CERTREG_E_INVALID, "plan.max_evaluations"},
    {{.memory = memory + 8, .memory_bytes = 1 << 14}, CERTREG_E_INVALID, "plan.memory"},
    {{.memory = memory, .memory_bytes = 8}, CERTREG_E_SMALL_MEMORY, "plan.memory_bytes"},
    {{.accuracy = 1e-10}, CERTREG_E_INVALID, "plan.accuracy"},
    {{.accuracy = 0.51}, CERTREG_E_INVALID, "plan.accuracy"},
    {{.accuracy = NAN}, CERTREG_E_INVALID, "plan.accuracy"},
    {{.cap = -1}, CERTREG_E_INVALID, "plan.cap"},
    {{.cap = 10.1}, CERTREG_E_INVALID, "plan.cap"},
    {{.cap = NAN}, CERTREG_E_INVALID, "plan.cap"},
};

TEST_ROWS(solver_and_bisection_plan_names_the_bad_field, bad_plans)
{
    certreg_bisection_plan plan = bad_plans[_i].plan;
    certreg_solver_plan shorter = STRUCT(certreg_solver_plan,
                                         .max_evaluations = plan.max_evaluations,
                                         .memory = plan.memory, .memory_bytes = plan.memory_bytes);
    certreg_error why = {.struct_size = sizeof why};
    certreg_bisection *b = bisection;
    certreg_solver *s = solver;
    if (plan.struct_size) shorter.struct_size = plan.struct_size;
    else plan.struct_size = sizeof plan;
    ck_assert_int_eq(certreg_bisection_create(&plan, &why, &b), bad_plans[_i].status);
    ck_assert_ptr_null(b);
    ck_assert_int_eq(why.status, bad_plans[_i].status);
    KIT_SAYS(&why, bad_plans[_i].word);
    if (plan.accuracy != 0 || plan.cap != 0) return;
    ck_assert_int_eq(certreg_solver_create(&shorter, &why, &s), bad_plans[_i].status);
    ck_assert_ptr_null(s);
    KIT_SAYS(&why, bad_plans[_i].word);
}

TEST(solver_and_bisection_plan_limits_of_evaluations)
{
    certreg_solver_plan of_solver =
        STRUCT(certreg_solver_plan, .max_evaluations = CERTREG_LEAST_WORST_CASE_EVALUATIONS - 1);
    certreg_bisection_plan of_bisection =
        STRUCT(certreg_bisection_plan, .max_evaluations = CERTREG_LEAST_RADIUS_EVALUATIONS - 1);
    certreg_solver *s;
    certreg_bisection *b;
    ck_assert_int_eq(certreg_solver_create(&of_solver, NULL, &s), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_create(&of_bisection, NULL, &b), CERTREG_E_INVALID);
    /* plans with the least are those of the tests above */
}

TEST(solver_and_bisection_live_in_the_callers_memory)
{
    certreg_solver_plan of_solver = {
        .struct_size = sizeof of_solver, .memory = memory, .memory_bytes = certreg_solver_size()};
    certreg_bisection_plan of_bisection =
        STRUCT(certreg_bisection_plan, .memory = memory, .memory_bytes = certreg_bisection_size());
    certreg_solver *s;
    certreg_bisection *b;
    ck_assert_int_eq(certreg_solver_create(&of_solver, NULL, &s), CERTREG_OK);
    ck_assert_ptr_eq(s, memory);
    certreg_solver_destroy(s);
    ck_assert_int_eq(certreg_bisection_create(&of_bisection, NULL, &b), CERTREG_OK);
    ck_assert_ptr_eq(b, memory);
    certreg_bisection_destroy(b);
    of_solver.memory_bytes--, of_bisection.memory_bytes--;
    ck_assert_int_eq(certreg_solver_create(&of_solver, NULL, &s), CERTREG_E_SMALL_MEMORY);
    ck_assert_int_eq(certreg_bisection_create(&of_bisection, NULL, &b), CERTREG_E_SMALL_MEMORY);
    certreg_solver_destroy(NULL), certreg_bisection_destroy(NULL);
}

TEST(solver_and_bisection_create_need_a_place_for_the_handle)
{
    certreg_error why = {.struct_size = sizeof why};
    ck_assert_int_eq(certreg_solver_create(NULL, &why, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "out");
    ck_assert_int_eq(certreg_bisection_create(NULL, &why, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "out");
}

TEST(bisection_plan_of_a_later_version_is_refused_if_it_is_used)
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

SOLVER_MAIN("plans and statistics of solver and bisection")
