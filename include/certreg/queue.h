/** @file queue.h
 * libcertreg: many inputs that share calls of a model, and inputs with alternatives.
 *
 *     certreg_queue_plan p = {.struct_size = sizeof p, .capacity = 64};
 *     if (certreg_queue_create(NULL, &model, &plan, &p, &why, &q)) ...   // once
 *     for (size_t next = 0, ended = 0; ended < count;) {
 *         for (int32_t full = 0; next < count && !full; next += !full)
 *             if (certreg_queue_add(q, input(next), &full)) ended++;     // refused
 *         if (certreg_queue_run(q)) ...                          // calls the model
 *         while (!(status = certreg_queue_take(q, &result)) && result.state) ended++;
 *         if (status) ...                          // the result needs more room
 *     }
 *
 * A call of the model has rows of many inputs. An input that is decided makes room for
 * the next one, and an input whose outputs cannot be used fails alone. Its certificate
 * has the bits that certreg_estimator_begin_level and certreg_certify give it alone, by
 * an estimator of the same model and plan, if the bits of an output do not depend on
 * the other rows of its call or on its place there.
 *
 * The caller may run the model instead: certreg_queue_next and _give take the place of
 * _run, with several calls out at a time, which come back in any order.
 *
 * With plan.audit (theory 15) the queue asks for four rows before the first call. An
 * input whose samples are complete waits until all that is open does, or half of
 * plan.capacity: samples of all of these are then asked again together, while no other
 * call is out. Give twice the capacity of a queue without. If the premise is refused,
 * all open inputs fail with CERTREG_E_MODEL_FAILED, error.value is the change,
 * error.row the tag of the input (-1: a row of the check), error.code a
 * CERTREG_DEPENDENCE_...; results that were taken before stand as issued.
 *
 * An input is open from add to take or drop. A choice by outputs (of alternatives, a
 * target, inputs to drop or add again, the time of a cancel) needs new noise ids and a
 * divided alpha.
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

/** Open inputs of one model. */
typedef struct certreg_queue certreg_queue;

/** The origin of a row, or of a record. */
struct certreg_queue_row {
    uint32_t struct_size;         /* the distance of two elements of an array */
    uint32_t number, depth, path; /* of the alternative; all 0: the input itself */
    uint64_t tag;                 /* of the input */
    uint64_t sample; /* of its record, UINT64_MAX: of the check before the run
                        (plan.audit); of a record: their number */
};

/* ==== alternatives (theory 1.11) ================================================= */

/** An alternative: a changed input with a record of its own. Number 0 is the input
 *  itself. Depth 0 is all of an alternative; the halves of a part with path p have the
 *  paths 2p and 2p + 1 at the next depth. */
typedef struct certreg_alternative {
    uint32_t struct_size;
    uint32_t number, depth, path; /* which alternative, and which part of it */
    uint32_t halvings; /* how often it is halved; a callback may lower it at depth 0 */
    uint32_t reserved; /* 0 */
    uint64_t tag;      /* of the input */
    float *z; /* inputs numbers, the input itself on entry: write the changed input */
    /* 0 on entry. Write the distance >= 0 of z from the farthest input that it stands
     * for, in the norm of the radius, rounded up. These inputs may differ in features
     * with noise only. The halves of a part stand for all that the part stands for.
     * Margin plus target is rounded up, by at most 2.2 %. */
    double margin;
    /* NULL on entry. To resume, write the address of bytes that plan.keep received for
     * the same alternative of the same set, valid until the queue's function returns */
    const void *record;
    size_t record_bytes; /* of the record */
} certreg_alternative;

/** Writes z, margin and, if wanted, record: the same for the same alternative, whatever
 *  the model returned. It runs within add, run, next and take, and must not call the
 *  queue. A result other than 0 fails the input with CERTREG_E_INVALID, error.code. */
typedef int (*certreg_alternative_write)(void *user, certreg_alternative *);

/** The alternatives of an input. A certificate is then about the input and all of them:
 *  its radius holds around each, at the alpha of one certificate; prediction and
 *  tolerance are the input's, from its pilot or given; its samples are those of all
 *  records up to an alternative that failed. Nothing is claimed unless all are proved.
 *  certreg_move_certificate keeps the ball around the input alone. Only for
 *  CERTREG_CENTER_PREDICTION and the methods FINITE, ANYTIME and ASYMPTOTIC; with a
 *  target one question, without looks. z, margins and user stay the caller's, unchanged
 *  until the input is not open. */
