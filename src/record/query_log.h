/* The guard against second tries (theory 5.2): remembers the first evaluation of a record, and
 * refuses a number of samples that its answer may have influenced. */
#ifndef CR_RECORD_QUERY_LOG_H
#define CR_RECORD_QUERY_LOG_H
#include "record/record_view.h"

/* Logs an evaluation of main samples. The first one is never overwritten, because nothing that
 * comes later was fixed before it. */
void cr_query_log_add(cr_record *, uint64_t first_samples, uint64_t planned_samples,
                      uint64_t looks_digest);
/* The same for an evaluation at the present number of samples. */
void cr_query_log_add_current(cr_record *, uint64_t looks_digest);
/* The same after a report about a main sample that may not be in the record. Both numbers are 0 if
 * none was fixed beforehand. */
void cr_query_log_add_unrecorded(cr_record *, uint64_t first_samples, uint64_t planned_samples,
                                 uint64_t looks_digest);
/* Returns 1 if no earlier answer can have influenced this number of samples, as methods for a fixed
 * number require, else 0. */
int cr_query_log_allows(cr_view *, uint64_t samples);
/* Fails with WRONG_STATE for any other number. `remedies` is empty or ends with "or ". */
certreg_status cr_query_log_refuse(cr_view *, const char *remedies, uint64_t samples,
                                   certreg_error *why);
/* max_samples and batch of the first evaluation, from which predictions and looks are derived;
 * before it, of the present plan and model. */
uint64_t cr_query_log_max_samples(cr_view *);
uint64_t cr_query_log_batch(cr_view *);
/* Checks the first evaluation of another record of this input: CORRUPT if it contradicts itself,
 * MISMATCH if it does not fit ours. With `write`, keeps only what was fixed before both. */
certreg_status cr_query_log_merge(cr_record *, const cr_query_log *, int write, certreg_error *why);

#endif
