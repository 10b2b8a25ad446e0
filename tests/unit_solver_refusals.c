/* What solver and bisection refuse, bounds, arguments and plans: the message names the field, and
 * nothing is proven. Structs of other sizes: api_structs.c; memory of the caller: fault_memory.c.
 */
#include <certreg/solver.h>
#include "base/handle.h"
#include "bisection/bisection.h"
#include "solver/solver.h"
#include "support/solver_fixture.h"

static certreg_bounds good(void)
{
    return of_kinds(EVERY_KIND);
}

/* ---- both handles refuse the same bounds */
/* A shift that is refused: the status, the message that names the culprit, and nothing proven. */
static void expect_status(const certreg_bounds *bounds, uint32_t constraints, double radius,
                          certreg_status want, const char *word)
{
    certreg_mean_change out = {.struct_size = sizeof out, .drop = 1, .rise = 1};
    const certreg_status got = certreg_solver_worst_case(solver, bounds, constraints, radius, &out);
    const certreg_error *why = certreg_solver_error(solver);
    ck_assert_msg(got == want, "status %d: %s", got, why->text);
    ck_assert_int_eq(why->status, want);
    KIT_SAYS(why, word);
    ck_assert_double_eq(out.drop, INFINITY); /* nothing proven is infinite */
    ck_assert_double_eq(out.rise, INFINITY);
    ck_assert_double_eq(out.mean_least, -INFINITY);
    ck_assert_double_eq(out.mean_greatest, INFINITY);
}

static void radius_is_nothing(certreg_status got, certreg_radius out, certreg_status want,
                              const char *word)
{
    const certreg_error *why = certreg_bisection_error(bisection);
    ck_assert_msg(got == want && why->status == want, "status %d: %s", got, why->text);
    KIT_SAYS(why, word);
    assert_outcome(out, CERTREG_OUTCOME_ABSTAINED, 0);
}

static void radius_is_refused(const certreg_bounds *bounds, const double *threshold, size_t count,
                              uint32_t family, certreg_status want, const char *word)
{
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    const certreg_status got =
        certreg_bisection_above(bisection, bounds, threshold, count, family, &out);
    radius_is_nothing(got, out, want, word);
}

static void tolerance_is_refused(const certreg_bounds *bounds, double tolerance, uint32_t family,
                                 certreg_status want, const char *word)
{
    certreg_radius out = {.struct_size = sizeof out, .outcome = 1, .radius = 1};
    const certreg_status got = certreg_bisection_within(bisection, bounds, family, tolerance, &out);
    radius_is_nothing(got, out, want, word);
}

static void bounds_are_refused(const certreg_bounds *bounds, uint32_t family, certreg_status want,
                               const char *word)
{
    expect_status(bounds, family, 1, want, word);
    tolerance_is_refused(bounds, 0.1, family, want, word);
    if (!bounds || bounds->constraints & M) radius_is_refused(bounds, NULL, 1, family, want, word);
}

#define FIELD(name) #name, offsetof(certreg_bounds, name)
static const struct {
    const char *name;
    size_t offset;
    double values[4]; /* the first, and those after it that are not zero, are bad */
} bad_fields[] = {
    {FIELD(sigma), {0, NAN, -1, INFINITY}},
    {FIELD(mean_lo), {NAN, INFINITY, 0.5}}, /* above mean_hi */
    {FIELD(mean_hi), {NAN, -INFINITY}},
    {FIELD(variance_hi), {NAN, -1e-9, INFINITY}},
    {FIELD(gradient_lo), {NAN, -1e-9, 0.3, INFINITY}}, /* 0.3: above gradient_hi */
    {FIELD(gradient_hi), {NAN, -1, 0.01}},
    {FIELD(range_lo), {NAN, 2, INFINITY}},
    {FIELD(range_hi), {NAN, -2, -INFINITY}},
    {FIELD(moment_center), {NAN, INFINITY, -INFINITY}},
    {FIELD(moment_hi), {NAN, -1e-300, INFINITY}},
};

TEST_ROWS(solver_and_bisection_name_the_bad_field_of_bounds, bad_fields)
{
    const char *name = bad_fields[_i].name;
    for (int i = 0; i < 4; i++) {
        const double value = bad_fields[_i].values[i];
        certreg_bounds bounds = good();
        if (i > 0 && fpclassify(value) == FP_ZERO) break;
        memcpy((unsigned char *)&bounds + bad_fields[_i].offset, &value, sizeof value);
        bounds_are_refused(&bounds, 0, CERTREG_E_INVALID, name);
        if (!isnan(value)) continue; /* of two that contradict, either may be wrong */
        const char *text = certreg_solver_error(solver)->text;
        ck_assert_msg(strncmp(text + strlen("bounds."), name, strlen(name)) == 0, "%s", text);
    }
}

