/* What a record was asked first, and what it may therefore still be asked (theory 5.2). */
#ifndef CR_ESTIMATOR_ASKED_H
#define CR_ESTIMATOR_ASKED_H
#include "certreg/certreg.h"

typedef struct cr_asked {
    uint64_t first, total; /* at these numbers of samples it answers questions for a fixed one */
    uint64_t max_samples, batch; /* of the estimator asked first; max_samples 0: none yet */
    uint64_t pilot; /* of its plan; set before `max_samples` once pilot samples were reported */
    uint64_t looks; /* digest of a caller's looks that were fixed by then; 0: none */
} cr_asked;

/* The record has been asked about its main samples. What it remembers already stays: nothing later
 * was fixed before it. */
void cr_asked_remember(certreg_estimator *, uint64_t first, uint64_t total, uint64_t looks);
/* The max_samples and batch from which predictions and looks are derived: those of whoever asked
 * first. */
uint64_t cr_asked_max_samples(const certreg_estimator *);
uint64_t cr_asked_batch(const certreg_estimator *);
/* Another record of these samples was asked that. CORRUPT or MISMATCH where the two do not go
 * together; else, with `write`, both are remembered: what is left was fixed before either was
 * asked. */
certreg_status cr_asked_merge(certreg_estimator *, const cr_asked *, int write);

#endif
