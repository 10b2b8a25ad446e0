/* From a caller's bounds and family to the two one-sided problems: validation, missing facts, limits. */
#ifndef CR_SOLVER_FACTS_H
#define CR_SOLVER_FACTS_H
#include "base/error.h"
#include "solver/point.h"

typedef struct cr_facts {
    uint32_t used;
    double sigma;
    int unit;           /* the sides are in units of 2^unit */
    cr_side rise, drop; /* r is left at 0 */
    int has_mean;       /* thresholds on the mean can be asked for */
} cr_facts;

/* INVALID naming the field, VERSION, or INFEASIBLE where no function has these bounds. The sides keep the effort. */
certreg_status cr_facts_read(const certreg_bounds *theirs, uint32_t family, cr_effort *effort, cr_facts *out, certreg_error *why);
/* From the sides' unit to the caller's and back, rounded outward. */
double cr_facts_up(const cr_facts *facts, double bound);
double cr_facts_limit(const cr_facts *facts, double limit);
/* radius/sigma, rounded up; 0 for 0 only. */
double cr_facts_radius(const cr_facts *facts, double radius);

#endif
