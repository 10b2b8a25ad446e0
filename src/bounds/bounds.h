/* The entry of this room: bounds of the scores of a question's conditions, from a record. */
#ifndef CR_BOUNDS_BOUNDS_H
#define CR_BOUNDS_BOUNDS_H
#include "conditions/conditions.h"
#include "record/noise_replay.h"

typedef struct cr_bound { /* of the score of one condition, from the main samples */
    certreg_bounds moments;
    double failure_probability; /* upper bound that a binomial score is -1; NaN: not binomial */
    double transformed_mean;    /* lower bound of the mean of the condition's H; NaN: none */
} cr_bound;

/* Returns the CERTREG_CONSTRAINT_... that the bounds of this question have, by its method, its own
 * choice and the plan (theory 5.1). The gradient is among them only if it is to be bounded, since
 * it costs a replay. */
uint32_t cr_bounds_constraints(cr_view *, const cr_question *);
/* Returns bounds without constraints, with sigma, alpha and the number of main samples set. */
certreg_bounds cr_bounds_init(cr_view *, const cr_conditions *);
/* Sets bounds of the scores of all conditions, in the units of the scores; one call, since they
 * share a replay. *abstained: 1 if a score has no bound, so that the radius is 0. Errors: DEADLINE
 * if time ran out, WRONG_STATE if the gradient needs more samples, and errors of the replay. */
certreg_status cr_bounds_compute(cr_replay *, const cr_conditions *, cr_bound out[CR_CONDITIONS],
                                 int *abstained);
/* Requests the sweep that cr_bounds_compute needs. Returns 0 if memory does not suffice, else 1. */
int cr_bounds_prefetch(cr_replay *, const cr_conditions *);

#endif
