/* What every file of the library takes for granted. */
#ifndef CR_BASE_PLATFORM_H
#define CR_BASE_PLATFORM_H
#include <stddef.h>
#include <stdint.h>

#ifdef __FAST_MATH__
#error "build libcertreg without -ffast-math: it rounds outward, and tests for NaN and infinity"
#endif
#ifdef __cplusplus
#define CR_STATIC_ASSERT static_assert
#else
#define CR_STATIC_ASSERT _Static_assert
#endif
CR_STATIC_ASSERT(sizeof(size_t) == 8 && sizeof(void *) == 8 && SIZE_MAX == UINT64_MAX,
                 "libcertreg needs 64-bit sizes and pointers");
CR_STATIC_ASSERT(sizeof(double) == 8 && sizeof(float) == 4,
                 "libcertreg needs IEEE 754 doubles and floats");

#endif
