/* Sums in an order that host and CUDA share, with each operation rounded once. */
#ifndef CR_BACKEND_ORDERED_SUM_H
#define CR_BACKEND_ORDERED_SUM_H
#include "backend/philox.h"

#define CR_NORM_SUMS 256u

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
