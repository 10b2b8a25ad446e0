/* The products of block sums (op gram). The order of additions depends only on the number of
 * inputs, so that all paths give the same bits. */
#ifndef CR_BACKEND_CPU_GRAM_H
#define CR_BACKEND_CPU_GRAM_H
#include "backend/cpu_kernels.h"

/* FOUR rows are multiplied by PAIR rows at a time. */
#define PAIR 2u
#define FOUR 4u
/* Partial sums of an entry, which fill an AVX2 register: only additions to the same sum wait for
 * each other. */
#define LANES 4u

/* Sets out[r][s] to the sum of a_r b_s over the tile. */
static inline void multiply_tile(const double *const a[FOUR], const double *const b[PAIR],
                                 size_t columns, double out[FOUR][PAIR])
{
    double sum[FOUR][PAIR][LANES] = {{{0}}};
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
#pragma GCC unroll 4
        for (size_t r = 0; r < FOUR; r++)
            for (size_t lane = 0; lane < LANES; lane++) {
                sum[r][0][lane] += a[r][j + lane] * b[0][j + lane];
                sum[r][1][lane] += a[r][j + lane] * b[1][j + lane];
            }
    for (; j < columns; j++)
        for (size_t r = 0; r < FOUR; r++)
            for (size_t s = 0; s < PAIR; s++) sum[r][s][0] += a[r][j] * b[s][j];
    for (size_t r = 0; r < FOUR; r++)
        for (size_t s = 0; s < PAIR; s++)
            out[r][s] = (sum[r][s][0] + sum[r][s][1]) + (sum[r][s][2] + sum[r][s][3]);
}

/* Adds to the upper triangle. The last row replaces missing rows; their products are dropped. */
static void kernel_gram(const double *sums, size_t pitch, size_t blocks, size_t columns,
                        double *gram)
{
    for (size_t p = 0; p < blocks; p += FOUR)
        for (size_t q = p; q < blocks; q += PAIR) {
            const double *a[FOUR], *b[PAIR];
            double out[FOUR][PAIR];
            for (size_t r = 0; r < FOUR; r++) a[r] = sums + cr_least(p + r, blocks - 1) * pitch;
            for (size_t s = 0; s < PAIR; s++) b[s] = sums + cr_least(q + s, blocks - 1) * pitch;
            multiply_tile(a, b, columns, out);
            for (size_t r = 0; r < FOUR && p + r < blocks; r++)
                for (size_t s = 0; s < PAIR && q + s < blocks; s++)
                    if (q + s >= p + r) gram[(p + r) * blocks + q + s] += out[r][s];
        }
}

#endif
