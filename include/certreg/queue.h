/** @file queue.h
 * libcertreg: many inputs that share the calls of the model, and inputs with
 * alternatives.
 *
 *     certreg_queue_plan p = {.struct_size = sizeof p, .capacity = 64};
 *     if (certreg_queue_create(NULL, &model, &plan, &p, &why, &q)) ...   // once
 *     for (size_t next = 0, ended = 0; ended < count;) {
 *         for (int32_t full = 0; next < count && !full; next += !full)
 *             if (certreg_queue_add(q, input(next), &full)) ended++; // refused: see error
 *         if (certreg_queue_run(q)) ...                              // calls the model
 *         while (!certreg_queue_take(q, &result) && result.state) ended++;
 *     }
 *
 * A call of the model has rows of many inputs. An input that is decided makes room for
 * the next one, and an input whose outputs cannot be used fails alone. The certificate
 * of an input has the same bits as certreg_estimator_begin_level and certreg_certify
 * give it alone, by an estimator with the same model and plan, if the bits of an output
 * do not depend on other rows of its call or on its place there. (A deadline or a cancel
 * ends inputs at other numbers of samples.) An input is open from add to take or drop.
 *
 * The caller may run the model instead: certreg_queue_next and _give take the place of
 * _run. Several calls may be out at a time, and come back in any order.
 *
 * examples/queue.c and examples/alternatives.c are complete programs. The rules of
 * certreg.h for structs, threads, memory and numbers apply here too: one thread at a
 * time, except for certreg_queue_give and _cancel; after create no function allocates.
 */
