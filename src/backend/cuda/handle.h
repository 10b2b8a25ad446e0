/* The handle of the CUDA backend, which its ops share. */
#ifndef CR_BACKEND_CUDA_HANDLE_H
#define CR_BACKEND_CUDA_HANDLE_H
#include "backend/backend.h"
#include "backend/cuda/context.h"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

typedef struct cr_cuda {
    certreg_backend base;
    int device, owns_stream;
    int code; /* of the op that failed last; a sticky one stays */
    const char *text;
    cr_cuda_context context;
    int inside;                /* an op, so that there is something to leave */
    cudaStream_t stream, side; /* side: for the noise of the next batch */
    cudaEvent_t drawn;
    uint64_t threads; /* of a draw */
    cublasHandle_t blas;
    void *blas_room;
} cr_cuda;

static inline cr_cuda *cr_cuda_of(certreg_backend *backend)
{
    return (cr_cuda *)(void *)backend;
}

#endif
