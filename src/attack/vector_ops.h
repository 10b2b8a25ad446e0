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
static inline int cr_vector_normalize(const double *a, size_t d, float *direction)
{
    double max = 0, square = 0;
    for (size_t j = 0; j < d; j++) max = fmax(max, fabs(a[j]));
    for (size_t j = 0; j < d && max > 0; j++) square += (a[j] / max) * (a[j] / max);
    const double length = max > 0 ? sqrt(square) : 1, unit = max > 0 ? max : 1;
    for (size_t j = 0; j < d; j++) direction[j] = (float)(a[j] / unit / length);
    return max > 0;
}

#endif
