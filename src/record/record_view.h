/* Everything known about one input: the model and the plan, the input with its noise, and the
 * outputs so far. Rooms that evaluate questions get a cr_view, which is read-only. */
#ifndef CR_RECORD_RECORD_VIEW_H
#define CR_RECORD_RECORD_VIEW_H
#include "backend/backend.h"
#include "base/error.h"
#include "base/deadline.h"
#include "certreg/question.h"
#include "certreg/sampling.h"
#include "statistics/score_samples.h"

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

#define CR_MISSING_NAN_BITS 0x7fc0a11eu /* the NaN pattern of a missing sample */

typedef struct cr_record {
    certreg_model model; /* defaults resolved; its arrays are the estimator's own */
    certreg_plan plan;   /* defaults resolved, except the pilot's */
    size_t columns;      /* of the model's outputs: pairs take two */
    cr_input input;
    float *values;       /* max_samples * outputs; NaN patterns mean "missing" and "failed" */
    size_t sample_count; /* samples in the record */
    size_t pilot; /* the first samples choose predictions and scales, and enter no bound; 0: none */
    int pilot_is_frozen; /* it has been used: samples were drawn, or came with a record */
    cr_query_log query_log;
    uint64_t first_failed; /* 1 + the index of the first sample that was not finite; 0: none */
    uint64_t first_out_of_range; /* 1 + its index; 0: all outputs are in their declared ranges */
    cr_deadline *deadline;       /* passes over the outputs end when it has expired */
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
/* Samples first .. first+count-1 of one output, or of all, as values of a score about a center.
 * Passes over them end when the deadline has expired. */
cr_samples cr_view_samples(cr_view *, const cr_score *, int32_t output, size_t first, size_t count,
                           double center);
/* A digest of input and scale (NULL: all 1), never 0. It distinguishes inputs unless an adversary
 * made them collide (theory 1.9). */
uint64_t cr_input_digest(const float *z, const float *scale, size_t inputs);
/* Continues a hash with the scale and the kinds of the outputs. */
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

#endif
