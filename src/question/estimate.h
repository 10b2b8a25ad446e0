/* The statistic of the recorded outputs: what a certificate tells as its estimate, and what a
 * server returns. */
#ifndef CR_QUESTION_ESTIMATE_H
#define CR_QUESTION_ESTIMATE_H
#include "question/question.h"

/* Of one output, from all noisy samples; NAN of a vector. Also for a record that is too short to
 * certify anything, since a control loop continues with it; the given prediction where the outputs
 * give no number. A baseline is about the circle cut opposite its prediction. */
double cr_estimate_number(const certreg_estimator *, const cr_question *, size_t samples,
                          double prediction);

#endif
