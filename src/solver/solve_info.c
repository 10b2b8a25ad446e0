/* Limits of evaluations and statistics, for the handles of both solver and bisection. */
#include "solver/solve_info.h"
#include "base/os.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"

enum { MAX_EVALUATIONS = 1000000 };

certreg_status cr_solve_info_limit(uint32_t requested, uint32_t default_limit, uint32_t min_limit,
                                   uint32_t *out, certreg_error *why)
{
    *out = requested ? requested : default_limit;
    if (*out >= min_limit && *out <= MAX_EVALUATIONS) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.max_evaluations is %u; it must be 0 or %u to %u", requested,
                        min_limit, (uint32_t)MAX_EVALUATIONS);
}

certreg_solve_info cr_solve_info_from_budget(const cr_evaluation_budget *budget, double start)
{
    return (certreg_solve_info){.struct_size = sizeof(certreg_solve_info),
                                .evaluations = (uint32_t)budget->used,
                                .points = budget->points,
                                .loose = budget->loose,
                                .refinements = budget->refinements,
                                .fallbacks = budget->fallbacks,
                                .seconds = cr_os_now(NULL) - start};
}

certreg_status cr_solve_info_report(cr_call_guard *guard, certreg_error *error,
                                    const certreg_solve_info *info, certreg_solve_info *out)
{
    const certreg_solve_info empty = {.struct_size = sizeof empty};
    certreg_error why; /* the handle's own error belongs to the last call */
    const certreg_status refused = cr_call_guard_enter(guard, &why);
    certreg_status status =
        cr_struct_check(out, CR_OLDEST_SOLVE_INFO, "info", refused ? NULL : error);
    if (!status) cr_struct_write(out, out->struct_size, refused ? &empty : info, sizeof empty);
    if (!refused) return cr_call_guard_leave(guard, status);
    if (refused == CERTREG_E_WRONG_STATE) *error = why;
    return refused;
}
