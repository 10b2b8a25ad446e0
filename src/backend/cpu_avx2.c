/* The kernels for AVX2. A file of its own, since it is compiled with -mavx2 -mfma; cpu.c calls it
 * only if the processor has both. */
#include "backend/cpu.h"

#if defined(__x86_64__)
#include "backend/simd_avx2.h"
/* after the lanes */
#include "backend/cpu_kernels.h"

CR_CPU_TABLE(cr_cpu_avx2_kernels, "avx2")
#else
const cr_cpu_kernel_table *cr_cpu_avx2_kernels(void)
{
    return NULL;
}
#endif
