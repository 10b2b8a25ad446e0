#include "gpu/contract.h"
#include "support/made_up.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 10 };
static certreg_backend *gpu;

static const struct {
    size_t inputs;
    uint64_t first;
    size_t count;
    int32_t center;
    uint64_t seed, stream;
} shapes[] = {
    {1, 0, 70, 1, 0, 0},
    {2, 3, 33, 0, 2, 3},
    {3, 0, 65, 1, 0x0123456789ABCDEFu, 0xFEDCBA9876543210u},
    {5, 0, 1100, 1, 5, 6},
    {7, 1000, 64, 0, 6, 7},
    {16, 0, 320, 0, 9, 10},
    {63, 2, 70, 0, 11, 12},
    {784, 0, 400, 1, 20, 21},
    {1001, 3, 90, 0, 21, 22},
    {4097, 0, 20, 1, 24, 25},
    {12288, 5, 10, 0, 3, 4},
    {8, 0xFFFFFFF0u, 64, 0, 27, 28},
    {6, 0x7FFFFFFFu, 10, 0, 28, UINT64_MAX},
    {4, UINT64_MAX - 99, 100, 0, 29, 30},
};

static void *over(const void *host, size_t bytes)
{
    void *there = NULL;
    ck_assert_int_eq(gpu->ops->alloc(gpu, bytes, &there), CERTREG_OK);
    if (host) ck_assert_int_eq(gpu->ops->store(gpu, there, host, bytes), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
    return there;
}

/* Brings `bytes` back and compares them; the device's memory is given back. */
static void expect(void *there, const void *wanted, size_t bytes)
{
    void *got = malloc(bytes);
    ck_assert_int_eq(gpu->ops->fetch(gpu, got, there, bytes), CERTREG_OK);
    ck_assert_mem_eq(got, wanted, bytes);
    gpu->ops->free(gpu, there);
    free(got);
}

static cr_noise noise_of(int i)
{
    return (cr_noise){.seed = shapes[i].seed,
                      .noise_id = shapes[i].stream,
                      .level = (uint64_t)i % 3 * (CR_LEVELS / 3),
                      .inputs = shapes[i].inputs,
                      .clean_first = shapes[i].center};
}

static float *made_up_mask(size_t d)
{
    float *mask = malloc(d * sizeof *mask);
    for (size_t j = 0; j < d; j++) mask[j] = d < 5 || j % 5 != 3;
    return mask;
}

START_TEST(draws_have_the_bits_of_the_cpu)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, bytes = n * d * sizeof(float);
    const cr_noise noise = noise_of(_i);
    float *z = made_up_numbers(d, 1), *step = made_up_numbers(d, 2), *want = malloc(bytes);
    certreg_backend *cpu = cr_backend_default();
    float *z_there = over(z, d * sizeof *z), *step_there = over(step, d * sizeof *step), *x[3];
    ck_assert_int_eq(cpu->ops->draw(cpu, &noise, z, step, shapes[_i].first, n, want), CERTREG_OK);
    for (int i = 0; i < 3; i++) x[i] = over(NULL, bytes + sizeof(float));
    ck_assert_int_eq(gpu->ops->draw(gpu, &noise, z_there, step_there, shapes[_i].first, n, x[0]),
                     CERTREG_OK);
    ck_assert_int_eq(
        gpu->ops->draw(gpu, &noise, z_there, step_there, shapes[_i].first, n, x[1] + 1),
        CERTREG_OK); /* not aligned to 16 bytes */
    ck_assert_int_eq(
        gpu->ops->draw_ahead(gpu, &noise, z_there, step_there, shapes[_i].first, n, x[2]),
        CERTREG_OK);
    ck_assert_int_eq(gpu->ops->join(gpu), CERTREG_OK);
    float *got = malloc(bytes);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(gpu->ops->fetch(gpu, got, x[i] + (i == 1), bytes), CERTREG_OK);
        ck_assert_mem_eq(got, want, bytes);
        gpu->ops->free(gpu, x[i]);
    }
    gpu->ops->free(gpu, z_there), gpu->ops->free(gpu, step_there);
    free(z), free(step), free(want), free(got);
}
END_TEST

