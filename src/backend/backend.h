/* The interface of backends, which draw and replay noise: the CPU, or a device with its own memory.
 * Everything else of a certificate is host code above this interface. */
#ifndef CR_BACKEND_BACKEND_H
#define CR_BACKEND_BACKEND_H
#include "base/deadline.h"
#include "base/error.h"
#include "base/handle.h"
#include "certreg/certreg.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define CR_BACKEND_API 15u
#define CR_REPLAY_CHUNK 32u /* samples summed in float, then added to the double sums */
#define CR_PROJECT_SUMS 16u
#define CR_PROJECT_PIECE 256u

/* Normal number j (0 <= j < inputs) of sample i depends only on (seed, stream, inputs, i, j):
 * cuRAND's device generator has the same words at float number j after curand_init(seed,
 * subsequence = stream, offset = i*4*ceil(inputs/4)). cuRAND's host generator in legacy order deals
 * out the first 65536 streams in turns of four words (tests/unit_grid_rounding.c). A stream has
 * 2^64 blocks of four words. The first 2^62 blocks form 2^20 disjoint levels of 2^42 blocks: level
 * 0 has the sequence above, and the further levels follow it. The blocks after all levels continue
 * the words of the levels' blocks (grid_rounding.h). The caller must stay within a level. */
#define CR_LEVEL_BITS 42
#define CR_LEVELS (UINT64_C(1) << 20)

typedef struct cr_noise {
    uint64_t seed, noise_id, level;
    size_t inputs;
    int32_t clean_first; /* non-zero: sample 0 has no noise: all its normals are 0 */
} cr_noise;

/* The range of a feature's noise deviation, and the largest |z| that its grid allows. Noise
 * stays below 2^13 grid steps, so that |x| is at most 2^24 grid steps, which float represents. */
#define CR_GRID_BITS 8 /* a noise deviation is at least 2^8 and less than 2^9 grid steps */
#define CR_MIN_NOISE_DEVIATION 0x1p-118f
#define CR_MAX_NOISE_DEVIATION 0x1p112f
/* Returns the step of a feature's grid. */
static inline double cr_grid_step(float deviation)
{
    return ldexp(1, ilogbf(deviation) - CR_GRID_BITS);
}

/* Returns the largest |z|. */
static inline double cr_grid_max_input(float deviation)
{
    return (0x1p24 - 0x1p13) * cr_grid_step(deviation);
}

/* Distances of the float normals e of a replay from the exact normals xi (theory 0.3), rounded up
 * from tests/proof/normals.txt. Gap: standard deviation of e - xi in any direction. Excess:
 * e/(1 + excess) is below xi in convex order. */
#define CR_NOISE_GAP 1.8e-6
#define CR_NOISE_EXCESS 3.5e-7

/* Returns the smaller number. */
static inline size_t cr_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the first sample of block b, if `count` samples are divided into `blocks` blocks; `count`
 * for b = blocks. The last count % blocks blocks have one more sample. */
static inline size_t cr_block_begin(size_t count, size_t blocks, size_t b)
{
    const size_t longer = count % blocks;
    return b * (count / blocks) + (b + longer > blocks ? b + longer - blocks : 0);
}

/* Units of features that samples hide, by words of a stream of their own (theory 1.12). Unit u has
 * the features feature[first[u]] .. feature[first[u + 1] - 1]. */
typedef struct cr_masks {
    size_t units, shown;       /* shown: of each sample; 0: unit u with probability[u] */
    const double *probability; /* is rounded down to a multiple of 2^-32 */
    const uint32_t *first, *feature;
    float marker;
    int32_t is_fixed; /* 1: all samples have the mask of sample 0 */
} cr_masks;

/* Arguments of a draw: row i of x is the noisy input of sample first + i. */
typedef struct cr_draw {
    const float *z, *noise_deviation; /* inputs */
    uint64_t first;
    size_t count;
    float *x;              /* count*inputs */
    const cr_masks *masks; /* NULL: nothing is hidden. The struct is in host memory */
} cr_draw;

