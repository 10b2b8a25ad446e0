/* Model files of others, for the evaluators of the examples: whatever the bytes say, a file is
 * refused with a reason or can be run. */
#include "engines/gradient.h"
#include "engines/plain.h"
#include "support/suite.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 4, INPUTS = SIDE * SIDE, COLUMNS = 2, ROWS = 9 };

/* ---- a model file, written field by field */
typedef struct message {
    unsigned char bytes[1 << 17];
    size_t size;
} message;

static void put(message *m, const void *bytes, size_t size)
{
    ck_assert_uint_le(m->size + size, sizeof m->bytes);
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void varint(message *m, uint64_t value)
{
    for (; value > 127; value >>= 7) put(m, &(unsigned char){(unsigned char)(value | 128)}, 1);
    put(m, &(unsigned char){(unsigned char)value}, 1);
}

static void integer(message *m, unsigned field, uint64_t value)
{
    varint(m, field << 3), varint(m, value);
}

static void run_of(message *m, unsigned field, const void *bytes, size_t size)
{
    varint(m, field << 3 | 2), varint(m, size), put(m, bytes, size);
}

static void words(message *m, unsigned field, const char *text)
{
    run_of(m, field, text, strlen(text));
}

static void tensor(message *graph, const char *name, uint64_t type, size_t rank,
                   const uint64_t *sizes, const void *data, size_t bytes)
{
    message t = {.size = 0};
    for (size_t i = 0; i < rank; i++) integer(&t, 1, sizes[i]);
    integer(&t, 2, type), words(&t, 8, name), run_of(&t, 9, data, bytes);
    run_of(graph, 5, t.bytes, t.size);
}

static void attribute(message *node, const char *name, int count, uint64_t value)
{
    message a = {.size = 0};
    words(&a, 1, name);
    for (int i = 0; i < count; i++) integer(&a, count == 1 ? 3 : 8, value);
    run_of(node, 5, a.bytes, a.size);
}

static message node(const char *operator, const char * from, const char *to, const char *weight,
                    const char *bias)
{
    message n = {.size = 0};
    words(&n, 1, from);
    if (weight) words(&n, 1, weight);
    if (bias) words(&n, 1, bias);
    words(&n, 2, to), words(&n, 4, operator);
    return n;
}

static void add(message *graph, const message *n)
{
    run_of(graph, 1, n->bytes, n->size);
}

typedef struct shape { /* of the file; zero: as it should be */
    uint64_t pad, kernel, stride, filters, height, width;
    uint64_t claimed; /* filters that the sizes of the weights speak of */
} shape;

/* An image, one convolution, ReLU, one dense layer. */
static message model_of(const shape *s)
{
    static float data[1 << 14];
    const uint64_t kernel = s->kernel ? s->kernel : 3, pad = s->pad ? s->pad : 1,
                   stride = s->stride ? s->stride : 1;
    const uint64_t filters = s->filters ? s->filters : 2,
                   claimed = s->claimed ? s->claimed : filters;
    const int64_t image[4] = {-1, 1, s->height ? (int64_t)s->height : SIDE,
                              s->width ? (int64_t)s->width : SIDE};
    message graph = {.size = 0}, model = {.size = 0}, n;
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = 0.01f * (float)(i % 17) - 0.05f;
    tensor(&graph, "s", 7, 1, (const uint64_t[]){4}, image, sizeof image);
    tensor(&graph, "w", 1, 4, (const uint64_t[]){claimed, 1, kernel, kernel}, data,
           filters * kernel * kernel * 4);
    tensor(&graph, "b", 1, 1, (const uint64_t[]){claimed}, data, filters * 4);
    const uint64_t side = (SIDE + 2 * pad - kernel) / stride + 1, wide = filters * side * side;
    tensor(&graph, "v", 1, 2, (const uint64_t[]){COLUMNS, wide}, data,
           COLUMNS * wide * 4 <= sizeof data ? COLUMNS * wide * 4 : 0);
    tensor(&graph, "c", 1, 1, (const uint64_t[]){COLUMNS}, data, COLUMNS * 4);
    n = node("Reshape", "x", "1", "s", NULL), add(&graph, &n);
    n = node("Conv", "1", "2", "w", "b");
    attribute(&n, "kernel_shape", 2, kernel), attribute(&n, "pads", 4, pad),
        attribute(&n, "strides", 2, stride);
    add(&graph, &n);
    n = node("Relu", "2", "3", NULL, NULL), add(&graph, &n);
    n = node("Flatten", "3", "4", NULL, NULL), add(&graph, &n);
    n = node("Gemm", "4", "y", "v", "c"), attribute(&n, "transB", 1, 1), add(&graph, &n);
    run_of(&model, 7, graph.bytes, graph.size);
    return model;
}

/* ---- both evaluators */
static char path[64];

static void set_up(void)
{
    strcpy(path, "/tmp/certreg_model_XXXXXX");
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
}

static void tear_down(void)
{
    unlink(path);
}

static void write_file(const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* Whether the file is a model. Then it runs; and else there is a reason. */
static int is_model(float *y)
{
    char why[ENGINE_WHY] = "", too[ENGINE_WHY] = "";
    float x[ROWS * INPUTS], dy[COLUMNS] = {1, -1}, dx[INPUTS] = {0};
    struct engine plain;
    struct gradient *gradient = NULL;
    for (size_t i = 0; i < ROWS * INPUTS; i++) x[i] = (float)(i % 7) - 3;
    const int refused = engine_open_plain(path, INPUTS, COLUMNS, 1, &plain, why),
              also = gradient_open(path, INPUTS, COLUMNS, &gradient, too);
    ck_assert_int_eq(refused, also);
    if (refused) {
        ck_assert_msg(why[0] && too[0] && !strstr(why, "memory"), "%s %s", why, too);
        return 0;
    }
    ck_assert_int_eq(plain.run(plain.self, x, y, ROWS), 0);
    gradient_forward(gradient, x, 1, y);
    gradient_backward(gradient, dy, dx);
    plain.close(plain.self);
    gradient_close(gradient);
    return 1;
}

static float outputs[ROWS * COLUMNS];

static int takes(const shape *s)
{
    const message m = model_of(s);
    write_file(m.bytes, m.size);
    return is_model(outputs);
}

/* ---- shapes */
START_TEST(models_as_they_should_be_are_run)
{
    const shape sound[] = {{0},
                           {.filters = 3, .stride = 2},
                           {.kernel = 5, .pad = 4},
                           {.kernel = 4, .pad = 3, .stride = 5},
                           {.kernel = 3, .pad = 2, .stride = 64}};
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        ck_assert_msg(takes(sound + i), "model %zu", i);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) ck_assert(isfinite(outputs[i]));
}
END_TEST

static const struct {
    const char *name;
    shape s;
} hostile[] = {
    {"padding as wide as the kernel", {.pad = 3}},
    {"padding wider than the kernel", {.kernel = 1, .pad = 1}},
    {"padding much wider than the kernel", {.kernel = 1, .pad = 8}},
    {"padding beyond any", {.pad = UINT64_MAX}},
    {"a stride beyond any", {.stride = UINT64_MAX - 1}},
    {"a kernel wider than the image", {.kernel = 8, .pad = 1}},
    {"a kernel that is a negative number",
     {.kernel = UINT64_MAX, .claimed = 1, .filters = 1, .pad = 1}},
    {"images of another size", {.height = 5}},
    {"images with a negative side", {.height = UINT64_MAX, .width = UINT64_MAX}},
    {"images too large", {.height = 4096, .width = 4096}},
    {"windows that take all memory", {.kernel = 64, .pad = 63, .filters = 1}},
    {"more weights than there are", {.claimed = 3}},
    {"sizes whose product wraps round", {.claimed = (uint64_t)1 << 62}},
    {"negative sizes", {.claimed = UINT64_MAX}},
};

START_TEST(models_that_do_not_fit_are_refused)
{
    ck_assert_msg(!takes(&hostile[_i].s), "%s", hostile[_i].name);
}
END_TEST

/* ---- damage */
static uint32_t state = 1;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

START_TEST(every_cut_of_a_model_is_refused)
{
    const message m = model_of(&(shape){0});
    for (size_t size = 0; size < m.size; size++) {
        write_file(m.bytes, size);
        ck_assert_msg(!is_model(outputs), "%zu of %zu bytes", size, m.size);
    }
}
END_TEST

START_TEST(every_changed_byte_is_refused_or_run)
{
    static const unsigned char changes[] = {0x01, 0x02, 0x04, 0x08, 0x10,
                                            0x20, 0x40, 0x80, 0x7f, 0xff};
    message m = model_of(&(shape){0});
    int run = 0;
    for (size_t i = 0; i < m.size; i++)
        for (size_t k = 0; k < sizeof changes; k++) {
            m.bytes[i] ^= changes[k];
            write_file(m.bytes, m.size);
            m.bytes[i] ^= changes[k];
            run += is_model(outputs);
        }
    ck_assert_int_gt(run, 0); /* weights may be any */
}
END_TEST

/* Bytes changed, pieces cut out and doubled, a few at a time. */
START_TEST(damaged_models_are_refused_or_run)
{
    const message m = model_of(&(shape){0});
    for (int round = 0; round < 3000; round++) {
        message changed = {.size = 0};
        put(&changed, m.bytes, m.size);
        for (uint32_t k = 1 + next_random() % 4; k > 0; k--) {
            const size_t at = next_random() % changed.size, span = 1 + next_random() % 12,
                         end = at + span < changed.size ? at + span : changed.size;
            const uint32_t how = next_random() % 4;
            if (how < 2) changed.bytes[at] = (unsigned char)next_random();
            else if (how == 2 && changed.size > 64)
                memmove(changed.bytes + at, changed.bytes + end, changed.size - end),
                    changed.size -= end - at;
            else if (changed.size + span < sizeof changed.bytes)
                memmove(changed.bytes + at + span, changed.bytes + at, changed.size - at),
                    changed.size += span;
        }
        write_file(changed.bytes, changed.size);
        is_model(outputs);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model files");
    TCase *typical = kit_case(suite, "typical", 60);
    TCase *bad = kit_case_with(suite, "bad_input", 120, set_up, tear_down);
    tcase_add_checked_fixture(typical, set_up, tear_down),
        tcase_add_test(typical, models_as_they_should_be_are_run);
    tcase_add_loop_test(bad, models_that_do_not_fit_are_refused, 0,
                        (int)(sizeof hostile / sizeof *hostile));
    tcase_add_test(bad, every_cut_of_a_model_is_refused);
    tcase_add_test(bad, every_changed_byte_is_refused_or_run);
    tcase_add_test(bad, damaged_models_are_refused_or_run);
    return kit_run(suite);
}
