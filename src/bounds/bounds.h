/* From a record and the conditions of a question to bounds of their scores. */
#ifndef CR_BOUNDS_BOUNDS_H
#define CR_BOUNDS_BOUNDS_H
#include "question/conditions.h"

/* The constraints that the interval of this question delivers and its family may use. The gradient
 * costs a replay, so it is found only where it is among them. */
uint32_t cr_bounds_constraints(const certreg_estimator *, const cr_question *);
/* Bounds of the condition's scores, all conditions at once since one replay serves them.
 * *abstained: the interval says nothing. DEADLINE where they were given up. */
certreg_status cr_bounds_find(certreg_estimator *, const cr_conditions *,
                              certreg_bounds out[CR_CONDITIONS], int *abstained);

/* ---- vector.c */
/* Bounds of CERTREG_ALL_OUTPUTS. *abstained: the interval says nothing. */
certreg_status cr_vector_find(certreg_estimator *, const cr_conditions *, uint32_t constraints,
                              certreg_bounds *out, int *abstained);

#endif