/* Arguments of a projection of the noise of samples first .. first+count-1. */
typedef struct cr_projection {
    uint64_t first;
    size_t count;
    const float *directions, *mask; /* blocks*inputs: a direction for each block; inputs */
    double *dots, *squared_norms;   /* count */
    size_t blocks;                  /* into which the samples are divided; 0: one */
} cr_projection;

/* Rows of sums and the directions along them. */
typedef struct cr_direction_rows {
    size_t rows, inputs;
    const float *mask; /* inputs */
    double *sums;      /* rows*inputs */
    float *directions; /* rows*inputs */
    double *norms;     /* 2*rows */
} cr_direction_rows;

/* Consecutive blocks of samples, and the weight of each sample. A second function's weights begin
 * `stride` floats after the first's. */
typedef struct cr_weighted_blocks {
    uint64_t first;
    size_t block_samples, blocks; /* samples in a block; blocks */
    size_t functions;             /* 1 or 2 */
    const float *weights;
    size_t stride;
} cr_weighted_blocks;

/* One function of a sweep: weights of samples first .. first+count-1, divided into blocks
 * (cr_block_begin), and the results. Sums of weight times noise are as in replay, and 0 for
 * features with mask 0. All arrays are in host memory. The results are either `gram`, the products
 * of the blocks' sums, or norms and dots. Border b is the boundary before block b; its sums are
 * over all samples before it. */
typedef struct cr_sweep_function {
    uint64_t first;
    size_t count, blocks;
    const float *weights; /* count */
    double *gram;         /* blocks*blocks: gram[p*blocks + q] for q >= p; NULL: norms and dots */
    double *norms;        /* blocks+1: the Euclidean norm of the sums at each border */
    double *dots; /* count: projections of the noise on the unit vector along the sums, rounded to
                     float, at the border before the sample's block; 0 if the sums are 0 */
    int is_total; /* non-zero: on the unit vector along the sums over all samples instead */
} cr_sweep_function;

/* The largest sizes of a sweep. */
typedef struct cr_sweep_sizes {
    size_t inputs, sample_span; /* from the first to the last */
    size_t functions, grams, blocks;
    size_t weights, dots; /* samples of all functions; of all functions without a gram */
} cr_sweep_sizes;

/* Memory of the backend that a sweep writes to: `workspace` if the backend has ops->sweep, else all
 * further members. */
typedef struct cr_sweep_buffers {
    void *workspace;      /* ops->sweep_bytes */
    double *sums, *gram;  /* 2*blocks*inputs, blocks >= 3; blocks*blocks */
    float *weights;       /* 2*samples of one function */
    double *results;      /* cr_sweep_result_count of the samples of one function */
    double *host_results; /* host memory of the same size */
} cr_sweep_buffers;

typedef struct cr_sweep {
    const cr_sweep_function *functions;
    size_t count;          /* of the functions */
    const float *mask;     /* inputs, memory of the backend: 1 for a feature with noise, else 0 */
    uint64_t first;        /* the sample of squared_norms[0] */
    double *squared_norms; /* host memory: of the masked noise of all projected samples */
    const cr_sweep_sizes *sizes;
    const cr_sweep_buffers *buffers;
} cr_sweep;

/* Returns the number of a function's results: two norms for each border, dots and squared norms. */
static inline size_t cr_sweep_result_count(size_t blocks, size_t samples)
{
    return 2 * (blocks + 1) + 2 * samples;
}

/* Arrays are memory of the backend unless named host memory: memory from `alloc`, or any memory if
 * `device` is -1. No array of samples*inputs numbers moves between host and device. Work is
 * enqueued on stream(); results in host memory are complete when the op returns. A deadline may be
 * NULL. It is checked before the work and as often as the backend can; if it has expired, the op
 * ends with CERTREG_E_DEADLINE, and its results are undefined. */
