/* The BLAS module: the calls of BLAS and LAPACK (theory 13). In a product, OpenBLAS allocates
 * memory, keeps a part of it, and reports no failure; it uses the number of threads that the
 * program has set. LAPACK gets its work space from the caller. */
#include "backend/backend.h"
#ifdef __has_include
#if !__has_include(<cblas.h>) || !__has_include(<lapacke.h>)
#error "OpenBLAS and LAPACKE are missing: make deps installs them, make BLAS=0 builds without them"
#endif
#endif
#include <cblas.h>
#include <lapacke.h>

static void multiply(size_t m, size_t n, size_t k, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b,
                (int)k, 0, c, (int)n);
}

static void add_product(size_t m, size_t n, size_t k, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)m, b,
                (int)n, 1, c, (int)n);
}

static int orthonormal(size_t rows, size_t n, float *a, float *work, size_t work_size)
{
    const lapack_int k = (lapack_int)rows, m = (lapack_int)n,
                     remaining = (lapack_int)(work_size - rows);
    const lapack_int failed =
        LAPACKE_sgeqrf_work(LAPACK_COL_MAJOR, m, k, a, m, work, work + rows, remaining);
    if (failed) return (int)failed;
    return (int)LAPACKE_sorgqr_work(LAPACK_COL_MAJOR, m, k, k, a, m, work, work + rows, remaining);
}

/* The upper half by rows is the lower half by columns. Why not dsyevd, which is faster: static
 * programs would need Fortran's library. */
static int eigenvectors(size_t n, double *matrix, double *values, double *work, size_t work_size)
{
    return (int)LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, matrix, (lapack_int)n,
                                   values, work, (lapack_int)work_size);
}

__attribute__((visibility("default"))) const cr_blas *certreg_module_blas(void)
{
    static const cr_blas table = {.api_version = CR_BLAS_API,
                                  .multiply = multiply,
                                  .add_product = add_product,
                                  .orthonormal = orthonormal,
                                  .eigenvectors = eigenvectors};
    return &table;
}
