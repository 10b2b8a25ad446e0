/* The kernels for every processor: with four lanes on x86-64, else one. */
#if defined(__x86_64__)
#include "backend/simd_sse2.h"
#else
#include "backend/simd_scalar.h"
#endif
/* after the lanes */
#include "backend/cpu_kernels.h"

CR_CPU_TABLE(cr_cpu_portable_kernels, "portable")
