/* The seam between the estimator and where its noise is drawn and replayed: the CPU, or a device
 * with its own memory. Everything else of a certificate is host code above it. */
#ifndef CR_BACKEND_BACKEND_H
#define CR_BACKEND_BACKEND_H
#include "base/busy.h"
#include "base/watch.h"
#include "certreg/certreg.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define CR_BACKEND_API 12u
#define CR_REPLAY_CHUNK 32u /* samples summed in float before they are added to the double sums */
#define CR_PROJECT_SUMS 16u
#define CR_PROJECT_PIECE 256u

/* Normal number j (0 <= j < inputs) of sample i depends on (seed, stream, inputs, i, j) alone: its
 * words are in the sequence that cuRAND's device generator gives after curand_init(seed,
 * subsequence = stream, offset = i*4*ceil(inputs/4)), in the place of its float number j. cuRAND's
 * host generator in legacy order deals the first 65536 streams out in turns of four words
 * (tests/unit_curand.c). A stream has 2^64 blocks of four words; a `level` is one of 2^20 parts of
 * the first 2^62, of 2^42 blocks each, which do not overlap: the sequence above is that of level 0,
 * the others are further on in the stream. The other blocks continue the words of these (cell.h).
 * It is for the caller to stay within a part. */
#define CR_LEVEL_BITS 42
#define CR_LEVELS (UINT64_C(1) << 20)

typedef struct cr_noise {
    uint64_t seed, noise_id, level;
    size_t inputs;
    int32_t clean_first; /* non-zero: sample 0 is noise-free (all its normals are 0) */
} cr_noise;

/* The noise of a feature that float and its grid can hold, and the greatest |z| there: noise never
 * reaches 2^13 steps of the grid, so no x is beyond 2^24 of them, and float has all of these. */
#define CR_GRID_BITS 8 /* noise is at least 2^8 and less than 2^9 steps of its grid */
#define CR_LEAST_STEP 0x1p-118f
#define CR_GREATEST_STEP 0x1p112f
static inline double cr_grid_most(float step)
{
    return ldexp(0x1p24 - 0x1p13, ilogbf(step) - CR_GRID_BITS);
}

/* How far the float normals e of a replay are from the exact xi (theory 0.3), rounded up from
 * tests/proof/normals.txt. The gap: the standard deviation of e - xi in any direction. The excess:
 * e/(1 + excess) is below xi in convex order. */
#define CR_NOISE_GAP 1.8e-6
#define CR_NOISE_EXCESS 3.5e-7

static inline size_t cr_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where block b of `count` samples begins, b <= blocks: the last count % blocks of them have one
 * sample more. */
static inline size_t cr_walk_border(size_t count, size_t blocks, size_t b)
{
    const size_t longer = count % blocks;
    return b * (count / blocks) + (b + longer > blocks ? b + longer - blocks : 0);
}

/* A draw of noisy inputs: row i of x is sample first + i. */
typedef struct cr_draw {
    const float *z, *step; /* inputs */
    uint64_t first;
    size_t count;
    float *x; /* count*inputs */
} cr_draw;

/* Projections of the noise of samples first .. first+count-1. */
typedef struct cr_projection {
    uint64_t first;
    size_t count;
    const float *direction, *mask; /* inputs */
    double *dots, *norms;          /* count */
} cr_projection;

/* Blocks of samples, one after the other, with weights: those of a function behind each other, of
 * two functions `stride` apart. */
typedef struct cr_weighted {
    uint64_t first;
    size_t length, blocks; /* samples of a block */
    size_t functions;      /* 1 or 2 */
    const float *weights;
    size_t stride;
} cr_weighted;

/* What a sweep finds for one function of samples first .. first+count-1, which is given by weights
 * and divided into blocks (cr_walk_border). Sums of weight times noise are those of replay; where
 * the mask is 0 they are 0. All arrays are the host's. Either the products of the sums of one block
 * with those of another: */
