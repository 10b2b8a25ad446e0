/* cuBLAS in loops: columns first, work on the handle's stream. */
#include "cublas_v2.h"
#include "emulated.h"
#include <stdlib.h>

struct emulated_blas {
    cudaStream_t stream;
};

static cublasStatus_t status_of(cudaError_t code)
{
    if (!code) return CUBLAS_STATUS_SUCCESS;
    return code == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasCreate(cublasHandle_t *out)
{
    const cudaError_t code = emulated_enter();
    *out = code ? NULL : calloc(1, sizeof **out);
    if (code) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!*out) return CUBLAS_STATUS_ALLOC_FAILED;
    emulated_count_object(1);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t blas)
{
    free(blas);
    emulated_count_object(-1);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t blas, cudaStream_t stream)
{
    blas->stream = stream;
    return status_of(emulated_enter());
}

cublasStatus_t cublasSetMathMode(cublasHandle_t blas, cublasMath_t mode)
{
    (void)blas, (void)mode;
    return status_of(emulated_enter());
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t blas, void *room, size_t bytes)
{
    (void)blas, (void)room;
    return bytes < 16384 ? CUBLAS_STATUS_EXECUTION_FAILED : status_of(emulated_enter());
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return status ? "a cuBLAS call failed" : "success";
}

typedef struct product { /* dsyrk, with its arguments */
    cublasFillMode_t fill;
    int transposed, n, k, lda, ldc;
    double alpha, beta;
    const double *a;
    double *c;
} product;

static void dsyrk(void *with)
{
    const product *p = with;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++) {
            if (p->fill == CUBLAS_FILL_MODE_UPPER ? i > j : i < j) continue;
            double sum = 0, *to = p->c + (size_t)j * (size_t)p->ldc + i;
            for (int l = 0; l < p->k; l++) {
                const size_t at_i = p->transposed ? (size_t)i * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)i;
                const size_t at_j = p->transposed ? (size_t)j * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)j;
                sum += p->a[at_i] * p->a[at_j];
            }
            *to = p->alpha * sum + (p->beta != 0 ? p->beta * *to : 0);
        }
}

cublasStatus_t cublasDsyrk(cublasHandle_t blas, cublasFillMode_t fill, cublasOperation_t transposed,
                           int n, int k, const double *alpha, const double *a, int lda,
                           const double *beta, double *c, int ldc)
{
    if (n < 0 || k < 0 || lda < (transposed ? k : n) || ldc < n)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    product *p = malloc(sizeof *p);
    if (!p) return CUBLAS_STATUS_ALLOC_FAILED;
    emulated_count_product();
    *p = (product){fill, (int)transposed, n, k, lda, ldc, *alpha, *beta, a, c};
    return status_of(emulated_enqueue(blas->stream, dsyrk, p, free));
}