START_TEST(replays_have_the_bits_of_the_cpu)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, stride = n + 3;
    const cr_noise noise = noise_of(_i);
    float *weights = made_up_numbers(2 * stride, 3),
          *weights_there = over(weights, 2 * stride * sizeof *weights);
    certreg_backend *cpu = cr_backend_default();
    for (size_t f = 1; f <= 2; f++) {
        double *want = calloc(f * d, sizeof *want);
        for (size_t i = 0; i < f * d; i++) want[i] = 0.1 * (double)i;
        double *sums = over(want, f * d * sizeof *want);
        for (int twice = 0; twice < 2; twice++) { /* they add up */
            ck_assert_int_eq(
                cpu->ops->replay(cpu, &noise, shapes[_i].first, n, f, weights, stride, want),
                CERTREG_OK);
            ck_assert_int_eq(
                gpu->ops->replay(gpu, &noise, shapes[_i].first, n, f, weights_there, stride, sums),
                CERTREG_OK);
        }
        expect(sums, want, f * d * sizeof *want);
        free(want);
    }
    gpu->ops->free(gpu, weights_there);
    free(weights);
}
END_TEST

START_TEST(projections_have_the_bits_of_the_cpu)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count;
    const cr_noise noise = noise_of(_i);
    float *direction = made_up_numbers(d, 4), *mask = made_up_mask(d);
    double *dots = malloc(n * sizeof *dots), *norms = malloc(n * sizeof *norms);
    certreg_backend *cpu = cr_backend_default();
    float *direction_there = over(direction, d * sizeof *direction),
          *mask_there = over(mask, d * sizeof *mask);
    double *dots_there = over(NULL, n * sizeof *dots), *norms_there = over(NULL, n * sizeof *norms);
    ck_assert_int_eq(
        cpu->ops->project(cpu, &noise, shapes[_i].first, n, direction, mask, dots, norms),
        CERTREG_OK);
    ck_assert_int_eq(gpu->ops->project(gpu, &noise, shapes[_i].first, n, direction_there,
                                       mask_there, dots_there, norms_there),
                     CERTREG_OK);
    expect(dots_there, dots, n * sizeof *dots), expect(norms_there, norms, n * sizeof *norms);
    gpu->ops->free(gpu, direction_there), gpu->ops->free(gpu, mask_there);
    free(direction), free(mask), free(dots), free(norms);
}
END_TEST

START_TEST(directions_have_the_bits_of_the_cpu)
{
    const size_t d = shapes[_i].inputs;
    float *numbers = made_up_numbers(d, 7), *mask = made_up_mask(d),
          *direction = malloc(d * sizeof *direction);
    double *sums = malloc(d * sizeof *sums), want[2], got[2];
    certreg_backend *cpu = cr_backend_default();
    float *mask_there = over(mask, d * sizeof *mask);
    for (int zero = 0; zero < 2; zero++) {
        for (size_t j = 0; j < d; j++) sums[j] = zero ? 0 : 1e3 * (double)numbers[j];
        double *sums_there = over(sums, d * sizeof *sums);
        float *direction_there = over(NULL, d * sizeof *direction);
        double *lengths_there = over(NULL, sizeof got);
        ck_assert_int_eq(cpu->ops->aim(cpu, sums, mask, d, direction, want), CERTREG_OK);
        ck_assert_int_eq(
            gpu->ops->aim(gpu, sums_there, mask_there, d, direction_there, lengths_there),
            CERTREG_OK);
        ck_assert_int_eq(gpu->ops->fetch(gpu, got, lengths_there, sizeof got), CERTREG_OK);
        ck_assert_mem_eq(got, want, sizeof got);
        double square = 0;
        for (size_t j = 0; j < d; j++) square += (double)mask[j] * sums[j] * sums[j];
        ck_assert_double_eq_tol(want[0], sqrt(square), 1e-12 * want[0] + 1e-300);
        ck_assert(zero ? want[0] == 0 && want[1] == 0 : want[0] > 0 && fabs(want[1] - 1) < 1e-6);
        expect(direction_there, direction, d * sizeof *direction);
        gpu->ops->free(gpu, sums_there), gpu->ops->free(gpu, lengths_there);
    }
    gpu->ops->free(gpu, mask_there);
    free(numbers), free(mask), free(direction), free(sums);
}
END_TEST

