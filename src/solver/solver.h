/* The opaque handle: an error and nothing else; every solve lives on the stack. */
#ifndef CR_SOLVER_SOLVER_H
#define CR_SOLVER_SOLVER_H
#include "base/error.h"
#include <stdint.h>

struct certreg_solver {
    certreg_error error;
    int32_t owns_memory;
};

#endif
