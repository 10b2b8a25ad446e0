/* The CUDA backend inside: its handle, and its ops. */
#ifndef CR_BACKEND_CUDA_CUDA_H
#define CR_BACKEND_CUDA_CUDA_H
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

/* ---- enter.c */
/* CUDA's number, or cuBLAS's, as a status; kept where it is a failure. */
certreg_status cr_cuda_of_runtime(cr_cuda *, int code);
certreg_status cr_cuda_of_blas(cr_cuda *, cublasStatus_t);
/* An op begins with enter and ends with leave; a context that is lost stays lost. Free and close do
 * without: they run also where the context is lost, and free beside another thread's op, so that it
 * must not write to what is shared. */
certreg_status cr_cuda_enter(cr_cuda *);
certreg_status cr_cuda_leave(cr_cuda *, certreg_status);

/* ---- memory.c, noise.c: their ops take their places in the table. */
void cr_cuda_memory_ops(cr_backend_ops *);
void cr_cuda_noise_ops(cr_backend_ops *);

#endif
