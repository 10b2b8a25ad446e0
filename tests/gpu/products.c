/* Products of matrices on a backend: sums are double of float products, so they agree nearly. */
#include "backend/blas.h"
#include "backend/cpu.h"
#include "gpu/contract.h"
#include "support/made_up.h"

/* ---- Gram matrices */
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

/* ---- the second order */
enum { ROWS_A = 37, ROWS_B = 21, FEATURES = 300, ACTIVE = 240 };
static const cr_noise noise = {.seed = 5, .noise_id = 1, .inputs = FEATURES, .clean_first = 1};

/* Every fifth feature is left out. */
static int is_active(size_t j)
{
    return j % 5 != 3;
}

static float *rows_by_hand(uint64_t first, size_t count)
{
    float *all = contract_here(malloc(count * FEATURES * sizeof *all)),
          *rows = contract_here(malloc(count * ACTIVE * sizeof *rows));
    size_t at = 0;
    ck_assert_int_eq(cr_cpu_normals(cr_backend_default(), &noise, first, count, all), CERTREG_OK);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < FEATURES; j++)
            if (is_active(j)) rows[at++] = all[i * FEATURES + j];
    return rows;
}

static cr_pair_room open_room(void)
{
    double squares[ROWS_A] = {0};
    int32_t features[ACTIVE];
    cr_pair_room room = {.active = ACTIVE};
    for (size_t j = 0, k = 0; j < FEATURES; j++)
        if (is_active(j)) features[k++] = (int32_t)j;
    ck_assert_int_eq(cr_blas_open(NULL, &room.blas), CERTREG_OK);
    room.features = contract_over(features, sizeof features);
    for (int i = 0; i < 2; i++)
        room.rows[i] = contract_over(NULL, ROWS_A * FEATURES * sizeof(float));
    room.products = contract_over(NULL, ROWS_A * ROWS_A * sizeof(float));
    room.squares = contract_over(squares, sizeof squares);
    room.matrix = contract_over(NULL, ACTIVE * ACTIVE * sizeof(float));
    room.trace = contract_over(NULL, sizeof(double));
    ck_assert_int_eq(gpu->ops->fill(gpu, room.matrix, ACTIVE * ACTIVE * sizeof(float), 0),
                     CERTREG_OK);
    return room;
}

typedef struct hand_tile { /* on both sides */
    float *rows, *weights;
    size_t count;
    double sums[ROWS_A]; /* what its sums begin with: their numbers */
    cr_tile there;
} hand_tile;

static hand_tile make_tile(const cr_pair_room *room, int which, uint64_t first, size_t count)
{
    hand_tile t = {.rows = rows_by_hand(first, count),
                   .weights = contract_here(made_up_numbers(count, 5 + (unsigned)which)),
                   .count = count};
    for (size_t i = 0; i < count; i++) t.sums[i] = (double)i;
    t.there = (cr_tile){.first = first,
                        .count = count,
                        .rows = room->rows[which],
                        .weights = contract_over(t.weights, count * sizeof *t.weights),
                        .norms = contract_over(NULL, count * sizeof(double)),
                        .sums = contract_over(t.sums, count * sizeof(double))};
    ck_assert_int_eq(gpu->ops->pairs->tile(gpu, &noise, room, &t.there), CERTREG_OK);
    return t;
}

static double dot(const float *a, const float *b)
{
    double sum = 0;
    for (size_t k = 0; k < ACTIVE; k++) sum += (double)a[k] * (double)b[k];
    return sum;
}

TEST(tiles_have_the_normals_of_the_cpu)
{
    cr_pair_room room = open_room();
    for (uint64_t first = 0; first < 200; first += 100) { /* sample 0 is free of noise */
        hand_tile t = make_tile(&room, 0, first, ROWS_A);
        static float rows[ROWS_A * ACTIVE];
        double norms[ROWS_A];
        contract_fetch(rows, t.there.rows, sizeof rows),
            contract_fetch(norms, t.there.norms, sizeof norms);
        ck_assert_mem_eq(rows, t.rows, sizeof rows);
        for (size_t i = 0; i < ROWS_A; i++)
            ck_assert_double_eq_tol(norms[i], dot(t.rows + i * ACTIVE, t.rows + i * ACTIVE),
                                    1e-12 * norms[i] + 1e-300);
    }
}

/* Aligned for access by fours, or not. */
TEST_TIMES(tiles_of_all_features_have_the_normals_of_the_cpu, 8)
{
    static const size_t wide[] = {1, 2, 3, 5, 16, 63, 784, 1001};
    enum { ROWS = 20, WIDEST = 1001 };
    const size_t d = wide[_i], bytes = ROWS * d * sizeof(float);
    const cr_noise plain = {.seed = 3, .noise_id = 4, .inputs = d, .clean_first = _i % 2};
    static float want[ROWS * WIDEST], got[ROWS * WIDEST];
    static int32_t features[WIDEST];
    for (size_t j = 0; j < d; j++) features[j] = (int32_t)j;
    ck_assert_int_eq(cr_cpu_normals(cr_backend_default(), &plain, 0, ROWS, want), CERTREG_OK);
    float *rows = contract_over(NULL, bytes + sizeof *rows);
    int32_t *features_there = contract_over(features, d * sizeof *features);
    double *norms = contract_over(NULL, ROWS * sizeof *norms);
    const cr_pair_room room = {.features = features_there, .active = d};
    for (size_t off = 0; off < 2; off++) {
        const cr_tile t = {.count = ROWS, .rows = rows + off, .norms = norms};
        ck_assert_int_eq(gpu->ops->pairs->tile(gpu, &plain, &room, &t), CERTREG_OK);
        contract_fetch(got, t.rows, bytes);
        for (size_t k = 0; k < ROWS * d; k++) ck_assert(got[k] == want[k]);
    }
}

