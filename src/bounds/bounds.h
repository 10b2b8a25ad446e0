/* From a record and the conditions of a question to bounds of their scores. */
#ifndef CR_BOUNDS_BOUNDS_H
#define CR_BOUNDS_BOUNDS_H
#include "conditions/conditions.h"
#include "record/replay.h"

typedef struct cr_bound { /* of the score of one condition, from the main samples */
    certreg_bounds moments;
    double miss_rate; /* a counted score is -1 with this probability at most; NaN: not counted */
    double law_mean;  /* the mean of H for the law of the condition is at least this; NaN: none */
} cr_bound;

/* The constraints that this question's method provides and the question may use. The gradient costs
 * a replay, so it is found only where it is among them. */
uint32_t cr_bounds_constraints(cr_view *, const cr_question *);
/* Bounds that say nothing yet. */
certreg_bounds cr_bounds_blank(cr_view *, const cr_conditions *);
/* Bounds of the scores of all conditions; one call, since they share a replay. *abstained: the
 * interval says nothing. DEADLINE if there was not enough time. */
certreg_status cr_bounds_find(cr_replay *, const cr_conditions *, cr_bound out[CR_CONDITIONS],
                              int *abstained);
/* Wants the sweep that cr_bounds_find takes, if it takes one; 0: there is no room for it. */
int cr_bounds_want(cr_replay *, const cr_conditions *);

#endif
