/* The part of cuBLAS that the CUDA module uses, in plain loops; see emulated.h. */
#ifndef TESTS_CUBLAS_V2_H
#define TESTS_CUBLAS_V2_H
#include "cuda_runtime_api.h"

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_EXECUTION_FAILED = 13
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 } cublasFillMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;
typedef enum { CUBLAS_DEFAULT_MATH = 0, CUBLAS_PEDANTIC_MATH = 2 } cublasMath_t;
typedef struct emulated_blas *cublasHandle_t;

cublasStatus_t cublasCreate(cublasHandle_t *out);
cublasStatus_t cublasDestroy(cublasHandle_t blas);
cublasStatus_t cublasSetStream(cublasHandle_t blas, cudaStream_t stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t blas, cublasMath_t mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t blas, void *room, size_t bytes);
cublasStatus_t cublasDsyrk(cublasHandle_t blas, cublasFillMode_t fill, cublasOperation_t transposed,
                           int n, int k, const double *alpha, const double *a, int lda,
                           const double *beta, double *c, int ldc);
const char *cublasGetStatusString(cublasStatus_t status);
#endif
