/* The budget of evaluations of the dual, which bounds the time of a call. One evaluation is one
 * expectation over the line, its regions included. At the limit a search returns the multipliers it
 * has, which give a bound (theory 3.1). Statistics for the caller are counted here as well. */
#ifndef CR_SOLVER_EVALUATION_BUDGET_H
#define CR_SOLVER_EVALUATION_BUDGET_H
#include <stdint.h>

typedef struct cr_evaluation_budget {
    int used, limit;
    int exhausted;        /* work was left undone at a limit */
    uint64_t points;      /* of all quadratures */
    uint32_t loose;       /* searches that are not known to be tight */
    uint32_t refinements; /* final evaluations that disagreed */
    uint32_t fallbacks;   /* bounds replaced by a closed form */
} cr_evaluation_budget;

/* Returns whether an evaluation is left for more work. If not, `exhausted` is set. */
static inline int cr_budget_left(cr_evaluation_budget *budget)
{
    const int has_left = budget->used < budget->limit;
    budget->exhausted |= !has_left;
    return has_left;
}

/* Limits the next stage of the work to these evaluations. Returns the limit to restore after it. */
static inline int cr_budget_narrow(cr_evaluation_budget *budget, int evaluations)
{
    const int previous = budget->limit, limit = budget->used + evaluations;
    if (limit < previous) budget->limit = limit;
    return previous;
}

#endif
