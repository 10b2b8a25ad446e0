/* Bounds of the gradient norm kappa = ||E[u e]|| of each score u of a question. */
#ifndef CR_BOUNDS_GRADIENT_BOUNDS_H
#define CR_BOUNDS_GRADIENT_BOUNDS_H
#include "bounds/bounds.h"
#include "record/noise_replay.h"

/* Adds the bounds of kappa, in the unit of the score, to the given bounds of each condition that
 * has a gradient, at CR_ALPHA_FRACTION_GRADIENT of alpha: asymptotic (theory 5.1), or from the
 * given mean and moment without normality (theory 6.6). One call for all conditions, since they
 * share a replay. Errors: WRONG_STATE if there are fewer main samples than plan.blocks
 * (asymptotic), and errors of the replay. */
certreg_status cr_gradient_bounds_compute(cr_replay *, const cr_conditions *, cr_bound *bounds);
/* Requests the sweep that cr_gradient_bounds_compute needs, so that one sweep serves several
 * questions. Returns 0 if there is no memory for it, else 1. */
int cr_gradient_bounds_prefetch(cr_replay *, const cr_conditions *);

#endif
