#include "gpu/contract.h"
#include "support/special_cells.h"
#include "support/test_numbers.h"

/* The backend of the tests, and what they take of it and of the host. */
static certreg_backend *gpu;

static void contract_give_back(void *there)
{
    gpu->ops->free(gpu, there);
}

/* Memory of the host. */
static void *contract_here(void *memory)
{
    kit_close_later(free, memory);
    return memory;
}

/* A copy in memory of the backend; host NULL: room alone. */
static void *contract_over(const void *host, size_t bytes)
{
    void *there = NULL;
    ck_assert_int_eq(gpu->ops->alloc(gpu, bytes, &there), CERTREG_OK);
    kit_close_later(contract_give_back, there);
    if (host) ck_assert_int_eq(gpu->ops->store(gpu, there, host, bytes), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
    return there;
}

static void contract_fetch(void *host, const void *there, size_t bytes)
{
    ck_assert_int_eq(gpu->ops->fetch(gpu, host, there, bytes), CERTREG_OK);
}

enum { BLOCKS = 10 };

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
    {8, 0xFFFFFFF0u, 64, 0, 27, 28}, /* block index crosses 2^32 */
    /* between the two blocks of one sample and the next */
    {6, 0x7FFFFFFFu, 10, 0, 28, UINT64_MAX},
    /* the last blocks of a level */
    {4, (UINT64_C(1) << CR_LEVEL_BITS) - 100, 100, 0, 29, 30},
    /* the rest for paths of the CPU only: about the widths of lanes and of tiles */
    {1, 0, 10, 0, 0, 0},
    {4, 1, 31, 0, 4, 5},
    {12, 0, 97, 1, 7, 8},
    {15, 7, 40, 0, 8, 9},
    {17, 0, 32, 1, 10, 11},
    {64, 0, 70, 1, 12, 13},
    {65, 0, 70, 0, 13, 14},
    {127, 5, 45, 0, 14, 15},
    {128, 0, 45, 1, 15, 16},
    {129, 0, 45, 1, 16, 17},
    {130, 0, 350, 1, 16, 17},
    {255, 0, 150, 0, 17, 18},
    {256, 0, 150, 1, 18, 19},
    {257, 9, 150, 0, 19, 20},
    {4095, 0, 10, 1, 22, 23},
    {4096, 0, 33, 0, 23, 24},
    {40000, 0, 10, 1, 26, 27},
    {784, 21913098, 60, 0, UINT64_MAX, 1}, /* inside a row: 196 * 21913098.. straddles 2^32 */
};
enum { ON_DEVICES = 14 };

static int is_left_out(int shape)
{
    return gpu->ops->device >= 0 && shape >= ON_DEVICES;
}

/* ---- the same on both sides: the reference's, and that of the backend */
typedef struct both {
    void *at[2];
    size_t bytes;
} both;

static both copied(void *host, size_t bytes)
{
    return (both){{contract_here(host), contract_over(host, bytes)}, bytes};
}

/* On the host one float off any alignment. */
static both floats(size_t n, float (*number)(size_t j, uint32_t salt), uint32_t salt)
{
    const size_t off = gpu->ops->device < 0;
    float *a = malloc((n + 1) * sizeof *a);
    for (size_t j = 0; j <= n; j++) a[j] = number(j - off, salt);
    const both b = copied(a, (n + 1) * sizeof *a);
    return (both){{(float *)b.at[0] + off, (float *)b.at[1] + off}, n * sizeof *a};
}

static both numbers(size_t n, uint32_t salt)
{
    return floats(n, made_up, salt);
}

static float kept(size_t j, uint32_t salt)
{
    return j % 5 != salt;
}

static both mask_of(size_t d)
{
    return floats(d, kept, d < 5 ? 5 : 3);
}

/* Results: they begin with what sums are added to, and end with one number more, which nobody may
 * touch. */
static both doubles(size_t n)
{
    double *a = malloc((n + 1) * sizeof *a);
    for (size_t i = 0; i <= n; i++) a[i] = 0.1 * (double)i;
    return copied(a, (n + 1) * sizeof *a);
}

static certreg_backend *reference;

static certreg_backend *side(int s)
{
    return s ? gpu : reference;
}