#ifndef CERTREG_QUEUE_H
#define CERTREG_QUEUE_H
#ifndef CERTREG_EXPERIMENTAL
#error "experimental (certreg.h, stability): define CERTREG_EXPERIMENTAL to use it"
#endif
#include "certreg/question.h"
#ifdef __cplusplus
extern "C" {
#endif

/** Inputs that wait for outputs of one model, or for certreg_queue_take. */
typedef struct certreg_queue certreg_queue;

/* ==== rows ======================================================================= */

/** The origin of a row of a call: a noisy copy of an input, or of an alternative. */
struct certreg_queue_row {
    uint32_t struct_size; /* the distance of two elements of an array */
    /* The alternative, and the part of it; 0 for the input itself */
    uint32_t number, depth, path;
    uint64_t tag;    /* of the input */
    uint64_t sample; /* of its record */
};

/* ==== alternatives =============================================================== */

/** An alternative: a changed input with a record of its own. Number 0 is the input
 *  itself. `depth` and `path` name a part of an alternative that is halved: depth 0 is
 *  all of it, and the halves of a part with path p have the paths 2p and 2p + 1. */
typedef struct certreg_alternative {
    uint32_t struct_size;
    uint32_t number, depth, path;
    /* How often this alternative may be halved. On entry `halvings` of the set; the
     * callback may lower it for depth 0, and then divides alpha less often. */
    uint32_t halvings;
    uint32_t reserved; /* 0 */
    uint64_t tag;      /* of the input */
    float *z; /* inputs numbers, the input itself on entry: write the changed input */
    /* 0 on entry. Write the distance >= 0 of z from the farthest input that it stands
     * for, in the norm of the radius, rounded up (theory 1.11, h). Only numbers of
     * features with noise may differ between these inputs. */
    double margin;
    /* NULL on entry. To resume, write the address of bytes that plan.keep received for
     * this alternative, valid until the function of the queue returns. */
    const void *record;
    size_t record_bytes;
} certreg_alternative;

/** Writes z, margin and, if wanted, record of an alternative. It must write the same for
 *  the same alternative, must not depend on outputs of the model, and must not call
 *  functions on the queue. It runs within certreg_queue_add, _run, _next and _take.
 *  @return 0; any other value fails the input with CERTREG_E_INVALID and error.code */
typedef int (*certreg_alternative_write)(void *user, certreg_alternative *);

/** The alternatives of an input. The certificate of a question is then about the input
 *  and all of them: its radius holds around each, at the alpha of one certificate; its
 *  prediction is the input's, its samples are those of all records. Nothing is claimed
 *  unless all are proved. `z`, `margins` and `user` stay the caller's, and must not
 *  change until the result is taken or the input dropped.
 *  For CERTREG_CENTER_PREDICTION and the methods FINITE, ANYTIME and ASYMPTOTIC, without
 *  output bounds. With a target there is one question, without looks.
 *  @par Source theory 1.11 */
typedef struct certreg_alternatives {
    uint32_t struct_size;
    uint32_t count; /* beside the input itself, at least 1 */
    /* Either: count*inputs numbers, and count numbers >= 0, or NULL for margins 0 */
    const float *z;
    const double *margins;
    /* or a callback that writes them: z is NULL */
    certreg_alternative_write write;
    void *user; /* passed to write */
    /* Alternative `number` at depth and path has the noise id first_noise_id + n, with
     * n = ((count + 1) << depth) - (count + 1) + (number << depth) + path. No other
     * record may use an id from first_noise_id to first_noise_id + ((count + 1) <<
     * (halvings + 1)) at this level; the input itself has its own. */
    uint64_t first_noise_id;
    /* With a target and `write`: a part that is not proved is halved, up to so many
     * times, at most 12, and each half has to be proved. Alpha is divided: 1/2, 1/4 and
     * so on by depth. Otherwise 0. */
    uint32_t halvings;
    /* The alternative whose own radius is reported, for its own sake. It has to be named
     * before sampling: the longest of several radii is a choice. 0: the input itself. */
    uint32_t watch;
    /* 1: after an alternative has failed, every other one still takes the samples of its
     * first look, for its estimate. 0: what comes after it takes no more samples. */
    uint32_t estimate_all;
    uint32_t reserved; /* 0 */
} certreg_alternatives;

enum certreg_alternative_state {
    CERTREG_ALTERNATIVE_UNDECIDED = 0, /* since one before it has failed */
    CERTREG_ALTERNATIVE_PROVED = 1,
    CERTREG_ALTERNATIVE_FAILED = 2 /* its own radius or target is not proved */
};

/** What was seen of one alternative and one question. Only the certificate is proved:
 *  to choose alternatives by these results is to choose by the outputs. */
typedef struct certreg_alternative_result {
    uint32_t struct_size;
    int32_t state; /* CERTREG_ALTERNATIVE_... */
    /* The statistic of its noisy samples at its first look, or of all without a target:
     * no guarantee. NaN: none, or a vector. */
    double estimate;
    double radius; /* of alternative `watch`, at alpha for itself; of any other NaN */
    uint64_t samples; /* in its record, or in the records of its parts */
} certreg_alternative_result;

/* ==== inputs and results ========================================================= */

/** An input with its questions. certreg_queue_add copies the struct, z, the questions,
 *  and their targets, serving, looks and predictions. */
typedef struct certreg_queue_input {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    uint64_t tag;     /* the caller's name of the input, which comes back */
    const float *z;   /* as for certreg_estimator_begin_level, like the next three */
    double sigma;
    uint64_t noise_id, level;
    /* As total_samples of certreg_certify; 0: plan.max_samples. With alternatives each
     * of them has as many samples as the input has beyond its pilot. */
    size_t samples;
    const certreg_question *questions;
    size_t count; /* of questions */
    double at_radius; /* > 0: output bounds at this radius, as certreg_output_bounds */
    const certreg_alternatives *alternatives; /* NULL: none; not with at_radius */
    /* Seconds from now; 0: no deadline. Before each call of the model the time of the
     * slowest call and of the answers of open inputs has to be left: otherwise the
     * input answers from the first samples without a gap, with `stop`
     * CERTREG_STOP_DEADLINE. With alternatives it then claims nothing. Without _run the
     * caller has to call certreg_queue_next in time. */
    double seconds;
    /* To resume: bytes of certreg_estimator_export or plan.keep, valid during add; only
     * missing samples become rows. NULL: none. */
    const void *record;
    size_t record_bytes;
} certreg_queue_input;

/** The result of an input. Set struct_size, the arrays and their rooms; everything else
 *  is written, and arrays only if state is 1. */
typedef struct certreg_queue_result {
    uint32_t struct_size;
    int32_t state; /* 1: a result; 0: none is ready */
    uint64_t tag;
    /* Of this input: as certreg_certify, or CERTREG_E_INVALID if an alternative was
     * refused or the prediction gives no tolerance */
    certreg_status status;
    int32_t reserved;
    certreg_error *error; /* NULL, or receives the reason for `status` */
    uint64_t seed, pilot; /* of the noise; samples of the input's pilot */
    size_t room, count;   /* elements of the next two; the number of questions */
    certreg_certificate *certificates; /* one for each question */
    /* NULL, or for each question: the alternative that limits the radius, or failed */
    uint32_t *limiting;
    size_t alternative_room;  /* elements of `alternatives` */
    size_t alternative_count; /* (count of alternatives + 1)*count; 0: none were given */
    certreg_alternative_result *alternatives; /* number*count + question; NULL: unwanted */
    /* Alternatives before the first that failed, the input included. With a target the
     * claim of the question holds for these together, at the target (theory 1.11, k). */
    uint64_t proved;
} certreg_queue_result;

/* ==== the queue ================================================================== */

enum certreg_queue_flag {
    /* If a shared call fails, certreg_queue_run calls the model once more for each of
     * its inputs alone, and the inputs that fail alone fail. This is a second try:
     * only for models whose failures are a function of the row. Without the flag all
     * inputs of the call fail. */
    CERTREG_QUEUE_SPLIT = 1
};

/** Receives a record when it is decided, also by a deadline or a cancel: the bytes of
 *  certreg_estimator_export, which contain the seed. Records of inputs that fail or are
 *  dropped, and of alternatives behind one that failed, are not kept. It must not call
 *  functions on the queue. A result other than 0 cancels the queue.
 *  @param of  the record; `sample` is the number of its samples */
typedef int (*certreg_queue_keep)(
    void *user, const struct certreg_queue_row *of, const void *record, size_t bytes);

/** Settings that determine the memory of a queue, beside those of certreg_plan.
 *  plan.progress must be NULL, and the flags CERTREG_PLAN_PAIRS and _DEPLOYED are
 *  refused. */
typedef struct certreg_queue_plan {
    uint32_t struct_size;
    uint32_t flags; /* CERTREG_QUEUE_... */
    /* Inputs that may be open at a time, 1 to 65,536, and as many records, of inputs and
     * alternatives. A set of more alternatives takes all records that are free. Too few
     * leave calls partly empty (call.used): with targets take calls*batch/6. */
    size_t capacity;
    size_t calls;        /* calls that may be out at a time, 1 to 16; 0: 1 */
    size_t questions;    /* most questions of an input, at most 1,024; 0: 1 */
    size_t sets;         /* inputs with alternatives that may be open at a time */
    size_t alternatives; /* most of them for an input, at most 65,535; 0: none */
    certreg_queue_keep keep; /* NULL: records are dropped */
    void *keep_user;
} certreg_queue_plan;

/** Computes the memory of a queue: that of an estimator, and about
 *  capacity*(4*max_samples*outputs + 8*inputs + questions*(1.5 KiB + 8*outputs) + 1 KiB)
 *  + calls*batch*(4*inputs + 4*columns + 48) + sets*((alternatives + 1)*(8*questions +
 *  16) + 4*inputs + questions*(400 + 8*outputs)).
 *  @param bytes, device_bytes, why  as for certreg_estimator_size
 *  @return as certreg_queue_create  @since 0.3 */
CERTREG_API certreg_status certreg_queue_size(
    certreg_backend *, const certreg_model *, const certreg_plan *,
    const certreg_queue_plan *, certreg_error *why, size_t *bytes,
    size_t *device_bytes);

/** Makes a queue.
 *  @param backend, model, plan, why, out  as for certreg_estimator_create; plan.memory
 *         has certreg_queue_size bytes
 *  @return as certreg_estimator_create  @since 0.3
 *  @par Memory as certreg_estimator_create */
CERTREG_API certreg_status certreg_queue_create(
    certreg_backend *backend, const certreg_model *, const certreg_plan *,
    const certreg_queue_plan *, certreg_error *why, certreg_queue **out);

/** Destroys a queue; NULL is allowed. No certreg_queue_give may be running, and nothing
 *  may still read the rows of its calls. The caller keeps plan.memory. */
CERTREG_API void certreg_queue_destroy(certreg_queue *);

/** Adds an input.
 *  @param full  1: the queue is full, and nothing was added: compute rows, or take a
 *               result first. 0: it was added, or refused
 *  @return CERTREG_OK if it was added or the queue is full. Refused, and nothing
 *          changes: CERTREG_E_INVALID, as certreg_estimator_begin_level; for
 *          alternatives, or numbers of questions, that cannot be certified or that the
 *          queue is not made for; for a tag that is open, or noise of an open input.
 *          CERTREG_E_TOO_MANY (plan.max_samples); CERTREG_E_CORRUPT, CERTREG_E_MISMATCH
 *          (the record); CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_add(
    certreg_queue *, const certreg_queue_input *, int32_t *full);

/** Calls the model until a result is ready, or nothing is left to compute. A call has
 *  model.batch rows; batch->first is 0, the first batch->used_count rows are used, and
 *  batch->row has their origins.
 *  @return CERTREG_OK, also if inputs fail; CERTREG_E_MODEL_FAILED if the model wrote
 *          beyond its outputs: all open inputs then have this result;
 *          CERTREG_E_WRONG_STATE (no model.eval; a call of certreg_queue_next is out);
 *          CERTREG_E_DEVICE_FAILED: then only _take and _destroy are of use;
 *          CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_run(certreg_queue *);

enum certreg_queue_call_state {
    CERTREG_CALL_ROWS = 1, /* compute these rows */
    CERTREG_CALL_WAIT = 2, /* outputs of calls that are out are needed first */
    CERTREG_CALL_TAKE = 3, /* nothing to compute: take results */
    CERTREG_CALL_IDLE = 4  /* nothing to compute or take: add inputs */
};

