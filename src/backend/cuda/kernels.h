/* Launches of kernels, callable from C. They enqueue on the stream and return the launch's error
 * number, or 0. */
#ifndef CR_BACKEND_CUDA_KERNELS_H
#define CR_BACKEND_CUDA_KERNELS_H
#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Loads every kernel, since CUDA would load it at its first launch, during a deadline. Returns 0,
 * or CUDA's error number if there is no code for the device. */
int cr_cuda_load_kernels(void);
/* Sets *out to the number of threads that a device can run at once for a draw. */
int cr_cuda_draw_threads(int device, uint64_t *out);
/* Enqueues the op `draw` by at most `threads` threads. */
int cr_cuda_draw(void *stream, uint64_t threads, const cr_noise *, const float *z,
                 const float *noise_deviation, uint64_t first, size_t count, float *x);
/* Enqueues what hides features of a draw that has masks. */
int cr_cuda_hide(void *stream, const cr_noise *, const cr_draw *);
/* Enqueues the op `replay`. */
int cr_cuda_replay(void *stream, const cr_noise *, const cr_weighted_blocks *, const float *mask,
                   double *sums);
/* Enqueues the op `project`. */
int cr_cuda_project(void *stream, const cr_noise *, const cr_projection *);
/* Enqueues the op `set_directions`. */
int cr_cuda_set_directions(void *stream, const cr_direction_rows *);
#ifdef __cplusplus
}
#endif
#endif
