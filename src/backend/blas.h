/* Products of float matrices on the host, for denoisers. They are BLAS's and LAPACK's, in a module
 * that is opened when one is made; a static library has it inside. All matrices are dense, row by
 * row. */
#ifndef CR_BACKEND_BLAS_H
#define CR_BACKEND_BLAS_H
#include "base/error.h"
#include <stddef.h>

#define CR_BLAS_API 4u
#define CR_BLAS_FILE "libcertreg_blas.so"

/* Sizes are at most INT32_MAX. */
typedef struct cr_blas {
    uint32_t api_version; /* CR_BLAS_API; read before anything else */
    /* c = a b': m rows of n, from m and n rows of k */
    void (*multiply)(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
    /* c += a'b: m rows of n, from k rows of m and k rows of n */
    void (*add_product)(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
    /* Makes the rows of a, `rows` <= n of n, orthonormal, with the same span. work: `room` floats,
     * 33 for each of the rows. Non-zero: it failed. */
    int (*orthonormal)(size_t rows, size_t n, float *a, float *work, size_t room);
    /* The eigenvalues in ascending order, of a symmetric matrix of which the upper half is read;
     * its rows become the eigenvectors. work: room is 34*n at least. Non-zero: it failed. */
    int (*eigenvectors)(size_t n, double *matrix, double *values, double *work, size_t room);
} cr_blas;

/* NO_BACKEND if the module, or BLAS, is missing or damaged; VERSION if it belongs to another
 * version of the library; NO_MEMORY if BLAS would not get its work space, for which it waits for
 * ever. It stays open to the end of the process. BLAS may start threads when it is opened, which
 * keep the floating-point environment that they are born in: open it within a call. */
certreg_status cr_blas_open(certreg_error *why, const cr_blas **out);

/* What the module shows. */
const cr_blas *certreg_module_blas(void);

#endif
