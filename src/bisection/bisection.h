/* The handle: its settings, and the cost of the last call. Every search lives on the stack. */
#ifndef CR_BISECTION_BISECTION_H
#define CR_BISECTION_BISECTION_H
#include "base/call_guard.h"
#include "bisection/radius.h"

struct certreg_bisection {
    cr_call_guard guard;
    certreg_error error;
    certreg_solve_info info;
    cr_radius_options options;
    int32_t owns_memory;
};

#endif
