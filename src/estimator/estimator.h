/* The estimator handle: one model, one plan, one input at a time, and the record of its outputs. */
#ifndef CR_ESTIMATOR_ESTIMATOR_H
#define CR_ESTIMATOR_ESTIMATOR_H
#include "backend/backend.h"
#include "base/arena.h"
#include "base/error.h"
#include "estimator/asked.h"
#include "estimator/looks.h"
#include <stdatomic.h>

#define CR_TILE 512u /* of a replay on the CPU; a multiple of CR_REPLAY_CHUNK */

#define CR_SECOND_EIGEN_ROOM 36u /* floats for each row of a matrix whose eigenvalues are found: LAPACK's best for them, and the values */

typedef struct cr_second_room { /* for the second order; all NULL without it */
    size_t tile;              /* rows */
    float *zero;              /* inputs: a point to draw noise about; NULL with a device, as are the next three */
    float *rows[2];           /* tile * inputs each */
    float *products;          /* tile * tile */
    float *matrix, *eigen;    /* active * active, active * CR_SECOND_EIGEN_ROOM; or NULL: see cr_second_choose */
    float *weights;           /* capacity */
    double *sums;             /* capacity: of the products of a sample with all others */
    double *norms, *squares;  /* capacity, with a device: |e|^2 and sums of squared products */
} cr_second_room;

typedef struct cr_second_device { /* likewise, where the batches live */
    int32_t *features;        /* active: indices of features that have noise */
    float *rows[2];           /* tile * active each */
    float *products;          /* tile * tile */
    float *matrix;            /* active * active, or NULL */
    float *weights;           /* capacity, like what follows */
    double *sums, *norms, *squares;
} cr_second_device;

typedef struct cr_buffers { /* all memory of an estimator; one layout function counts and carves it */
    float *scale, *mask;       /* inputs: noise scale; 1 where it is positive */
    int32_t *kind;             /* outputs */
    double *lo, *hi;           /* outputs: declared range; a full turn for angles */
    double *centre;            /* outputs: what is subtracted before their norm is taken */
    float *z, *step;           /* inputs: the input; sigma * scale */
    float *x, *y;              /* a batch of the model; on a device they live there */
    float *y_host;             /* outputs of one batch on the host; equal to y on the CPU */
    float *record;             /* capacity * outputs; see cr_record_... for missing and failed */
    double *sums;              /* 2 functions * blocks * inputs; a device has its own */
    double *gram, *gram_sum;   /* blocks * blocks; the second with several outputs */
    float *weights;            /* 2 * tile */
    double *lengths;           /* 2; behind them, in one piece: */
    double *dots, *norms;      /* tile each */
    float *direction;          /* inputs; a device has its own */
    double *paths;             /* CR_CLOSED_ROOM */
    cr_second_room second;
} cr_buffers;

typedef struct cr_device_room { /* of a backend with memory of its own */
    float *z, *step, *mask;    /* inputs */
    float *x, *y;              /* a batch; at.x and at.y are these */
    float *next;               /* the batch after it, drawn while the model runs; x and next take turns */
    uint64_t next_first;       /* its first sample; valid if has_next */
    int has_next;
    float *weights;            /* 2 * tile */
    double *sums, *gram;       /* 2 functions * blocks * inputs; blocks * blocks */
    float *direction;          /* as in `at`: */
    double *lengths, *dots;    /* 2; behind them 2 * tile for dots and norms */
    cr_second_device second;
} cr_device_room;

struct certreg_estimator {
    certreg_error error;
    certreg_backend *backend;
    certreg_model model;       /* defaults resolved; its arrays are those of `at` */
    certreg_plan plan;         /* defaults resolved; pilot 0 = none */
    cr_buffers at;
    cr_device_room device;
    void *device_memory;       /* all of it */
    size_t columns;            /* of y: pairs take two */
    size_t active;             /* inputs with positive scale: the dimension of the noise */
    size_t tile;               /* samples whose weights are held at once during a replay: cr_estimator_tile */
    cr_noise noise;
    double sigma;
    double least_sigma;        /* of any feature, after the rounding of sigma*scale to float: what radii are measured in */
    cr_closed closed[CR_CLOSED_KEPT];
    size_t closed_next;        /* the one made longest ago */
    size_t present;            /* samples in the record */
    cr_asked asked;
    int begun;
    int64_t process;           /* a forked child must not share threads or devices */
    atomic_int cancel;
    double deadline;           /* CLOCK_MONOTONIC seconds; 0: none */
    double slowest_batch, closing_seconds;
    double model_seconds, library_seconds;
    int owns_memory;
};

/* Whether plans with these facts need block sums, that is a replay of the noise. */
static inline int cr_estimator_has_gradient(const certreg_estimator *e)
{
    return (e->plan.facts & CERTREG_GRADIENT) != 0;
}

static inline int cr_estimator_on_device(const certreg_estimator *e)
{
    return cr_backend_is_device(e->backend);
}

/* A device takes everything at once. */
static inline size_t cr_estimator_tile(const certreg_backend *backend, size_t capacity)
{
    return cr_backend_is_device(backend) && capacity > CR_TILE ? capacity : CR_TILE;
}

/* ---- device.c */
/* The error of an op of the backend, with what that knows of it. */
certreg_status cr_estimator_backend_failed(certreg_estimator *, certreg_status, const char *what);

/* ---- sample.c */
double cr_estimator_now(void);
/* Whether begin accepts them. */
certreg_status cr_estimator_check_input(certreg_estimator *, const float *z, double sigma);
/* WRONG_STATE before begin and in a forked child. */
certreg_status cr_estimator_ready(certreg_estimator *);

/* ---- record.c: one float per sample and output; two NaN patterns mean "not there" and "failed" */
void cr_record_clear(certreg_estimator *);
int cr_record_has(const certreg_estimator *, uint64_t sample);
/* An output that failed and is counted as the least score. Reads as NaN. */
float cr_record_failed(void);
/* Checks `count` rows of model outputs, converts them to recorded values and stores them. All or nothing.
 * Rows that are already there must agree, else MISMATCH. first_row is for the error only. */
certreg_status cr_record_store(certreg_estimator *, uint64_t first, size_t count, const float *y, int64_t first_row);
/* The number of samples when the record is 0 .. n-1 without gap, else WRONG_STATE naming the gap. */
certreg_status cr_record_length(certreg_estimator *, size_t *count);
static inline float cr_record_value(const certreg_estimator *e, size_t sample, size_t output)
{
    return e->at.record[sample * e->model.outputs + output];
}

#endif
