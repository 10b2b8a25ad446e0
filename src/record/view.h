/* What is known about one input: the model and the plan, the input with its noise, and the outputs
 * seen so far. The rooms that answer questions see it through a cr_view, which they cannot write
 * to. */
#ifndef CR_RECORD_VIEW_H
#define CR_RECORD_VIEW_H
#include "backend/backend.h"
#include "base/error.h"
#include "base/watch.h"
#include "certreg/question.h"
#include "statistics/samples.h"

typedef struct cr_input { /* the input and its noise */
    float *scale;         /* inputs: of the noise */
    float *z, *step;      /* inputs: the input; sigma * scale */
    size_t active;        /* inputs with positive scale: the dimension of the noise */
    uint64_t digest;      /* of z and scale */
    cr_noise noise;
    double sigma;
    double least_sigma; /* of any feature, after the rounding of sigma*scale to float: what radii
                           are measured in */
    int begun;
} cr_input;

typedef struct cr_asked {        /* how the record was first evaluated; see asked.h */
    uint64_t first, total;       /* questions for a fixed number are answered at these numbers */
    uint64_t max_samples, batch; /* at the first evaluation; 0: there was none yet */
    uint64_t looks;              /* digest of a caller's looks that were fixed by then; 0: none */
} cr_asked;

#define CR_MISSING_BITS 0x7fc0a11eu /* the NaN pattern of a sample that is not there */

typedef struct cr_record {
    certreg_model model; /* defaults resolved; its arrays are the estimator's own */
    certreg_plan plan;   /* defaults resolved, except the pilot's */
    size_t columns;      /* of the model's outputs: pairs take two */
    cr_input input;
    float *values;   /* max_samples * outputs; NaN patterns mean "not there" and "failed" */
    size_t present;  /* samples that are there */
    size_t pilot;    /* the first samples choose predictions and scales, and enter no bound; 0:
                        none */
    int pilot_fixed; /* it has been used: samples were drawn, or came with a record */
    cr_asked asked;
    uint64_t outside; /* 1 + the sample whose output left the declared range; 0: none has */
    cr_watch *watch;  /* passes over the outputs end when it is late */
} cr_record;

typedef const cr_record cr_view;

/* WRONG_STATE before begin. */
certreg_status cr_view_begun(cr_view *, certreg_error *why);
/* The number of samples if the record is 0 .. n-1 without a gap, else WRONG_STATE, which names the
 * gap. */
certreg_status cr_view_length(cr_view *, size_t *count, certreg_error *why);
/* Fails where an output has left the declared range: all bounds rest on that range. */
certreg_status cr_view_in_range(cr_view *, certreg_error *why);
/* Fails where the samples come in pairs: all bounds are of independent ones. */
certreg_status cr_view_independent(cr_view *, certreg_error *why);
int cr_view_has(cr_view *, uint64_t sample);
/* Samples first .. first+count-1 of one output, or of all, seen through a score about a center;
 * passes over them end when the watch is late. */
cr_samples cr_view_samples(cr_view *, const cr_score *, int32_t output, size_t first, size_t count,
                           double center);
/* Tells inputs apart where nobody chose them to be alike (theory 1.9). Never 0. Scale NULL: all 1.
 */
uint64_t cr_input_digest(const float *z, const float *scale, size_t inputs);
/* Continues a hash by the scale, and the kinds of the outputs. */
uint64_t cr_view_hash_model(cr_view *, uint64_t h);

/* The first sample with noise. */
static inline size_t cr_view_noisy(cr_view *v)
{
    return v->input.noise.clean_first != 0;
}

/* Whether the noise of samples 2i and 2i + 1 is opposite. */
static inline int cr_view_pairs(cr_view *v)
{
    return (v->plan.flags & CERTREG_PLAN_PAIRS) != 0;
}

/* NaN where the output failed. */
static inline float cr_view_value(cr_view *v, size_t sample, size_t output)
{
    return v->values[sample * v->model.outputs + output];
}

/* Where the value is; of all outputs, CERTREG_ALL_OUTPUTS, the first. */
static inline const float *cr_view_at(cr_view *v, size_t sample, int32_t output)
{
    return v->values + sample * v->model.outputs + (output < 0 ? 0 : (size_t)output);
}

#endif
