/* The worst function at a radius, on the caller's stack, for the public handle. */
#ifndef CR_SOLVER_WORST_FUNCTION_H
#define CR_SOLVER_WORST_FUNCTION_H
#include "certreg/worst_function.h"
#include "solver/worst_case.h"

/* As certreg_solver_worst_function, with at most max_evaluations. *out is always written, and after
 * a failure is no function. *budget is set to the evaluations spent. */
certreg_status cr_worst_function(const cr_worst_case_instance *, int32_t side,
                                 uint32_t max_evaluations, cr_evaluation_budget *budget,
                                 certreg_worst_function *out, certreg_error *why);

#endif