typedef struct cr_backend_ops {
    uint32_t api_version; /* CR_BACKEND_API; read before anything else */
    int32_t device;       /* -1: host memory */
    /* Ends the backend and releases its memory. */
    void (*close)(certreg_backend *);
    /* ---- noise */
    /* Sets x[i][j], row-major, to the point of feature j's grid (theory 0) that is nearest to z[j]
     * + noise_deviation[j] xi[first+i][j]; xi is the exact normal that e below approximates in
     * float. If noise_deviation[j] is 0, and in the noise-free sample, x[i][j] is z[j] bit for bit.
     * A zero of the grid is +0. |noise_deviation[j]| is 0 or in [CR_MIN_NOISE_DEVIATION,
     * CR_MAX_NOISE_DEVIATION), |z[j]| at most cr_grid_max_input(noise_deviation[j]). A negative
     * deviation draws the opposite noise. All backends give the same bits. x may be unaligned.
     * Features that the masks hide are the marker, except in the noise-free sample. */
    certreg_status (*draw)(certreg_backend *, const cr_noise *, const cr_draw *);
    /* Adds to sums[(b*functions + f)*inputs + j] the sum of weight times e[i][j] over the samples i
     * of block b. Sets sums with mask[j] = 0 to 0 (mask NULL: none). Chunks of CR_REPLAY_CHUNK
     * samples start at the first sample of a block: float fma in index order within a chunk, chunks
     * added to the double sum in index order. Bits do not depend on threads. */
    certreg_status (*replay)(certreg_backend *, const cr_noise *, const cr_weighted_blocks *,
                             const float *mask, double *sums, cr_deadline *);
    /* Sets dots[i] = sum_j direction[j] e[first+i][j], with the direction of the sample's block,
     * and squared_norms[i] = sum_j mask[j] e[first+i][j]^2. Each piece of CR_PROJECT_PIECE features
     * has CR_PROJECT_SUMS partial sums: number l adds the features with j % CR_PROJECT_SUMS == l by
     * float fma. The upper half of the partial sums is added to the lower half in double until one
     * sum remains. Pieces are added in order. */
    certreg_status (*project)(certreg_backend *, const cr_noise *, const cr_projection *,
                              cr_deadline *);
    /* Replaces each row of sums by the sum of the rows up to it, added in their order. Then sets,
     * for row r, directions[r*inputs + j] = sums[r*inputs + j] rounded to float, or 0 if mask[j] is
     * 0; norms[2*r] = |sums| over the features with mask 1, norms[2*r + 1] = |direction|. Squares
     * are added in CR_NORM_SUMS partial sums, in the order of a piece of project. */
    certreg_status (*set_directions)(certreg_backend *, const cr_direction_rows *);
    /* Sets gram[p*blocks + q] = sum_j sums[p*pitch + j] sums[q*pitch + j] for q >= p, else 0. */
    certreg_status (*gram)(certreg_backend *, const double *sums, size_t pitch, size_t blocks,
                           size_t inputs, double *gram);
    /* ---- memory */
    /* Sets *out to memory of the backend. */
    certreg_status (*alloc)(certreg_backend *, size_t bytes, void **out);
    /* Releases memory from alloc. Accepts NULL. */
    void (*free)(certreg_backend *, void *);
    /* Copies from the host. The bytes there must not change before the next fetch or wait. If host
     * and backend share memory, equal pointers are allowed, here and in fetch. */
    certreg_status (*store)(certreg_backend *, void *memory, const void *host, size_t bytes);
    /* Copies to the host and waits for the copy. */
    certreg_status (*fetch)(certreg_backend *, void *host, const void *memory, size_t bytes);
    /* Sets *is_device to 1 for memory of the device and for managed memory, to 0 for host memory.
     * INVALID for another device's memory. NULL if the backend uses host memory. */
    certreg_status (*locate)(certreg_backend *, const void *memory, int *is_device);
    /* Sets every byte. */
    certreg_status (*fill)(certreg_backend *, void *memory, size_t bytes, int byte);
    /* Waits until the work on the stream is done. */
    certreg_status (*wait)(certreg_backend *);
    /* ---- the state of the work */
    /* Returns the stream of the work; NULL on the CPU. */
    void *(*stream)(certreg_backend *);
    /* Returns the device's code of the last failed op and sets *text to its meaning; 0 and NULL on
     * the CPU. */
    int32_t (*last_code)(certreg_backend *, const char **text);
    /* ---- optional ops, NULL if the backend lacks them */
    /* Draws while the stream does other work, which must not touch this x. Both or none. */
    certreg_status (*draw_ahead)(certreg_backend *, const cr_noise *, const cr_draw *);
    /* Makes the stream wait for the draw. */
    certreg_status (*join)(certreg_backend *);
    /* Computes the results of all functions in one pass over their noise, or two if one is total;
     * they equal results by replay, set_directions, project and gram up to the rounding of a
     * double. Bits do not depend on threads. Both or none. */
    certreg_status (*sweep)(certreg_backend *, const cr_noise *, const cr_sweep *, cr_deadline *);
    /* Returns the size of buffers->workspace. */
    size_t (*sweep_bytes)(certreg_backend *, const cr_sweep_sizes *);
} cr_backend_ops;

