/* Which questions a record was evaluated for first, and which it may still be evaluated for (theory
 * 5.2). */
#ifndef CR_RECORD_ASKED_H
#define CR_RECORD_ASKED_H
#include "record/view.h"

/* The record has been evaluated on its main samples. What it remembers already stays, because
 * nothing that comes later was fixed before it. */
void cr_asked_remember(cr_record *, uint64_t first, uint64_t total, uint64_t looks);
/* At the number of samples that there are. */
void cr_asked_remember_now(cr_record *, uint64_t looks);
/* The same where something about a main sample was reported, in the record or not. Both numbers 0:
 * none was fixed beforehand. */
void cr_asked_settle(cr_record *, uint64_t first, uint64_t total, uint64_t looks);
/* Whether no earlier answer can have chosen this number of samples, for questions that need that.
 */
int cr_asked_fixed(cr_view *, uint64_t samples);
/* WRONG_STATE for any other number. `remedies` ends with "or ", or is empty. */
certreg_status cr_asked_refuse(cr_view *, const char *remedies, uint64_t samples,
                               certreg_error *why);
/* The max_samples and batch from which predictions and looks are derived: those of the first
 * evaluation. */
uint64_t cr_asked_max_samples(cr_view *);
uint64_t cr_asked_batch(cr_view *);
/* Adds how another record of these samples was evaluated. CORRUPT or MISMATCH if the two do not go
 * together. With `write` this record then remembers both: what remains was fixed before either was
 * evaluated. */
certreg_status cr_asked_merge(cr_record *, const cr_asked *, int write, certreg_error *why);

#endif
