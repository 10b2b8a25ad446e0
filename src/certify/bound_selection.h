/* The choice between two bounds of a score: by its moments, or by its whole law (theory 6.9). */
#ifndef CR_CERTIFY_BOUND_SELECTION_H
#define CR_CERTIFY_BOUND_SELECTION_H
#include "conditions/conditions.h"
#include "estimator/context.h"

/* Returns 1 if conditions of this question may be bounded by the law of their scores: its bounds
 * then depend on its tolerance. */
int cr_bound_selection_applies(const cr_question *);
/* Sets for each condition the law of its score, or mean and variance, or the mean alone, as the
 * pilot chooses. A true mean may get two conditions, one for each side. */
void cr_bound_selection_choose(const cr_context *, cr_conditions *);

#endif
