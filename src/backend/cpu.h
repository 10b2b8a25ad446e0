/* Inside of the CPU backend: the kernels of each instruction set, the choice among them, and the
 * sweep. */
#ifndef CR_BACKEND_CPU_H
#define CR_BACKEND_CPU_H
#include "backend/backend.h"
#include "base/error.h"

#define CR_FILTER_SUMS 16u
#define CR_FILTER_GROUP 8u

/* y = center + base_gain (x - center) + sum over c of synthesis[c] (analysis[c], x - center), with
 * products feature by feature. center and base_gain have `pitch` numbers, analysis and synthesis
 * `components` rows of `pitch`. */
typedef struct cr_filter {
    size_t inputs, pitch; /* pitch: inputs padded with zeros to a multiple of CR_FILTER_SUMS */
    size_t components;    /* a multiple of CR_FILTER_GROUP */
    const float *center, *base_gain, *analysis, *synthesis;
} cr_filter;

/* A function's state in the sweep of one tile. Arrays over the tile's features are padded with
 * zeros to a multiple of 64. */
typedef struct cr_sweep_state {
    const cr_sweep_function *function;
    size_t block, chunk_end;       /* the current block; the end of the current chunk of samples */
    float *chunk_sums, *direction; /* sums over the chunk; the sums at the last border as floats */
    double *sums, *block_sums; /* over the block, or all samples; of all blocks (gram) or NULL */
    double *squares, *dots, *gram; /* results so far; squares: of lengths, two for each border */
} cr_sweep_state;

typedef struct cr_sweep_tile {
    size_t begin, width, pitch; /* of its features; pitch: the distance of two rows */
    const float *mask;          /* padded with zeros like the arrays of cr_sweep_state */
    size_t functions;
    int is_first, is_second_pass; /* no sample was swept yet; the second pass, for functions that
                                     are total */
    uint64_t first;               /* the sample of squared_norms[0] */
    double *squared_norms;        /* NULL: not computed */
} cr_sweep_tile;

/* The kernels of one instruction set. All sets give the same bits. No kernel allocates; scratch is
 * on the stack, below 64 KiB. */
typedef struct cr_cpu_kernel_table {
    const char *name;
    /* Does the op of this name (backend.h). */
    void (*draw)(const cr_noise *, const float *z, const float *noise_deviation, uint64_t first,
                 size_t count, float *x);
    /* Does the op of this name for features begin .. end-1; begin is a multiple of CR_CPU_SPLIT. */
    void (*replay)(const cr_noise *, uint64_t first, size_t count, size_t functions,
                   const float *weights, size_t stride, double *sums, size_t begin, size_t end);
    /* Does the op of this name. */
    void (*project)(const cr_noise *, uint64_t first, size_t count, const float *direction,
                    const float *mask, double *dots, double *squared_norms);
    /* Filters rows; x and y must not overlap. */
    void (*filter)(const cr_filter *, const float *x, size_t rows, float *y);
    /* Adds the products of some columns to gram. */
    void (*gram)(const double *sums, size_t pitch, size_t blocks, size_t columns, double *gram);
    /* Sweeps samples first .. first+count-1 for all functions; calls for one tile come in order. */
    void (*sweep)(const cr_noise *, uint64_t first, size_t count, const cr_sweep_tile *,
                  cr_sweep_state *);
} cr_cpu_kernel_table;

/* In the order of their speed. */
enum { CR_CPU_PORTABLE = 0, CR_CPU_NEON = 1, CR_CPU_AVX2 = 2, CR_CPU_AVX512 = 3, CR_CPU_PATHS };

/* Return the kernels of one instruction set, or NULL in a build for another architecture. */
const cr_cpu_kernel_table *cr_cpu_portable_kernels(void);
const cr_cpu_kernel_table *cr_cpu_neon_kernels(void);
const cr_cpu_kernel_table *cr_cpu_avx2_kernels(void);
const cr_cpu_kernel_table *cr_cpu_avx512_kernels(void);

/* Returns the kernels of one path, or NULL if this processor cannot run them; always the same. */
const cr_cpu_kernel_table *cr_cpu_path(int path);
/* Returns the fastest kernels of this processor. */
const cr_cpu_kernel_table *cr_cpu_best(void);

/* ---- cpu.c */
/* For tests: makes a backend of cr_cpu_open use these kernels, and all threads for any amount of
 * work. NO_BACKEND if they are NULL: this processor cannot run them. */
certreg_status cr_cpu_force(certreg_backend *, const cr_cpu_kernel_table *);
/* Opens a CPU backend; 1 <= threads <= CR_CPU_MAX_THREADS. */
certreg_status cr_cpu_open(int32_t threads, certreg_error *why, certreg_backend **out);

#endif
