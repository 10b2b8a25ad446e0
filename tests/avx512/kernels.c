/* The AVX-512 kernels with the immintrin.h of this folder (tests.mk). */
#include "avx512/kernels.h"
#include "backend/simd_avx512.h"
/* after the lanes */
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

const cr_cpu_kernel_table *emulated_avx512_kernels(void)
{
    static const cr_cpu_kernel_table kernels = {"emulated avx512", kernel_draw,   kernel_replay,
                                                kernel_project,    kernel_filter, kernel_gram,
                                                kernel_sweep};
    return &kernels;
}
