/* The kernels for AVX-512. A file of its own, since it is compiled with -mavx512f -mavx512dq
 * -mavx512bw -mavx512vl -mfma; cpu.c calls it only if the processor has all of them. */
#include "backend/cpu.h"

#if defined(__x86_64__)
#include "backend/simd_avx512.h"
/* after the lanes */
#include "backend/cpu_kernels.h"

CR_CPU_TABLE(cr_cpu_avx512_kernels, "avx512")
#else
const cr_cpu_kernel_table *cr_cpu_avx512_kernels(void)
{
    return NULL;
}
#endif
