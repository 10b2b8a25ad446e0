/* The handle of the CUDA backend, and its ops. Not the header of cuda_backend.c, which makes the
 * handle and needs the ops, since all ops need this one. */
#ifndef CR_BACKEND_CUDA_HANDLE_H
#define CR_BACKEND_CUDA_HANDLE_H
#include "backend/backend.h"
#include "backend/cuda/driver_context.h"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

typedef struct cr_cuda {
    certreg_backend base;
    int device, owns_stream;
    int code; /* of the last failed op; a sticky code stays */
    const char *text;
    cr_cuda_context context;
    int is_entered;                    /* non-zero: cr_cuda_leave must leave the context */
    cudaStream_t stream, ahead_stream; /* ahead_stream: for the noise of the next batch */
    cudaEvent_t ahead_done;            /* on ahead_stream */
    uint64_t threads;                  /* of a draw */
    cublasHandle_t blas;
    void *blas_workspace;
} cr_cuda;

/* Returns the handle of a CUDA backend. */
static inline cr_cuda *cr_cuda_of(certreg_backend *backend)
{
    return (cr_cuda *)(void *)backend;
}

/* Sets the ops of memory_ops.c. */
void cr_cuda_memory_ops(cr_backend_ops *);
/* Sets the ops of noise_ops.c. */
void cr_cuda_noise_ops(cr_backend_ops *);

#endif