/* Fields of constraints that are not named hold nothing, so nothing can be wrong with them. */
static const uint32_t kinds[] = {M, V, G, R, Q};

TEST_ROWS(solver_does_not_read_fields_without_their_constraint, kinds)
{
    certreg_bounds bounds = given(kinds[_i], NAN, NAN, NAN, NAN, NAN, NAN, NAN);
    const certreg_bounds some = good();
    bounds.moment_center = bounds.moment_hi = NAN;
    if (kinds[_i] == M) bounds.mean_lo = some.mean_lo, bounds.mean_hi = some.mean_hi;
    if (kinds[_i] == V) bounds.variance_hi = 1;
    if (kinds[_i] == G) bounds.gradient_lo = bounds.gradient_hi = 0.1;
    if (kinds[_i] == R) bounds.range_lo = 0, bounds.range_hi = 1;
    if (kinds[_i] == Q) bounds.moment_center = bounds.moment_hi = 1;
    ck_assert_double_gt(shift_of(&bounds, 1).rise, 0);
}

/* At the edge of what is feasible; the feasible side is in unit_solver.c. */
static const struct {
    const char *what;
    uint32_t constraints;
    double mean_lo, mean_hi, variance, gradient, lo, hi, center, moment;
    const char *word;
} infeasible[] = {
    /* name, constraints, mean_lo, mean_hi, variance, gradient, lo, hi, center, moment, word */
    {"a gradient above the deviation", V | G, 0, 0, 0.25, 0.6, 0, 0, 0, 0, "gradient_lo"},
    {"a gradient just above it", V | G, 0, 0, 0.25, 0.5000001, 0, 0, 0, 0, "gradient_lo"},
    {"the same within a range", ALL, 0, 0, 0.25, 0.6, -1, 1, 0, 0, "gradient_lo"},
    {"an affine function within a range", ALL, 0, 0, 0.25, 0.5, -1, 1, 0, 0, "gradient_lo"},
    {"or above an end", ALL, 0, 0, 0.25, 0.5, -1, INFINITY, 0, 0, "gradient_lo"},
    {"above a half-space's", M | G | R, 0.6, 0.6, 0, 0.5599244, -1, 1, 0, 0, "gradient_lo"},
    {"a gradient at an end", ALL, 1, 1, 0.5, 0.1, -1, 1, 0, 0, "gradient_lo"},
    {"a mean above the range", M | R, 1.5, 1.5, 0, 0, -1, 1, 0, 0, "range"},
    {"a mean below the range", M | R, -3, -2, 0, 0, -1, 1, 0, 0, "range"},
    {"a mean beyond the moment", Q | M, 0.27, 0.3, 0, 0, 0, 0, 0.25, 1e-4, "moment_hi"},
    {"a range beyond the moment", Q | R, 0, 0, 0, 0, -1, 1.5, 3, 0.36, "moment_hi"},
    {"a gradient beyond the moment", Q | G, 0, 0, 0, 0.61, 0, 0, 0.25, 0.36, "gradient_lo"},
};

TEST_ROWS(solver_and_bisection_report_infeasible_bounds, infeasible)
{
    certreg_bounds b = given(infeasible[_i].constraints, infeasible[_i].mean_lo,
                             infeasible[_i].mean_hi, infeasible[_i].variance,
                             infeasible[_i].gradient, infeasible[_i].gradient, infeasible[_i].lo,
                             infeasible[_i].hi);
    b.moment_center = infeasible[_i].center, b.moment_hi = infeasible[_i].moment;
    bounds_are_refused(&b, 0, CERTREG_E_INFEASIBLE, infeasible[_i].word);
}

TEST(solver_and_bisection_refuse_unknown_constraints)
{
    certreg_bounds bounds = good();
    bounds_are_refused(&bounds, 64, CERTREG_E_INVALID, "constraints");
    bounds.constraints |= 64;
    bounds_are_refused(&bounds, 0, CERTREG_E_INVALID, "constraints");
}

