/* The limit of evaluations and the statistics of a call, for the handles of solver and bisection.
 */
#ifndef CR_SOLVER_SOLVE_INFO_H
#define CR_SOLVER_SOLVE_INFO_H
#include "base/call_guard.h"
#include "certreg/solver.h"
#include "solver/evaluation_budget.h"

/* Sets *out to the limit of a plan: `requested`, or `default_limit` if that is 0. INVALID unless it
 * is from min_limit to a million. */
certreg_status cr_solve_info_limit(uint32_t requested, uint32_t default_limit, uint32_t min_limit,
                                   uint32_t *out, certreg_error *why);
/* Returns the statistics of a call that began at `start`. */
certreg_solve_info cr_solve_info_from_budget(const cr_evaluation_budget *budget, double start);
/* Writes the statistics of the last call. The handle's error changes only if this call fails. */
certreg_status cr_solve_info_report(cr_call_guard *guard, certreg_error *error,
                                    const certreg_solve_info *info, certreg_solve_info *out);

#endif