typedef struct certreg_alternatives {
    uint32_t struct_size;
    uint32_t count;                  /* beside the input itself, at least 1 */
    const float *z;                  /* either count*inputs numbers, */
    const double *margins;           /* and count numbers >= 0, or NULL: all 0; */
    certreg_alternative_write write; /* or a callback */
    void *user;                      /* passed to write */
    /* Alternative `number` at depth and path has the noise id first_noise_id + n, n =
     * ((count + 1) << depth) - (count + 1) + (number << depth) + path. The set takes
     * the ids with n < ((count + 1) << (halvings + 1)) - (count + 1) at this level;
     * they must be new, also after the input has ended. */
    uint64_t first_noise_id;
    /* With a target and `write`: a part that is not proved is halved, up to so many
     * times, at most 12. Alpha is divided by depth: 1/2, 1/4, ..., the last twice. */
    uint32_t halvings;
    /* The alternative whose own radius is reported, named before sampling: the longest
     * of several is a choice. It is no way out of a set that fails: certificate and own
     * radius hold together with probability 1 - 2 alpha. 0: the input itself */
    uint32_t watch;
    /* 1: after one has failed, every other one still takes its first look, for its
     * estimate; 0: what comes after it takes no more samples */
    uint32_t estimate_all;
    uint32_t reserved; /* 0 */
} certreg_alternatives;

/* What is known of an alternative */
enum certreg_alternative_state {
    CERTREG_ALTERNATIVE_UNDECIDED = 0, /* one before it has failed */
    CERTREG_ALTERNATIVE_PASSED = 1,    /* the target, or a radius beyond its margin */
    CERTREG_ALTERNATIVE_FAILED = 2 /* the target, or a radius beyond its margin, is not
                                      proved */
};

/** What was seen of an alternative, for one question. */
typedef struct certreg_alternative_result {
    uint32_t struct_size;
    int32_t state; /* CERTREG_ALTERNATIVE_... */
    /* The statistic of its noisy samples at its first look, of all without a target: no
     * guarantee. NaN: none, or a vector */
    double estimate;
    double radius;    /* of `watch`: what its margin leaves, at its alpha; else NaN */
    uint64_t samples; /* of its records */
} certreg_alternative_result;

/* ==== inputs and results ========================================================= */

/** An input with its questions. certreg_queue_add copies it, with z, the questions,
 *  their targets, looks, serving and predictions. */
typedef struct certreg_queue_input {
    uint32_t struct_size;
    int32_t asks_again; /* 1: `record` has samples of an earlier run, which the audit
                           asks again, and no more are taken; the result claims nothing.
                           The tolerances are those of its certificates. Else 0 */
    uint64_t tag;       /* the caller's name of the input */
    const float *z; /* as for certreg_estimator_begin_level, like the next three; with
                       alternatives in host memory */
    double sigma;   /* > 0 */
    uint64_t noise_id, level; /* unlike certreg_certify_sigmas, alpha is not divided */
    /* total_samples of certreg_certify; 0: plan.max_samples. Each alternative has as
     * many samples as the input has beyond its pilot; or as many as the input and a
     * pilot of its own, unless all questions are FINITE or ANYTIME medians of numbers.
     */
    size_t samples;
    const certreg_question *questions; /* count elements */
    size_t count;                      /* of questions */
    double at_radius; /* > 0: output bounds there, as certreg_output_bounds; without
                         alternatives */
    const certreg_alternatives *alternatives; /* NULL: none */
    /* Seconds from now; 0: no deadline. If they do not suffice for one more call of the
     * model and the answers of all open inputs, as slow as the slowest so far, it
     * answers from the first samples without a gap, with `stop` CERTREG_STOP_DEADLINE.
     * With alternatives it then claims nothing. */
    double seconds;
    /* To resume: bytes of plan.keep or certreg_estimator_export; NULL: none */
    const void *record;
    size_t record_bytes; /* of the record */
} certreg_queue_input;

