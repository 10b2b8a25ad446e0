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

static const double most_accuracy = 0.5;

static certreg_status read_plan(const certreg_bisection_plan *plan, certreg_bisection_plan *p,
                                cr_bisection *how, certreg_error *why)
{
    *p = (certreg_bisection_plan){0};
    *how = cr_radius_default(NULL);
    const certreg_status status =
        plan ? cr_struct_read(p, sizeof *p, CR_OLDEST_BISECTION_PLAN, plan, "plan", why)
             : CERTREG_OK;
    if (status) return status;
    if (p->accuracy != 0) how->accuracy = p->accuracy;
    if (!(how->accuracy >= CR_MIN_ACCURACY && how->accuracy <= most_accuracy))
        return cr_error_set(why, CERTREG_E_INVALID, "plan.accuracy is %g; it must be 0 or %g to %g",
                            p->accuracy, CR_MIN_ACCURACY, most_accuracy);
    if (p->cap != 0) how->cap = p->cap;
    if (!(how->cap > 0 && how->cap <= CR_MAX_RADIUS))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.cap is %g; it must be 0, or positive and at most %g", p->cap,
                            CR_MAX_RADIUS);
    uint32_t limit;
    const certreg_status limited =
        cr_solve_info_limit(p->max_evaluations, CERTREG_RADIUS_EVALUATIONS,
                            CERTREG_LEAST_RADIUS_EVALUATIONS, &limit, why);
    how->evaluations = (int)limit - CR_RESERVED_FOR_VERIFICATION;
    return limited;
}

static certreg_status create(const certreg_bisection_plan *plan, certreg_bisection **out,
                             certreg_error *why)
{
    certreg_bisection_plan p;
    cr_bisection how;
    int32_t owned;
    certreg_status status = read_plan(plan, &p, &how, why);
    if (!status)
        status = cr_handle_alloc(p.memory, p.memory_bytes, sizeof **out, &owned, (void **)out, why);
    if (status) return status;
    certreg_bisection *bisection = *out;
    cr_error_clear(&bisection->error);
    cr_call_guard_init(&bisection->busy);
    bisection->info.struct_size = sizeof bisection->info;
    bisection->how = how;
    bisection->owns_memory = owned;
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
    if (bisection && bisection->owns_memory) cr_handle_release(bisection);
}

const certreg_error *certreg_bisection_error(const certreg_bisection *bisection)
{
    return bisection ? cr_call_guard_error(&bisection->busy, &bisection->error) : NULL;
}

certreg_status certreg_bisection_info(certreg_bisection *bisection, certreg_solve_info *out)
{
    if (!bisection) return CERTREG_E_INVALID;
    return cr_solve_info_report(&bisection->busy, &bisection->error, &bisection->info, out);
}

/* ---- a call */
typedef struct call {
    cr_mean_conditions given; /* within: bounds and constraints only */
    double tolerance;         /* within */
    int is_above;
} call;

static certreg_status run(certreg_bisection *bisection, const call *c, certreg_radius *found)
{
    cr_bisection *how = &bisection->how;
    certreg_error *why = &bisection->error;
    if (c->is_above) return cr_radius_mean_above(how, &c->given, found, why);
    return cr_radius_change_within(how, c->given.bounds, c->given.constraints, c->tolerance, found,
                                   why);
}

static certreg_status compute(certreg_bisection *bisection, const call *c, certreg_radius *out)
{
    certreg_radius found;
    const certreg_status sized = cr_struct_check(out, CR_OLDEST_RADIUS, "out", &bisection->error);
    if (sized) return sized;
    const double start = cr_os_now(NULL);
    bisection->how.effort = (cr_evaluation_budget){0};
    const certreg_status status = run(bisection, c, &found);
    bisection->info = cr_solve_info_spent(&bisection->how.effort, start);
    cr_struct_write(out, out->struct_size, &found, sizeof found);
    return status;
}

static certreg_status answer(certreg_bisection *bisection, const call *c, certreg_radius *out)
{
    const certreg_radius nothing = {.struct_size = sizeof nothing};
    const certreg_status refused =
        bisection ? cr_call_guard_enter(&bisection->busy, &bisection->error) : CERTREG_E_INVALID;
    if (!refused) return cr_call_guard_leave(&bisection->busy, compute(bisection, c, out));
    cr_struct_write_empty(out, CR_OLDEST_RADIUS, &nothing, sizeof nothing);
    return refused;
}

certreg_status certreg_bisection_within(certreg_bisection *bisection, const certreg_bounds *bounds,
                                        uint32_t constraints, double tolerance, certreg_radius *out)
{
    const call c = {.given = {.bounds = bounds, .constraints = constraints},
                    .tolerance = tolerance};
    return answer(bisection, &c, out);
}

certreg_status certreg_bisection_above(certreg_bisection *bisection, const certreg_bounds *bounds,
                                       const double *threshold, size_t count, uint32_t constraints,
                                       certreg_radius *out)
{
    const call c = {.given = {bounds, threshold, count, constraints}, .is_above = 1};
    return answer(bisection, &c, out);
}
