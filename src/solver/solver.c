#include "solver/solver.h"
#include "base/handle.h"
#include "base/structs.h"
#include "solver/bound.h"
#include "solver/closed.h"
#include "solver/constraints.h"
#include <math.h>

enum { OLDEST_SHIFT = sizeof(certreg_mean_change) };

size_t certreg_solver_size(void)
{
    return sizeof(certreg_solver);
}

certreg_status certreg_solver_create(void *memory, size_t bytes, certreg_solver **out)
{
    if (!out) return CERTREG_E_INVALID;
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

/* sup of the shift, or of the shifted mean, of one side: the least bound so far. */
typedef struct question {
    double weight, best;
    cr_box box; /* the next search starts from it */
} question;

static int ask(void *context, const cr_rise *side, int wanted)
{
    question *q = context;
    double bound;
    const int tight = cr_bound_find(side, q->weight, wanted, &q->box, &bound);
    q->best = fmin(q->best, bound);
    return tight;
}

static double mean_by_shift(const cr_rise *side, double shift)
{
    return fmin(shift > 0 ? nextafter(side->mean_hi + shift, INFINITY) : side->mean_hi,
                cr_closed_cap(side, 1));
}

/* Rise and drop; then the means that they lead to, where the mean is not known as closely as to
 * follow from them. */
static void solve(cr_constraints *sides, double radius, cr_effort *effort, certreg_mean_change *out)
{
    const cr_rise *side[] = {&sides->rise, &sides->drop};
    question q[] = {{.best = INFINITY},
                    {.best = INFINITY},
                    {.best = INFINITY, .weight = 1},
                    {.best = INFINITY, .weight = 1}};
    cr_families families[4];
    double mean[2];
    int count = 0;
    sides->rise.r = sides->drop.r = cr_constraints_radius(sides, radius);
    const int has_width = sides->has_mean && sides->rise.mean_lo < sides->rise.mean_hi;
    for (int i = 0; i < 4; i++)
        if (i < 2 || (has_width && isfinite(side[i - 2]->mean_hi)))
            families[count++] = cr_families_of(side[i % 2], ask, q + i);
    cr_families_ask(families, count, effort);
    for (int i = 0; i < 2; i++) mean[i] = fmin(q[i + 2].best, mean_by_shift(side[i], q[i].best));
    out->rise = cr_constraints_up(sides, q[0].best);
    out->drop = cr_constraints_up(sides, q[1].best);
    out->mean_greatest = cr_constraints_up(sides, mean[0]);
    out->mean_least = -cr_constraints_up(sides, mean[1]);
}

static certreg_status shift(certreg_solver *solver, const certreg_bounds *bounds,
                            uint32_t constraints, double radius, certreg_mean_change *found)
{
    cr_constraints sides;
    solver->effort = (cr_effort){.most = CR_WORST_CASE_EVALUATIONS};
    if (!(radius >= 0))
        return cr_fail(&solver->error, CERTREG_E_INVALID, "radius is %g; it must not be negative",
                       radius);
    const certreg_status status =
        cr_constraints_read(bounds, constraints, &solver->effort, &sides, &solver->error);
    if (status) return status;
    found->constraints = sides.used;
    solve(&sides, radius, &solver->effort, found);
    return CERTREG_OK;
}

certreg_status certreg_solver_worst_case(certreg_solver *solver, const certreg_bounds *bounds,
                                         uint32_t constraints, double radius,
                                         certreg_mean_change *out)
{
    certreg_mean_change found = {.struct_size = sizeof found,
                                 .drop = INFINITY,
                                 .rise = INFINITY,
                                 .mean_least = -INFINITY,
                                 .mean_greatest = INFINITY};
    certreg_error *error = solver ? &solver->error : NULL;
    const certreg_status refused = solver ? cr_busy_enter(&solver->busy, error) : CERTREG_E_INVALID;
    const certreg_status sized =
        cr_struct_check(out, OLDEST_SHIFT, "shift", refused ? NULL : error);
    certreg_status status = refused ? refused : sized;
    if (!status) status = shift(solver, bounds, constraints, radius, &found);
    if (!sized) cr_struct_write(out, out->struct_size, &found, sizeof found);
    return refused ? status : cr_busy_leave(&solver->busy, status);
}
