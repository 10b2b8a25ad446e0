/* The order in which subsets of constraints are tried, and the evaluations that each may spend. */
#include "solver/constraint_subsets.h"
#include <math.h>

/* Mean and range are in every subset, since they only limit the search. The closed forms, which
 * need no range, are always used. */
enum { VARIANCE = 1, GRADIENT = 2, MOMENT = 4, SUBSETS = 8 };

static int active_constraints(const cr_one_sided *rise)
{
    const int gradient = rise->gradient_lo > 0 ||
                         rise->gradient_hi < sqrt(cr_one_sided_max_variance(rise));
    int active = gradient ? GRADIENT : 0;
    if (rise->variance < INFINITY) active |= VARIANCE;
    if (rise->moment < INFINITY) active |= MOMENT;
    return active;
}

static cr_one_sided restrict_to(const cr_one_sided *rise, int subset)
{
    cr_one_sided restricted = *rise;
    if (!(subset & VARIANCE)) restricted.variance = INFINITY;
    if (!(subset & MOMENT)) restricted.moment = INFINITY;
    if (!(subset & GRADIENT)) {
        restricted.gradient_lo = 0;
        restricted.gradient_hi = INFINITY;
    }
    restricted.low_end_is_feasible_limit = restricted.high_end_is_feasible_limit = 0;
    return restricted;
}

/* Solves with this subset, by half of the remaining budget, so that the next one has some. */
static void solve_subset(cr_constraint_subsets *subsets, int subset)
{
    cr_evaluation_budget *budget = subsets->rise->budget;
    if (subsets->is_tight[subset]) return;
    const cr_one_sided restricted =
        subset == subsets->all_constraints ? *subsets->rise : restrict_to(subsets->rise, subset);
    const int outer_limit = cr_budget_narrow(budget, (budget->limit - budget->used) / 2);
    const int tight = subsets->solve(subsets->context, &restricted);
    for (int contained = 0; contained < SUBSETS; contained++)
        if (!(contained & ~subset)) subsets->is_tight[contained] |= tight;
    budget->limit = outer_limit;
}

static int constraint_count(int subset)
{
    return (subset & 1) + (subset >> 1 & 1) + (subset >> 2);
}

/* Solves with the proper subsets, the largest first. */
static void solve_proper_subsets(cr_constraint_subsets *subsets)
{
    for (int size = constraint_count(subsets->all_constraints) - 1; size >= 0; size--)
        for (int subset = 0; subset < SUBSETS; subset++)
            if (!(subset & ~subsets->all_constraints) && constraint_count(subset) == size)
                solve_subset(subsets, subset);
}

cr_constraint_subsets cr_constraint_subsets_make(const cr_one_sided *rise, cr_subset_solver *solve,
                                                 void *context)
{
    return (cr_constraint_subsets){.rise = rise,
                                   .solve = solve,
                                   .context = context,
                                   .all_constraints = active_constraints(rise)};
}

void cr_constraint_subsets_solve(cr_constraint_subsets *subsets, int count,
                                 cr_evaluation_budget *budget)
{
    int unsolved = 0;
    for (int i = 0; i < count; i++) {
        budget->exhausted = 0;
        solve_subset(subsets + i, subsets[i].all_constraints);
        const int loose = !subsets[i].is_tight[subsets[i].all_constraints];
        unsolved += loose;
        budget->loose += loose || budget->exhausted;
    }
    for (int i = 0; i < count; i++) {
        if (subsets[i].is_tight[subsets[i].all_constraints]) continue;
        const int evaluations = (budget->limit - budget->used) / (unsolved > 1 ? unsolved-- : 1);
        const int outer_limit = cr_budget_narrow(budget, evaluations);
        solve_proper_subsets(subsets + i);
        budget->limit = outer_limit;
    }
}
