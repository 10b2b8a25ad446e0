/* The record of one input: its samples, the guard against second tries, its noise again, and the
 * memory for one answer. Rooms that evaluate questions get a cr_view, which is read-only. */
#ifndef CR_RECORD_RECORD_H
#define CR_RECORD_RECORD_H
#include "backend/backend.h"
#include "base/deadline.h"
#include "base/error.h"
#include "certreg/question.h"
#include "certreg/sampling.h"
#include "statistics/direction_net.h"
#include "statistics/distribution_bound.h"
#include "statistics/group_sequential.h"
#include "statistics/score.h"
#include "statistics/serving.h"

/* ---- Everything known about one input: the model and the plan, the input with its noise, and the
 * outputs so far. Rooms that evaluate questions get a cr_view, which is read-only. */
typedef struct cr_input {       /* the input and its noise */
    float *scale;               /* inputs: of the noise */
    float *z, *noise_deviation; /* inputs: the input; sigma * scale */
    size_t active;              /* inputs with positive scale: the dimension of the noise */
    uint64_t digest;            /* of z and scale */
    cr_noise noise;
    double sigma;
    double min_sigma; /* the smallest over all features, after sigma*scale is rounded to float: the
                         unit of radii */
    int is_set;
} cr_input;

typedef struct cr_query_log { /* the first evaluation of the record (cr_query_log_add) */
    uint64_t first_samples, planned_samples; /* the numbers of samples that were fixed before it */
    uint64_t max_samples, batch;             /* of its plan and model; 0: no evaluation yet */
    uint64_t looks_digest; /* digest of a caller's looks that were fixed by then; 0: none */
} cr_query_log;

typedef struct cr_audited { /* samples that were asked again (theory 15) */
    uint64_t outputs;       /* asked again, of all records of the audit; 0: none */
    uint64_t samples;       /* in the record at that time */
    double *change;         /* outputs: the largest difference of each */
    double *limit;          /* outputs: the least tolerance that was judged; INFINITY: no claim */
    int is_relative;        /* 1: differences count in proportion to these */
} cr_audited;

#define CR_FAULTS 8u /* numbers of units with arbitrary values, from 0 on */

typedef struct cr_record {
    certreg_model model;  /* defaults resolved; its arrays are the estimator's own */
    certreg_plan plan;    /* defaults resolved, except the pilot's */
    const double *unseen; /* CR_FAULTS: probability that no one of k units is shown; NULL: no masks
                           */
    size_t columns;       /* of the model's outputs: pairs take two */
    cr_input input;
    float *values;       /* max_samples * outputs; NaN patterns mean "missing" and "failed" */
    size_t sample_count; /* samples in the record */
    size_t pilot; /* the first samples choose predictions and scales, and enter no bound; 0: none */
    int pilot_is_frozen; /* it has been used: samples were drawn, or came with a record */
    cr_query_log query_log;
    uint64_t first_failed; /* 1 + the index of the first sample that was not finite; 0: none */
    uint64_t first_out_of_range; /* 1 + its index; 0: all outputs are in their declared ranges */
    cr_audited audited;
    cr_deadline *deadline; /* passes over the outputs end when it has expired */
} cr_record;

typedef const cr_record cr_view;

/* Fails with WRONG_STATE before begin. */
certreg_status cr_view_require_input(cr_view *, certreg_error *why);
/* Sets *count to the number of samples if the record has no gap, else fails with WRONG_STATE and
 * names the gap. */
certreg_status cr_view_require_contiguous(cr_view *, size_t *count, certreg_error *why);
/* Fails if an output has left the declared range, on which all bounds rest. */
certreg_status cr_view_require_in_range(cr_view *, certreg_error *why);
/* Fails if the estimator serves pairs, since all bounds assume independent samples, or is deployed.
 */
certreg_status cr_view_require_certifying(cr_view *, certreg_error *why);
/* Returns 1 if the record has this sample, else 0. */
int cr_view_has(cr_view *, uint64_t sample);
/* Writes the values that a row of the model's outputs would have in the record. */
void cr_view_read_outputs(cr_view *, const float *y, float *out);
/* Returns the distance of two recorded values of an output: an arc for angles, infinite if one of
 * them failed. */
double cr_view_change(cr_view *, size_t output, float a, float b);
/* Samples first .. first+count-1 of one output, or of all, as values of a score about a center.
 * Passes over them end when the deadline has expired. */
cr_samples cr_view_samples(cr_view *, const cr_score *, int32_t output, size_t first, size_t count,
                           double center);