START_TEST(walks_have_the_bits_of_the_cpu)
{
    enum { LENGTHS = 2 * (BLOCKS + 1) };
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, results = LENGTHS + 2 * n;
    const cr_noise noise = noise_of(_i);
    float *weights = made_up_numbers(n, 3), *mask = made_up_mask(d);
    double *want = malloc(results * sizeof *want), *room = malloc(2 * BLOCKS * d * sizeof *room);
    certreg_backend *cpu = cr_backend_default();
    float *weights_there = over(weights, n * sizeof *weights),
          *mask_there = over(mask, d * sizeof *mask);
    double *there = over(NULL, results * sizeof *there),
           *room_there = over(NULL, 2 * BLOCKS * d * sizeof *room);
    ck_assert_int_eq(cpu->ops->walk(cpu, &noise, shapes[_i].first, n, BLOCKS, weights, mask, room,
                                    want, want + LENGTHS, want + LENGTHS + n, NULL),
                     CERTREG_OK);
    ck_assert_int_eq(gpu->ops->walk(gpu, &noise, shapes[_i].first, n, BLOCKS, weights_there,
                                    mask_there, room_there, there, there + LENGTHS,
                                    there + LENGTHS + n, NULL),
                     CERTREG_OK);
    expect(there, want, results * sizeof *want);
    gpu->ops->free(gpu, weights_there), gpu->ops->free(gpu, mask_there),
        gpu->ops->free(gpu, room_there);
    free(weights), free(mask), free(want), free(room);
}
END_TEST

static void check_gram(const double *gram, const double *sums, size_t pitch, size_t d)
{
    for (size_t p = 0; p < BLOCKS; p++)
        for (size_t q = 0; q < p; q++) ck_assert_double_eq(gram[p * BLOCKS + q], 0);
    for (size_t p = 0; p < BLOCKS; p++)
        for (size_t q = p; q < BLOCKS; q++) {
            double sum = 0, size = 0;
            for (size_t j = 0; j < d; j++) {
                const double term = sums[p * pitch + j] * sums[q * pitch + j];
                sum += term, size += fabs(term);
            }
            ck_assert_double_le(fabs(gram[p * BLOCKS + q] - sum), 1e-13 * size + 1e-300);
        }
}

