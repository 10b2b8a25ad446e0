/* Launching a kernel from C++ without waiting. */
#ifndef CR_BACKEND_CUDA_LAUNCH_H
#define CR_BACKEND_CUDA_LAUNCH_H
#include <cuda_runtime.h>
#include <stdint.h>

/* Blocks for `work` at `each` to a block; kernels go on where there are fewer than that. */
static inline unsigned cr_grid(uint64_t work, uint64_t each, uint64_t most = 0x7fffffff)
{
    const uint64_t blocks = (work + each - 1) / each;
    return static_cast<unsigned>(blocks < most ? blocks : most);
}

template <typename... parameters, typename... arguments>
int cr_launch(void *stream, void (*kernel)(parameters...), dim3 grid, dim3 block, arguments... given)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = grid, how.blockDim = block, how.stream = static_cast<cudaStream_t>(stream);
    return static_cast<int>(cudaLaunchKernelEx(&how, kernel, static_cast<parameters>(given)...));
}

#endif