/* A digest of input and scale (NULL: all 1), never 0. It distinguishes inputs unless an adversary
 * made them collide (theory 1.9). */
uint64_t cr_input_digest(const float *z, const float *scale, size_t inputs);
/* Continues a hash with the scale, the kinds of the outputs, and the masks. */
uint64_t cr_view_hash_model(cr_view *, uint64_t h);

/* The first sample with noise. */
static inline size_t cr_view_first_noisy(cr_view *v)
{
    return v->input.noise.clean_first != 0;
}

/* Returns 1 if samples 2i and 2i + 1 have opposite noise, else 0. */
static inline int cr_view_is_antithetic(cr_view *v)
{
    return (v->plan.flags & CERTREG_PLAN_PAIRS) != 0;
}

/* NaN if the output failed. */
static inline float cr_view_value(cr_view *v, size_t sample, size_t output)
{
    return v->values[sample * v->model.outputs + output];
}

/* The address of a value; for CERTREG_ALL_OUTPUTS, of the first output. */
static inline const float *cr_view_output_ptr(cr_view *v, size_t sample, int32_t output)
{
    return v->values + sample * v->model.outputs + (output < 0 ? 0 : (size_t)output);
}

/* ---- The guard against second tries (theory 5.2): remembers the first evaluation of a record, and
 * refuses a number of samples that its answer may have influenced. */
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

/* ---- Write access to a record: its samples, its pilot, and its import from bytes. */
/* Removes all samples. */
void cr_record_clear(cr_record *);
/* Removes the samples from number `count` on. */
void cr_record_truncate(cr_record *, size_t count);
/* Removes one sample. */
void cr_record_erase(cr_record *, uint64_t sample);
/* Sets the pilot unless it is fixed: the plan's, or else one that suits this number of samples. */
void cr_record_choose_pilot(cr_record *, size_t samples);
/* With a pilot, the first sample is the input without noise. */
void cr_record_set_pilot(cr_record *, size_t pilot);
/* The recorded value, a NaN, of an output that failed and counts as the lowest score. */
float cr_record_failed_value(void);
/* Checks `count` rows of model outputs, up to the first that fails: with MISMATCH if the record has
 * other values for it, NOT_FINITE if it failed before. Remembers an output outside its range, or
 * not finite. */
certreg_status cr_record_check(cr_record *, uint64_t first, size_t count, const float *y,
                               certreg_error *why);
/* Converts rows to recorded values and stores those that the record lacks, up to the first that
 * fails as in a check. first_row is for the error. */
certreg_status cr_record_store(cr_record *, uint64_t first, size_t count, const float *y,
                               int64_t first_row, certreg_error *why);

/* ---- serialize.c: a record as bytes */
/* Returns enough bytes for any record like this one. */
size_t cr_record_export_bytes(cr_view *);
/* certreg_estimator_export and _import. */
certreg_status cr_record_export(cr_view *, void *buffer, size_t *bytes, certreg_error *why);
certreg_status cr_record_import(cr_record *, const void *buffer, size_t bytes, certreg_error *why);

/* ---- Memory for one answer, allocated once, with the estimator. */
#define CR_MAX_DISTRIBUTION_BOUNDS 4 /* of the conditions of a question */
#define CR_ANTITHETIC_CACHE_SIZE 16u

typedef struct cr_antithetic_cache {
    cr_antithetic pairs;
    double shift;           /* with the pairs, the key */
    double max_probability; /* for this key; 0: no probability qualifies */
} cr_antithetic_cache;

typedef struct cr_workspace {
    double *vector_prediction; /* outputs: the prediction of a vector */
    double *block_fractions; /* outputs: the fraction of the tolerance for each block of a vector */
    double *direction_fractions; /* CR_NET_MAX_PROJECTIONS * outputs: fractions of it for each
                                    direction of a projection */
    double *group_paths;         /* CR_GROUP_WORK_DOUBLES */
    cr_distribution_bound distribution_bounds[CR_MAX_DISTRIBUTION_BOUNDS];
    cr_group_tests group_tests[CR_GROUP_CACHE_SIZE];
    size_t next_group_slot; /* the oldest one */
    cr_early_look early_looks[CR_GROUP_CACHE_SIZE];
    size_t next_early_slot;
    cr_antithetic_cache antithetic_cache[CR_ANTITHETIC_CACHE_SIZE];
    size_t next_antithetic_slot;
} cr_workspace;

