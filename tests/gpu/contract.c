#include "gpu/contract.h"
#include "support/made_up.h"
#include "support/special_cells.h"

enum { BLOCKS = 10 };
static certreg_backend *gpu; /* whichever is tested */

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
    {4, (UINT64_C(1) << CR_LEVEL_BITS) - 100, 100, 0, 29, 30},
};

static void *over(const void *host, size_t bytes)
{
    return contract_over(gpu, host, bytes);
}

static void expect(void *there, const void *wanted, size_t bytes)
{
    contract_expect(gpu, there, wanted, bytes);
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

TEST_ROWS(draws_have_the_bits_of_the_cpu, shapes)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, bytes = n * d * sizeof(float);
    const cr_noise noise = noise_of(_i);
    float *z = made_up_numbers(d, 1), *step = made_up_steps(d, 2), *want = malloc(bytes);
    certreg_backend *cpu = cr_backend_default();
    float *z_there = over(z, d * sizeof *z), *step_there = over(step, d * sizeof *step), *x[3];
    ck_assert_int_eq(cpu->ops->draw(cpu, &noise, z, step, shapes[_i].first, n, want), CERTREG_OK);
    for (int i = 0; i < 3; i++) x[i] = over(NULL, bytes + sizeof(float));
    ck_assert_int_eq(gpu->ops->draw(gpu, &noise, z_there, step_there, shapes[_i].first, n, x[0]),
                     CERTREG_OK);
    ck_assert_int_eq(
        gpu->ops->draw(gpu, &noise, z_there, step_there, shapes[_i].first, n, x[1] + 1),
        CERTREG_OK); /* not aligned to 16 bytes */
    ck_assert_int_eq((gpu->ops->draw_ahead ? gpu->ops->draw_ahead : gpu->ops->draw)(
                         gpu, &noise, z_there, step_there, shapes[_i].first, n, x[2]),
                     CERTREG_OK);
    ck_assert_int_eq(cr_backend_join(gpu), CERTREG_OK);
    float *got = malloc(bytes);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(gpu->ops->fetch(gpu, got, x[i] + (i == 1), bytes), CERTREG_OK);
        ck_assert_mem_eq(got, want, bytes);
        gpu->ops->free(gpu, x[i]);
    }
    gpu->ops->free(gpu, z_there), gpu->ops->free(gpu, step_there);
    free(z), free(step), free(want), free(got);
}

TEST(draws_are_those_of_the_reference_where_they_are_hard_to_tell)
{
    special_expect(gpu, "this backend");
}

static cr_weighted weighted(uint64_t first, size_t length, size_t blocks, size_t functions,
                            const float *weights, size_t stride)
{
    return (cr_weighted){.first = first,
                         .length = length,
                         .blocks = blocks,
                         .functions = functions,
                         .weights = weights,
                         .stride = stride};
}

TEST_ROWS(replays_have_the_bits_of_the_cpu, shapes)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count, stride = n + 3;
    const cr_noise noise = noise_of(_i);
    float *weights = made_up_numbers(2 * stride, 3),
          *weights_there = over(weights, 2 * stride * sizeof *weights);
    certreg_backend *cpu = cr_backend_default();
    for (size_t f = 1; f <= 2; f++) {
        const cr_weighted here = weighted(shapes[_i].first, n, 1, f, weights, stride),
                          there = weighted(shapes[_i].first, n, 1, f, weights_there, stride);
        double *want = calloc(f * d, sizeof *want);
        for (size_t i = 0; i < f * d; i++) want[i] = 0.1 * (double)i;
        double *sums = over(want, f * d * sizeof *want);
        for (int twice = 0; twice < 2; twice++) { /* they add up */
            ck_assert_int_eq(cpu->ops->replay(cpu, &noise, &here, NULL, want, NULL), CERTREG_OK);
            ck_assert_int_eq(gpu->ops->replay(gpu, &noise, &there, NULL, sums, NULL), CERTREG_OK);
        }
        expect(sums, want, f * d * sizeof *want);
        free(want);
    }
    gpu->ops->free(gpu, weights_there);
    free(weights);
}

TEST_ROWS(projections_have_the_bits_of_the_cpu, shapes)
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
        cpu->ops->project(cpu, &noise, shapes[_i].first, n, direction, mask, dots, norms, NULL),
        CERTREG_OK);
    ck_assert_int_eq(gpu->ops->project(gpu, &noise, shapes[_i].first, n, direction_there,
                                       mask_there, dots_there, norms_there, NULL),
                     CERTREG_OK);
    expect(dots_there, dots, n * sizeof *dots), expect(norms_there, norms, n * sizeof *norms);
    gpu->ops->free(gpu, direction_there), gpu->ops->free(gpu, mask_there);
    free(direction), free(mask), free(dots), free(norms);
}

TEST_ROWS(directions_have_the_bits_of_the_cpu, shapes)
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

