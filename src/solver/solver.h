/* The opaque handle: an error and a mark, nothing else; every solve lives on the stack. */
#ifndef CR_SOLVER_SOLVER_H
#define CR_SOLVER_SOLVER_H
#include "base/busy.h"
#include <stdint.h>

struct certreg_solver {
    certreg_error error;
    cr_busy busy;
    int32_t owns_memory;
};

#endif