/* ---- Replays the noise of a record: weighted sums of it, and its projections on a direction.
 * Fails with CERTREG_E_DEADLINE if the deadline has expired, as checked between the steps of a
 * replay or the blocks of a walk. */
#define CR_REPLAY_FUNCTIONS 2u   /* of one replay */
#define CR_CUMULATIVE_BLOCKS 64u /* of a record, for the finite-sample gradient */

/* Memory of the backend: what its operations read and write. */
typedef struct cr_replay_device {
    float *mask;            /* inputs: 1 for a feature with noise, else 0 */
    double *sums;           /* 2 functions * inputs, or the sweep's */
    float *weights;         /* 2 functions * max_samples */
    float *direction;       /* inputs */
    double *dots;           /* of the samples projected last; behind them squared norms */
    cr_sweep_buffers sweep; /* parts of the above, and memory of its own */
} cr_replay_device;

/* Memory of the host: copies of the above, or the same arrays if both memories are one. */
typedef struct cr_replay_host {
    float *mask, *weights;
    double *dots;
} cr_replay_host;

/* The functions of this noise that were requested. The first `computed_count` of
 * them have results. */
typedef struct cr_noise_sums {
    cr_noise noise;
    size_t count, computed_count;
    size_t count_before_answers; /* before the present answers (cr_noise_sums_begin_answers) */
    int was_hit;                 /* one of these was requested again */
    size_t grams_used, weights_used, dots_used; /* the used parts of the sizes */
    cr_sweep_function *functions;
    double *units;
    float *weights;
    double *products, *norms, *dots; /* results of all */
    double *squared_norms;           /* max_samples */
} cr_noise_sums;

typedef struct cr_replay {
    cr_view *view;
    certreg_backend *backend;
    certreg_error *why; /* receives failures */
    cr_replay_host host;
    cr_replay_device device;
    cr_sweep_sizes sizes;
    cr_noise_sums sums_cache;
} cr_replay;

/* Sets the sums to 0. */
certreg_status cr_replay_clear(cr_replay *);
/* Adds host.weights times the noise of samples first .. first+count-1 to the sums, for one function
 * or two. The weights of the second one start at plan.max_samples. */
certreg_status cr_replay_add(cr_replay *, uint64_t first, size_t count, size_t functions);
/* Copies the sums of one function after another to the host. */
certreg_status cr_replay_sums(cr_replay *, size_t functions, double *sums);
/* Sets the direction of projections, an array of the host that is 0 for features without noise. */
certreg_status cr_replay_set_direction(cr_replay *, const float *direction);
/* Writes projections to host.dots, and behind them squared norms of the noise (active inputs). */
certreg_status cr_replay_project(cr_replay *, uint64_t first, size_t count);

/* ---- Sums of the record's noise, weighted by scores: everything that correlates outputs with
 * noise. One sweep serves all functions that were requested, and results stay while they fit. */
enum cr_sum_kind {
    CR_SUMS_GRAM,       /* products of the means of score times noise over blocks; both triangles */
    CR_SUMS_CUMULATIVE, /* lengths of sums, and projections on the sums of earlier blocks */
    CR_SUMS_TOTAL       /* the same in one block, projected on its own sum */
};

/* The sizes for which the backend and the estimator need memory. */
cr_sweep_sizes cr_noise_sums_sizes(const certreg_model *, const certreg_plan *);

/* Requests results of these scores about their center, and returns the function that has them after
 * the next run, or NULL if it does not fit. Equal scores of the same samples share a function. If
 * products are requested, the number of samples is a multiple of `blocks`. */
const cr_sweep_function *cr_noise_sums_request(cr_replay *, const cr_samples *, enum cr_sum_kind,
                                               size_t blocks);
/* Drops all functions and their results. */
void cr_noise_sums_clear(cr_replay *);
/* Counts results as reused, from now on, if they exist already. */
void cr_noise_sums_begin_answers(cr_replay *);
/* Returns 1 if a function has no results yet, else 0. */
int cr_noise_sums_pending(const cr_replay *);
/* Computes the results of all such functions. A failure, also DEADLINE, drops everything. */
certreg_status cr_noise_sums_compute(cr_replay *);
/* Requests a function and computes its results. Drops all earlier ones if it does not fit. */
certreg_status cr_noise_sums_get(cr_replay *, const cr_samples *, enum cr_sum_kind, size_t blocks,
                                 const cr_sweep_function **out);
/* Squared lengths of the noise of the function's samples. */
const double *cr_noise_sums_squared_norms(const cr_replay *, const cr_sweep_function *);

#endif
