#include "solver/solver.h"
#include "base/handle.h"
#include "base/structs.h"
#include "solver/bound.h"
#include "solver/closed.h"
#include "solver/facts.h"
#include "solver/families.h"
#include <math.h>

enum { OLDEST_SHIFT = sizeof(certreg_shift) };

size_t certreg_solver_size(void)
{
    return sizeof(certreg_solver);
}

certreg_status certreg_solver_create(void *memory, size_t bytes, certreg_solver **out)
{
    if (!out) return CERTREG_INVALID;
    int owned;
    const certreg_status status = cr_handle_take(memory, bytes, sizeof **out, &owned, (void **)out);
    if (status) return status;
    cr_error_clear(&(*out)->error);
    (*out)->owns_memory = owned;
    return CERTREG_OK;
}

void certreg_solver_destroy(certreg_solver *solver)
{
    if (solver && solver->owns_memory) cr_handle_release(solver);
}

const certreg_error *certreg_solver_error(const certreg_solver *solver)
{
    return solver ? &solver->error : NULL;
}

/* Shift and shifted mean of one side. Both searches start from the same points where the box is narrow. */
static void solve_side(const cr_side *side, int has_mean, double *shift, double *mean, int *tight)
{
    cr_box box = {.count = 0};
    *shift = cr_bound_find(side, 0, &box, tight);
    *mean = fmin(*shift > 0 ? nextafter(side->mean_hi + *shift, INFINITY) : side->mean_hi, cr_closed_cap(side, 1));
    if (!has_mean || side->mean_lo == side->mean_hi || !isfinite(side->mean_hi)) return;
    *mean = fmin(*mean, cr_bound_find(side, 1, &box, tight));
}

static int solve(cr_facts *facts, double radius, certreg_shift *best)
{
    double rise, drop, greatest, least;
    int tight = CR_TIGHT;
    facts->rise.r = facts->drop.r = cr_facts_radius(facts, radius);
    solve_side(&facts->rise, facts->has_mean, &rise, &greatest, &tight);
    solve_side(&facts->drop, facts->has_mean, &drop, &least, &tight);
    best->rise = fmin(best->rise, cr_facts_up(facts, rise));
    best->drop = fmin(best->drop, cr_facts_up(facts, drop));
    best->mean_greatest = fmin(best->mean_greatest, cr_facts_up(facts, greatest));
    best->mean_least = fmax(best->mean_least, -cr_facts_up(facts, least));
    return tight;
}

/* With these facts alone: they are a part of those that were read already. */
static int solve_part(certreg_solver *solver, const certreg_bounds *bounds, uint32_t part, double radius, certreg_shift *best)
{
    cr_facts facts;
    if (cr_facts_part(bounds, part, &solver->effort, &facts)) return 0;
    return solve(&facts, radius, best);
}

static void solve_parts(certreg_solver *solver, const certreg_bounds *bounds, cr_facts *facts, double radius, certreg_shift *best)
{
    cr_families families = {.all = facts->used};
    int tight = solve(facts, radius, best);
    for (uint32_t part = cr_families_next(&families); part;) {
        cr_families_mark(&families, part, tight);
        part = cr_effort_left(&solver->effort) ? cr_families_next(&families) : 0;
        if (part) tight = solve_part(solver, bounds, part, radius, best);
    }
}

certreg_status certreg_solver_shift(certreg_solver *solver, const certreg_bounds *bounds, uint32_t family, double radius, certreg_shift *out)
{
    certreg_error *error = solver ? &solver->error : NULL;
    cr_error_clear(error);
    certreg_status status = cr_struct_check(out, OLDEST_SHIFT, "shift", error);
    if (status) return status;
    certreg_shift found = {.struct_size = sizeof found, .drop = INFINITY, .rise = INFINITY, .mean_least = -INFINITY, .mean_greatest = INFINITY};
    if (!solver) return cr_struct_write(out, out->struct_size, &found, sizeof found), CERTREG_INVALID;
    cr_facts facts;
    solver->effort = (cr_effort){.most = CR_SHIFT_EVALUATIONS};
    if (!(radius >= 0)) status = cr_fail(&solver->error, CERTREG_INVALID, "radius is %g; it must not be negative", radius);
    if (!status) status = cr_facts_read(bounds, family, &solver->effort, &facts, &solver->error);
    found.facts = status ? 0 : facts.used;
    if (!status) solve_parts(solver, bounds, &facts, radius, &found);
    cr_struct_write(out, out->struct_size, &found, sizeof found);
    return status;
}
