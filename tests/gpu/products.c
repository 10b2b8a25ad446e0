/* Products of matrices on a backend: they agree nearly. */
#include "gpu/contract.h"
#include "support/test_numbers.h"

enum { MOST = 10 };
static const struct {
    size_t blocks, inputs, gap; /* gap: between rows */
} grams[] = {{1, 1, 0},       {4, 3, 3}, {5, 511, 0}, {7, 512, 1},
             {8, 1030, 1030}, {9, 5, 0}, {10, 784, 0}};

TEST_ROWS(gram_is_the_upper_half_of_the_product_of_rows, grams)
{
    const size_t blocks = grams[_i].blocks, d = grams[_i].inputs, pitch = d + grams[_i].gap;
    double *sums = contract_here(malloc(blocks * pitch * sizeof *sums)), gram[MOST * MOST];
    const float *numbers = contract_here(made_up_numbers(blocks * pitch, 3));
    for (size_t i = 0; i < blocks * pitch; i++) sums[i] = 1.1 * (double)numbers[i];
    double *sums_there = contract_over(sums, blocks * pitch * sizeof *sums),
           *there = contract_over(NULL, sizeof gram);
    ck_assert_int_eq(gpu->ops->gram(gpu, sums_there, pitch, blocks, d, there), CERTREG_OK);
    contract_fetch(gram, there, blocks * blocks * sizeof *gram);
    for (size_t p = 0; p < blocks; p++)
        for (size_t q = 0; q < blocks; q++) {
            double sum = 0, size = 0;
            for (size_t j = 0; j < d && q >= p; j++) {
                const double term = sums[p * pitch + j] * sums[q * pitch + j];
                sum += term, size += fabs(term);
            }
            ck_assert_double_le(fabs(gram[p * blocks + q] - sum), 1e-13 * size);
        }
}

void contract_add_products(TCase *to, certreg_backend *backend)
{
    contract_add(to, backend);
}
