/* A worst case: rise, drop and the ends of the shifted mean, by all subsets of the constraints. */
#include "solver/worst_case.h"
#include "solver/tangent_search.h"
#include "solver/constraint_subsets.h"
#include "solver/closed_form_bound.h"
#include "solver/problem_setup.h"
#include <math.h>

/* The least bound so far of the rise (weight 0) or of the shifted mean (weight 1). */
typedef struct question {
    double weight, best;
    cr_tangent_pair box; /* the next search starts from it */
} question;

static int ask(void *context, const cr_one_sided *rise)
{
    question *q = context;
    q->best = fmin(q->best, cr_box_bound(rise, q->weight, &q->box));
    return q->box.tight;
}

static double mean_by_rise(const cr_one_sided *rise, double most)
{
    return fmin(most > 0 ? nextafter(rise->mean_hi + most, INFINITY) : rise->mean_hi,
                cr_formula_cap(rise, 1));
}

/* Rise and drop come first, then the shifted means, which follow if the mean is known exactly. */
static void solve(cr_problem_pair *both, double radius, cr_evaluation_budget *effort,
                  certreg_mean_change *out)
{
    const cr_one_sided *problem[] = {&both->rise, &both->drop};
    question q[] = {{.best = INFINITY},
                    {.best = INFINITY},
                    {.best = INFINITY, .weight = 1},
                    {.best = INFINITY, .weight = 1}};
    cr_constraint_subsets subsets[4];
    double mean[2];
    int count = 0;
    both->rise.r = both->drop.r = cr_constraints_radius(both, radius);
    const int has_width = both->has_mean && both->rise.mean_lo < both->rise.mean_hi;
    for (int i = 0; i < 4; i++)
        if (i < 2 || (has_width && isfinite(problem[i - 2]->mean_hi)))
            subsets[count++] = cr_constraint_subsets_of(problem[i % 2], ask, q + i);
    cr_constraint_subsets_ask(subsets, count, effort);
    for (int i = 0; i < 2; i++) mean[i] = fmin(q[i + 2].best, mean_by_rise(problem[i], q[i].best));
    out->rise = cr_constraints_up(both, q[0].best);
    out->drop = cr_constraints_up(both, q[1].best);
    out->mean_greatest = cr_constraints_up(both, mean[0]);
    out->mean_least = -cr_constraints_up(both, mean[1]);
}

const certreg_mean_change cr_worst_case_unbounded = {
    sizeof(certreg_mean_change), 0, INFINITY, INFINITY, -INFINITY, INFINITY};

certreg_status cr_worst_case(const cr_worst_case_instance *given, uint32_t max_evaluations,
                             cr_evaluation_budget *effort, certreg_mean_change *out,
                             certreg_error *why)
{
    cr_problem_pair both;
    *out = cr_worst_case_unbounded;
    *effort = (cr_evaluation_budget){.most = (int)max_evaluations - CR_RESERVED_FOR_WORST_CASE};
    if (!(given->radius >= 0))
        return cr_error_set(why, CERTREG_E_INVALID, "radius is %g; it must not be negative",
                            given->radius);
    const certreg_status status =
        cr_problem_setup(given->bounds, given->constraints, effort, &both, why);
    if (status) return status;
    out->constraints = both.used;
    solve(&both, given->radius, effort, out);
    return CERTREG_OK;
}