/** Rows to compute. Set struct_size; the rest is written. */
typedef struct certreg_queue_call {
    uint32_t struct_size;
    int32_t state;   /* CERTREG_CALL_... */
    uint64_t ticket; /* the name of the call for certreg_queue_give, never used again */
    size_t rows;     /* model.batch */
    /* The first rows are needed; the rest are further noisy copies of the last input, so
     * that all calls have the same shape. */
    size_t used;
    const float *x; /* rows*inputs, aligned and complete as of certreg_batch */
    const struct certreg_queue_row *row; /* used elements */
    void *stream;   /* as in certreg_batch */
} certreg_queue_call;

/** Draws the next rows, of the oldest inputs first. x and row stay as they are until the
 *  outputs are given, whatever happens to the inputs.
 *  @param least  with fewer rows, and a call out, the state is CERTREG_CALL_WAIT
 *  @return CERTREG_OK; CERTREG_E_DEVICE_FAILED; CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_next(
    certreg_queue *, size_t least, certreg_queue_call *);

/** Gives the outputs of a call, in any order of calls, or reports that it failed: then
 *  its inputs fail with CERTREG_E_MODEL_FAILED. Outputs of inputs that have ended are
 *  dropped. The next certreg_queue_next, _run or _take evaluates them.
 *  @param y       used*columns floats, copied: in host memory, or with a CUDA backend on
 *                 its device, as for certreg_estimator_record. Not read if failed
 *  @param failed  0, or a number for error.code
 *  @param why     receives the error, or NULL; certreg_queue_error does not have it
 *  @return CERTREG_OK; CERTREG_E_INVALID: no such call is out, or y is NULL
 *  @par Threads any, also during a call on the queue; with y on a device only the thread
 *       of the other functions  @since 0.3 */
