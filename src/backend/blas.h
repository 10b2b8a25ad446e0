/* Linear algebra on the host for denoisers, by BLAS and LAPACK. They are in a module, which is
 * opened when a denoiser is made, or in programs that link libcertreg_blas.a. Matrices are dense
 * and row-major. */
#ifndef CR_BACKEND_BLAS_H
#define CR_BACKEND_BLAS_H
#include "base/error.h"
#include <stddef.h>

#define CR_BLAS_API 4u

/* Sizes are at most INT32_MAX. */
typedef struct cr_blas {
    uint32_t api_version; /* CR_BLAS_API; read before anything else */
    /* Sets c = a b': m rows of n numbers, from m and n rows of k. */
    void (*multiply)(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
    /* Adds a'b to c: m rows of n numbers, from k rows of m and k rows of n. */
    void (*add_product)(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
    /* Makes the rows of a (`rows` <= n rows of n numbers) orthonormal and keeps their span. work
     * has `work_size` floats, 33 for each row. Returns non-zero on failure. */
    int (*orthonormal)(size_t rows, size_t n, float *a, float *work, size_t work_size);
    /* Computes the eigenvalues of a symmetric matrix in ascending order; only its upper half is
     * read. Its rows become the eigenvectors. work has work_size >= 34*n doubles. Returns non-zero
     * on failure. */
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
