/* Launches, callable from C. All of them enqueue on the stream and return what the launch itself reported. `add`: to what the sums are. */
#ifndef CR_BACKEND_CUDA_KERNELS_H
#define CR_BACKEND_CUDA_KERNELS_H
#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif
int cr_cuda_draw(void *stream, const cr_noise *, const float *z, const float *step, uint64_t first, size_t count, float *x);
int cr_cuda_block_sums(void *stream, const cr_noise *, uint64_t first, size_t length, size_t blocks, size_t functions, const float *weights,
                       size_t stride, const float *mask, int add, double *sums);
int cr_cuda_project(void *stream, const cr_noise *, uint64_t first, size_t count, const float *direction, const float *mask, double *dots, double *norms);
#ifdef __cplusplus
}
#endif
#endif