CERTREG_API certreg_status certreg_queue_give(
    certreg_queue *, uint64_t ticket, const float *y, int32_t failed,
    certreg_error *why);

/** Takes a result, in the order in which inputs are decided.
 *  @return CERTREG_OK, also for an input that failed (result.status) and if none is
 *          ready; CERTREG_E_SMALL_MEMORY: the result stays, and count and
 *          alternative_count have the numbers that it needs; CERTREG_E_INVALID;
 *          CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_take(certreg_queue *, certreg_queue_result *);

/** Drops an open input without a result.
 *  @param tag  NULL: all inputs
 *  @return CERTREG_OK; CERTREG_E_INVALID: no open input has this tag; CERTREG_E_BUSY
 *  @since 0.3 */
CERTREG_API certreg_status certreg_queue_drop(certreg_queue *, const uint64_t *tag);

/** Makes the inputs that are open at the running or next _run, _next or _take answer
 *  from the samples that they have, as at a deadline, with `stop`
 *  CERTREG_STOP_CANCELLED. NULL is allowed.
 *  @par Threads any, and signal handlers  @since 0.3 */
CERTREG_API void certreg_queue_cancel(certreg_queue *);

/** Returns the error of the last call on this queue, valid until the next call.
 *  @since 0.3 */
CERTREG_API const certreg_error *certreg_queue_error(const certreg_queue *);

#ifdef __cplusplus
}
#endif
#endif
