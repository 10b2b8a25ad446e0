/* The handle: its settings, and the cost of the last call. Every solve lives on the stack. */
#ifndef CR_SOLVER_SOLVER_H
#define CR_SOLVER_SOLVER_H
#include "base/call_guard.h"
#include "certreg/solver.h"

struct certreg_solver {
    cr_call_guard guard;
    certreg_error error;
    certreg_solve_info info;
    uint32_t max_evaluations;
    int32_t owns_memory;
};

#endif
