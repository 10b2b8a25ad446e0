/* The kernels for AVX2. A file of its own, since it is compiled with -mavx2 -mfma; cpu.c calls it
 * only if the processor has both. */
#include "backend/cpu.h"

#if defined(__x86_64__)
#include "backend/simd_avx2.h"
/* These use the vector operations of simd_*.h, so they come after it. */
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

const cr_cpu_kernel_table *cr_cpu_avx2_kernels(void)
{
    static const cr_cpu_kernel_table kernels = {"avx2",         kernel_draw,   kernel_replay,
                                                kernel_project, kernel_filter, kernel_gram,
                                                kernel_sweep};
    return &kernels;
}
#else
const cr_cpu_kernel_table *cr_cpu_avx2_kernels(void)
{
    return NULL;
}
#endif
