/* The estimator handle: one model, one plan, one input at a time, and the record of its outputs. */
#ifndef CR_ESTIMATOR_ESTIMATOR_H
#define CR_ESTIMATOR_ESTIMATOR_H
#include "base/handle.h"
#include "estimator/context.h"

/* Floats behind x and y that a model changes if it writes more than it declared. */
#define CR_GUARD_FLOATS 16u

/* Inputs and outputs of the model, in memory of the backend except for `outputs` and `fetched`. */
typedef struct cr_batch_buffers {
    float *z, *noise_deviation; /* inputs: of the record's input */
    float *negated_deviation;   /* inputs: of every second sample of pairs; NULL: no pairs */
    float *x[2]; /* a batch each, used alternately; one array if none is drawn ahead */
    /* Behind x[0], in one piece, which one fetch brings to the host: a guard of guard_floats, the
     * model's outputs, and a guard of CR_GUARD_FLOATS. */
    float *guard, *y;
    float *fetched, *outputs; /* guard and y for the host: the same memory, or a copy */
    size_t guard_floats, fetched_bytes;
    int current;       /* x[current] is the model's */
    int next_is_drawn; /* x[!current] has the samples from `next_first` on */
    uint64_t next_first;
} cr_batch_buffers;

struct certreg_estimator {
    cr_call_guard guard;
    certreg_error error;
    atomic_int cancel;
    certreg_backend *backend;
    cr_record record;
    cr_time_budget clock;
    cr_batch_buffers batches;
    cr_replay replay;
    cr_workspace scratch;
    void *device_memory; /* all memory of a device; NULL if the backend uses the host's */
    int32_t owns_memory;
};

/* ---- sample.c */
/* Sets all outputs, and both guards, to NaN. */
certreg_status cr_estimator_clear_outputs(certreg_estimator *);
/* Calls the model once with the rows at x[current], and copies its outputs to the host. The caller
 * sets rows, first, used_first and used_count. MODEL_FAILED if the model does not return 0, or if
 * it writes anything but these rows of y: the record is then void until the next begin. */
certreg_status cr_estimator_evaluate(certreg_estimator *, certreg_batch);

#endif