typedef struct cr_function {
    uint64_t first;
    size_t count, blocks;
    const float *weights; /* count */
    double *gram;         /* blocks*blocks, of q >= p alone: gram[p*blocks + q]; or NULL, and: */
    double *lengths; /* blocks+1: of the sums over all samples before a border, border 0 first */
    double *dots;    /* count: projections on the unit vector along the sums, rounded to float, at
                        the border that a sample's block begins with; 0 where they are 0 */
    int whole;       /* on that along the sums over all samples instead */
} cr_function;

typedef struct cr_sweep_sizes { /* the greatest of a sweep */
    size_t inputs, span;        /* span: samples from the first to the last */
    size_t functions, grams, blocks;
    size_t weighed, projected; /* samples of all functions together, and of those without a gram */
} cr_sweep_sizes;

typedef struct cr_sweep_room {  /* memory of the backend that a sweep writes to */
    void *own;                  /* ops->sweep_bytes; where the backend has no sweep, instead: */
    double *sums, *gram;        /* 2*blocks*inputs; blocks*blocks */
    float *weights, *direction; /* 2*samples of one function; inputs */
    double *results;            /* cr_sweep_results of the samples of one function */
    double *fetched;            /* the host's room for them */
} cr_sweep_room;

typedef struct cr_sweep {
    const cr_function *functions;
    size_t count;      /* of them */
    const float *mask; /* inputs, memory of the backend: 1 where there is noise, else 0 */
    uint64_t first;    /* the sample of norms[0] */
    double *norms;     /* the host's: squared lengths of the noise under the mask, of all samples
                          that are projected */
    const cr_sweep_sizes *sizes;
    const cr_sweep_room *room;
} cr_sweep;

/* Two lengths for each border; dots and norms. */
static inline size_t cr_sweep_results(size_t blocks, size_t samples)
{
    return 2 * (blocks + 1) + 2 * samples;
}

/* Arrays below are memory of the backend, except those that are said to be the host's: what `alloc`
 * gave, or, where `device` is -1, any. Nothing of the size samples*inputs crosses. Work is enqueued
 * on stream(); what ends in host memory is there when the op returns. A watch is NULL, or checked
 * before the work and as often as the backend can: where it is late the op ends with
 * CERTREG_E_DEADLINE, and nothing that it wrote has a meaning. */
