/* Products of block sums with each other, on the CPU. The order of the additions depends on the
 * number of inputs alone. */
#include "backend/cpu.h"
#include <string.h>

/* Columns that stay in the first-level cache while a pair of row pairs is multiplied. */
#define TILE 512u
/* Independent partial sums per entry: additions of one lane follow each other, lanes do not. */
#define LANES 4u

/* out[r][s] += sum over the tile of a_r b_s, r, s < 2. */
static void multiply_tile(const double *const a[2], const double *const b[2], size_t columns,
                          double out[2][2])
{
    double sum[2][2][LANES] = {{{0}}};
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            const double a0 = a[0][j + lane], a1 = a[1][j + lane];
            const double b0 = b[0][j + lane], b1 = b[1][j + lane];
            sum[0][0][lane] += a0 * b0;
            sum[0][1][lane] += a0 * b1;
            sum[1][0][lane] += a1 * b0;
            sum[1][1][lane] += a1 * b1;
        }
    for (; j < columns; j++)
        for (size_t r = 0; r < 2; r++)
            for (size_t s = 0; s < 2; s++) sum[r][s][0] += a[r][j] * b[s][j];
    for (size_t r = 0; r < 2; r++)
        for (size_t s = 0; s < 2; s++)
            out[r][s] += (sum[r][s][0] + sum[r][s][1]) + (sum[r][s][2] + sum[r][s][3]);
}

/* One tile of columns added to the upper triangle, two rows at a time; the last odd row is paired
 * with itself. */
void cr_cpu_gram_add(const double *sums, size_t pitch, size_t blocks, size_t columns, double *gram)
{
    for (size_t p = 0; p < blocks; p += 2)
        for (size_t q = p; q < blocks; q += 2) {
            const size_t p1 = p + 1 < blocks ? p + 1 : p, q1 = q + 1 < blocks ? q + 1 : q;
            const double *const a[2] = {sums + p * pitch, sums + p1 * pitch};
            const double *const b[2] = {sums + q * pitch, sums + q1 * pitch};
            double out[2][2] = {{0}};
            multiply_tile(a, b, columns, out);
            gram[p * blocks + q] += out[0][0];
            if (q1 != q) gram[p * blocks + q1] += out[0][1];
            if (p1 != p && q != p) gram[p1 * blocks + q] += out[1][0];
            if (p1 != p && q1 != q) gram[p1 * blocks + q1] += out[1][1];
        }
}

certreg_status cr_cpu_gram(certreg_backend *backend, const double *sums, size_t pitch,
                           size_t blocks, size_t inputs, double *gram)
{
    (void)backend;
    memset(gram, 0, blocks * blocks * sizeof *gram);
    for (size_t first = 0; first < inputs; first += TILE)
        cr_cpu_gram_add(sums + first, pitch, blocks, inputs - first < TILE ? inputs - first : TILE,
                        gram);
    return CERTREG_OK;
}
