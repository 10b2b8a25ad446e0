/* An estimator for the rooms that answer questions: pointers to its parts, and the calls below. */
#ifndef CR_ESTIMATOR_CONTEXT_H
#define CR_ESTIMATOR_CONTEXT_H
#include "base/arena.h"
#include "record/record.h"
#include <stdint.h>

/* ---- sample.c: the time of answers, learned from earlier ones, so that sampling ends in time
 * for the next ones */
typedef struct cr_answer_cost {
    uint64_t questions_digest;      /* a hash of the questions; 0: none yet */
    double constant_seconds;        /* seconds that do not depend on the number of samples */
    double seconds_per_sample;      /* seconds for each sample; 0: unknown */
    double seconds_per_main_sample; /* or for each one behind the pilot */
} cr_answer_cost;

typedef struct cr_sample_counts {
    double all, pilot; /* samples in the record, and in its pilot */
} cr_sample_counts;

#define CR_ANSWER_COST_CACHE 4u /* sets of questions that take turns on one estimator */

/* Returns 1 after the first answers, else 0. */
static inline int cr_answer_cost_known(const cr_answer_cost *cost)
{
    return cost->seconds_per_sample > 0;
}

/* Expected seconds for these numbers of samples, rather too long than too short. Some steps pass
 * over all samples, others over main samples, and their fractions of the time are unknown, so the
 * longer of two estimates counts: all time in proportion to all samples, or to main samples. */
double cr_answer_cost_expected(const cr_answer_cost *, cr_sample_counts);
/* Answers took these seconds, `constant_seconds` of them independent of the number of samples. */
void cr_answer_cost_learn(cr_answer_cost *, cr_sample_counts, double seconds,
                          double constant_seconds);
/* Answers were given up after these seconds, and would have taken longer. */
void cr_answer_cost_learn_abandoned(cr_answer_cost *, cr_sample_counts, double seconds);

/* The answers after the last batch, for the latest questions. */
typedef struct cr_answer_budget {
    cr_answer_cost *cost;     /* NULL: no questions */
    double answers_per_batch; /* how often they will be answered after a batch */
    size_t min_samples;       /* with fewer samples no question has an answer */
    double assumed_seconds;   /* seconds while the cost is unknown */
} cr_answer_budget;

typedef struct cr_time_budget { /* the deadline, and measured seconds */
    double expires_at;          /* of record.deadline; 0: never */
    double slowest_batch;       /* of this input */
    double fastest_batch;       /* of all; 0: none yet */
    cr_answer_cost costs[CR_ANSWER_COST_CACHE];
    size_t next_cost_slot;          /* is replaced next */
    cr_answer_budget answer_budget; /* has to fit behind the last batch */
    double model_seconds, library_seconds;
} cr_time_budget;

typedef struct cr_context {
    certreg_estimator *estimator; /* for the calls below */
    cr_record *record;
    cr_replay *replay;
    cr_workspace *scratch;
    cr_time_budget *clock;
    certreg_error *why; /* receives failures */
} cr_context;

/* ---- audit.c: samples that are asked again after a run (theory 15). The caller has the records,
 * and runs the calls: start, and until the end draw and take. */
#define CR_AUDIT_CHECK UINT32_MAX /* record of rows of the check before the run */

typedef struct cr_audit_pick {
    float key;       /* a recorded output, by which picks are ordered */
    uint32_t record; /* the caller's number of it */
    uint64_t sample;
} cr_audit_pick;

typedef struct cr_audit_source {
    cr_record *(*record)(void *user, uint32_t number); /* mounts a record if there are several */
    void *user;
} cr_audit_source;

/* Returns the number of samples from which one is picked, in an audit of so many. */
size_t cr_audit_stride(uint64_t samples);
/* Returns the most picks of records of this plan. */
size_t cr_audit_room(const certreg_plan *, size_t records);
/* Begins an audit without picks. */
void cr_audit_begin(certreg_estimator *, cr_audit_source, size_t stride);
/* Adds the picks of a record, or all of its samples if it has `kept` its picks only.
 * record.audited.limit is set. */
void cr_audit_add(certreg_estimator *, uint32_t record, int kept);
/* Gives the estimator other memory for picks, and the change of equal rows in another call. */
void cr_audit_set_room(certreg_estimator *, cr_audit_pick *, size_t room, double random);
/* Removes all samples but the picks from a record. */
void cr_audit_keep_picks(cr_record *);
/* Orders the picks for their calls. Returns 0 if there is none. */
int cr_audit_start(certreg_estimator *);
/* Draws the rows of the next call, the first `used` of which are asked. */
certreg_status cr_audit_draw(certreg_estimator *, float *x, size_t *used, size_t *rows);
/* Returns the sample in a used row. */
cr_audit_pick cr_audit_row(const certreg_estimator *, size_t row);
/* Takes the outputs of the used rows. Sets *ended to 1 after the last call. MODEL_FAILED if the
 * premise is refused: error.value is then the change, and error.row the number of the record, -1
 * for the check. */
