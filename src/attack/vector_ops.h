/* Vectors of the host, as long as the input: summed in index order. */
#ifndef CR_ATTACK_VECTOR_OPS_H
#define CR_ATTACK_VECTOR_OPS_H
#include <math.h>
#include <stddef.h>

static inline double cr_vector_dot(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += a[j] * b[j];
    return sum;
}

/* Sets features without noise to 0. */
static inline void cr_vector_mask(double *a, const float *mask, size_t d)
{
    for (size_t j = 0; j < d; j++)
        if (!(mask[j] > 0)) a[j] = 0;
}

/* Writes its unit vector and returns 1; for a zero vector writes zeros and returns 0. */
static inline int cr_vector_direct(const double *a, size_t d, float *direction)
{
    double greatest = 0, square = 0;
    for (size_t j = 0; j < d; j++) greatest = fmax(greatest, fabs(a[j]));
    for (size_t j = 0; j < d && greatest > 0; j++) square += (a[j] / greatest) * (a[j] / greatest);
    const double length = greatest > 0 ? sqrt(square) : 1, unit = greatest > 0 ? greatest : 1;
    for (size_t j = 0; j < d; j++) direction[j] = (float)(a[j] / unit / length);
    return greatest > 0;
}

#endif
