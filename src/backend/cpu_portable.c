/* The kernels for every processor: with four lanes on x86-64, else one. */
#if defined(__x86_64__)
#include "backend/simd_sse2.h"
#else
#include "backend/simd_scalar.h"
#endif
/* These use the vector operations of simd_*.h, so they come after it. */
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

const cr_cpu_kernel_table *cr_cpu_portable_kernels(void)
{
    static const cr_cpu_kernel_table kernels = {"portable",     kernel_draw,   kernel_replay,
                                                kernel_project, kernel_filter, kernel_gram,
                                                kernel_sweep};
    return &kernels;
}