static void expect(const void *there, const void *wanted, size_t bytes)
{
    void *got = contract_here(malloc(bytes));
    contract_fetch(got, there, bytes);
    ck_assert_mem_eq(got, wanted, bytes);
}

static void expect_same(both b)
{
    expect(b.at[1], b.at[0], b.bytes);
}

static cr_noise noise_of(int i)
{
    return (cr_noise){.seed = shapes[i].seed,
                      .noise_id = shapes[i].stream,
                      .level = shapes[i].inputs % 3 * (CR_LEVELS / 3),
                      .inputs = shapes[i].inputs,
                      .clean_first = shapes[i].center};
}

/* ---- operations */
TEST_ROWS(draw_has_the_bits_of_the_reference, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, bytes = n * d * sizeof(float);
    const uint64_t first = shapes[_i].first;
    const cr_noise noise = noise_of(_i);
    const both z = numbers(d, 1), step = floats(d, made_up_step, 2), x = numbers(n * d + 1, 0);
    for (int s = 0; s < 2; s++)
        ck_assert_int_eq(
            side(s)->ops->draw(side(s), &noise,
                               &(cr_draw){z.at[s], step.at[s], first, n, x.at[s], NULL}),
            CERTREG_OK);
    expect_same(x);
    float *off =
              (float *)contract_over(NULL, bytes + sizeof *off) + 1, /* not aligned to 16 bytes */
        *ahead = contract_over(NULL, bytes);
    ck_assert_int_eq(
        gpu->ops->draw(gpu, &noise, &(cr_draw){z.at[1], step.at[1], first, n, off, NULL}),
        CERTREG_OK);
    ck_assert_int_eq((gpu->ops->draw_ahead ? gpu->ops->draw_ahead : gpu->ops->draw)(
                         gpu, &noise, &(cr_draw){z.at[1], step.at[1], first, n, ahead, NULL}),
                     CERTREG_OK);
    ck_assert_int_eq(cr_backend_join(gpu), CERTREG_OK);
    expect(off, x.at[0], bytes), expect(ahead, x.at[0], bytes);
}

TEST(draw_has_the_cells_of_the_reference_at_hard_words)
{
    special_expect(gpu, "this backend");
}

static cr_weighted_blocks weighted(uint64_t first, size_t length, size_t blocks, size_t functions,
                                   const float *weights, size_t stride)
{
    return (cr_weighted_blocks){.first = first,
                                .block_samples = length,
                                .blocks = blocks,
                                .functions = functions,
                                .weights = weights,
                                .stride = stride};
}

TEST_ROWS(replay_has_the_bits_of_the_reference, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, stride = n + 3;
    const cr_noise noise = noise_of(_i);
    const both weights = numbers(2 * stride, 3);
    for (size_t f = 1; f <= 2; f++) {
        const both sums = doubles(f * d);
        for (int s = 0; s < 2; s++) {
            const cr_weighted_blocks w = weighted(shapes[_i].first, n, 1, f, weights.at[s], stride);
            for (int twice = 0; twice < 2; twice++) /* they add up */
                ck_assert_int_eq(side(s)->ops->replay(side(s), &noise, &w, NULL, sums.at[s], NULL),
                                 CERTREG_OK);
        }
        expect_same(sums);
    }
}

TEST_ROWS(project_has_the_bits_of_the_reference, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs, n = shapes[_i].count;
    const cr_noise noise = noise_of(_i);
    const both directions = numbers(BLOCKS * d, 4), mask = mask_of(d);
    for (size_t blocks = 0; blocks <= BLOCKS; blocks += BLOCKS) {
        const both dots = doubles(n), norms = doubles(n);
        for (int s = 0; s < 2; s++)
            ck_assert_int_eq(
                side(s)->ops->project(side(s), &noise,
                                      &(cr_projection){shapes[_i].first, n, directions.at[s],
                                                       mask.at[s], dots.at[s], norms.at[s], blocks},
                                      NULL),
                CERTREG_OK);
        expect_same(dots), expect_same(norms);
    }
}