/* What the sums of a gain by b, or by a itself; *squared: likewise its squares. */
static void expect_sums(const hand_tile *a, const hand_tile *b, double *squared)
{
    double sums[ROWS_A];
    contract_fetch(sums, a->there.sums, a->count * sizeof *sums);
    for (size_t i = 0; i < a->count; i++) {
        double sum = a->sums[i], size = 1;
        for (size_t j = 0; j < b->count; j++) {
            const float *p = a->rows + i * ACTIVE, *q = b->rows + j * ACTIVE;
            const double g = dot(p, q), k = (double)a->weights[i] * (double)b->weights[j] *
                                            (g * g - dot(p, p) - dot(q, q) + ACTIVE) / 2;
            if (a == b && i == j) continue;
            sum += k, *squared += k * k, size += fabs(k);
        }
        ck_assert_double_eq_tol(sums[i], sum, 1e-5 * size);
    }
}

TEST_TIMES(products_of_pairs_are_summed_for_both_tiles, 2)
{
    cr_pair_room room = open_room();
    hand_tile a = make_tile(&room, 0, 0, ROWS_A), b = make_tile(&room, 1, 100, ROWS_B);
    const hand_tile *other = _i ? &b : &a;
    double squares[ROWS_A], squared = 0, sum = 0;
    ck_assert_int_eq(gpu->ops->pairs->pairs(gpu, &room, &a.there, &other->there), CERTREG_OK);
    expect_sums(&a, other, &squared);
    if (other == &b) expect_sums(&b, &a, &squared);
    contract_fetch(squares, room.squares, sizeof squares);
    for (size_t i = 0; i < ROWS_A; i++) sum += squares[i];
    ck_assert_double_eq_tol(sum, squared, 1e-5 * squared);
}

/* An entry of twice the sum of w e e', less twice the identity. */
static double entry_of(const hand_tile *t, size_t p, size_t q, double *size)
{
    double sum = p == q ? -2 : 0;
    *size = 2;
    for (size_t i = 0; i < t->count; i++) {
        const double term = 2 * (double)t->weights[i] * (double)t->rows[i * ACTIVE + p] *
                            (double)t->rows[i * ACTIVE + q];
        sum += term, *size += fabs(term);
    }
    return sum;
}

TEST(weighted_squares_add_up_to_a_matrix_without_the_identity)
{
    cr_pair_room room = open_room();
    hand_tile a = make_tile(&room, 0, 0, ROWS_A);
    static float matrix[ACTIVE * ACTIVE];
    double found, trace = 0, total = 0, size;
    for (int twice = 0; twice < 2; twice++)
        ck_assert_int_eq(gpu->ops->pairs->outer(gpu, &room, &a.there), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->pairs->take_identity(gpu, &room, 2), CERTREG_OK);
    contract_fetch(matrix, room.matrix, sizeof matrix),
        contract_fetch(&found, room.trace, sizeof found);
    for (size_t p = 0; p < ACTIVE; p++)
        for (size_t q = p; q < ACTIVE; q++) {
            const double want = entry_of(&a, p, q, &size);
            ck_assert_double_eq_tol((double)matrix[p * ACTIVE + q], want, 1e-5 * size);
            if (p == q) trace += want, total += size;
        }
    ck_assert_double_eq_tol(found, trace, 1e-5 * total);
}

TEST(forms_are_those_of_the_matrix_without_its_trace)
{
    cr_pair_room room = open_room();
    hand_tile a = make_tile(&room, 0, 0, ROWS_A);
    double forms[ROWS_A], squares = 0;
    ck_assert_int_eq(gpu->ops->pairs->outer(gpu, &room, &a.there), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->pairs->take_identity(gpu, &room, 3), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->pairs->forms(gpu, &room, &a.there), CERTREG_OK);
    contract_fetch(forms, a.there.sums, sizeof forms);
    for (size_t j = 0; j < ROWS_A; j++)
        squares += (double)a.weights[j] * dot(a.rows + j * ACTIVE, a.rows + j * ACTIVE);
    for (size_t i = 0; i < ROWS_A; i++) {
        const float *row = a.rows + i * ACTIVE;
        double sum = 3 * ACTIVE - squares - 3 * dot(row, row), size = fabs(squares) + 3 * ACTIVE;
        for (size_t j = 0; j < ROWS_A; j++) {
            const double g = dot(row, a.rows + j * ACTIVE), term = (double)a.weights[j] * g * g;
            sum += term, size += fabs(term);
        }
        ck_assert_double_eq_tol(forms[i], sum, 1e-5 * size);
    }
}

void contract_add_products(TCase *to, certreg_backend *backend)
{
    contract_add(to, backend);
}
