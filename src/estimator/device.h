/* Estimators whose batches live in a device's own memory. Everything that is asked of a record
 * stays host code. */
#ifndef CR_ESTIMATOR_DEVICE_H
#define CR_ESTIMATOR_DEVICE_H
#include "estimator/estimator.h"
#include "estimator/correlate.h"

/* What open takes, by model, plan, columns and active; SIZE_MAX if no memory has that room. */
size_t cr_device_bytes(const certreg_estimator *);
/* Takes the device's memory; at.x and at.y lie in it from then on. NO_MEMORY, DEVICE_FAILED. */
certreg_status cr_device_open(certreg_estimator *);
void cr_device_close(certreg_estimator *);
/* A new input: z and step go over. */
certreg_status cr_device_begin(certreg_estimator *);
/* The noisy inputs of a batch are in at.x; from the batch that was drawn ahead, if it is this one.
 */
certreg_status cr_device_draw(certreg_estimator *, uint64_t first);
/* Beside the model's work: the batch that will be asked for next. */
certreg_status cr_device_draw_ahead(certreg_estimator *, uint64_t first);
/* Outputs that the model will not write are NaN. */
certreg_status cr_device_blank_outputs(certreg_estimator *);
/* For what was drawn. */
certreg_status cr_device_wait(certreg_estimator *);
/* The outputs of a batch come back; this waits for the model. */
certreg_status cr_device_fetch_outputs(certreg_estimator *);
/* As cr_correlate_blocks and cr_correlate_gram; the block sums stay there. */
certreg_status cr_device_blocks(certreg_estimator *, cr_correlate_job *);
certreg_status cr_device_gram(certreg_estimator *, const cr_correlate_job *, size_t function,
                              double scale);

#endif
