/* The worst change of the mean within a radius, on the caller's stack. */
#ifndef CR_SOLVER_WORST_CASE_H
#define CR_SOLVER_WORST_CASE_H
#include "certreg/solver.h"
#include "solver/evaluation_budget.h"

/* Searches end this many evaluations before the limit, which remain for the proofs. */
enum { CR_RESERVED_FOR_WORST_CASE = 500 };

/* An instance of the worst-case problem: bounds, the constraints to use (0: all), the radius. */
typedef struct cr_worst_case_instance {
    const certreg_bounds *bounds;
    uint32_t constraints;
    double radius;
} cr_worst_case_instance;

/* A change without bounds, for calls that fail. */
extern const certreg_mean_change cr_worst_case_unbounded;
/* As certreg_solver_worst_case, with at most max_evaluations. *out is always written, and after a
 * failure bounds nothing. *budget is set to the evaluations spent. `why` may be NULL. */
certreg_status cr_worst_case(const cr_worst_case_instance *, uint32_t max_evaluations,
                             cr_evaluation_budget *budget, certreg_mean_change *out,
                             certreg_error *why);

#endif
