/* From a record and the conditions of a question to bounds of their scores. */
#ifndef CR_BOUNDS_BOUNDS_H
#define CR_BOUNDS_BOUNDS_H
#include "question/conditions.h"
#include "record/replay.h"

/* The constraints that this question's method provides and the question may use. The gradient costs
 * a replay, so it is found only where it is among them. */
uint32_t cr_bounds_constraints(cr_view *, const cr_question *);
/* Bounds that say nothing yet. */
certreg_bounds cr_bounds_blank(cr_view *, const cr_conditions *);
/* Bounds of the scores of all conditions; one call, since they share a replay. *abstained: the
 * interval says nothing. DEADLINE if there was not enough time. */
certreg_status cr_bounds_find(cr_replay *, const cr_conditions *, certreg_bounds out[CR_CONDITIONS],
                              int *abstained);
/* Wants the sweep that cr_bounds_find takes, if it takes one; 0: there is no room for it. */
int cr_bounds_want(cr_replay *, const cr_conditions *);

#endif
