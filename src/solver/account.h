/* What the handles of the solver and of the bisection share: limit and statistics. */
#ifndef CR_SOLVER_ACCOUNT_H
#define CR_SOLVER_ACCOUNT_H
#include "base/busy.h"
#include "certreg/solver.h"
#include "solver/effort.h"

/* The limit of evaluations of a plan, 0 replaced by its default. */
certreg_status cr_account_limit(uint32_t given, uint32_t usual, uint32_t least, uint32_t *out,
                                certreg_error *why);
/* What a call has spent since `start`. */
certreg_solve_info cr_account_spent(const cr_effort *effort, double start);
/* The public function: what the last call has spent. The error changes only if this fails. */
certreg_status cr_account_report(cr_busy *busy, certreg_error *error,
                                 const certreg_solve_info *info, certreg_solve_info *out);

#endif