/* ---- other arguments */
TEST(solver_and_bisection_name_bad_radius_and_tolerance)
{
    static const double radii[] = {NAN, -1e-300, -1, -INFINITY},
                        tolerances[] = {NAN, 0, -1, INFINITY, -INFINITY};
    const certreg_bounds two[2] = {good(), good()};
    for (int i = 0; i < KIT_ROWS(radii); i++)
        expect_status(two, 0, radii[i], CERTREG_E_INVALID, "radius");
    for (int i = 0; i < KIT_ROWS(tolerances); i++)
        tolerance_is_refused(two, tolerances[i], 0, CERTREG_E_INVALID, "tolerance");
    radius_is_refused(two, (double[]){0, NAN}, 2, 0, CERTREG_E_INVALID, "threshold[1]");
    radius_is_refused(two, NULL, 0, 0, CERTREG_E_INVALID, "count");
    bounds_are_refused(NULL, 0, CERTREG_E_INVALID, "bounds");
    ck_assert_int_eq(certreg_solver_worst_case(solver, two, 0, 1, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_within(bisection, two, 0, 0.1, NULL), CERTREG_E_INVALID);
}

/* Also behind an element that already makes the radius 0. */
TEST(bisection_above_names_the_bad_element_of_an_array)
{
    certreg_bounds two[2] = {known(M | R, 0.1, 0, 0, 0, 1), known(M | R, 0.9, 0, 0, 0, 1)};
    const double threshold[2] = {0.5, 0.5};
    two[1].range_hi = NAN;
    radius_is_refused(two, threshold, 2, 0, CERTREG_E_INVALID, "range_hi");
    two[1].range_hi = 1, two[1].sigma = 2;
    radius_is_refused(two, threshold, 2, 0, CERTREG_E_INVALID, "bounds[1].sigma");
    two[1].sigma = 1, two[1].constraints = R;
    radius_is_refused(two, threshold, 2, 0, CERTREG_E_INVALID, "bounds[1].constraints");
}

TEST(solver_and_bisection_error_is_that_of_the_last_call)
{
    certreg_bounds bounds = good();
    bounds.sigma = NAN;
    bounds_are_refused(&bounds, 0, CERTREG_E_INVALID, "sigma");
    bounds.sigma = 1;
    shift_of(&bounds, 1), within(&bounds, 0.1);
    ck_assert_int_eq(certreg_solver_error(solver)->status, CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_error(bisection)->status, CERTREG_OK);
}

/* ---- busy handles, marked by hand, since these calls call nobody back */
TEST(solver_and_bisection_that_are_busy_keep_their_error)
{
    const certreg_bounds bounds = good();
    certreg_mean_change unsized = {.struct_size = 3};
    ck_assert_int_eq(cr_call_guard_enter(&solver->guard, &solver->error), CERTREG_OK);
    ck_assert_int_eq(cr_call_guard_enter(&bisection->guard, &bisection->error), CERTREG_OK);
    cr_error_set(&solver->error, CERTREG_E_NO_DEVICE, "of the running call");
    bounds_are_refused(&bounds, 0, CERTREG_E_BUSY, "");
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, NAN, &unsized), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, NULL), CERTREG_E_BUSY);
    ck_assert_double_eq(unsized.drop, 0);
    ck_assert_str_eq(solver->error.text, "of the running call");
    ck_assert_str_eq(bisection->error.text, "");
    ck_assert_int_eq(cr_call_guard_leave(&solver->guard, CERTREG_E_NO_DEVICE), CERTREG_E_NO_DEVICE);
    cr_call_guard_leave(&bisection->guard, CERTREG_OK);
    ck_assert_str_eq(certreg_solver_error(solver)->text, "of the running call");
    ck_assert(shift_of(&bounds, 1).rise > 0 && within(&bounds, 0.1).radius > 0);
}

TEST(solver_info_keeps_the_error)
{
    const certreg_bounds bounds = good();
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_solve_info unsized = {.struct_size = 12};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, -1, &change), CERTREG_E_INVALID);
    solver_info(solver);
    KIT_SAYS(certreg_solver_error(solver), "radius");
    ck_assert_int_eq(certreg_solver_info(solver, NULL), CERTREG_E_INVALID);
    KIT_SAYS(certreg_solver_error(solver), "info");
    ck_assert_int_eq(certreg_bisection_info(bisection, &unsized), CERTREG_E_INVALID);
    KIT_SAYS(certreg_bisection_error(bisection), "info.struct_size");
}

/* ---- plans */
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
    {{.max_evaluations = CERTREG_LEAST_WORST_CASE_EVALUATIONS - 1},
     CERTREG_E_INVALID,
     "plan.max_evaluations"},
    {{.max_evaluations = CERTREG_LEAST_RADIUS_EVALUATIONS - 1, .accuracy = 1e-9},
     CERTREG_E_INVALID,
     "plan.max_evaluations"},
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

TEST(solver_and_bisection_create_need_an_out_and_a_known_version)
{
    certreg_error why = {.struct_size = sizeof why};
    struct {
        certreg_bisection_plan known;
        double later;
    } plan = {{.struct_size = sizeof plan}, 0};
    certreg_bisection *made = NULL;
    KIT_UNMADE(&why, certreg_solver_create(NULL, &why, NULL), CERTREG_E_INVALID, "out");
    KIT_UNMADE(&why, certreg_bisection_create(NULL, &why, NULL), CERTREG_E_INVALID, "out");
    ck_assert_int_eq(certreg_bisection_create(&plan.known, NULL, &made), CERTREG_OK);
    certreg_bisection_destroy(made);
    plan.later = 1;
    ck_assert_int_eq(certreg_bisection_create(&plan.known, NULL, &made), CERTREG_E_VERSION);
}

SOLVER_MAIN("refusals of solver and bisection")