struct certreg_backend { /* first member of every concrete backend */
    const cr_backend_ops *ops;
    cr_call_guard guard; /* of a device: one call of an estimator at a time uses its stream */
    int borrows_stream;  /* non-zero: the caller orders work of its own on the stream */
};

/* Returns non-zero if the host cannot read the backend's memory. Only the layout of memory and this
 * room may depend on it. */
static inline int cr_backend_is_device(const certreg_backend *backend)
{
    return backend->ops->device >= 0;
}

/* Copies numbers that a caller gives to *host if they are on the backend's device, and sets
 * *numbers to the copy. Sets an error that names them by `what`. */
certreg_status cr_backend_read(certreg_backend *, const float **numbers, float *host, size_t count,
                               const char *what, certreg_error *);

/* Begins a call's work on the backend, since a device serves one call at a time. BUSY, with a text,
 * during another call; WRONG_STATE in a forked child. */
certreg_status cr_backend_enter(certreg_backend *, certreg_error *);
/* Ends a call's work on the backend. */
void cr_backend_leave(certreg_backend *);
/* Sets the error of a failed op, "the backend failed to `what`", with the device's code and text.
 */
certreg_status cr_backend_failed(certreg_backend *, certreg_status, const char *what,
                                 certreg_error *);

/* Computes a sweep by ops->sweep, or by replay, set_directions, project and gram if the backend
 * lacks it. */
certreg_status cr_backend_sweep(certreg_backend *, const cr_noise *, const cr_sweep *,
                                cr_deadline *);
/* Makes work that is enqueued next wait for the noise that was drawn ahead. */
certreg_status cr_backend_join(certreg_backend *);

/* Returns the backend of a NULL handle: the CPU in the calling thread, without state. It is never
 * NULL, and must not be closed. */
certreg_backend *cr_backend_default(void);

/* ---- Linear algebra on the host for denoisers, by BLAS and LAPACK. They are in a module, which is
 * opened when a denoiser is made, or in programs that link libcertreg_blas.a. Matrices are dense
 * and row-major. */
#define CR_BLAS_API 4u

/* Sizes are at most INT32_MAX. */
typedef struct cr_blas {
    uint32_t api_version; /* CR_BLAS_API; read before anything else */
    /* Sets c = a b': m rows of n numbers, from m and n rows of k. */
    void (*multiply)(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
    /* Adds a'b to c: m rows of n numbers, from k rows of m and k rows of n. */
    void (*add_product)(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
    /* Makes the rows of a (`rows` <= n rows of n numbers) orthonormal and keeps their span. work
     * has `work_size` floats, 33 for each row. Returns non-zero on failure, which is negative if
     * LAPACK misread the arguments. */
    int (*orthonormal)(size_t rows, size_t n, float *a, float *work, size_t work_size);
    /* Computes the eigenvalues of a symmetric matrix in ascending order; only its upper half is
     * read. Its rows become the eigenvectors. work has work_size >= 34*n doubles. Returns the
     * same. */
    int (*eigenvectors)(size_t n, double *matrix, double *values, double *work, size_t work_size);
} cr_blas;

/* Opens BLAS until the process ends. NO_BACKEND if the module or BLAS is missing or damaged,
 * VERSION if it belongs to another version of the library, NO_MEMORY if there is no memory for its
 * work space. BLAS may start threads when it is opened, which inherit the floating-point
 * environment: open it within a call. */
certreg_status cr_blas_open(certreg_error *why, const cr_blas **out);

/* The function that the module exports: returns its table. */
const cr_blas *certreg_module_blas(void);

#endif
