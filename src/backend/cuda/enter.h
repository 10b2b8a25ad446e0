/* What every op of the CUDA backend begins and ends with, and errors of CUDA as statuses. */
#ifndef CR_BACKEND_CUDA_ENTER_H
#define CR_BACKEND_CUDA_ENTER_H
#include "backend/cuda/handle.h"

/* CUDA's number, or cuBLAS's, as a status; kept where it is a failure. */
certreg_status cr_cuda_of_runtime(cr_cuda *, int code);
certreg_status cr_cuda_of_blas(cr_cuda *, cublasStatus_t);
/* An op begins with enter and ends with leave; a context that is lost stays lost. Free and close do
 * without: they run also where the context is lost, and free beside another thread's op, so that it
 * must not write to what is shared. */
certreg_status cr_cuda_enter(cr_cuda *);
certreg_status cr_cuda_leave(cr_cuda *, certreg_status);

#endif
