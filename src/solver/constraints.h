/* From a caller's bounds and family to the two one-sided problems: validation, missing constraints,
 * limits. */
#ifndef CR_SOLVER_CONSTRAINTS_H
#define CR_SOLVER_CONSTRAINTS_H
#include "base/error.h"
#include "solver/point.h"

typedef struct cr_two_sided {
    uint32_t used;
    double sigma;
    int unit;           /* the sides are in units of 2^unit */
    cr_rise rise, drop; /* r is left at 0 */
    int has_mean;       /* thresholds on the mean can be asked for */
} cr_two_sided;

/* INVALID naming the field, VERSION, or INFEASIBLE where no function has these bounds. The sides
 * keep the effort. */
certreg_status cr_constraints_read(const certreg_bounds *theirs, uint32_t constraints,
                                   cr_effort *effort, cr_two_sided *out, certreg_error *why);
/* From the sides' unit to the caller's and back, rounded outward. */
double cr_constraints_up(const cr_two_sided *both, double bound);
double cr_constraints_limit(const cr_two_sided *both, double limit);
/* radius/sigma, rounded up; 0 for 0 only. */
double cr_constraints_radius(const cr_two_sided *both, double radius);

#endif