typedef struct cr_backend_ops {
    uint32_t api_version; /* CR_BACKEND_API; read before anything else */
    int32_t device;       /* -1: its memory is the host's */
    void (*close)(certreg_backend *);
    /* ---- noise */
    /* x[i][j]: the point of the grid (theory 0) of step[j] that lies nearest to z[j] + step[j]
     * xi[first+i][j], with xi the exact normal, of which e below is a float neighbour; and z[j]
     * itself, bit for bit, where step[j] is 0 and in the noise-free sample. A zero of the grid is
     * +0. |step[j]| is 0 or in [CR_LEAST_STEP, CR_GREATEST_STEP), |z[j]| at most cr_grid_most of
     * it. A negative step is that of opposite noise. Every backend gives the same bits. x
     * row-major, count*inputs floats, not necessarily aligned. */
    certreg_status (*draw)(certreg_backend *, const cr_noise *, const cr_draw *);
    /* sums[(b*functions + f)*inputs + j] += sum over the samples i of block b of their weight times
     * e[i][j]; it becomes 0 where mask[j] is 0 (NULL: nowhere). Samples are taken in chunks of
     * CR_REPLAY_CHUNK from the first of the block on: float fma in index order inside a chunk,
     * chunks added to the double sum in index order. Bits do not depend on threads. */
    certreg_status (*replay)(certreg_backend *, const cr_noise *, const cr_weighted *,
                             const float *mask, double *sums, cr_watch *);
    /* dots[i] = sum_j direction[j] e[first+i][j]; norms[i] = sum_j mask[j] e[first+i][j]^2. Within
     * each CR_PROJECT_PIECE features partial sum l of CR_PROJECT_SUMS takes the features j %
     * CR_PROJECT_SUMS == l, in float fma; halves of the partial sums are added in double until one
     * is left; pieces are added in order. */
    certreg_status (*project)(certreg_backend *, const cr_noise *, const cr_projection *,
                              cr_watch *);
    /* direction[j] = sums[j] rounded to float, 0 where mask[j] is 0; lengths[0] = |sums| over the
     * features of the mask (1, or 0), lengths[1] = |direction|. Squares are added in CR_AIM_SUMS
     * partial sums, as those of a piece are. */
    certreg_status (*aim)(certreg_backend *, const double *sums, const float *mask, size_t inputs,
                          float *direction, double lengths[2]);
    /* gram[p*blocks + q] = sum_j sums[p*pitch + j] sums[q*pitch + j], of q >= p alone; else 0 */
    certreg_status (*gram)(certreg_backend *, const double *sums, size_t pitch, size_t blocks,
                           size_t inputs, double *gram);
    /* ---- memory. Between a place and itself store and fetch have nothing to do. */
    certreg_status (*alloc)(certreg_backend *, size_t bytes, void **out);
    void (*free)(certreg_backend *, void *);
    /* host: untouched until fetch or wait */
    certreg_status (*store)(certreg_backend *, void *there, const void *host, size_t bytes);
    certreg_status (*fetch)(certreg_backend *, void *host, const void *there, size_t bytes);
    certreg_status (*fill)(certreg_backend *, void *there, size_t bytes, int byte);
    certreg_status (*wait)(certreg_backend *); /* of the host, for what is on the stream */
    /* ---- the host's view of the work */
    void *(*stream)(certreg_backend *);
    /* The device's code of the op that failed last, and what it means; 0 and NULL on the CPU. */
    int32_t (*last_code)(certreg_backend *, const char **text);
    /* ---- what a backend may lack, and then has as NULL */
    /* draw while the stream does other work, which must not touch this x; join lets the stream wait
     * for it. Both or none: nothing is drawn ahead. */
    certreg_status (*draw_ahead)(certreg_backend *, const cr_noise *, const cr_draw *);
    certreg_status (*join)(certreg_backend *);
    /* All functions at once, in one pass over their noise, or two if one is whole; as replay, aim,
     * project and gram in turns would find them, up to the rounding of a double. Bits do not depend
     * on threads. sweep_bytes: of its own room. Both or none. */
    certreg_status (*sweep)(certreg_backend *, const cr_noise *, const cr_sweep *, cr_watch *);
    size_t (*sweep_bytes)(certreg_backend *, const cr_sweep_sizes *);
} cr_backend_ops;

struct certreg_backend { /* first member of every concrete backend */
    const cr_backend_ops *ops;
    cr_busy busy; /* of a device: one call of an estimator at a time has its stream */
};

/* Whether the host cannot reach its memory. For those who take memory, and within the room. */
static inline int cr_backend_is_device(const certreg_backend *backend)
{
    return backend->ops->device >= 0;
}

/* Around a call's work on the backend: a backend with one stream serves one call at a time. BUSY,
 * with its own text; WRONG_STATE in a forked child. */
certreg_status cr_backend_enter(certreg_backend *, certreg_error *);
void cr_backend_leave(certreg_backend *);
/* The error of an op, with what the backend knows of it: it "failed to `what`". */
certreg_status cr_backend_failed(certreg_backend *, certreg_status, const char *what,
                                 certreg_error *);

/* By the backend's own op, or by others in turns. */
certreg_status cr_backend_sweep(certreg_backend *, const cr_noise *, const cr_sweep *, cr_watch *);
/* Whatever was drawn ahead is done before what is enqueued next. */
certreg_status cr_backend_join(certreg_backend *);

/* The backend behind a NULL handle: CPU, the calling thread, no state. Never NULL; not to be
 * closed. */
certreg_backend *cr_backend_default(void);

#endif
