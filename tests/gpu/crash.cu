/* A kernel that loses the device's context. */
#include <cuda_runtime.h>

static __global__ void crash_kernel(int *nowhere)
{
    *nowhere = 1;
}

extern "C" void gpu_crash(void *stream);
void gpu_crash(void *stream)
{
    crash_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(nullptr);
}