START_TEST(block_sums_have_the_bits_of_the_cpu_and_gram_matrices_nearly)
{
    const size_t d = shapes[_i].inputs, length = shapes[_i].count / BLOCKS, count = length * BLOCKS,
                 stride = count + 3;
    const cr_noise noise = noise_of(_i);
    float *weights = made_up_numbers(2 * stride, 3), *mask = made_up_mask(d);
    double *want = malloc(2 * BLOCKS * d * sizeof *want), gram[BLOCKS * BLOCKS];
    certreg_backend *cpu = cr_backend_default();
    float *weights_there = over(weights, 2 * stride * sizeof *weights),
          *mask_there = over(mask, d * sizeof *mask);
    double *gram_there = over(NULL, sizeof gram);
    for (size_t f = 1; f <= 2; f++) {
        double *sums = over(NULL, f * BLOCKS * d * sizeof *sums);
        for (size_t i = 0; i < f * BLOCKS * d; i++) want[i] = 0;
        for (size_t b = 0; b < BLOCKS; b++)
            ck_assert_int_eq(cpu->ops->replay(cpu, &noise, shapes[_i].first + b * length, length, f,
                                              weights + b * length, stride, want + b * f * d),
                             CERTREG_OK);
        for (size_t i = 0; i < f * BLOCKS * d; i++) want[i] = mask[i % d] > 0 ? want[i] : 0;
        ck_assert_int_eq(gpu->ops->block_sums(gpu, &noise, shapes[_i].first, length, BLOCKS, f,
                                              weights_there, stride, mask_there, sums),
                         CERTREG_OK);
        ck_assert_int_eq(gpu->ops->gram(gpu, sums + (f - 1) * d, f * d, BLOCKS, d, gram_there),
                         CERTREG_OK);
        ck_assert_int_eq(gpu->ops->fetch(gpu, gram, gram_there, sizeof gram), CERTREG_OK);
        expect(sums, want, f * BLOCKS * d * sizeof *want);
        check_gram(gram, want + (f - 1) * d, f * d, d);
    }
    gpu->ops->free(gpu, weights_there), gpu->ops->free(gpu, mask_there),
        gpu->ops->free(gpu, gram_there);
    free(weights), free(mask), free(want);
}
END_TEST

/* ---- the second order: float products, so nearly */
enum { ROWS_A = 37, ROWS_B = 21, FEATURES = 300, ACTIVE = 240 };
static const cr_noise square_noise = {
    .seed = 5, .noise_id = 1, .inputs = FEATURES, .clean_first = 1};

/* Every fifth feature is left out. */
static float *rows_by_hand(uint64_t first, size_t count, int32_t *features)
{
    float *all = malloc(count * FEATURES * sizeof *all),
          *rows = malloc(count * ACTIVE * sizeof *rows), z[FEATURES] = {0}, step[FEATURES];
    size_t at = 0, k = 0;
    for (int32_t j = 0; j < FEATURES; j++) {
        step[j] = 1;
        if (j % 5 != 3) features[k++] = j;
    }
    ck_assert_int_eq(cr_backend_default()->ops->draw(cr_backend_default(), &square_noise, z, step,
                                                     first, count, all),
                     CERTREG_OK);
    for (size_t i = 0; i < count; i++)
        for (k = 0; k < ACTIVE; k++) rows[at++] = all[i * FEATURES + (size_t)features[k]];
    free(all);
    return rows;
}

static double dot(const float *a, const float *b)
{
    double sum = 0;
    for (size_t k = 0; k < ACTIVE; k++) sum += (double)a[k] * (double)b[k];
    return sum;
}

typedef struct hand_tile { /* on both sides */
    float *rows, *weights, *rows_there, *weights_there;
    double *norms_there;
    size_t count;
    cr_tile there;
} hand_tile;

static hand_tile make_tile(uint64_t first, size_t count, unsigned seed)
{
    int32_t features[ACTIVE];
    hand_tile t = {.rows = rows_by_hand(first, count, features),
                   .weights = made_up_numbers(count, seed),
                   .count = count};
    int32_t *features_there = over(features, sizeof features);
    t.weights_there = over(t.weights, count * sizeof *t.weights);
    t.rows_there = over(NULL, count * ACTIVE * sizeof *t.rows_there);
    t.norms_there = over(NULL, count * sizeof *t.norms_there);
    ck_assert_int_eq(gpu->ops->tile(gpu, &square_noise, first, count, features_there, ACTIVE,
                                    t.rows_there, t.norms_there),
                     CERTREG_OK);
    gpu->ops->free(gpu, features_there);
    t.there = (cr_tile){t.rows_there, t.weights_there, t.norms_there, count};
    return t;
}

