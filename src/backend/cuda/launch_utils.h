/* Helpers of the kernels: launching without waiting, and sums over a block of threads. */
#ifndef CR_BACKEND_CUDA_LAUNCH_UTILS_H
#define CR_BACKEND_CUDA_LAUNCH_UTILS_H
#include <cuda_runtime.h>
#include <stdint.h>

/* Returns the number of blocks for `items` items, `per_block` per block. If max_blocks limits it,
 * kernels loop. */
static inline unsigned cr_grid_blocks(uint64_t items, uint64_t per_block,
                                      uint64_t max_blocks = 0x7fffffff)
{
    const uint64_t blocks = (items + per_block - 1) / per_block;
    return static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
}

/* Stores up to four features; aligned: four in one access, if cr_is_aligned allows it. */
template <bool aligned>
static __device__ void cr_store_quad(float *to, const float x[4], size_t features)
{
    if (aligned) *reinterpret_cast<float4 *>(to) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (size_t k = 0; k < features; k++) to[k] = x[k];
}

/* Returns true if every quad of every row is aligned to 16 bytes and has four features. */
static inline bool cr_is_aligned(const float *rows, size_t features)
{
    return features % 4 == 0 && reinterpret_cast<uintptr_t>(rows) % sizeof(float4) == 0;
}

/* Returns the sum over the first `threads` threads of a block in a fixed order, by halves. All
 * threads must call it. */
template <unsigned threads> static __device__ double cr_block_sum(double value, double *partial)
{
    if (threadIdx.x < threads) partial[threadIdx.x] = value;
    for (unsigned half = threads / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
    const double sum = partial[0];
    __syncthreads(); /* partial is used again */
    return sum;
}

/* Loads kernels, by reading their attributes. */
template <typename... kernels> int cr_load_kernels(kernels... list)
{
    cudaFuncAttributes any;
    int code = 0;
    ((code = code ? code : static_cast<int>(cudaFuncGetAttributes(&any, list))), ...);
    return code;
}

/* Launches a kernel on a stream. */
template <typename... parameters, typename... arguments>
int cr_launch(void *stream, void (*kernel)(parameters...), dim3 grid, dim3 block,
              arguments... values)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = static_cast<cudaStream_t>(stream);
    return static_cast<int>(
        cudaLaunchKernelEx(&config, kernel, static_cast<parameters>(values)...));
}

#endif