TEST_ROWS(set_directions_has_the_length_of_one_sum, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs;
    const both numbers_of = numbers(d, 7), mask = mask_of(d);
    for (int zero = 0; zero < 2; zero++) {
        double *sum = malloc(d * sizeof *sum), square = 0;
        for (size_t j = 0; j < d; j++) {
            sum[j] = zero ? 0 : 1e3 * (double)((float *)numbers_of.at[0])[j];
            square += (double)((float *)mask.at[0])[j] * sum[j] * sum[j];
        }
        const both sums = copied(sum, d * sizeof *sum), direction = numbers(d, 0),
                   lengths = doubles(2);
        for (int s = 0; s < 2; s++)
            ck_assert_int_eq(side(s)->ops->set_directions(
                                 side(s), &(cr_direction_rows){1, d, mask.at[s], sums.at[s],
                                                               direction.at[s], lengths.at[s]}),
                             CERTREG_OK);
        expect_same(lengths), expect_same(direction);
        const double *found = lengths.at[0];
        ck_assert_double_eq_tol(found[0], sqrt(square), 1e-12 * found[0] + 1e-300);
        ck_assert(zero ? found[0] == 0 && found[1] == 0
                       : found[0] > 0 && fabs(found[1] / found[0] - 1) < 1e-7);
    }
}

TEST_ROWS(set_directions_adds_up_rows_with_the_bits_of_the_reference, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs;
    const both some = numbers(BLOCKS * d, 7), mask = mask_of(d), lengths = doubles(2 * BLOCKS),
               directions = numbers(BLOCKS * d, 0);
    double *rows = malloc(BLOCKS * d * sizeof *rows);
    for (size_t i = 0; i < BLOCKS * d; i++) rows[i] = 1e3 * (double)((float *)some.at[0])[i];
    const double third = rows[0] + rows[d] + rows[2 * d];
    const both sums = copied(rows, BLOCKS * d * sizeof *rows);
    for (int s = 0; s < 2; s++)
        ck_assert_int_eq(side(s)->ops->set_directions(
                             side(s), &(cr_direction_rows){BLOCKS, d, mask.at[s], sums.at[s],
                                                           directions.at[s], lengths.at[s]}),
                         CERTREG_OK);
    ck_assert(((double *)sums.at[0])[2 * d] == third);
    expect_same(sums), expect_same(lengths), expect_same(directions);
}

/* ---- a sweep: of functions with other samples and blocks, in one call and one by one */
enum { FUNCTIONS = 5 };

typedef struct swept {
    double *gram, *lengths, *dots, *norms; /* FUNCTIONS of each, but norms */
} swept;

/* Room for sweeps of up to `span` samples on one of both sides; the reference's is the host's. */
static cr_sweep_buffers buffers_of(int s, const cr_sweep_sizes *sizes)
{
    void *(*const take)(const void *, size_t) = contract_over;
    certreg_backend *b = side(s);
    const size_t results =
        cr_sweep_result_count(sizes->blocks, sizes->sample_span) * sizeof(double);
    cr_sweep_buffers buffers = {.host_results = contract_here(malloc(results))};
    if (b->ops->sweep) {
        const size_t bytes = b->ops->sweep_bytes(b, sizes);
        buffers.workspace = s ? take(NULL, bytes)
                              : contract_here(aligned_alloc(64, (bytes + 63) & ~63u));
        return buffers;
    }
    const size_t bytes[] = {2 * sizes->blocks * sizes->inputs * sizeof(double),
                            sizes->blocks * sizes->blocks * sizeof(double),
                            2 * sizes->sample_span * sizeof(float), results};
    void *at[4];
    for (int i = 0; i < 4; i++) at[i] = s ? take(NULL, bytes[i]) : contract_here(malloc(bytes[i]));
    buffers.sums = at[0], buffers.gram = at[1], buffers.weights = at[2], buffers.results = at[3];
    return buffers;
}

static swept swept_of(size_t n)
{
    return (swept){.gram = contract_here(calloc(FUNCTIONS * BLOCKS * BLOCKS, sizeof(double))),
                   .lengths = contract_here(calloc(FUNCTIONS * (BLOCKS + 1), sizeof(double))),
                   .dots = contract_here(calloc(FUNCTIONS * n, sizeof(double))),
                   .norms = contract_here(calloc(n, sizeof(double)))};
}

