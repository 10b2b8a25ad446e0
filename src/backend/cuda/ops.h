/* The ops of the CUDA backend: each function puts those of one file into the table. */
#ifndef CR_BACKEND_CUDA_OPS_H
#define CR_BACKEND_CUDA_OPS_H
#include "backend/backend.h"

/* Sets the ops of memory.c. */
void cr_cuda_memory_ops(cr_backend_ops *);
/* Sets the ops of noise.c. */
void cr_cuda_noise_ops(cr_backend_ops *);

#endif
