/* The budget of evaluations of the dual, which bounds the time of a call. One evaluation is one
 * expectation over the line, its regions included. At the limit a search returns the multipliers it
 * has, which give a bound (theory 3.1). Statistics for the caller are counted here as well. */
#ifndef CR_SOLVER_EVALUATION_BUDGET_H
#define CR_SOLVER_EVALUATION_BUDGET_H
#include <stdint.h>

typedef struct cr_evaluation_budget {
    int used, most;
    int ended;            /* work was left undone at a limit */
    uint64_t points;      /* of all quadratures */
    uint32_t loose;       /* searches that are not known to be tight */
    uint32_t refinements; /* final evaluations that disagreed */
    uint32_t fallbacks;   /* bounds replaced by a closed form */
} cr_evaluation_budget;

/* Returns whether an evaluation is left for more work. If not, `ended` is set. */
static inline int cr_budget_left(cr_evaluation_budget *effort)
{
    const int left = effort->used < effort->most;
    effort->ended |= !left;
    return left;
}

/* Limits the next part of the work to this many evaluations. Returns the `most` to restore then. */
static inline int cr_budget_narrow(cr_evaluation_budget *effort, int evaluations)
{
    const int before = effort->most, most = effort->used + evaluations;
    if (most < before) effort->most = most;
    return before;
}

#endif
