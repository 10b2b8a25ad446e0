/* Compile-time checks of the compiler and the platform, included by every file. */
#ifndef CR_BASE_PLATFORM_CHECKS_H
#define CR_BASE_PLATFORM_CHECKS_H
#include <float.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || __ASSOCIATIVE_MATH__ || \
    __RECIPROCAL_MATH__ || __NO_SIGNED_ZEROS__
#error "build libcertreg without -ffast-math: it rounds outward, and tests for NaN and infinity"
#endif
/* 1 (floats are evaluated in double) is allowed: the float code rounds each result. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "libcertreg needs arithmetic that evaluates doubles in double; on x86 use -mfpmath=sse"
#endif
#ifdef __cplusplus
#define CR_STATIC_ASSERT static_assert
#else
#define CR_STATIC_ASSERT _Static_assert
#endif
CR_STATIC_ASSERT(sizeof(size_t) == 8 && sizeof(void *) == 8 && SIZE_MAX == UINT64_MAX,
                 "libcertreg needs 64-bit sizes and pointers");
CR_STATIC_ASSERT(sizeof(double) == 8 && sizeof(float) == 4 && FLT_RADIX == 2 &&
                     FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024,
                 "libcertreg needs IEEE 754 doubles and floats");

#endif
