/* What a certificate is about: the prediction from the pilot, and the location of recorded
 * outputs. */
#ifndef CR_CONDITIONS_PREDICTION_H
#define CR_CONDITIONS_PREDICTION_H
#include "conditions/conditions.h"

/* Into [lo, hi) of an angle's unit, except for the mean, which takes angles as numbers. */
double cr_prediction_into_turn(cr_view *, const cr_question *, double value);
/* Location of count recorded samples from `first` on: what the score of this question estimates. A
 * circle is cut opposite `about`, or where it is NAN, opposite the circular mean of the samples. */
double cr_prediction_of_record(cr_view *, const cr_question *, size_t first, size_t count,
                               double about);
/* The given prediction, or what the pilot chooses, which is complete: to the conditions, of a
 * vector to their scratch, and the number is NaN. Zero: the outputs give none. */
int cr_prediction_find(cr_view *, cr_conditions *);
/* certreg_estimator_prediction, of a question that was taken: as many numbers as it has outputs. */
certreg_status cr_prediction_tell(cr_view *, cr_conditions *, double *out, certreg_error *why);

#endif