TEST_ROWS(walks_have_the_bits_of_the_cpu, shapes)
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
    const cr_walk on_cpu = {.first = shapes[_i].first,
                            .count = n,
                            .blocks = BLOCKS,
                            .weights = weights,
                            .mask = mask,
                            .room = room,
                            .lengths = want,
                            .dots = want + LENGTHS,
                            .norms = want + LENGTHS + n},
                  on_gpu = {.first = shapes[_i].first,
                            .count = n,
                            .blocks = BLOCKS,
                            .weights = weights_there,
                            .mask = mask_there,
                            .room = room_there,
                            .lengths = there,
                            .dots = there + LENGTHS,
                            .norms = there + LENGTHS + n};
    ck_assert_int_eq(cr_backend_walk(cpu, &noise, &on_cpu, NULL), CERTREG_OK);
    ck_assert_int_eq(cr_backend_walk(gpu, &noise, &on_gpu, NULL), CERTREG_OK);
    expect(there, want, results * sizeof *want);
    gpu->ops->free(gpu, weights_there), gpu->ops->free(gpu, mask_there),
        gpu->ops->free(gpu, room_there);
    free(weights), free(mask), free(want), free(room);
}

TEST_ROWS(blocks_are_replayed_as_if_they_came_one_by_one, shapes)
{
    const size_t d = shapes[_i].inputs, length = shapes[_i].count / BLOCKS, count = length * BLOCKS,
                 stride = count + 3;
    const cr_noise noise = noise_of(_i);
    float *weights = made_up_numbers(2 * stride, 3), *mask = made_up_mask(d);
    double *want = malloc(2 * BLOCKS * d * sizeof *want);
    certreg_backend *cpu = cr_backend_default();
    float *weights_there = over(weights, 2 * stride * sizeof *weights),
          *mask_there = over(mask, d * sizeof *mask);
    for (size_t f = 1; f <= 2; f++) {
        const cr_weighted all =
            weighted(shapes[_i].first, length, BLOCKS, f, weights_there, stride);
        for (size_t i = 0; i < f * BLOCKS * d; i++) want[i] = 0.1 * (double)i;
        double *sums = over(want, f * BLOCKS * d * sizeof *sums);
        for (size_t b = 0; b < BLOCKS; b++) {
            const cr_weighted one =
                weighted(shapes[_i].first + b * length, length, 1, f, weights + b * length, stride);
            ck_assert_int_eq(cpu->ops->replay(cpu, &noise, &one, NULL, want + b * f * d, NULL),
                             CERTREG_OK);
        }
        for (size_t i = 0; i < f * BLOCKS * d; i++) want[i] = mask[i % d] > 0 ? want[i] : 0;
        ck_assert_int_eq(gpu->ops->replay(gpu, &noise, &all, mask_there, sums, NULL), CERTREG_OK);
        expect(sums, want, f * BLOCKS * d * sizeof *want);
    }
    gpu->ops->free(gpu, weights_there), gpu->ops->free(gpu, mask_there);
    free(weights), free(mask), free(want);
}

static double later_than_due(void *of)
{
    (void)of;
    return 2;
}

TEST(late_work_ends_with_its_status)
{
    enum { INPUTS = 5, LENGTH = 4 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS};
    const float ones[BLOCKS * LENGTH] = {1, 1, 1, 1, 1};
    float *weights = over(ones, sizeof ones);
    double *sums = over(NULL, 2 * BLOCKS * INPUTS * sizeof *sums),
           *results = over(NULL, (2 * (BLOCKS + 1) + 2 * BLOCKS * LENGTH) * sizeof *results);
    const cr_weighted all = weighted(0, LENGTH, BLOCKS, 1, weights, 0);
    const cr_walk walk = {.count = BLOCKS * LENGTH,
                          .blocks = BLOCKS,
                          .weights = weights,
                          .mask = weights,
                          .room = sums,
                          .lengths = results,
                          .dots = results + 2 * (BLOCKS + 1),
                          .norms = results + 2 * (BLOCKS + 1) + BLOCKS * LENGTH};
    for (int late = 0; late < 2; late++) {
        const certreg_status wanted = late ? CERTREG_E_DEADLINE : CERTREG_OK;
        cr_watch watch = {.now = later_than_due, .due = late ? 1 : 3};
        ck_assert_int_eq(gpu->ops->replay(gpu, &noise, &all, NULL, sums, &watch), wanted);
        watch.late = 0;
        ck_assert_int_eq(cr_backend_walk(gpu, &noise, &walk, &watch), wanted);
    }
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
    gpu->ops->free(gpu, weights), gpu->ops->free(gpu, sums), gpu->ops->free(gpu, results);
}

TEST(memory_is_filled)
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

TEST(what_crosses_comes_back)
{
    const char said[] = "as it was", *at = said;
    char got[sizeof said] = "";
    char *there = over(said, sizeof said);
    expect(there, at, sizeof said);
    ck_assert_int_eq(gpu->ops->store(gpu, got, got, 0), CERTREG_OK); /* nothing is no failure */
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
}

TEST(every_operation_is_there)
{
    const cr_backend_ops *o = gpu->ops;
    ck_assert_uint_eq(o->api_version, CR_BACKEND_API);
    ck_assert(o->close && o->draw && o->replay && o->project && o->aim && o->gram);
    ck_assert(o->alloc && o->free && o->store && o->fetch && o->fill && o->wait && o->stream &&
              o->last_code);
    ck_assert(!o->draw_ahead == !o->join);
    const cr_pair_ops *p = o->pairs;
    ck_assert(!p || (p->tile && p->pairs && p->outer && p->take_identity && p->forms));
}

void contract_add_tests(TCase *to, certreg_backend *backend)
{
    gpu = backend;
    kit_add_tests(to);
    contract_add_products(to, backend);
}
