/* Blocks of samples, and sums in an order that host and CUDA share, with each operation rounded
 * once. */
#ifndef CR_BACKEND_ORDERED_SUM_H
#define CR_BACKEND_ORDERED_SUM_H
#include "backend/philox.h"
#include <stddef.h>

#define CR_NORM_SUMS 256u

/* Returns the block of sample i, if `count` samples are divided as by cr_block_begin. */
CR_INLINE size_t cr_block_of(size_t count, size_t blocks, size_t i)
{
    const size_t shorter = blocks - count % blocks, length = count / blocks;
    return i < shorter * length ? i / length : shorter + (i - shorter * length) / (length + 1);
}

/* Returns sum + a a, rounded twice. */
#if defined(__CUDA_ARCH__)
CR_INLINE double cr_add_square(double sum, double a)
{
    return __dadd_rn(sum, __dmul_rn(a, a));
}
#else
CR_INLINE double cr_add_square(double sum, double a)
{
    return sum + a * a;
}
#endif

/* Returns the sum of `count` numbers, a power of two: adds the upper half to the lower half until
 * one number remains. Overwrites the numbers. */
CR_INLINE double cr_add_halves(double *sums, unsigned count)
{
    for (unsigned half = count / 2; half; half /= 2)
        for (unsigned l = 0; l < half; l++) sums[l] += sums[l + half];
    return sums[0];
}

#endif
