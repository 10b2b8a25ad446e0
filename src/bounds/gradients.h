/* Bounds of the gradient norms of a question's scores, and of their second orders. */
#ifndef CR_BOUNDS_GRADIENTS_H
#define CR_BOUNDS_GRADIENTS_H
#include "question/conditions.h"

/* To those of the given bounds that have one; all at once, since one replay serves them. */
certreg_status cr_gradients_find(certreg_estimator *, const cr_conditions *, uint32_t constraints,
                                 certreg_bounds *bounds);

#endif
