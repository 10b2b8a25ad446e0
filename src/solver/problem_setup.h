/* From a caller's bounds to the two one-sided problems: checks, the unit, and the bounds that
 * follow from several constraints jointly. */
#ifndef CR_SOLVER_PROBLEM_SETUP_H
#define CR_SOLVER_PROBLEM_SETUP_H
#include "base/error.h"
#include "certreg/solver.h"
#include "solver/fixed_mean_dual.h"

typedef struct cr_problem_pair {
    uint32_t constraints;
    double sigma;
    int unit;                /* both problems are in units of 2^unit */
    cr_one_sided rise, drop; /* r is left at 0 */
    int has_mean;            /* the bounds limit the mean, so a threshold makes sense */
} cr_problem_pair;

/* Reads the bounds, with the constraints of the mask only (0: all). Returns INVALID naming the
 * field, VERSION, or INFEASIBLE if no function has these bounds. Both problems keep the pointer to
 * the budget. */
certreg_status cr_problem_setup(const certreg_bounds *input, uint32_t constraints,
                                cr_evaluation_budget *budget, cr_problem_pair *out,
                                certreg_error *why);
/* Convert a bound to the caller's unit, rounded up, and a limit from it, rounded down. */
double cr_problem_unscale_bound(const cr_problem_pair *problems, double bound);
double cr_problem_scale_limit(const cr_problem_pair *problems, double limit);
/* Returns radius/sigma, rounded up; 0 for 0 only. */
double cr_problem_scale_radius(const cr_problem_pair *problems, double radius);

#endif
