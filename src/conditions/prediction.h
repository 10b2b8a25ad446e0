/* The two locations that a record has for a question: the prediction, on which a certificate is
 * centered, and the estimate from all noisy samples. */
#ifndef CR_CONDITIONS_PREDICTION_H
#define CR_CONDITIONS_PREDICTION_H
#include "conditions/conditions.h"

/* Sets the prediction: the given one, or the pilot's choice; the pilot is then complete. Sets the
 * tolerance if it is relative. The numbers of a vector go to scratch->vector_prediction. Returns 0
 * if the outputs have none, else 1. */
int cr_prediction_choose(cr_view *, cr_conditions *);
/* certreg_estimator_prediction, for a validated question: writes one number per output, NaN if the
 * pilot has none. Fails with WRONG_STATE if the pilot has a gap. */
certreg_status cr_prediction_report(cr_view *, cr_conditions *, double *out, certreg_error *why);
/* Returns the estimate of one output from the first `samples` samples, or the given prediction if
 * they have none, or NaN; NaN for a vector. Also for a record that is too short to certify
 * anything, since a control loop continues with it. Published methods cut a circle opposite
 * `prediction`. */
double cr_prediction_estimate(cr_view *, const cr_question *, size_t samples, double prediction);
/* certreg_estimator_estimate, for a question that was loaded for it: writes one number per output.
 * Fails with WRONG_STATE if the record has a gap, or not the number of samples that
 * question.serving names. */
certreg_status cr_prediction_report_estimate(cr_view *, cr_conditions *, double *out,
                                             certreg_error *why);

#endif
