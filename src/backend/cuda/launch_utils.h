/* Helpers of the kernels: launching without waiting, and sums over a block of threads. */
#ifndef CR_BACKEND_CUDA_LAUNCH_UTILS_H
#define CR_BACKEND_CUDA_LAUNCH_UTILS_H
#include <cuda_runtime.h>
#include <stdint.h>

/* Returns the number of blocks for `work` items, `each` per block. If `most` limits it, kernels
 * loop. */
static inline unsigned cr_grid(uint64_t work, uint64_t each, uint64_t most = 0x7fffffff)
{
    const uint64_t blocks = (work + each - 1) / each;
    return static_cast<unsigned>(blocks < most ? blocks : most);
}

/* Stores up to four features; whole: four in one access, if cr_whole allows it. */
template <bool whole> static __device__ void cr_put(float *to, const float x[4], size_t features)
{
    if (whole) *reinterpret_cast<float4 *>(to) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (size_t k = 0; k < features; k++) to[k] = x[k];
}

/* Returns true if every quad of every row is aligned to 16 bytes and has four features. */
static inline bool cr_whole(const float *rows, size_t features)
{
    return features % 4 == 0 && reinterpret_cast<uintptr_t>(rows) % sizeof(float4) == 0;
}

/* Returns the sum over the first `threads` threads of a block in a fixed order, by halves. All
 * threads must call it. */
template <unsigned threads> static __device__ double cr_sum_of_block(double mine, double *part)
{
    if (threadIdx.x < threads) part[threadIdx.x] = mine;
    for (unsigned half = threads / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    const double sum = part[0];
    __syncthreads(); /* part is used again */
    return sum;
}

/* Loads kernels, by reading their attributes. */
template <typename... kernels> int cr_load(kernels... each)
{
    cudaFuncAttributes any;
    int code = 0;
    ((code = code ? code : static_cast<int>(cudaFuncGetAttributes(&any, each))), ...);
    return code;
}

/* Launches a kernel on a stream. */
template <typename... parameters, typename... arguments>
int cr_launch(void *stream, void (*kernel)(parameters...), dim3 grid, dim3 block,
              arguments... given)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = grid;
    how.blockDim = block;
    how.stream = static_cast<cudaStream_t>(stream);
    return static_cast<int>(cudaLaunchKernelEx(&how, kernel, static_cast<parameters>(given)...));
}

#endif
