/* The beginning and the end of every op of the CUDA backend, and its errors as statuses. */
#ifndef CR_BACKEND_CUDA_OP_GUARD_H
#define CR_BACKEND_CUDA_OP_GUARD_H
#include "backend/cuda/handle.h"

/* Returns a number of CUDA's runtime as a status, and keeps it for last_code if it is an error. */
certreg_status cr_cuda_runtime_status(cr_cuda *, int code);
/* Does the same for a status of cuBLAS. */
certreg_status cr_cuda_blas_status(cr_cuda *, cublasStatus_t);
/* Begins an op; fails if the context is lost, since it stays lost. Every op except free and close
 * calls it and cr_cuda_leave. These two must run in a lost context too, and free may run beside
 * another thread's op, so that it must not write to the handle. */
certreg_status cr_cuda_enter(cr_cuda *);
/* Ends an op, also after a failed cr_cuda_enter, and returns the status. */
certreg_status cr_cuda_leave(cr_cuda *, certreg_status);

#endif