/** The result of an input. Set struct_size, arrays and rooms; the rest is written. */
typedef struct certreg_queue_result {
    uint32_t struct_size;
    int32_t state;         /* 1: a result; 0: none is ready, and no array is written */
    uint64_t tag;          /* of the input */
    certreg_status status; /* as certreg_certify; CERTREG_E_INVALID also if `write`
                              failed or the prediction gives no tolerance */
    int32_t reserved;
    certreg_error *error; /* NULL, or receives the reason for `status` */
    uint64_t seed, pilot; /* of the noise; samples of the input's pilot */
    size_t room, count;   /* elements of the next two; number of questions */
    certreg_certificate *certificates; /* one for each question */
    uint32_t *limiting; /* NULL, or for each question: the alternative that limits the
                           radius, or has failed */
    size_t alternative_room, alternative_count; /* elements of alternatives; 0 or (count
                           of alternatives + 1)*count */
    certreg_alternative_result *alternatives;   /* number*count + question; or NULL */
    /* The leading alternatives that all passed, the input included. With a target it
     * holds around these, at alpha. Without a target 0 unless all passed. */
    uint64_t proved;
} certreg_queue_result;

/* ==== the queue ================================================================== */

/* Flags of a queue */
enum certreg_queue_flag {
    /* After a shared call has failed, certreg_queue_run calls the model once more for
     * each of its inputs alone, and those that fail alone fail; without this flag all
     * fail. A second try: only for models whose failures are a function of the row. */
    CERTREG_QUEUE_SPLIT = 1,
    /* plan.keep receives only the samples of a record that an audit would pick, for
     * certreg_queue_input.asks_again. The queue takes 4*max_samples bytes more */
    CERTREG_QUEUE_KEEP_PICKS = 2
};

/** Receives a record that is decided, also by a deadline or cancel: the bytes of
 *  certreg_estimator_export, which have the seed; not of alternatives that a deadline
 *  or cancel ends. It must not call the queue. Any result but 0 cancels the queue. */
typedef int (*certreg_queue_keep)(
    void *user, const certreg_queue_row *of, const void *record, size_t bytes);

/** Settings that determine the memory of a queue, beside certreg_plan, which has no
 *  progress here and none of the flags CERTREG_PLAN_PAIRS and _DEPLOYED. */
typedef struct certreg_queue_plan {
    uint32_t struct_size;
    uint32_t flags; /* CERTREG_QUEUE_... */
    /* Inputs that may be open, 1 to 65,536, and records, of inputs and alternatives. A
     * set of more alternatives takes all that are free. With few, calls are partly
     * empty (used_count): with targets take calls*batch/6. */
    size_t capacity;
    size_t calls;        /* that may be out at a time, 1 to 16; 0: 1 */
    size_t questions;    /* most of an input, at most 1,024; 0: 1 */
    size_t sets;         /* inputs with alternatives that may be open, to capacity */
    size_t alternatives; /* most of an input, at most 65,535; 0: none */
    certreg_queue_keep keep; /* NULL: records are dropped */
    void *keep_user;         /* passed to keep */
    /* error.value of a certreg_model_check that found CERTREG_DEPENDENCE_CALL, so that
     * the audit does not compare outputs of a random model; else 0 */
    double random;
} certreg_queue_plan;

/** Computes the memory of a queue: that of an estimator, and about
 *  capacity*(4*max_samples*outputs + 8*inputs + questions*(1536 + 8*outputs) + 1024)
 *  + calls*batch*(4*inputs + 4*columns + 48) + sets*((alternatives + 1)*(8*questions
 *  + 16) + 4*inputs + questions*(400 + 8*outputs)), and with keep a record; with
 *  plan.audit also capacity*(max_samples/4 + 512).
 *  @return as certreg_queue_create; the sizes are 0 after a failure  @since 0.3 */
CERTREG_API certreg_status certreg_queue_size(
    certreg_backend *, const certreg_model *, const certreg_plan *,
    const certreg_queue_plan *, certreg_error *why, size_t *bytes,
    size_t *device_bytes);

/** Makes a queue, which allocates nothing later. plan.memory has certreg_queue_size
 *  bytes.  @return as certreg_estimator_create  @since 0.3 */
CERTREG_API certreg_status certreg_queue_create(
    certreg_backend *, const certreg_model *, const certreg_plan *,
    const certreg_queue_plan *, certreg_error *why, certreg_queue **out);

