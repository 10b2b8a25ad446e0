/* The CPU backend inside: one set of kernels per instruction set, a choice among them, threads. */
#ifndef CR_BACKEND_CPU_H
#define CR_BACKEND_CPU_H
#include "backend/backend.h"
#include "base/error.h"

#define CR_CPU_MAX_THREADS 1024
/* Features per thread in a replay are a multiple of this, so that no lane idles. */
#define CR_CPU_SPLIT 64u
#define CR_CPU_STEP 512u /* samples between two looks at the clock; whole replay chunks */

#define CR_FILTER_SUMS 16u
#define CR_FILTER_GROUP 8u

/* y = center + keep (x - center) + sum over c of back[c] (into[c], x - center), where products are
 * by feature. center and keep have `pitch` numbers, into and back `components` rows of so many. */
typedef struct cr_filter {
    size_t inputs, pitch; /* inputs, and the next multiple of CR_FILTER_SUMS: the rest are zeros */
    size_t components;    /* a multiple of CR_FILTER_GROUP */
    const float *center, *keep, *into, *back;
} cr_filter;

#define CR_SWEEP_TILE CR_PROJECT_PIECE /* features */

typedef struct cr_swept { /* one function within a tile; arrays over its features, zero-padded to
                             the next multiple of 64 */
    const cr_function *f;
    size_t block, next;            /* which it is in; where the chunk of samples ends */
    float *partial, *direction;    /* sums of the chunk; float of those at the border */
    double *sums, *rows;           /* over a block, or all so far; of all blocks (gram), or NULL */
    double *squares, *dots, *gram; /* the results so far: squares of lengths, two for a border */
} cr_swept;

typedef struct cr_sweep_tile {
    size_t begin, width, pitch; /* of its features; from one of the rows to the next */
    const float *mask;          /* padded, too */
    size_t functions;
    int starts, again; /* nothing is swept yet; the second pass, for functions that are whole */
    uint64_t first;    /* the sample of norms[0]; norms: NULL if they are not wanted */
    double *norms;
} cr_sweep_tile;

/* Every kernel gives the same bits. None allocates; scratch is on the stack, below 64 KiB. */
typedef struct cr_cpu_kernels {
    const char *name;
    void (*draw)(const cr_noise *, const float *z, const float *step, uint64_t first, size_t count,
                 float *x);
    /* As the op, for features begin .. end-1 alone; begin is a multiple of CR_CPU_SPLIT. */
    void (*replay)(const cr_noise *, uint64_t first, size_t count, size_t functions,
                   const float *weights, size_t stride, double *sums, size_t begin, size_t end);
    void (*project)(const cr_noise *, uint64_t first, size_t count, const float *direction,
                    const float *mask, double *dots, double *norms);
    void (*filter)(const cr_filter *, const float *x, size_t rows, float *y); /* no overlap */
    /* gram += the products of some columns */
    void (*gram)(const double *sums, size_t pitch, size_t blocks, size_t columns, double *gram);
    /* Samples first .. first+count-1 for all functions; the samples of a tile come in order. */
    void (*sweep)(const cr_noise *, uint64_t first, size_t count, const cr_sweep_tile *,
                  cr_swept *);
} cr_cpu_kernels;

enum { CR_CPU_PORTABLE = 0, CR_CPU_AVX2 = 1, CR_CPU_AVX512 = 2 };

/* NULL where the library was built for another architecture. */
const cr_cpu_kernels *cr_cpu_portable_kernels(void);
const cr_cpu_kernels *cr_cpu_avx2_kernels(void);
const cr_cpu_kernels *cr_cpu_avx512_kernels(void);

/* Kernels of one path, NULL if this machine cannot run it. Pure: the answer never changes. For
 * tests a library can be compiled as if for lesser machines, with -DCR_CPU_MOST=CR_CPU_AVX2, say
 * (make check-paths). */
#ifndef CR_CPU_MOST
#define CR_CPU_MOST CR_CPU_AVX512
#endif
const cr_cpu_kernels *cr_cpu_path(int path);
const cr_cpu_kernels *cr_cpu_best(void);

/* ---- cpu_sweep.c */
struct cr_pool;
size_t cr_cpu_sweep_bytes(const cr_sweep_sizes *, size_t threads);
certreg_status cr_cpu_sweep(const cr_cpu_kernels *, struct cr_pool *, const cr_noise *,
                            const cr_sweep *, cr_watch *);

/* For tests: makes a backend that cr_cpu_open gave use one path, and its threads however little
 * there is to do; NO_BACKEND if this machine cannot run it. */
certreg_status cr_cpu_force(certreg_backend *, int path);
/* 1 <= threads <= CR_CPU_MAX_THREADS */
certreg_status cr_cpu_open(int32_t threads, certreg_error *why, certreg_backend **out);

#endif
