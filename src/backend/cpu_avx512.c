/* The kernels for AVX-512. A file of its own, since it is compiled with -mavx512f -mavx512dq
 * -mavx512bw -mavx512vl -mfma; cpu.c calls it only if the processor has all of them. */
#include "backend/cpu.h"

#if defined(__x86_64__)
#include "backend/simd_avx512.h"
/* These use the vector operations of simd_*.h, so they come after it. */
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

const cr_cpu_kernel_table *cr_cpu_avx512_kernels(void)
{
    static const cr_cpu_kernel_table kernels = {"avx512",       kernel_draw,   kernel_replay,
                                                kernel_project, kernel_filter, kernel_gram,
                                                kernel_sweep};
    return &kernels;
}
#else
const cr_cpu_kernel_table *cr_cpu_avx512_kernels(void)
{
    return NULL;
}
#endif
