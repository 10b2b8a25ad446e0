/* Output bounds: the range of T within a given radius (theory 1.6). */
#ifndef CR_CERTIFY_OUTPUT_BOUNDS_H
#define CR_CERTIFY_OUTPUT_BOUNDS_H
#include "certify/condition_radius.h"

/* Sets the range of T at given.at_radius, from an evaluation with bounds. Its conditions may
 * change. *from and *to stay if nothing is proved. Fails with INFEASIBLE or DEADLINE. */
certreg_status cr_output_bounds_find(const cr_context *, cr_evaluation *, double *from, double *to);

#endif
