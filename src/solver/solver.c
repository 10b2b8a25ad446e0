/* The public handle of the solver; its limit and statistics are bisection's too. */
#include "solver/solver.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/os.h"
#include "base/struct_sizes.h"
#include <math.h>

/* ======== Limits of evaluations and statistics, for the handles of both solver and bisection. */
enum { MAX_EVALUATIONS = 1000000 };

certreg_status cr_solve_info_limit(uint32_t requested, uint32_t default_limit, uint32_t min_limit,
                                   uint32_t *out, certreg_error *why)
{
    *out = requested ? requested : default_limit;
    if (*out >= min_limit && *out <= MAX_EVALUATIONS) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.max_evaluations is %u; it must be 0 or %u to %u", requested,
                        min_limit, (uint32_t)MAX_EVALUATIONS);
}

certreg_solve_info cr_solve_info_from_budget(const cr_evaluation_budget *budget, double start)
{
    return (certreg_solve_info){.struct_size = sizeof(certreg_solve_info),
                                .evaluations = (uint32_t)budget->used,
                                .points = budget->points,
                                .loose = budget->loose,
                                .refinements = budget->refinements,
                                .fallbacks = budget->fallbacks,
                                .seconds = cr_os_now(NULL) - start};
}

certreg_status cr_solve_info_report(cr_call_guard *guard, certreg_error *error,
                                    const certreg_solve_info *info, certreg_solve_info *out)
{
    const certreg_solve_info empty = {.struct_size = sizeof empty};
    certreg_error why; /* the handle's own error belongs to the last call */
    const certreg_status refused = cr_call_guard_enter(guard, &why);
    certreg_status status =
        cr_struct_check(out, CR_OLDEST_SOLVE_INFO, "info", refused ? NULL : error);
    if (!status) cr_struct_write(out, out->struct_size, refused ? &empty : info, sizeof empty);
    if (!refused) return cr_call_guard_leave(guard, status);
    if (refused == CERTREG_E_WRONG_STATE) *error = why;
    return refused;
}

/* ======== The public calls on a solver: plan, handle and statistics. worst_case.c and
 * worst_function.c do the work. */
size_t certreg_solver_size(void)
{
    return sizeof(certreg_solver);
}

static certreg_status create(const certreg_solver_plan *plan, certreg_solver **out,
                             certreg_error *why)
{
    certreg_solver_plan p = {0};
    uint32_t limit = 0;
    int32_t owned;
    certreg_status status =
        plan ? cr_struct_read(&p, sizeof p, CR_OLDEST_SOLVER_PLAN, plan, "plan", why) : CERTREG_OK;
    if (!status)
        status = cr_solve_info_limit(p.max_evaluations, CERTREG_WORST_CASE_EVALUATIONS,
                                     CERTREG_LEAST_WORST_CASE_EVALUATIONS, &limit, why);
    if (!status)
        status = cr_handle_alloc(p.memory, p.memory_bytes, sizeof **out, &owned, (void **)out, why);
    if (status) return status;
    certreg_solver *solver = *out;
    cr_error_clear(&solver->error);
    cr_call_guard_init(&solver->guard);
    solver->info.struct_size = sizeof solver->info;
    solver->max_evaluations = limit;
    solver->owns_memory = owned;
    return CERTREG_OK;
}

certreg_status certreg_solver_create(const certreg_solver_plan *plan, certreg_error *why,
                                     certreg_solver **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create(plan, out, &error)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_solver_destroy(certreg_solver *solver)
{
    if (solver && cr_handle_is_own(solver) && solver->owns_memory) cr_handle_release(solver);
}

const certreg_error *certreg_solver_error(const certreg_solver *solver)
{
    return solver ? cr_call_guard_error(&solver->guard, &solver->error) : NULL;
}

certreg_status certreg_solver_info(certreg_solver *solver, certreg_solve_info *out)
{
    if (!solver) return CERTREG_E_INVALID;
    return cr_solve_info_report(&solver->guard, &solver->error, &solver->info, out);
}

static certreg_status worst_case(certreg_solver *solver, const cr_worst_case_instance *instance,
                                 certreg_mean_change *out)
{
    certreg_mean_change result;
    cr_evaluation_budget budget;
    certreg_status status = cr_struct_check(out, CR_OLDEST_MEAN_CHANGE, "out", &solver->error);
    if (status) return status;
    const double start = cr_os_now(NULL);
    status = cr_worst_case(instance, solver->max_evaluations, &budget, &result, &solver->error);
    solver->info = cr_solve_info_from_budget(&budget, start);
    cr_struct_write(out, out->struct_size, &result, sizeof result);
    return status;
}

certreg_status certreg_solver_worst_case(certreg_solver *solver, const certreg_bounds *bounds,
                                         uint32_t constraints, double radius,
                                         certreg_mean_change *out)
{
    const cr_worst_case_instance instance = {bounds, constraints, radius};
    const certreg_status refused = solver ? cr_call_guard_enter(&solver->guard, &solver->error)
                                          : CERTREG_E_INVALID;
    if (!refused) return cr_call_guard_leave(&solver->guard, worst_case(solver, &instance, out));
    cr_struct_write_empty(out, CR_OLDEST_MEAN_CHANGE, &cr_worst_case_unbounded, sizeof *out);
    return refused;
}

static certreg_status worst_function(certreg_solver *solver, const cr_worst_case_instance *instance,
                                     int32_t side, certreg_worst_function *out)
{
    certreg_worst_function result;
    cr_evaluation_budget budget;
    certreg_status status = cr_struct_check(out, CR_OLDEST_WORST_FUNCTION, "out", &solver->error);
    if (status) return status;
    const double start = cr_os_now(NULL);
    status = cr_worst_function(instance, side, solver->max_evaluations, &budget, &result,
                               &solver->error);
    solver->info = cr_solve_info_from_budget(&budget, start);
    cr_struct_write(out, out->struct_size, &result, sizeof result);
    return status;
}

certreg_status certreg_solver_worst_function(certreg_solver *solver, const certreg_bounds *bounds,
                                             uint32_t constraints, double radius, int32_t side,
                                             certreg_worst_function *out)
{
    const certreg_worst_function none = {.struct_size = sizeof none, .bound = INFINITY};
    const cr_worst_case_instance instance = {bounds, constraints, radius};
    const certreg_status refused = solver ? cr_call_guard_enter(&solver->guard, &solver->error)
                                          : CERTREG_E_INVALID;
    if (!refused)
        return cr_call_guard_leave(&solver->guard, worst_function(solver, &instance, side, out));
    cr_struct_write_empty(out, CR_OLDEST_WORST_FUNCTION, &none, sizeof none);
    return refused;
}
