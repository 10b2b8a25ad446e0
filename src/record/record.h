/* Writing to a record. */
#ifndef CR_RECORD_RECORD_H
#define CR_RECORD_RECORD_H
#include "record/view.h"

void cr_record_clear(cr_record *);
/* The pilot, unless it is fixed: the plan's, or else what suits this number of samples. */
void cr_record_expect(cr_record *, size_t samples);
void cr_record_set_pilot(cr_record *, size_t pilot);
/* An output that failed and is counted as the least score. Reads as NaN. */
float cr_record_failed(void);
/* Checks `count` rows of model outputs, converts them to recorded values and stores them. All or
 * nothing, but an output outside its range is remembered. Rows that are already there must agree,
 * else MISMATCH. first_row is for the error. */
certreg_status cr_record_store(cr_record *, uint64_t first, size_t count, const float *y,
                               int64_t first_row, certreg_error *why);

/* ---- archive.c: a record as bytes */
/* certreg_estimator_export and _import. */
certreg_status cr_record_export(cr_view *, void *buffer, size_t *bytes, certreg_error *why);
certreg_status cr_record_import(cr_record *, const void *buffer, size_t bytes, certreg_error *why);

#endif
