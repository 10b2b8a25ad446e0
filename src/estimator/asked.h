/* What a record was asked first, and what it may therefore still be asked (theory 5.2). */
#ifndef CR_ESTIMATOR_ASKED_H
#define CR_ESTIMATOR_ASKED_H
#include "certreg/certreg.h"

typedef struct cr_asked {
    uint64_t first, total;    /* at these numbers of samples it answers questions for a fixed one */
    uint64_t capacity, batch; /* of the estimator that was asked first; capacity 0: none was yet */
    uint64_t pilot;           /* of its plan */
    uint64_t looks;           /* digest of a caller's looks that were fixed by then; 0: none */
} cr_asked;

/* Of the looks that come with a question for the closed test; 0: it brings none. */
uint64_t cr_asked_digest(const certreg_question *);
/* The record has been asked about its main samples. What it remembers already stays: nothing later
 * was fixed before it. */
void cr_asked_remember(certreg_estimator *, uint64_t first, uint64_t total, uint64_t looks);
/* WRONG_STATE, with the remedy, where this question at so many samples may have been chosen by an
 * earlier answer. */
certreg_status cr_asked_allows(certreg_estimator *, const certreg_question *, uint64_t samples);
/* The capacity and batch from which predictions and looks are derived: those of whoever asked
 * first. */
uint64_t cr_asked_capacity(const certreg_estimator *);
uint64_t cr_asked_batch(const certreg_estimator *);
/* Another record of these samples was asked that. CORRUPT or MISMATCH where the two do not go
 * together; else, with `write`, both are remembered: what is left was fixed before either was
 * asked. */
certreg_status cr_asked_merge(certreg_estimator *, const cr_asked *, int write);

#endif