/* The rows have the bits of draw, their lengths nearly. */
static void end_tile(hand_tile *t)
{
    double norms[ROWS_A + ROWS_B];
    ck_assert_int_eq(gpu->ops->fetch(gpu, norms, t->norms_there, t->count * sizeof *norms),
                     CERTREG_OK);
    for (size_t i = 0; i < t->count; i++)
        ck_assert_double_eq_tol(norms[i], dot(t->rows + i * ACTIVE, t->rows + i * ACTIVE),
                                1e-12 * norms[i] + 1e-300);
    expect(t->rows_there, t->rows, t->count * ACTIVE * sizeof *t->rows);
    gpu->ops->free(gpu, t->weights_there), gpu->ops->free(gpu, t->norms_there);
    free(t->rows), free(t->weights);
}

/* As noise is about 0 in steps of 1; aligned for access by fours, or not. */
START_TEST(tiles_of_all_features_have_the_bits_of_the_cpu)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count < 40 ? shapes[_i].count : 40,
                 bytes = n * d * sizeof(float);
    const cr_noise noise = noise_of(_i);
    int32_t *features = malloc(d * sizeof *features);
    float *z = calloc(d, sizeof *z), *step = malloc(d * sizeof *step), *want = malloc(bytes),
          *got = malloc(bytes);
    for (size_t j = 0; j < d; j++) features[j] = (int32_t)j, step[j] = 1;
    certreg_backend *cpu = cr_backend_default();
    ck_assert_int_eq(cpu->ops->draw(cpu, &noise, z, step, shapes[_i].first, n, want), CERTREG_OK);
    int32_t *features_there = over(features, d * sizeof *features);
    double *norms = over(NULL, n * sizeof *norms);
    for (size_t off = 0; off < 2; off++) {
        float *rows = over(NULL, bytes + sizeof *rows);
        ck_assert_int_eq(
            gpu->ops->tile(gpu, &noise, shapes[_i].first, n, features_there, d, rows + off, norms),
            CERTREG_OK);
        ck_assert_int_eq(gpu->ops->fetch(gpu, got, rows + off, bytes), CERTREG_OK);
        for (size_t k = 0; k < n * d; k++) ck_assert(got[k] == want[k]);
        gpu->ops->free(gpu, rows);
    }
    gpu->ops->free(gpu, features_there), gpu->ops->free(gpu, norms);
    free(features), free(z), free(step), free(want), free(got);
}
END_TEST

START_TEST(products_of_pairs_are_summed)
{
    hand_tile a = make_tile(0, ROWS_A, 5), b = make_tile(100, ROWS_B, 6);
    const hand_tile *other = _i ? &b : &a;
    double sums[ROWS_A], squares[ROWS_A];
    for (size_t i = 0; i < ROWS_A; i++) sums[i] = (double)i, squares[i] = 1;
    double *sums_there = over(sums, sizeof sums), *squares_there = over(squares, sizeof squares);
    float *products = over(NULL, ROWS_A * other->count * sizeof *products);
    ck_assert_int_eq(
        gpu->ops->pairs(gpu, &a.there, &other->there, ACTIVE, products, sums_there, squares_there),
        CERTREG_OK);
    ck_assert_int_eq(gpu->ops->fetch(gpu, sums, sums_there, sizeof sums), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->fetch(gpu, squares, squares_there, sizeof squares), CERTREG_OK);
    for (size_t i = 0; i < ROWS_A; i++) {
        double sum = (double)i, square = 1, size = 1;
        for (size_t j = 0; j < other->count; j++) {
            const float *p = a.rows + i * ACTIVE, *q = other->rows + j * ACTIVE;
            const double g = dot(p, q), k = (double)a.weights[i] * (double)other->weights[j] *
                                            (g * g - dot(p, p) - dot(q, q) + ACTIVE) / 2;
            if (other == &a && i == j) continue;
            sum += k, square += k * k, size += fabs(k);
        }
        ck_assert_double_eq_tol(sums[i], sum, 1e-5 * size);
        ck_assert_double_eq_tol(squares[i], square, 1e-5 * square);
    }
    gpu->ops->free(gpu, sums_there), gpu->ops->free(gpu, squares_there),
        gpu->ops->free(gpu, products);
    end_tile(&a), end_tile(&b);
}
END_TEST

