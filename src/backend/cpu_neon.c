/* The kernels for NEON, which every AArch64 has; here for the little-endian ones. */
#include "backend/cpu.h"

#if defined(__AARCH64EL__)
#include "backend/simd_neon.h"
/* after the lanes */
#include "backend/cpu_kernels.h"

CR_CPU_TABLE(cr_cpu_neon_kernels, "neon")
#else
const cr_cpu_kernel_table *cr_cpu_neon_kernels(void)
{
    return NULL;
}
#endif