/** Destroys a queue; NULL is allowed. No give may be running, and nothing may still
 *  read rows of its calls.  @since 0.3 */
CERTREG_API void certreg_queue_destroy(certreg_queue *);

/** Adds an input.
 *  @param full  1: the queue is full, nothing was added: compute rows, or take a result
 *  @return CERTREG_OK: added, or full. Refused, and nothing changes: CERTREG_E_INVALID,
 *          as certreg_estimator_begin_level, and for a tag, noise or sizes that the
 *          error names; CERTREG_E_TOO_MANY (plan.max_samples); CERTREG_E_CORRUPT,
 *          CERTREG_E_MISMATCH (record); CERTREG_E_BUSY. Without alternatives an invalid
 *          question fails its input only  @since 0.3 */
CERTREG_API certreg_status
certreg_queue_add(certreg_queue *, const certreg_queue_input *, int32_t *full);

/** Calls the model until a result is ready, or nothing is left to compute. In a call
 *  the first used_count rows are used; batch->first is 0, batch->row has the origins.
 *  @return CERTREG_OK, also if inputs fail; CERTREG_E_MODEL_FAILED if the model wrote
 *          beyond its outputs: all open inputs fail; CERTREG_E_WRONG_STATE (no
 *          model.eval; a call of next is out); CERTREG_E_DEVICE_FAILED: then only take
 *          and destroy are of use; CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_run(certreg_queue *);

/* States of a call */
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
    size_t rows;     /* model.batch; `used` in calls of the audit (plan.audit) unless it
                        is CERTREG_AUDIT_WHOLE */
    size_t used;     /* the first rows are needed; the rest are further noisy copies of
                        the last input, so that all calls have one shape */
    const float *x;  /* rows*inputs, as in certreg_batch, like stream */
    const certreg_queue_row *row; /* used elements */
    void *stream;                 /* as in certreg_batch */
} certreg_queue_call;

/** Draws the next rows, of the oldest inputs first. x and row stay until the outputs
 *  are given, whatever happens to the inputs.
 *  @param least  with fewer rows, and a call out, the state is CERTREG_CALL_WAIT
 *  @return CERTREG_OK; CERTREG_E_DEVICE_FAILED; CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status
certreg_queue_next(certreg_queue *, size_t least, certreg_queue_call *);

/** Gives the outputs of a call, in any order of calls, or reports that it failed: its
 *  inputs then fail with CERTREG_E_MODEL_FAILED. The next function evaluates them.
 *  @param y       used*columns floats, copied; with CUDA of host or device, as for
 *                 certreg_estimator_record. Not read if failed
 *  @param failed  0, or a number for error.code
 *  @param why     receives the error, or NULL; certreg_queue_error does not have it
 *  @return CERTREG_OK; CERTREG_E_INVALID: no such call is out, or y is NULL
 *  @par Threads any, also during a call on the queue; with a CUDA backend only the
 *       thread of the other functions  @since 0.3 */
CERTREG_API certreg_status certreg_queue_give(
    certreg_queue *, uint64_t ticket, const float *y, int32_t failed,
    certreg_error *why);

/** Takes a result, in the order in which inputs are decided.
 *  @return CERTREG_OK, also if the input failed (result.status) or none is ready;
 *          CERTREG_E_SMALL_MEMORY: the result stays, count and alternative_count have
 *          what it needs; CERTREG_E_INVALID; CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_take(certreg_queue *, certreg_queue_result *);

/** Drops an open input without a result. @param tag  NULL: all
 *  @return CERTREG_OK; CERTREG_E_INVALID: there is none; CERTREG_E_BUSY  @since 0.3 */
CERTREG_API certreg_status certreg_queue_drop(certreg_queue *, const uint64_t *tag);

/** Makes the inputs that are open at the running or next run, next or take answer as at
 *  a deadline, with `stop` CERTREG_STOP_CANCELLED. NULL is allowed.
 *  @par Threads any, and signal handlers  @since 0.3 */
CERTREG_API void certreg_queue_cancel(certreg_queue *);

/** Returns the error of the last call on this queue, valid until the next.
 *  @since 0.3 */
CERTREG_API const certreg_error *certreg_queue_error(const certreg_queue *);

#ifdef __cplusplus
}
#endif
#endif
