/* Launches, callable from C. All of them enqueue on the stream and return what the launch itself
 * reported. */
#ifndef CR_BACKEND_CUDA_KERNELS_H
#define CR_BACKEND_CUDA_KERNELS_H
#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Every kernel is loaded, where CUDA would do so at its first launch, and that would be late. 0, or
 * CUDA's number: no code for the device. */
int cr_cuda_load_kernels(void);
/* How many threads draw at once on a device: with that many none waits for another's end. */
int cr_cuda_draw_threads(int device, uint64_t *out);
int cr_cuda_draw(void *stream, uint64_t threads, const cr_noise *, const float *z,
                 const float *step, uint64_t first, size_t count, float *x);
int cr_cuda_replay(void *stream, const cr_noise *, const cr_weighted *, const float *mask,
                   double *sums);
int cr_cuda_project(void *stream, const cr_noise *, uint64_t first, size_t count,
                    const float *direction, const float *mask, double *dots, double *norms);
int cr_cuda_aim(void *stream, const double *sums, const float *mask, size_t inputs,
                float *direction, double *lengths);
#ifdef __cplusplus
}
#endif
#endif