START_TEST(weighted_squares_add_up_to_a_matrix_and_give_forms)
{
    hand_tile a = make_tile(0, ROWS_A, 5);
    static float matrix[ACTIVE * ACTIVE];
    double forms[ROWS_A];
    memset(matrix, 0, sizeof matrix);
    float *matrix_there = over(matrix, sizeof matrix),
          *room = over(NULL, ROWS_A * ACTIVE * sizeof *room);
    double *forms_there = over(NULL, sizeof forms);
    for (int twice = 0; twice < 2; twice++)
        ck_assert_int_eq(gpu->ops->outer(gpu, &a.there, ACTIVE, room, matrix_there), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->forms(gpu, &a.there, ACTIVE, matrix_there, room, forms_there),
                     CERTREG_OK);
    ck_assert_int_eq(gpu->ops->fetch(gpu, matrix, matrix_there, sizeof matrix), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->fetch(gpu, forms, forms_there, sizeof forms), CERTREG_OK);
    for (size_t p = 0; p < ACTIVE; p++)
        for (size_t q = 0; q < ACTIVE; q++) {
            double sum = 0, size = 0;
            for (size_t i = 0; i < ROWS_A; i++) {
                const double term = 2 * (double)a.weights[i] * (double)a.rows[i * ACTIVE + p] *
                                    (double)a.rows[i * ACTIVE + q];
                sum += term, size += fabs(term);
            }
            ck_assert_double_eq_tol((double)matrix[p * ACTIVE + q], sum, 1e-5 * size + 1e-9);
        }
    for (size_t i = 0; i < ROWS_A; i++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < ROWS_A; j++) {
            const double g = dot(a.rows + i * ACTIVE, a.rows + j * ACTIVE);
            sum += 2 * (double)a.weights[j] * g * g, size += 2 * fabs((double)a.weights[j]) * g * g;
        }
        ck_assert_double_eq_tol(forms[i], sum, 1e-5 * size + 1e-9);
    }
    gpu->ops->free(gpu, matrix_there), gpu->ops->free(gpu, room), gpu->ops->free(gpu, forms_there);
    end_tile(&a);
}
END_TEST

START_TEST(memory_is_filled)
{
    const uint32_t ones[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, mixed[3] = {0, 0, UINT32_MAX};
    void *there = over(NULL, sizeof ones);
    ck_assert_int_eq(gpu->ops->fill(gpu, there, sizeof ones, 0xff), CERTREG_OK);
    uint32_t got[3];
    ck_assert_int_eq(gpu->ops->fetch(gpu, got, there, sizeof got), CERTREG_OK);
    ck_assert_mem_eq(got, ones, sizeof ones);
    ck_assert_int_eq(gpu->ops->fill(gpu, there, 8, 0), CERTREG_OK);
    expect(there, mixed, sizeof mixed);
}
END_TEST

void contract_add_tests(TCase *to, certreg_backend *backend)
{
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    gpu = backend;
    tcase_add_loop_test(to, draws_have_the_bits_of_the_cpu, 0, SHAPES);
    tcase_add_loop_test(to, replays_have_the_bits_of_the_cpu, 0, SHAPES);
    tcase_add_loop_test(to, projections_have_the_bits_of_the_cpu, 0, SHAPES);
    tcase_add_loop_test(to, directions_have_the_bits_of_the_cpu, 0, SHAPES);
    tcase_add_loop_test(to, walks_have_the_bits_of_the_cpu, 0, SHAPES);
    tcase_add_loop_test(to, block_sums_have_the_bits_of_the_cpu_and_gram_matrices_nearly, 0,
                        SHAPES);
    tcase_add_loop_test(to, tiles_of_all_features_have_the_bits_of_the_cpu, 0, SHAPES);
    tcase_add_loop_test(to, products_of_pairs_are_summed, 0, 2);
    tcase_add_test(to, weighted_squares_add_up_to_a_matrix_and_give_forms);
    tcase_add_test(to, memory_is_filled);
}
