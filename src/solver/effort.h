/* How often the dual may still be evaluated: this bounds the time of a call, whatever the
 * constraints. One evaluation is one expectation over the line, its regions included. A search that
 * reaches the limit hands over what it has, which is a bound, since any multipliers give one
 * (theory 3.1). It also counts what a caller may want to know about them. */
#ifndef CR_SOLVER_EFFORT_H
#define CR_SOLVER_EFFORT_H
#include <stdint.h>

typedef struct cr_effort {
    int used, most;
    int ended;            /* something was left undone at a limit */
    uint64_t points;      /* of all quadratures */
    uint32_t loose;       /* searches not known to have come next to the truth */
    uint32_t refinements; /* of final evaluations that disagreed */
    uint32_t fallbacks;   /* bounds for which a formula had to stand in */
} cr_effort;

/* Called where there is more to do. */
static inline int cr_effort_left(cr_effort *effort)
{
    const int left = effort->used < effort->most;
    effort->ended |= !left;
    return left;
}

/* A part of the work that may use this many of the remaining evaluations. Returns what to put back
 * into `most` after it. */
static inline int cr_effort_narrow(cr_effort *effort, int evaluations)
{
    const int before = effort->most, most = effort->used + evaluations;
    if (most < before) effort->most = most;
    return before;
}

#endif
