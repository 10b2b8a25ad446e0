/* The largest radius at which conditions hold, on the caller's stack, and the handle. */
#ifndef CR_BISECTION_BISECTION_H
#define CR_BISECTION_BISECTION_H
#include "base/deadline.h"
#include "base/handle.h"
#include "certreg/solver.h"
#include "solver/solver.h"

/* ---- The largest radius at which sup over the means of V(m; r) + weight*m is at most `limit`. */
/* In units of sigma: the largest cap, and the smallest relative accuracy of a radius. */
#define CR_MAX_RADIUS 10.0

/* ---- The largest radius, on the caller's stack, for the public handle and for certify. */
typedef struct cr_radius_options {
    double accuracy, cap;         /* relative; in units of sigma */
    int evaluations_per_function; /* of the searches for each function, at most */
    /* Checked between searches: CERTREG_E_DEADLINE once expired. NULL: no deadline. */
    cr_deadline *deadline;
    cr_evaluation_budget budget; /* spent by all calls, for all functions */
} cr_radius_options;

/* Conditions on `count` functions: the mean of each has to stay above its threshold. */
typedef struct cr_mean_conditions {
    const certreg_bounds *bounds;
    const double *threshold; /* NULL: all 0 */
    size_t count;
    uint32_t constraints; /* to use of the bounds; 0: all */
} cr_mean_conditions;

/* Returns the defaults. */
cr_radius_options cr_radius_default(cr_deadline *deadline);
/* As certreg_bisection_within and _above. *out is always written, and 0 after a failure. `why` may
 * be NULL. */
certreg_status cr_radius_change_within(cr_radius_options *, const certreg_bounds *,
                                       uint32_t constraints, double tolerance, certreg_radius *out,
                                       certreg_error *why);
certreg_status cr_radius_mean_above(cr_radius_options *, const cr_mean_conditions *,
                                    certreg_radius *out, certreg_error *why);

/* ---- The handle: its settings, and the cost of the last call. Every search lives on the stack. */
struct certreg_bisection {
    cr_call_guard guard;
    certreg_error error;
    certreg_solve_info info;
    cr_radius_options options;
    int32_t owns_memory;
};

#endif
