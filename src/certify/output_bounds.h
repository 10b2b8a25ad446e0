/* The inverse question: where T lies over the ball (theory 1). */
#ifndef CR_CERTIFY_OUTPUT_BOUNDS_H
#define CR_CERTIFY_OUTPUT_BOUNDS_H
#include "certify/solve.h"

/* *from, *to stay as they are where nothing is proven. */
certreg_status cr_output_bounds_find(const cr_work *, cr_answer *, double *from, double *to);

#endif
