/* The estimator handle: one model, one plan, one input at a time, and the record of its outputs. */
#ifndef CR_ESTIMATOR_ESTIMATOR_H
#define CR_ESTIMATOR_ESTIMATOR_H
#include "base/busy.h"
#include "estimator/work.h"

#define CR_LEAST_BLOCKS 64u /* of a public plan */

/* What the model gets and returns. Memory of the backend, but for `outputs`. */
typedef struct cr_batches {
    float *z, *step; /* inputs: of the record's input */
    float *opposite; /* inputs: the steps of every second sample; NULL: they are no pairs */
    float *x[2];     /* a batch each, which take turns; the same one where none is drawn ahead */
    float *y;        /* the model's outputs */
    float *outputs;  /* what the host has of them: the same memory, or a copy */
    int turn;        /* x[turn] is the model's */
    int ahead;       /* the other one holds the samples from `first` on */
    uint64_t first;
} cr_batches;

struct certreg_estimator {
    certreg_error error;
    cr_busy busy;
    atomic_int cancel;
    certreg_backend *backend;
    cr_record record;
    cr_clock clock;
    cr_batches batches;
    cr_replay replay;
    cr_scratch scratch;
    void *device_memory; /* all of it; NULL where it is the host's, within the estimator */
    int32_t owns_memory;
};

/* ---- sample.c */
/* Outputs that the model will not write are NaN. */
certreg_status cr_estimator_blank(certreg_estimator *);
/* One call of the model with the rows at x[turn], whose outputs are the host's then. Of the batch
 * are read rows, first and the used ones. MODEL_FAILED if the model says so. */
certreg_status cr_estimator_evaluate(certreg_estimator *, certreg_batch);

static inline double cr_estimator_now(const certreg_estimator *e)
{
    return cr_watch_now(e->record.watch);
}

#endif
