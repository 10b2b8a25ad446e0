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

typedef struct product { /* one of the level-3 routines, with its arguments */
    void (*run)(const struct product *);
    cublasFillMode_t fill;
    int transposed, b_transposed, m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const void *a, *b;
    void *c;
} product;

static void run_product(void *with)
{
    const product *p = with;
    p->run(p);
}

static cublasStatus_t give(cublasHandle_t blas, product what)
{
    product *p = malloc(sizeof *p);
    if (!p) return CUBLAS_STATUS_ALLOC_FAILED;
    emulated_count_product();
    *p = what;
    return status_of(emulated_enqueue(blas->stream, run_product, p, free));
}

static void dsyrk(const product *p)
{
    const double *a = p->a;
    double *c = p->c;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++) {
            if (p->fill == CUBLAS_FILL_MODE_UPPER ? i > j : i < j) continue;
            double sum = 0, *to = c + (size_t)j * (size_t)p->ldc + i;
            for (int l = 0; l < p->k; l++) {
                const size_t at_i = p->transposed ? (size_t)i * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)i;
                const size_t at_j = p->transposed ? (size_t)j * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)j;
                sum += a[at_i] * a[at_j];
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
    return give(blas, (product){.run = dsyrk,
                                .fill = fill,
                                .transposed = (int)transposed,
                                .n = n,
                                .k = k,
                                .lda = lda,
                                .ldc = ldc,
                                .alpha = *alpha,
                                .beta = *beta,
                                .a = a,
                                .c = c});
}

static void sgemm(const product *p)
{
    const float *a = p->a, *b = p->b;
    float *c = p->c;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++) {
            float sum = 0, *to = c + (size_t)j * (size_t)p->ldc + i;
            for (int l = 0; l < p->k; l++) {
                const size_t at_a = p->transposed ? (size_t)i * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)i;
                const size_t at_b = p->b_transposed ? (size_t)l * (size_t)p->ldb + (size_t)j
                                                    : (size_t)j * (size_t)p->ldb + (size_t)l;
                sum += a[at_a] * b[at_b];
            }
            *to = (float)p->alpha * sum + (p->beta != 0 ? (float)p->beta * *to : 0);
        }
}

cublasStatus_t cublasSgemm(cublasHandle_t blas, cublasOperation_t of_a, cublasOperation_t of_b,
                           int m, int n, int k, const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c, int ldc)
{
    if (m < 0 || n < 0 || k < 0 || lda < (of_a ? k : m) || ldb < (of_b ? n : k) || ldc < m)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return give(blas, (product){.run = sgemm,
                                .transposed = (int)of_a,
                                .b_transposed = (int)of_b,
                                .m = m,
                                .n = n,
                                .k = k,
                                .lda = lda,
                                .ldb = ldb,
                                .ldc = ldc,
                                .alpha = (double)*alpha,
                                .beta = (double)*beta,
                                .a = a,
                                .b = b,
                                .c = c});
}