certreg_status cr_audit_take(certreg_estimator *, const float *y, int *ended);
/* Notes the differences that were found in a record of the audit; none if the model is random. */
void cr_audit_store(const certreg_estimator *, cr_record *);
/* Returns 1 if the rows of the check are missing, which come before the first sample. */
int cr_audit_is_due(const certreg_estimator *);
/* Begins the call of these rows, which have the noise of the check about the mounted input. */
certreg_status cr_audit_begin_check(certreg_estimator *);
/* Asks the model for the rows of the check, unless they are about the present input; and audits the
 * estimator's record. */
certreg_status cr_audit_check(certreg_estimator *);
certreg_status cr_audit_run(certreg_estimator *);

/* ---- create.c: certreg_estimator_create and both sizes (host, device), for plans with at least
 * this number of blocks. Only block sums need many; replays need one. */
certreg_status cr_estimator_create(certreg_backend *, const certreg_model *, const certreg_plan *,
                                   size_t min_blocks, certreg_error *why, certreg_estimator **out);
certreg_status cr_estimator_memory(certreg_backend *, const certreg_model *, const certreg_plan *,
                                   size_t min_blocks, size_t bytes[2], certreg_error *why);

/* ---- sample.c */
/* Every public call on an estimator begins and ends with these; after a failure of enter there is
 * nothing to leave. INVALID for NULL, BUSY, WRONG_STATE in a forked child. *context (may be NULL)
 * is for the length of the call. */
certreg_status cr_estimator_enter(certreg_estimator *, cr_context *context);
certreg_status cr_estimator_leave(certreg_estimator *, certreg_status);
/* The same for calls that need no backend. */
certreg_status cr_estimator_lock(certreg_estimator *);
certreg_status cr_estimator_unlock(certreg_estimator *, certreg_status);
/* The parts of an estimator, while a call holds it. */
cr_context cr_estimator_context(certreg_estimator *);
/* Returns 1 if a cancel was requested, and clears the request. */
int cr_estimator_cancelled(certreg_estimator *);

/* ---- sample.c */
/* Fails if begin would refuse this input or sigma. */
certreg_status cr_estimator_check_input(certreg_estimator *, const float *z, double sigma);
/* certreg_estimator_begin_level within a call. */
certreg_status cr_estimator_begin(certreg_estimator *, const float *z, double sigma,
                                  uint64_t noise_id, uint64_t level);
/* Empties the record, and changes the sign of all later noise of this input. */
certreg_status cr_estimator_negate_noise(certreg_estimator *);

/* ---- sample.c */
/* certreg_estimator_sample within a call. It will be evaluated at `planned_samples` samples (0:
 * unknown), with these looks: both count as fixed beforehand if the outputs end the sampling. */
certreg_status cr_estimator_sample(certreg_estimator *, uint64_t first, size_t count,
                                   uint64_t planned_samples, uint64_t looks_digest);

/* ---- create.c, sample.c: many records for one estimator, which has one of them at a time */
/* Sets *like to the record of an estimator for this model and plan, without its arrays, and bytes
 * to its memory on the host and on a device. */
certreg_status cr_estimator_like(certreg_backend *, const certreg_model *, const certreg_plan *,
                                 size_t bytes[2], cr_record *like, certreg_error *why);
/* Lays out the arrays of another record like this one. */
void cr_estimator_lay_out_record(const cr_record *like, cr_arena *, cr_record *);
/* Puts another record in the place of the estimator's, which the caller has copied. */
void cr_estimator_mount(certreg_estimator *, const cr_record *);
/* Draws samples of the mounted record to x, memory of the backend. */
certreg_status cr_estimator_draw(certreg_estimator *, uint64_t first, size_t count, float *x);
/* Returns room for model.batch rows, which the next call of the model reads. */
float *cr_estimator_rows(certreg_estimator *);
/* Copies a row of the host there. */
certreg_status cr_estimator_put_row(certreg_estimator *, const float *row, float *x);
/* Calls the model with so many rows, the first `used` of which are wanted, and sets *y to its
 * outputs, in memory of the host. MODEL_FAILED with error.code 0 if it wrote beyond them. */
certreg_status cr_estimator_call(certreg_estimator *, size_t used, size_t rows,
                                 const certreg_queue_row *, const float **y);
/* A callback runs between these two, in the caller's floating-point environment. */
void cr_estimator_begin_callback(certreg_estimator *);
void cr_estimator_end_callback(certreg_estimator *);

#endif
