/* Numbers of both signs with zeros of both signs among them; those do not repeat with the period
 * of any vector. */
#ifndef TESTS_MADE_UP_H
#define TESTS_MADE_UP_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline float made_up(size_t j, uint32_t salt)
{
    const uint32_t h = ((uint32_t)j + salt) * 2654435761u;
    return h % 7 == 0 ? (h % 2 ? 0.0f : -0.0f) : ((float)(h >> 8) / 16777216.0f - 0.5f) * 3.0f;
}

/* As steps of noise, none of them is so small that its grid cannot hold the others. */
static inline float made_up_step(size_t j, uint32_t salt)
{
    const float a = made_up(j, salt);
    return a > 0 && a < 0x1p-8f ? 0x1p-8f : a < 0 && a > -0x1p-8f ? -0x1p-8f : a;
}

/* n of them; the caller frees. */
static inline float *made_up_numbers(size_t n, uint32_t salt)
{
    float *a = malloc(n * sizeof *a);
    for (size_t j = 0; j < n; j++) a[j] = made_up(j, salt);
    return a;
}

static inline float *made_up_steps(size_t n, uint32_t salt)
{
    float *a = malloc(n * sizeof *a);
    for (size_t j = 0; j < n; j++) a[j] = made_up_step(j, salt);
    return a;
}

#endif
