/* From a caller's bounds and family to the two one-sided problems: validation, missing facts, limits. */
#ifndef CR_SOLVER_FACTS_H
#define CR_SOLVER_FACTS_H
#include "base/error.h"
#include "solver/point.h"

typedef struct cr_facts {
    uint32_t used;
    double sigma;
    cr_side rise, drop; /* r is left at 0 */
    int has_mean;       /* thresholds on the mean can be asked for */
} cr_facts;

/* INVALID naming the field, VERSION, or INFEASIBLE where no function has these bounds. */
certreg_status cr_facts_read(const certreg_bounds *theirs, uint32_t family, cr_facts *out, certreg_error *why);

#endif
