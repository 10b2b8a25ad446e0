/* The estimator handle: one model, one plan, one input at a time, and the record of its outputs. */
#ifndef CR_ESTIMATOR_ESTIMATOR_H
#define CR_ESTIMATOR_ESTIMATOR_H
#include "backend/backend.h"
#include "backend/blas.h"
#include "base/arena.h"
#include "base/busy.h"
#include "base/watch.h"
#include "estimator/asked.h"
#include "estimator/cost.h"
#include "statistics/looks.h"
#include "statistics/net.h"
#include "statistics/samples.h"

#define CR_LEAST_BLOCKS 64u /* of a public plan */
#define CR_WALK_BLOCKS 64u  /* of the walk through a record for the finite-sample gradient */

/* Floats for each row of a matrix whose eigenvalues are found: LAPACK's best for them, and the
 * values. */
#define CR_HESSIAN_EIGEN_ROOM 36u

typedef struct cr_record { /* the outputs of one input */
    float *values;         /* max_samples * outputs; see cr_record_... for missing and failed */
    size_t present;        /* samples that are there */
    size_t pilot; /* the first samples choose predictions and scales, and enter no bound; 0: none */
    int pilot_fixed; /* it has been used: samples were drawn, or came with a record */
    cr_asked asked;
    uint64_t outside; /* 1 + the sample whose output left the declared range; 0: none has */
} cr_record;

typedef struct cr_input { /* the input and its noise */
    float *scale;         /* inputs: of the noise */
    float *z, *step;      /* inputs: the input; sigma * scale */
    size_t active;        /* inputs with positive scale: the dimension of the noise */
    cr_noise noise;
    double sigma;
    double least_sigma; /* of any feature, after the rounding of sigma*scale to float: what radii
                           are measured in */
    int begun;
} cr_input;

/* The computation behind the last batch, for the questions asked last. */
typedef struct cr_closing {
    cr_cost *cost;   /* NULL: none were asked */
    double times;    /* how often they will be answered after a batch */
    size_t from;     /* with fewer samples none of them has an answer */
    double supposed; /* seconds, as long as nothing is known of the cost */
} cr_closing;

typedef struct cr_clock { /* what takes how long, and by when it has to be done */
    cr_watch *watch;      /* the clock, and when the closing computation is due: certify says */
    double deadline;      /* of the clock; 0: none */
    double slowest_batch; /* of this input */
    double fastest_batch; /* of all; 0: none yet */
    cr_cost costs[CR_COSTS_KEPT];
    size_t cost_next;   /* the one to be replaced */
    cr_closing closing; /* what has to fit behind the last batch */
    double model_seconds, library_seconds;
} cr_clock;

/* Memory of the backend: what its operations read and write. */
typedef struct cr_there {
    float *z, *step, *mask; /* inputs; mask: 1 where there is noise, else 0 */
    float *x[2];            /* a batch of the model each; the same one where none is drawn ahead */
    float *y;               /* the model's outputs */
    double *sums, *gram;    /* 2 functions * blocks * inputs; blocks * blocks */
    float *weights;         /* 2 functions * max_samples */
    float *direction;       /* inputs */
    double *lengths;        /* two for each border of a walk; behind them, in one piece: */
    double *dots;           /* and squared lengths, of the samples replayed last */
    int32_t *features;      /* active: indices of those that have noise; for the second order */
    cr_pair_room pairs;     /* likewise */
    size_t tile;            /* rows of its tiles; 0 without it */
    float *pair_weights;    /* max_samples, like what follows */
    double *pair_sums, *pair_norms;
} cr_there;

/* Memory of the host: what it has of the above (the same memory where the backend's is the host's,
 * else a copy), and scratch of its own. */
typedef struct cr_here {
    float *mask, *y, *weights, *pair_weights, *matrix;
    double *gram, *lengths, *dots, *pair_sums, *pair_norms, *squares;
    int32_t *features;
    float *eigen;   /* active * CR_HESSIAN_EIGEN_ROOM; or NULL, like the matrix */
    double *center; /* outputs: the prediction of a vector */
    double *share;  /* outputs: of the tolerance, for each block of a vector */
    double *part;   /* CR_NET_PROJECTED * outputs: of that, for each direction of a projection */
    double *paths;  /* CR_CLOSED_ROOM */
} cr_here;

typedef struct cr_batches { /* of the model: they take turns where one is drawn ahead */
    int turn;               /* there.x[turn] is the model's */
    int ahead;              /* the other one holds the samples from `first` on */
    uint64_t first;
} cr_batches;

struct certreg_estimator {
    certreg_error error;
    cr_busy busy;
    atomic_int cancel;
    certreg_backend *backend;
    certreg_model model; /* defaults resolved; its arrays are the estimator's own */
    certreg_plan plan;   /* defaults resolved, except the pilot's */
    size_t columns;      /* of y: pairs take two */
    cr_record record;
    cr_input input;
    cr_clock clock;
    cr_batches batches;
    cr_here here;
    cr_there there;
    void *memory_there; /* all of it; NULL where it is the host's, within the estimator */
    cr_closed closed[CR_CLOSED_KEPT];
    size_t closed_next; /* the one made longest ago */
    int owns_memory;
};

