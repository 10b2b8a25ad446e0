/* CUDA's words for kernels, so that a C++ compiler reads them: every thread of a block is a fiber,
 * and a barrier is where they take turns. */
#ifndef TESTS_CUDA_RUNTIME_H
#define TESTS_CUDA_RUNTIME_H
#include "cuda_runtime_api.h"
#include "emulated.h"
#include <functional>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __shared__ static /* blocks run one after the other */
#define threadIdx emulated_thread
#define blockIdx emulated_block
#define blockDim emulated_block_size
#define gridDim emulated_grid_size

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
template <typename T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}
static inline unsigned atomicAdd(unsigned *at, unsigned by) /* threads take turns at barriers only
                                                             */
{
    const unsigned was = *at;
    *at = was + by;
    return was;
}
static inline void __syncthreads()
{
    emulated_barrier();
}

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    void *attrs;
    unsigned numAttrs;
};

template <typename K> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, K *kernel)
{
    out->numRegs = kernel ? 1 : 0;
    return emulated_load(reinterpret_cast<void (*)()>(kernel), 0);
}

template <typename K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K *kernel, int threads,
                                                          size_t)
{
    *blocks = kernel && threads ? 2 : 0;
    return emulated_enter();
}

template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(P...), A... arguments)
{
    const cudaError_t code = emulated_load(reinterpret_cast<void (*)()>(kernel), 1);
    if (code) return code;
    auto *closure = new std::function<void()>([=] { kernel(static_cast<P>(arguments)...); });
    const emulated_index grid = {how->gridDim.x, how->gridDim.y, how->gridDim.z},
                         block = {how->blockDim.x, how->blockDim.y, how->blockDim.z};
    return emulated_launch(
        how->stream, grid, block, [](void *c) { (*static_cast<std::function<void()> *>(c))(); },
        closure, [](void *c) { delete static_cast<std::function<void()> *>(c); });
}
#endif
