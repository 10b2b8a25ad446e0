/* The AVX-512 kernels with the immintrin.h of this folder (tests.mk). */
#include "avx512/kernels.h"
#include "backend/simd_avx512.h"
/* after the lanes */
#include "backend/cpu_kernels.h"

CR_CPU_TABLE(emulated_avx512_kernels, "emulated avx512")
