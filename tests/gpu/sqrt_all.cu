// The device's square root is the host's: every mantissa, beside even and odd exponents, near 1 and
// where the noise has its smallest and largest.
#include "backend/cuda/launch_utils.h"
#include "backend/simd_scalar.h"
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static const uint32_t bases[] = {0x3f800000u, 0x40800000u, 0x30000000u, 0x42000000u};
#ifndef SQRT_EACH            // less on the emulated device
#define SQRT_EACH (1u << 24) // two exponents
#endif
static const uint32_t each = SQRT_EACH;

static __global__ void roots(uint32_t base, float *out)
{
    const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < each) out[at] = v_sqrt(v_from_bits(base + at));
}

// How many differ; -1 where CUDA failed.
static long compare(cudaStream_t stream, uint32_t base, float *there, float *here)
{
    if (cr_launch(stream, roots, each / 256, 256, base, there) != 0 ||
        cudaMemcpyAsync(here, there, each * sizeof *here, cudaMemcpyDeviceToHost, stream) !=
            cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess)
        return -1;
    long different = 0;
    for (uint32_t i = 0; i < each; i++)
        different += v_bits(here[i]) != v_bits(sqrtf(v_from_bits(base + i)));
    return different;
}

int main()
{
    int devices = 0;
    const cudaError_t none = cudaGetDeviceCount(&devices);
    if (none != cudaSuccess || devices == 0)
        return std::printf("sqrt_all: skipped, no CUDA device can be used: %s\n",
                           cudaGetErrorString(none)),
               0;
    float *there = nullptr, *here = static_cast<float *>(std::malloc(each * sizeof *here));
    cudaStream_t stream = nullptr;
    bool bad = here == nullptr || cr_load_kernels(roots) != 0 ||
               cudaStreamCreate(&stream) != cudaSuccess ||
               cudaMalloc(reinterpret_cast<void **>(&there), each * sizeof *there) != cudaSuccess;
    for (const uint32_t base : bases) {
        const long different = bad ? -1 : compare(stream, base, there, here);
        bad = bad || different != 0;
        if (different < 0)
            std::printf("sqrt_all: CUDA failed: %s\n", cudaGetErrorString(cudaGetLastError()));
        else
            std::printf("sqrt_all: %ld of %u roots from 0x%08x on differ\n", different, each, base);
    }
    cudaFree(there), std::free(here);
    return bad;
}
