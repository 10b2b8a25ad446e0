/* The bodies of the CUDA kernels, looped over on the host, give the bits of the seam's specification; error numbers become statuses. */
#include "backend/cuda/body.h"
#include "backend/cuda/status.h"
#include "support/made_up.h"
#include "support/ref_backend.h"
#include "support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    size_t inputs;
    uint64_t first;
    size_t count;
    int32_t centre;
    uint64_t seed, stream;
} shapes[] = {
    {1, 0, 70, 1, 0, 0},      {2, 3, 33, 0, 2, 3},         {3, 0, 65, 1, 0x0123456789ABCDEFu, 0xFEDCBA9876543210u},
    {5, 0, 1100, 1, 5, 6},    {16, 0, 32, 0, 9, 10},       {63, 2, 70, 0, 11, 12},
    {784, 0, 200, 1, 20, 21}, {4097, 0, 9, 1, 24, 25},     {8, 0xFFFFFFF0u, 64, 0, 27, 28},
    {6, 0x7FFFFFFFu, 10, 0, 28, UINT64_MAX},               {4, UINT64_MAX - 99, 100, 0, 29, 30},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(bodies_of_draw_have_the_bits_of_the_specification)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count;
    const cr_noise noise = {.seed = shapes[_i].seed, .stream = shapes[_i].stream, .inputs = d, .centre = shapes[_i].centre};
    float *z = made_up_numbers(d, 1), *step = made_up_numbers(d, 2), *x = malloc(d * n * sizeof *x), *want = malloc(d * n * sizeof *want);
    certreg_backend *ref = ref_backend();
    ck_assert_int_eq(ref->ops->draw(ref, &noise, z, step, shapes[_i].first, n, want), CERTREG_OK);
    for (size_t i = 0; i < n; i++)
        for (uint64_t quad = 0; quad < cr_body_row(&noise); quad++) {
            float four[4];
            const size_t count = cr_body_draw(&noise, z, step, shapes[_i].first + i, quad, four);
            ck_assert_uint_eq(count, d - 4 * quad < 4 ? d - 4 * quad : 4);
            memcpy(x + i * d + 4 * quad, four, count * sizeof *four);
        }
    ck_assert_mem_eq(x, want, d * n * sizeof *x);
    free(z), free(step), free(x), free(want);
}
END_TEST

START_TEST(bodies_of_block_sums_have_the_bits_of_the_specification)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, stride = n + 3;
    const cr_noise noise = {.seed = shapes[_i].seed, .stream = shapes[_i].stream, .inputs = d, .centre = shapes[_i].centre};
    float *weights = made_up_numbers(2 * stride, 3);
    double *sums = calloc(2 * d, sizeof *sums), *want = calloc(2 * d, sizeof *want);
    certreg_backend *ref = ref_backend();
    for (size_t functions = 1; functions <= 2; functions++) {
        memset(sums, 0, 2 * d * sizeof *sums), memset(want, 0, 2 * d * sizeof *want);
        ck_assert_int_eq(ref->ops->replay(ref, &noise, shapes[_i].first, n, functions, weights, stride, want), CERTREG_OK);
        for (uint64_t quad = 0; quad < cr_body_row(&noise); quad++)
            for (size_t from = 0; from < n; from += CR_REPLAY_CHUNK) {
                float part[2][4];
                cr_body_chunk(&noise, shapes[_i].first + from, n - from < CR_REPLAY_CHUNK ? n - from : CR_REPLAY_CHUNK, quad, functions, weights + from,
                              stride, part);
                for (size_t f = 0; f < functions; f++)
                    for (size_t k = 0; k < 4 && 4 * quad + k < d; k++) sums[f * d + 4 * quad + k] += (double)part[f][k];
            }
        ck_assert_mem_eq(sums, want, functions * d * sizeof *sums);
    }
    free(weights), free(sums), free(want);
}
END_TEST

START_TEST(error_numbers_become_statuses)
{
    ck_assert_int_eq(cr_cuda_status(0), CERTREG_OK);
    ck_assert_int_eq(cr_cuda_status(2), CERTREG_NO_MEMORY);
    const int absent[] = {3, 34, 35, 46, 100, 101, 209}, lost[] = {700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        ck_assert_int_eq(cr_cuda_status(absent[i]), CERTREG_NO_DEVICE);
        ck_assert(!cr_cuda_is_sticky(absent[i]));
    }
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        ck_assert_int_eq(cr_cuda_status(lost[i]), CERTREG_DEVICE_FAILED);
        ck_assert(cr_cuda_is_sticky(lost[i]));
    }
    ck_assert_int_eq(cr_cuda_status(1), CERTREG_DEVICE_FAILED);
    ck_assert(!cr_cuda_is_sticky(1) && !cr_cuda_is_sticky(2) && !cr_cuda_is_sticky(0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda without a device");
    TCase *typical = tcase_create("typical");
    tcase_set_timeout(typical, 60);
    tcase_add_loop_test(typical, bodies_of_draw_have_the_bits_of_the_specification, 0, SHAPES);
    tcase_add_loop_test(typical, bodies_of_block_sums_have_the_bits_of_the_specification, 0, SHAPES);
    tcase_add_test(typical, error_numbers_become_statuses);
    suite_add_tcase(suite, typical);
    return kit_run(suite);
}
