/* The opaque handle: an error, a mark, and what the last call has spent; every solve lives on the
 * stack. */
#ifndef CR_SOLVER_SOLVER_H
#define CR_SOLVER_SOLVER_H
#include "base/busy.h"
#include "solver/effort.h"
#include <stdint.h>

/* Where searches end: what has been found is still to be proven then. */
enum {
    CR_WORST_CASE_EVALUATIONS = CERTREG_WORST_CASE_EVALUATIONS - 500,
    CR_RADIUS_EVALUATIONS = CERTREG_RADIUS_EVALUATIONS - 2000
};

struct certreg_solver {
    certreg_error error;
    cr_busy busy;
    cr_effort effort;
    int32_t owns_memory;
};

#endif
