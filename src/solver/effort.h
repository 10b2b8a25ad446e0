/* How often the dual may still be evaluated: what bounds the time of a call, whatever the
 * constraints. One evaluation is one expectation over the line, with its edges. At the limit a
 * search hands over what it has, which is a bound (theory 3.1: any multipliers give one). */
#ifndef CR_SOLVER_EFFORT_H
#define CR_SOLVER_EFFORT_H

typedef struct cr_effort {
    int used, most;
} cr_effort;

static inline int cr_effort_left(const cr_effort *effort)
{
    return effort->used < effort->most;
}

/* A part of the work that may use so many evaluations of what is left. Returns what to put back
 * into `most` after it. */
static inline int cr_effort_narrow(cr_effort *effort, int evaluations)
{
    const int before = effort->most, most = effort->used + evaluations;
    if (most < before) effort->most = most;
    return before;
}

#endif
