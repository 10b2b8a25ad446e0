/* The kernels for NEON, which every AArch64 has; here for the little-endian ones. */
#include "backend/cpu.h"

#if defined(__AARCH64EL__)
#include "backend/simd_neon.h"
/* These use the vector operations of simd_*.h, so they come after it. */
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

const cr_cpu_kernel_table *cr_cpu_neon_kernels(void)
{
    static const cr_cpu_kernel_table kernels = {"neon",         kernel_draw,   kernel_replay,
                                                kernel_project, kernel_filter, kernel_gram,
                                                kernel_sweep};
    return &kernels;
}
#else
const cr_cpu_kernel_table *cr_cpu_neon_kernels(void)
{
    return NULL;
}
#endif
