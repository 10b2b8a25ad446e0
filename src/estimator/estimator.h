/* The estimator handle: one model, one plan, one input at a time, and the record of its outputs. */
#ifndef CR_ESTIMATOR_ESTIMATOR_H
#define CR_ESTIMATOR_ESTIMATOR_H
#include "base/handle.h"
#include "estimator/context.h"

/* Floats behind x and y that a model changes if it writes more than it declared. */
#define CR_GUARD_FLOATS 16u

/* Inputs and outputs of the model, in memory of the backend except for `outputs` and `fetched`. */
typedef struct cr_batch_buffers {
    const cr_masks *masks;      /* NULL: the model has none */
    float *z, *noise_deviation; /* inputs: of the record's input */
    float *negated_deviation;   /* inputs: of every second sample of pairs; NULL: no pairs */
    float *x[2]; /* a batch each, used alternately; one array if none is drawn ahead */
    /* Behind x[0], in one piece, which one fetch brings to the host: a guard of guard_floats, the
     * model's outputs, and a guard of CR_GUARD_FLOATS. */
    float *guard, *y;
    float *fetched, *outputs; /* guard and y for the host: the same memory, or a copy */
    size_t guard_floats, fetched_bytes;
    int is_stored;     /* 1: a device has z and noise_deviation of the mounted record */
    int current;       /* x[current] is the model's */
    int next_is_drawn; /* x[!current] has the samples from `next_first` on */
    uint64_t next_first;
} cr_batch_buffers;

typedef struct cr_mask_arrays { /* as of cr_masks */
    double *probability;
    uint32_t *first, *feature;
} cr_mask_arrays;

typedef struct cr_mask_memory {
    certreg_masks given; /* with arrays of its own */
    int32_t *unit;       /* inputs */
    cr_mask_arrays host, device;
    cr_masks drawn;
    double unseen[CR_FAULTS];
} cr_mask_memory;

#define CR_CHECK_ROWS 4u

/* Which outputs come next: of the check before the run; of picks and check again; of the latest
 * call again, and for its inputs moved a little; of the worst item alone, and as the last row of a
 * whole batch. */
enum cr_audit_step {
    CR_AUDIT_OFF,
    CR_AUDIT_FIRST,
    CR_AUDIT_ASK,
    CR_AUDIT_SAME,
    CR_AUDIT_MOVED,
    CR_AUDIT_ALONE,
    CR_AUDIT_FULL
};

typedef struct cr_audit { /* of records; theory 15 */
    cr_audit_source source;
    cr_audit_pick *picks; /* room */
    size_t room, count, stride;
    size_t own_samples; /* of the estimator's record, if it is audited alone */
    enum cr_audit_step step;
    int is_out;         /* 1: the caller has the rows of its next call */
    size_t first, used; /* items of the present call: picks, and then the rows of the check */
    uint64_t calls;
    double *limit;              /* outputs each: the largest tolerance of all claims, */
    double *scale;              /*   the largest recorded output, */
    double *change, *ratio;     /* the largest difference, and the largest part of a tolerance, */
    double *moved;              /*   and the largest effect of small changes of inputs */
    size_t worst, worst_output; /* the item that exceeds what is allowed most */
    double worst_excess, worst_change;
    double random; /* the change of equal rows that the check has found; 0: none */
    size_t moves;  /* calls with moved inputs so far */
    float worst_before, worst_again, alone;
    int is_random;       /* 1: the differences are those of a random model: there is no verdict */
    int is_rough;        /* 1: some difference is too large for low precision */
    int is_same;         /* 1: the latest call had the same outputs again */
    float *before, *row; /* batch*outputs: of the latest call; outputs: of one row */
    size_t check_rows;   /* 0: they are due */
    size_t riding;       /* of these, in the present audit */
    float *check_z, *check_deviation, *check_outputs; /* inputs; CR_CHECK_ROWS*outputs */
    cr_noise check_noise;
    uint64_t check_digest; /* of the input */
} cr_audit;

struct certreg_estimator {
    cr_call_guard guard;
    certreg_error error;
    atomic_int cancel;
    certreg_backend *backend;
    cr_record record;
    cr_time_budget clock;
    cr_batch_buffers batches;
    cr_audit *audit;       /* NULL without plan.audit */
    cr_mask_memory *masks; /* NULL without model.masks */
    cr_replay replay;
    cr_workspace scratch;
    void *device_memory; /* all memory of a device; NULL if the backend uses the host's */
    int32_t owns_memory;
};

/* ---- sample.c */
/* Sets all outputs, and both guards, to NaN. */
certreg_status cr_estimator_clear_outputs(certreg_estimator *);
/* Returns 1 if one of these floats was written since then. */
int cr_estimator_is_written(const float *, size_t count);
/* Calls the model once with the rows at x[current], and copies its outputs to the host. The caller
 * sets rows, first, used_first and used_count. MODEL_FAILED if the model does not return 0, or if
 * it writes anything but these rows of y: the record is then void until the next begin. */
certreg_status cr_estimator_evaluate(certreg_estimator *, certreg_batch);

/* ---- masks.c */
/* Reads and checks the masks of a model. */
certreg_status cr_masks_read(const certreg_model *, const certreg_plan *, certreg_masks *out,
                             certreg_error *why);
/* Copies masks to the estimator's memory. */
void cr_masks_copy(certreg_estimator *, const certreg_masks *);
/* Stores the copy in the backend's memory. */
certreg_status cr_masks_store(certreg_estimator *);

/* ---- audit.c */
/* The noise of the check about the present input: no certificate uses it. */
cr_noise cr_estimator_check_noise(const certreg_estimator *);
/* Multiplies each feature that has noise by 1 + 2^-11 or 1 - 2^-11, more than the steps of low
 * precisions. `signs`: a number of these choices. */
certreg_status cr_estimator_perturb(certreg_estimator *, float *x, size_t rows, uint32_t signs);
/* Returns the standard deviation of count numbers, without those that are not finite. */
double cr_estimator_spread(const float *y, size_t count, size_t stride);
/* Keep the rows of the check for the audit: their input and outputs, and by how much equal rows
 * differ. */
certreg_status cr_audit_keep_input(certreg_estimator *);
void cr_audit_keep_outputs(certreg_estimator *, const float *y, size_t rows, double random);

#endif
