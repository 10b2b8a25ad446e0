/* The statistic of the recorded outputs: what a certificate tells as its estimate, and what a
 * server returns. */
#ifndef CR_CONDITIONS_ESTIMATE_H
#define CR_CONDITIONS_ESTIMATE_H
#include "conditions/conditions.h"

/* The estimate of one output, from all noisy samples; NAN of a vector. Also for a record that is
 * too short to certify anything, since a control loop continues with it; the given prediction where
 * the outputs give no number. A baseline is about the circle cut opposite its prediction. */
double cr_estimate_number(cr_view *, const cr_question *, size_t samples, double prediction);
/* certreg_estimator_estimate, of a question that was taken for it: as many numbers as it has
 * outputs. */
certreg_status cr_estimate_tell(cr_view *, cr_conditions *, double *out, certreg_error *why);

#endif
