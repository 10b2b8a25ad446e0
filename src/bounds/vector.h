/* Bounds of all outputs as one vector (theory 7). */
#ifndef CR_BOUNDS_VECTOR_H
#define CR_BOUNDS_VECTOR_H
#include "question/conditions.h"

/* For CERTREG_ALL_OUTPUTS. *abstained: the interval says nothing. */
certreg_status cr_vector_find(certreg_estimator *, const cr_conditions *, uint32_t constraints,
                              certreg_bounds *b, int *abstained);

#endif
