/* Write access to a record: its samples, its pilot, and its import from bytes. */
#ifndef CR_RECORD_RECORD_H
#define CR_RECORD_RECORD_H
#include "record/record_view.h"

/* Removes all samples. */
void cr_record_clear(cr_record *);
/* Sets the pilot unless it is fixed: the plan's, or else one that suits this number of samples. */
void cr_record_choose_pilot(cr_record *, size_t samples);
/* With a pilot, the first sample is the input without noise. */
void cr_record_set_pilot(cr_record *, size_t pilot);
/* The recorded value, a NaN, of an output that failed and counts as the lowest score. */
float cr_record_failed_value(void);
/* Checks `count` rows of model outputs, converts them to recorded values, and stores all or none.
 * Remembers an output outside its range, or not finite, even then. Fails with MISMATCH if the
 * record has other values for a row, NOT_FINITE if a row failed before. first_row is for the error.
 */
certreg_status cr_record_store(cr_record *, uint64_t first, size_t count, const float *y,
                               int64_t first_row, certreg_error *why);

/* ---- serialize.c: a record as bytes */
/* certreg_estimator_export and _import. */
certreg_status cr_record_export(cr_view *, void *buffer, size_t *bytes, certreg_error *why);
certreg_status cr_record_import(cr_record *, const void *buffer, size_t bytes, certreg_error *why);

#endif
