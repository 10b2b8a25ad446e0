/* What every file of the library takes for granted. */
#ifndef CR_BASE_PLATFORM_H
#define CR_BASE_PLATFORM_H
#include <stddef.h>
#include <stdint.h>

#ifdef __FAST_MATH__
#error "libcertreg rounds to the safe side and tests for NaN and infinity: build it without -ffast-math"
#endif
_Static_assert(sizeof(size_t) == 8 && sizeof(void *) == 8 && SIZE_MAX == UINT64_MAX, "libcertreg needs 64-bit sizes and pointers");
_Static_assert(sizeof(double) == 8 && sizeof(float) == 4, "libcertreg needs IEEE 754 doubles and floats");

#endif
