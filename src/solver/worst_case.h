/* The worst change of the mean within a radius, on the caller's stack: what the public handle wraps
 * and certify calls. */
#ifndef CR_SOLVER_WORST_CASE_H
#define CR_SOLVER_WORST_CASE_H
#include "certreg/solver.h"
#include "solver/effort.h"

/* Searches end this much before the limit: what they have found is still to be proved. */
enum { CR_KEPT_FOR_A_WORST_CASE = 500 };

/* An instance of the worst-case problem: what is known of a function, the constraints to use of
 * it (0: all), and the radius. */
typedef struct cr_worst_case_instance {
    const certreg_bounds *bounds;
    uint32_t constraints;
    double radius;
} cr_worst_case_instance;

/* A change without bounds, for calls that fail. */
extern const certreg_mean_change cr_worst_case_unbounded;
/* As certreg_solver_worst_case, with at most so many evaluations. *out is written in any case;
 * after a failure it claims nothing. *effort is what was spent. `why` may be NULL. */
certreg_status cr_worst_case(const cr_worst_case_instance *, uint32_t max_evaluations,
                             cr_effort *effort, certreg_mean_change *out, certreg_error *why);

#endif
