/* Chooses the conditions whose scores are bounded by their whole distribution. */
#ifndef CR_CERTIFY_BOUND_SELECTION_H
#define CR_CERTIFY_BOUND_SELECTION_H
#include "conditions/conditions.h"
#include "estimator/context.h"

/* 1 if a question may have such conditions: its bounds then depend on its tolerance. */
int cr_bound_selection_applies(const cr_question *);
/* The pilot chooses: the law of a score, or its mean and variance (theory 6.9). */
void cr_bound_selection_choose(const cr_context *, cr_conditions *);

#endif
