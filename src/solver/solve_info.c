/* Limits of evaluations and statistics, for the handles of both solver and bisection. */
#include "solver/solve_info.h"
#include "base/os.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"

enum { MOST_EVALUATIONS = 1000000 };

certreg_status cr_solve_info_limit(uint32_t given, uint32_t usual, uint32_t least, uint32_t *out,
                                   certreg_error *why)
{
    *out = given ? given : usual;
    if (*out >= least && *out <= MOST_EVALUATIONS) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.max_evaluations is %u; it must be 0 or %u to %u", given, least,
                        (uint32_t)MOST_EVALUATIONS);
}

certreg_solve_info cr_solve_info_spent(const cr_evaluation_budget *effort, double start)
{
    return (certreg_solve_info){.struct_size = sizeof(certreg_solve_info),
                                .evaluations = (uint32_t)effort->used,
                                .points = effort->points,
                                .loose = effort->loose,
                                .refinements = effort->refinements,
                                .fallbacks = effort->fallbacks,
                                .seconds = cr_os_now(NULL) - start};
}

certreg_status cr_solve_info_report(cr_call_guard *busy, certreg_error *error,
                                    const certreg_solve_info *info, certreg_solve_info *out)
{
    const certreg_solve_info nothing = {.struct_size = sizeof nothing};
    certreg_error why; /* the handle's own error belongs to the last call */
    const certreg_status refused = cr_call_guard_enter(busy, &why);
    certreg_status status =
        cr_struct_check(out, CR_OLDEST_SOLVE_INFO, "info", refused ? NULL : error);
    if (!status) cr_struct_write(out, out->struct_size, refused ? &nothing : info, sizeof nothing);
    if (!refused) return cr_call_guard_leave(busy, status);
    if (refused == CERTREG_E_WRONG_STATE) *error = why;
    return refused;
}
