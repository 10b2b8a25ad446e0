/* The handle: what a plan sets, what the last call cost, and the radii that it found. */
#ifndef CR_BISECTION_BISECTION_H
#define CR_BISECTION_BISECTION_H
#include "base/busy.h"
#include "bisection/radius.h"

struct certreg_bisection {
    certreg_error error;
    cr_busy busy;
    certreg_solve_info info;
    cr_bisection how;
    int warm, remembers;                /* whether to remember; whether anything is remembered */
    cr_trace remembered[CR_REMEMBERED]; /* of the last call */
    int32_t owns_memory;
};

#endif
