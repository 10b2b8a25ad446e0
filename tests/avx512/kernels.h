/* The AVX-512 kernels for processors without AVX-512. */
#ifndef TESTS_AVX512_KERNELS_H
#define TESTS_AVX512_KERNELS_H
#include "backend/cpu.h"

/* Returns kernels that compute lane by lane. */
const cr_cpu_kernel_table *emulated_avx512_kernels(void);

#endif
