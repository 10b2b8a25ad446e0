/* Bounds of the gradient norms of a question's scores. */
#ifndef CR_BOUNDS_GRADIENTS_H
#define CR_BOUNDS_GRADIENTS_H
#include "bounds/bounds.h"
#include "record/replay.h"

/* Adds them to the given bounds, where there are any. One call for all conditions, since they share
 * a replay. */
certreg_status cr_gradients_find(cr_replay *, const cr_conditions *, cr_bound *bounds);
/* Wants the sweep that cr_gradients_find takes, so that it is found with others; 0: there is no
 * room. */
int cr_gradients_want(cr_replay *, const cr_conditions *);

#endif