/* Whether plans with these constraints need block sums, that is a replay of the noise. */
static inline int cr_estimator_has_gradient(const certreg_estimator *e)
{
    return (e->plan.constraints & CERTREG_CONSTRAINT_GRADIENT) != 0;
}

/* Lengths, dots and norms lie in one piece, so that one transfer brings them. */
static inline size_t cr_estimator_replayed(size_t samples)
{
    return 2 * (CR_WALK_BLOCKS + 1) + 2 * samples;
}

/* Between two steps of the closing computation. */
static inline certreg_status cr_estimator_in_time(const certreg_estimator *e)
{
    return cr_watch_late(e->clock.watch) ? CERTREG_E_DEADLINE : CERTREG_OK;
}

static inline double cr_estimator_now(const certreg_estimator *e)
{
    return cr_watch_now(e->clock.watch);
}

/* ---- create.c: certreg_estimator_create and both sizes (host, device), for plans with any number
 * of blocks. Block sums alone need many; replays as such need one. */
certreg_status cr_estimator_create(certreg_backend *, const certreg_model *, const certreg_plan *,
                                   size_t least_blocks, certreg_error *why,
                                   certreg_estimator **out);
certreg_status cr_estimator_count(certreg_backend *, const certreg_model *, const certreg_plan *,
                                  size_t least_blocks, size_t bytes[2], certreg_error *why);

/* ---- call.c */
/* Every public call on an estimator begins and ends with these; after a failure of enter there is
 * nothing to leave. INVALID for NULL, BUSY, WRONG_STATE in a forked child. */
certreg_status cr_estimator_enter(certreg_estimator *);
certreg_status cr_estimator_leave(certreg_estimator *, certreg_status);
/* WRONG_STATE before begin. */
certreg_status cr_estimator_ready(certreg_estimator *);

/* ---- sample.c */
/* certreg_estimator_begin and _sample within a call, which will be evaluated at `requested` samples
 * (0: not known yet) and came with these looks: both count as fixed beforehand if the outputs end
 * the sampling. */
certreg_status cr_estimator_begin(certreg_estimator *, const float *z, double sigma,
                                  uint64_t noise_id, uint64_t level);
certreg_status cr_estimator_sample(certreg_estimator *, uint64_t first, size_t count,
                                   uint64_t requested, uint64_t looks);
/* An empty record of the same input, whose noise has the opposite sign from now on. */
certreg_status cr_estimator_mirror(certreg_estimator *);
/* Whether begin accepts them. */
certreg_status cr_estimator_check_input(certreg_estimator *, const float *z, double sigma);

/* ---- record.c: one float per sample and output; two NaN patterns mean "not there" and "failed" */
void cr_record_clear(certreg_estimator *);
/* The pilot, unless it is fixed: the plan's, or else what suits this number of samples. */
void cr_record_expect(certreg_estimator *, size_t samples);
void cr_record_set_pilot(certreg_estimator *, size_t pilot);
int cr_record_has(const certreg_estimator *, uint64_t sample);
/* An output that failed and is counted as the least score. Reads as NaN. */
float cr_record_failed(void);
/* Checks `count` rows of model outputs, converts them to recorded values and stores them. All or
 * nothing. Rows that are already there must agree, else MISMATCH. first_row is for the error. */
certreg_status cr_record_store(certreg_estimator *, uint64_t first, size_t count, const float *y,
                               int64_t first_row);
/* The number of samples if the record is 0 .. n-1 without a gap, else WRONG_STATE, which names the
 * gap. */
/* Fails where an output has left the declared range: all bounds rest on that range. */
certreg_status cr_record_in_range(certreg_estimator *);
certreg_status cr_record_length(const certreg_estimator *, size_t *count, certreg_error *why);
/* Recorded samples first .. first+count-1 of one output, or of all, seen through a score about a
 * center; passes over them end when the closing computation is late. */
cr_samples cr_record_samples(const certreg_estimator *, const cr_score *, int32_t output,
                             size_t first, size_t count, double center);
/* Continues a hash by the scale, and the kinds of the outputs. */
uint64_t cr_record_hash_model(const certreg_estimator *, uint64_t h);
/* The first sample with noise. */
static inline size_t cr_record_noisy(const certreg_estimator *e)
{
    return e->input.noise.clean_first != 0;
}
static inline float cr_record_value(const certreg_estimator *e, size_t sample, size_t output)
{
    return e->record.values[sample * e->model.outputs + output];
}
/* Where the value is; of all outputs, CERTREG_ALL_OUTPUTS, the first. */
static inline const float *cr_record_at(const certreg_estimator *e, size_t sample, int32_t output)
{
    return e->record.values + sample * e->model.outputs + (output < 0 ? 0 : (size_t)output);
}

#endif
