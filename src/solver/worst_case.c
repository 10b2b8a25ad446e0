/* A worst case: rise, drop and the ends of the shifted mean, by all subsets of the constraints. */
#include "solver/worst_case.h"
#include "solver/tangent_search.h"
#include "solver/constraint_subsets.h"
#include "solver/closed_form_bound.h"
#include "solver/problem_setup.h"
#include <math.h>

/* The smallest bound so far of the rise (weight 0) or of the shifted mean (weight 1). */
typedef struct bound_search {
    double weight, best_bound;
    cr_tangent_pair tangents; /* the next search starts from it */
} bound_search;

static int search_bound(void *context, const cr_one_sided *rise)
{
    bound_search *search = context;
    search->best_bound =
        fmin(search->best_bound, cr_tangent_bound(rise, search->weight, &search->tangents));
    return search->tangents.tight;
}

static double mean_bound_from_rise(const cr_one_sided *rise, double max_rise)
{
    return fmin(max_rise > 0 ? nextafter(rise->mean_hi + max_rise, INFINITY) : rise->mean_hi,
                cr_range_bound(rise, 1));
}

/* Rise and drop come first, then the shifted means, which follow if the mean is known exactly. */
static void solve_all(cr_problem_pair *problems, double radius, cr_evaluation_budget *budget,
                      certreg_mean_change *out)
{
    const cr_one_sided *problem[] = {&problems->rise, &problems->drop};
    bound_search searches[] = {{.best_bound = INFINITY},
                               {.best_bound = INFINITY},
                               {.best_bound = INFINITY, .weight = 1},
                               {.best_bound = INFINITY, .weight = 1}};
    cr_constraint_subsets subsets[4];
    double mean_bound[2];
    int count = 0;
    problems->rise.r = problems->drop.r = cr_problem_scale_radius(problems, radius);
    const int has_width = problems->has_mean && problems->rise.mean_lo < problems->rise.mean_hi;
    for (int i = 0; i < 4; i++)
        if (i < 2 || (has_width && isfinite(problem[i - 2]->mean_hi)))
            subsets[count++] =
                cr_constraint_subsets_make(problem[i % 2], search_bound, searches + i);
    cr_constraint_subsets_solve(subsets, count, budget);
    for (int i = 0; i < 2; i++)
        mean_bound[i] = fmin(searches[i + 2].best_bound,
                             mean_bound_from_rise(problem[i], searches[i].best_bound));
    out->rise = cr_problem_unscale_bound(problems, searches[0].best_bound);
    out->drop = cr_problem_unscale_bound(problems, searches[1].best_bound);
    out->mean_greatest = cr_problem_unscale_bound(problems, mean_bound[0]);
    out->mean_least = -cr_problem_unscale_bound(problems, mean_bound[1]);
}

const certreg_mean_change cr_worst_case_unbounded = {
    sizeof(certreg_mean_change), 0, INFINITY, INFINITY, -INFINITY, INFINITY};

certreg_status cr_worst_case(const cr_worst_case_instance *instance, uint32_t max_evaluations,
                             cr_evaluation_budget *budget, certreg_mean_change *out,
                             certreg_error *why)
{
    cr_problem_pair problems;
    *out = cr_worst_case_unbounded;
    *budget = (cr_evaluation_budget){.limit = (int)max_evaluations - CR_RESERVED_FOR_WORST_CASE};
    if (!(instance->radius >= 0))
        return cr_error_set(why, CERTREG_E_INVALID, "radius is %g; it must not be negative",
                            instance->radius);
    const certreg_status status =
        cr_problem_setup(instance->bounds, instance->constraints, budget, &problems, why);
    if (status) return status;
    out->constraints = problems.constraints;
    solve_all(&problems, instance->radius, budget, out);
    return CERTREG_OK;
}
