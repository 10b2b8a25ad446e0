/* The order in which subsets of constraints are tried, and the effort that each may spend. */
#include "solver/constraint_subsets.h"
#include <math.h>

/* Mean and range are in every subset, since they only limit the search. The closed forms, which
 * need no range, are always used. */
enum { VARIANCE = 1, GRADIENT = 2, MOMENT = 4, PARTS = 8 };

static int facts_of(const cr_one_sided *rise)
{
    const int gradient = rise->gradient_lo > 0 ||
                         rise->gradient_hi < sqrt(cr_one_sided_greatest_variance(rise));
    int facts = gradient ? GRADIENT : 0;
    if (rise->variance < INFINITY) facts |= VARIANCE;
    if (rise->moment < INFINITY) facts |= MOMENT;
    return facts;
}

static cr_one_sided with_only(const cr_one_sided *rise, int part)
{
    cr_one_sided fewer = *rise;
    if (!(part & VARIANCE)) fewer.variance = INFINITY;
    if (!(part & MOMENT)) fewer.moment = INFINITY;
    if (!(part & GRADIENT)) {
        fewer.gradient_lo = 0;
        fewer.gradient_hi = INFINITY;
    }
    fewer.low_reached = fewer.high_reached = 0;
    return fewer;
}

/* Solves with this subset, by half of the remaining effort, so that the next one has some. */
static void ask_with(cr_constraint_subsets *s, int part)
{
    cr_evaluation_budget *effort = s->rise->effort;
    if (s->settled[part]) return;
    const cr_one_sided fewer = part == s->all ? *s->rise : with_only(s->rise, part);
    const int most = cr_budget_narrow(effort, (effort->most - effort->used) / 2);
    const int tight = s->ask(s->question, &fewer);
    for (int within = 0; within < PARTS; within++)
        if (!(within & ~part)) s->settled[within] |= tight;
    effort->most = most;
}

static int count_of(int part)
{
    return (part & 1) + (part >> 1 & 1) + (part >> 2);
}

/* Solves with the proper subsets, the largest first. */
static void ask_parts(cr_constraint_subsets *s)
{
    for (int size = count_of(s->all) - 1; size >= 0; size--)
        for (int part = 0; part < PARTS; part++)
            if (!(part & ~s->all) && count_of(part) == size) ask_with(s, part);
}

cr_constraint_subsets cr_constraint_subsets_of(const cr_one_sided *rise, cr_subset_solver *ask,
                                               void *question)
{
    return (cr_constraint_subsets){
        .rise = rise, .ask = ask, .question = question, .all = facts_of(rise)};
}

void cr_constraint_subsets_ask(cr_constraint_subsets *subsets, int count,
                               cr_evaluation_budget *effort)
{
    int open = 0;
    for (int i = 0; i < count; i++) {
        effort->ended = 0;
        ask_with(subsets + i, subsets[i].all);
        const int loose = !subsets[i].settled[subsets[i].all];
        open += loose;
        effort->loose += loose || effort->ended;
    }
    for (int i = 0; i < count; i++) {
        if (subsets[i].settled[subsets[i].all]) continue;
        const int share = (effort->most - effort->used) / (open > 1 ? open-- : 1);
        const int most = cr_budget_narrow(effort, share);
        ask_parts(subsets + i);
        effort->most = most;
    }
}
