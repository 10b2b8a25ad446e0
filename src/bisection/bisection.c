/* The public calls on a bisection: plan, handle and statistics. The work is done in radius.c. */
#include "bisection/bisection.h"
#include "base/os.h"
#include "base/handle_memory.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "bisection/search.h"
#include "solver/solve_info.h"

size_t certreg_bisection_size(void)
{
    return sizeof(certreg_bisection);
}

static const double max_accuracy = 0.5;

static certreg_status read_plan(const certreg_bisection_plan *plan, certreg_bisection_plan *p,
                                cr_radius_options *options, certreg_error *why)
{
    *p = (certreg_bisection_plan){0};
    *options = cr_radius_default(NULL);
    const certreg_status status =
        plan ? cr_struct_read(p, sizeof *p, CR_OLDEST_BISECTION_PLAN, plan, "plan", why)
             : CERTREG_OK;
    if (status) return status;
    if (p->accuracy != 0) options->accuracy = p->accuracy;
    if (!(options->accuracy >= CR_MIN_ACCURACY && options->accuracy <= max_accuracy))
        return cr_error_set(why, CERTREG_E_INVALID, "plan.accuracy is %g; it must be 0 or %g to %g",
                            p->accuracy, CR_MIN_ACCURACY, max_accuracy);
    if (p->cap != 0) options->cap = p->cap;
    if (!(options->cap > 0 && options->cap <= CR_MAX_RADIUS))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.cap is %g; it must be 0, or positive and at most %g", p->cap,
                            CR_MAX_RADIUS);
    uint32_t limit;
    const certreg_status limit_status =
        cr_solve_info_limit(p->max_evaluations, CERTREG_RADIUS_EVALUATIONS,
                            CERTREG_LEAST_RADIUS_EVALUATIONS, &limit, why);
    options->evaluations_per_function = (int)limit - CR_RESERVED_FOR_VERIFICATION;
    return limit_status;
}

static certreg_status create(const certreg_bisection_plan *plan, certreg_bisection **out,
                             certreg_error *why)
{
    certreg_bisection_plan p;
    cr_radius_options options;
    int32_t owns_memory;
    certreg_status status = read_plan(plan, &p, &options, why);
    if (!status)
        status = cr_handle_alloc(p.memory, p.memory_bytes, sizeof **out, &owns_memory, (void **)out,
                                 why);
    if (status) return status;
    certreg_bisection *bisection = *out;
    cr_error_clear(&bisection->error);
    cr_call_guard_init(&bisection->guard);
    bisection->info.struct_size = sizeof bisection->info;
    bisection->options = options;
    bisection->owns_memory = owns_memory;
    return CERTREG_OK;
}

certreg_status certreg_bisection_create(const certreg_bisection_plan *plan, certreg_error *why,
                                        certreg_bisection **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create(plan, out, &error)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_bisection_destroy(certreg_bisection *bisection)
{
    if (bisection && cr_handle_is_own(bisection) && bisection->owns_memory)
        cr_handle_release(bisection);
}

const certreg_error *certreg_bisection_error(const certreg_bisection *bisection)
{
    return bisection ? cr_call_guard_error(&bisection->guard, &bisection->error) : NULL;
}

certreg_status certreg_bisection_info(certreg_bisection *bisection, certreg_solve_info *out)
{
    if (!bisection) return CERTREG_E_INVALID;
    return cr_solve_info_report(&bisection->guard, &bisection->error, &bisection->info, out);
}

/* ---- a call */
typedef struct radius_request {
    cr_mean_conditions conditions; /* within: bounds and constraints only */
    double tolerance;              /* within */
    int is_above;
} radius_request;

static certreg_status run(certreg_bisection *bisection, const radius_request *request,
                          certreg_radius *result)
{
    cr_radius_options *options = &bisection->options;
    certreg_error *why = &bisection->error;
    if (request->is_above) return cr_radius_mean_above(options, &request->conditions, result, why);
    return cr_radius_change_within(options, request->conditions.bounds,
                                   request->conditions.constraints, request->tolerance, result,
                                   why);
}

static certreg_status compute_radius(certreg_bisection *bisection, const radius_request *request,
                                     certreg_radius *out)
{
    certreg_radius result;
    const certreg_status size_status =
        cr_struct_check(out, CR_OLDEST_RADIUS, "out", &bisection->error);
    if (size_status) return size_status;
    const double start = cr_os_now(NULL);
    bisection->options.budget = (cr_evaluation_budget){0};
    const certreg_status status = run(bisection, request, &result);
    bisection->info = cr_solve_info_from_budget(&bisection->options.budget, start);
    cr_struct_write(out, out->struct_size, &result, sizeof result);
    return status;
}

static certreg_status enter_and_compute(certreg_bisection *bisection, const radius_request *request,
                                        certreg_radius *out)
{
    const certreg_radius empty = {.struct_size = sizeof empty};
    const certreg_status refused =
        bisection ? cr_call_guard_enter(&bisection->guard, &bisection->error) : CERTREG_E_INVALID;
    if (!refused)
        return cr_call_guard_leave(&bisection->guard, compute_radius(bisection, request, out));
    cr_struct_write_empty(out, CR_OLDEST_RADIUS, &empty, sizeof empty);
    return refused;
}

certreg_status certreg_bisection_within(certreg_bisection *bisection, const certreg_bounds *bounds,
                                        uint32_t constraints, double tolerance, certreg_radius *out)
{
    const radius_request request = {.conditions = {.bounds = bounds, .constraints = constraints},
                                    .tolerance = tolerance};
    return enter_and_compute(bisection, &request, out);
}

certreg_status certreg_bisection_above(certreg_bisection *bisection, const certreg_bounds *bounds,
                                       const double *threshold, size_t count, uint32_t constraints,
                                       certreg_radius *out)
{
    const radius_request request = {.conditions = {bounds, threshold, count, constraints},
                                    .is_above = 1};
    return enter_and_compute(bisection, &request, out);
}