/* Two with products of the same samples, one of them all but some, and the same for projections. */
static void functions_of(uint64_t first, size_t n, const float *weights, const swept *to,
                         cr_sweep_function f[FUNCTIONS])
{
    const size_t few = n / 3, equal = n - n % BLOCKS;
    const size_t from[FUNCTIONS] = {0, 0, few, 0, few},
                 count[FUNCTIONS] = {equal, equal, n - few, n, n - few};
    for (size_t k = 0; k < FUNCTIONS; k++) {
        f[k] = (cr_sweep_function){.first = first + from[k],
                                   .count = count[k],
                                   .blocks = k == 3 ? 1 : BLOCKS,
                                   .is_total = k == 3,
                                   .weights = weights + k + from[k],
                                   .norms = to->lengths + k * (BLOCKS + 1),
                                   .dots = to->dots + k * n};
        if (k < 2) f[k].gram = to->gram + k * BLOCKS * BLOCKS, f[k].norms = f[k].dots = NULL;
    }
}

static certreg_status sweep_all(int s, const cr_noise *noise, uint64_t first, size_t n,
                                const float *weights, const float *mask, const swept *to,
                                cr_deadline *deadline)
{
    const cr_sweep_sizes sizes = {.inputs = noise->inputs,
                                  .sample_span = n,
                                  .functions = FUNCTIONS,
                                  .grams = FUNCTIONS,
                                  .blocks = BLOCKS,
                                  .dots = FUNCTIONS * n};
    const cr_sweep_buffers buffers = buffers_of(s, &sizes);
    cr_sweep_function f[FUNCTIONS];
    functions_of(first, n, weights, to, f);
    const cr_sweep all = {.functions = f,
                          .count = FUNCTIONS,
                          .mask = mask,
                          .first = first,
                          .squared_norms = to->norms,
                          .sizes = &sizes,
                          .buffers = &buffers};
    return cr_backend_sweep(side(s), noise, &all, deadline);
}

static void expect_near(const double *got, const double *wanted, size_t count, double scale)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(got[i], wanted[i], 1e-13 * (scale + fabs(wanted[i])) + 1e-300);
}

/* Backends with a sweep have the same bits; one in turns differs by the rounding of a double. */
TEST_ROWS(sweep_finds_what_the_reference_finds, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs, n = shapes[_i].count;
    const cr_noise noise = noise_of(_i);
    const both mask = mask_of(d);
    const float *weights = contract_here(made_up_numbers(n + FUNCTIONS, 3));
    const swept found[2] = {swept_of(n), swept_of(n)};
    for (int s = 0; s < 2; s++)
        ck_assert_int_eq(
            sweep_all(s, &noise, shapes[_i].first, n, weights, mask.at[s], found + s, NULL),
            CERTREG_OK);
    const int same = reference->ops->sweep && gpu->ops->sweep;
    const double scale = same ? 0 : (double)(n * d);
    expect_near(found[1].gram, found[0].gram, FUNCTIONS * BLOCKS * BLOCKS, scale);
    expect_near(found[1].lengths, found[0].lengths, FUNCTIONS * (BLOCKS + 1), 0);
    expect_near(found[1].dots, found[0].dots, FUNCTIONS * n, same ? 0 : 1);
    ck_assert_mem_eq(found[1].norms, found[0].norms, n * sizeof(double));
    if (!same) return;
    ck_assert_mem_eq(found[1].gram, found[0].gram, FUNCTIONS * BLOCKS * BLOCKS * sizeof(double));
    ck_assert_mem_eq(found[1].lengths, found[0].lengths, FUNCTIONS * (BLOCKS + 1) * sizeof(double));
    ck_assert_mem_eq(found[1].dots, found[0].dots, FUNCTIONS * n * sizeof(double));
}

