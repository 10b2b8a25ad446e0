/* The products of block sums (op gram). The order of additions depends only on the number of
 * inputs, so that all paths give the same bits. */
#ifndef CR_BACKEND_CPU_GRAM_H
#define CR_BACKEND_CPU_GRAM_H
#include "backend/cpu_kernels.h"

/* LEFT_ROWS rows are multiplied by RIGHT_ROWS rows at a time. */
#define RIGHT_ROWS 2u
#define LEFT_ROWS 4u
/* Partial sums of an entry, which fill an AVX2 register: only additions to the same sum wait for
 * each other. */
#define LANES 4u

/* Sets out[r][s] to the sum of a_r b_s over the tile. */
static inline void multiply_tile(const double *const a[LEFT_ROWS],
                                 const double *const b[RIGHT_ROWS], size_t columns,
                                 double out[LEFT_ROWS][RIGHT_ROWS])
{
    double sum[LEFT_ROWS][RIGHT_ROWS][LANES] = {{{0}}};
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
#pragma GCC unroll 4
        for (size_t r = 0; r < LEFT_ROWS; r++)
            for (size_t lane = 0; lane < LANES; lane++) {
                sum[r][0][lane] += a[r][j + lane] * b[0][j + lane];
                sum[r][1][lane] += a[r][j + lane] * b[1][j + lane];
            }
    for (; j < columns; j++)
        for (size_t r = 0; r < LEFT_ROWS; r++)
            for (size_t s = 0; s < RIGHT_ROWS; s++) sum[r][s][0] += a[r][j] * b[s][j];
    for (size_t r = 0; r < LEFT_ROWS; r++)
        for (size_t s = 0; s < RIGHT_ROWS; s++)
            out[r][s] = (sum[r][s][0] + sum[r][s][1]) + (sum[r][s][2] + sum[r][s][3]);
}

/* Adds to the upper triangle. The last row replaces missing rows; their products are dropped. */
static void kernel_gram(const double *sums, size_t pitch, size_t blocks, size_t columns,
                        double *gram)
{
    for (size_t p = 0; p < blocks; p += LEFT_ROWS)
        for (size_t q = p; q < blocks; q += RIGHT_ROWS) {
            const double *a[LEFT_ROWS], *b[RIGHT_ROWS];
            double out[LEFT_ROWS][RIGHT_ROWS];
            for (size_t r = 0; r < LEFT_ROWS; r++)
                a[r] = sums + cr_min_size(p + r, blocks - 1) * pitch;
            for (size_t s = 0; s < RIGHT_ROWS; s++)
                b[s] = sums + cr_min_size(q + s, blocks - 1) * pitch;
            multiply_tile(a, b, columns, out);
            for (size_t r = 0; r < LEFT_ROWS && p + r < blocks; r++)
                for (size_t s = 0; s < RIGHT_ROWS && q + s < blocks; s++)
                    if (q + s >= p + r) gram[(p + r) * blocks + q + s] += out[r][s];
        }
}

#endif
