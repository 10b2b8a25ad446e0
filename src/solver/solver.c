#include "solver/solver.h"
#include "base/handle.h"
#include "base/structs.h"
#include "solver/box.h"
#include "solver/closed.h"
#include "solver/facts.h"
#include <math.h>

enum { OLDEST_SHIFT = sizeof(certreg_shift) };
static const double last_gain = 1e-12; /* share of the value that one more Newton step could gain */

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
    cr_busy_init(&(*out)->busy);
    (*out)->owns_memory = owned;
    return CERTREG_OK;
}

void certreg_solver_destroy(certreg_solver *solver)
{
    if (solver && solver->owns_memory) cr_handle_release(solver);
}

const certreg_error *certreg_solver_error(const certreg_solver *solver)
{
    return solver ? cr_busy_error(&solver->busy, &solver->error) : NULL;
}

/* Shift and shifted mean of one side. Both searches start from the same points where the box is narrow. */
static int solve_facts(const cr_side *side, int has_mean, double *shift, double *mean)
{
    cr_box box = {.count = 0};
    cr_box_search(side, 0, last_gain, &box);
    if (cr_box_prove(side, 0, &box, shift)) return 1;
    *mean = fmin(*shift > 0 ? nextafter(side->mean_hi + *shift, INFINITY) : side->mean_hi, cr_closed_cap(side, 1));
    if (!has_mean || side->mean_lo == side->mean_hi || !isfinite(side->mean_hi)) return 0;
    double sharper;
    cr_box_search(side, 1, last_gain, &box);
    if (cr_box_prove(side, 1, &box, &sharper)) return 1;
    *mean = fmin(*mean, sharper);
    return 0;
}

/* The second order may be left out: both are bounds. */
static int solve_side(const cr_side *side, int has_mean, double *shift, double *mean)
{
    cr_side without = *side;
    double other_shift, other_mean;
    const int doubt = solve_facts(side, has_mean, shift, mean);
    if (!(side->second < INFINITY)) return doubt;
    without.second = INFINITY;
    if (solve_facts(&without, has_mean, &other_shift, &other_mean)) return doubt;
    *shift = doubt ? other_shift : fmin(*shift, other_shift);
    *mean = doubt ? other_mean : fmin(*mean, other_mean);
    return 0;
}

static certreg_status solve(certreg_solver *solver, cr_facts *facts, double radius, certreg_shift *out)
{
    double least;
    facts->rise.r = facts->drop.r = radius / facts->sigma;
    certreg_shift found = *out;
    found.facts = facts->used;
    if (solve_side(&facts->rise, facts->has_mean, &found.rise, &found.mean_greatest) ||
        solve_side(&facts->drop, facts->has_mean, &found.drop, &least))
        return cr_fail(&solver->error, CERTREG_NUMERICAL, "at radius %g two evaluations of the worst shift disagree", radius);
    found.mean_least = -least;
    *out = found;
    return CERTREG_OK;
}

static certreg_status shift(certreg_solver *solver, const certreg_bounds *bounds, uint32_t family,
                            double radius, certreg_shift *found)
{
    cr_facts facts;
    if (!(radius >= 0))
        return cr_fail(&solver->error, CERTREG_INVALID, "radius is %g; it must not be negative",
                       radius);
    const certreg_status status = cr_facts_read(bounds, family, &facts, &solver->error);
    return status ? status : solve(solver, &facts, radius, found);
}

certreg_status certreg_solver_shift(certreg_solver *solver, const certreg_bounds *bounds, uint32_t family, double radius, certreg_shift *out)
{
    certreg_shift found = {.struct_size = sizeof found, .drop = INFINITY, .rise = INFINITY, .mean_least = -INFINITY, .mean_greatest = INFINITY};
    certreg_error *error = solver ? &solver->error : NULL;
    const certreg_status refused = solver ? cr_busy_enter(&solver->busy, error) : CERTREG_INVALID;
    const certreg_status sized = cr_struct_check(out, OLDEST_SHIFT, "shift", refused ? NULL : error);
    certreg_status status = refused ? refused : sized;
    if (!status) status = shift(solver, bounds, family, radius, &found);
    if (!sized) cr_struct_write(out, out->struct_size, &found, sizeof found);
    return refused ? status : cr_busy_leave(&solver->busy, status);
}