TEST_ROWS(replay_of_blocks_is_that_of_one_by_one, shapes)
{
    if (is_left_out(_i)) return;
    const size_t d = shapes[_i].inputs, length = shapes[_i].count / BLOCKS,
                 stride = length * BLOCKS + 3;
    const cr_noise noise = noise_of(_i);
    const both weights = numbers(2 * stride, 3), mask = mask_of(d);
    for (size_t f = 1; f <= 2; f++) {
        const both sums = doubles(f * BLOCKS * d);
        const cr_weighted_blocks all =
            weighted(shapes[_i].first, length, BLOCKS, f, weights.at[1], stride);
        double *want = sums.at[0];
        for (size_t b = 0; b < BLOCKS; b++) {
            const cr_weighted_blocks one = weighted(shapes[_i].first + b * length, length, 1, f,
                                                    (float *)weights.at[0] + b * length, stride);
            ck_assert_int_eq(
                reference->ops->replay(reference, &noise, &one, NULL, want + b * f * d, NULL),
                CERTREG_OK);
        }
        for (size_t i = 0; i < f * BLOCKS * d; i++)
            want[i] = ((float *)mask.at[0])[i % d] > 0 ? want[i] : 0;
        ck_assert_int_eq(gpu->ops->replay(gpu, &noise, &all, mask.at[1], sums.at[1], NULL),
                         CERTREG_OK);
        expect_same(sums);
    }
}

static double later_than_due(void *of)
{
    (void)of;
    return 2;
}

TEST(replay_and_sweep_that_are_late_return_their_status)
{
    enum { INPUTS = 5, LENGTH = 4 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS};
    const float ones[BLOCKS * LENGTH] = {1, 1, 1, 1, 1};
    float *weights = contract_over(ones, sizeof ones);
    double *sums = contract_over(NULL, 2 * BLOCKS * INPUTS * sizeof *sums);
    const cr_weighted_blocks all = weighted(0, LENGTH, BLOCKS, 1, weights, 0);
    const float numbers_of[BLOCKS * LENGTH + FUNCTIONS] = {1, 1, 1, 1, 1};
    const swept found = swept_of(BLOCKS * LENGTH);
    for (int late = 0; late < 2; late++) {
        const certreg_status wanted = late ? CERTREG_E_DEADLINE : CERTREG_OK;
        cr_deadline deadline = {.now = later_than_due, .expires_at = late ? 1 : 3};
        ck_assert_int_eq(gpu->ops->replay(gpu, &noise, &all, NULL, sums, &deadline), wanted);
        deadline.expired = 0;
        ck_assert_int_eq(
            sweep_all(1, &noise, 0, BLOCKS * LENGTH, numbers_of, weights, &found, &deadline),
            wanted);
    }
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
}

TEST(fill_sets_memory)
{
    const uint32_t ones[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, mixed[3] = {0, 0, UINT32_MAX};
    void *there = contract_over(NULL, sizeof ones);
    ck_assert_int_eq(gpu->ops->fill(gpu, there, sizeof ones, 0xff), CERTREG_OK);
    uint32_t got[3];
    contract_fetch(got, there, sizeof got);
    ck_assert_mem_eq(got, ones, sizeof ones);
    ck_assert_int_eq(gpu->ops->fill(gpu, there, 8, 0), CERTREG_OK);
    expect(there, mixed, sizeof mixed);
}

TEST(store_and_fetch_return_what_crosses)
{
    const char said[] = "as it was", *at = said;
    char got[sizeof said] = "";
    char *there = contract_over(said, sizeof said);
    expect(there, at, sizeof said);
    ck_assert_int_eq(gpu->ops->store(gpu, got, got, 0), CERTREG_OK); /* nothing is no failure */
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
}

TEST(backend_ops_are_all_there)
{
    const cr_backend_ops *o = gpu->ops;
    ck_assert_uint_eq(o->api_version, CR_BACKEND_API);
    ck_assert(o->close && o->draw && o->replay && o->project && o->set_directions && o->gram);
    ck_assert(o->alloc && o->free && o->store && o->fetch && o->fill && o->wait && o->stream &&
              o->last_code);
    ck_assert(!o->draw_ahead == !o->join && !o->sweep == !o->sweep_bytes);
}

/* ---- products of matrices agree nearly */
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

void contract_add_tests(TCase *to, certreg_backend *backend, certreg_backend *of_reference)
{
    gpu = backend, reference = of_reference, kit_open.wanted = 1;
    tcase_add_checked_fixture(to, NULL, kit_close_all);
    kit_add_tests(to);
}
