/* Model files of others, for the evaluators of the examples: whatever the bytes say, a file is
 * refused with a reason or can be run. */
#include "engines/engine.h"
#include "support/suite.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 4, INPUTS = SIDE * SIDE, COLUMNS = 2, ROWS = 9 };

/* ---- a weight file, written number by number */
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

static void word(message *m, uint32_t value)
{
    const unsigned char b[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    put(m, b, sizeof b);
}

static void number(message *m, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits), word(m, bits);
}

typedef struct shape { /* of the file; zero: as it should be */
    const char *magic;
    uint32_t version, side, layers;
    uint32_t filters, kernel, stride, pad; /* of the convolution */
    uint32_t columns, cover;               /* of the dense layer: outputs, kernel */
    uint32_t more;                         /* numbers after the last */
    float first;                           /* weight */
} shape;

/* Side of the images after the convolution; any number if it does not fit. */
static uint32_t side_after(const shape *s)
{
    const uint32_t kernel = s->kernel ? s->kernel : 3, pad = s->pad ? s->pad : 1,
                   stride = s->stride ? s->stride : 1;
    return SIDE + 2 * pad >= kernel ? (SIDE + 2 * pad - kernel) / stride + 1 : 1;
}

static void put_sizes(message *m, const shape *s)
{
    put(m, s->magic ? s->magic : "certregw", 8);
    word(m, s->version ? s->version : 1), word(m, s->side ? s->side : SIDE);
    word(m, s->layers ? s->layers : 2);
    word(m, s->filters ? s->filters : 2), word(m, s->kernel ? s->kernel : 3);
    word(m, s->stride ? s->stride : 1), word(m, s->pad ? s->pad : 1);
    word(m, s->columns ? s->columns : COLUMNS), word(m, s->cover ? s->cover : side_after(s));
    word(m, 1), word(m, 0);
}

/* One convolution and one dense layer. Absurd sizes get as many weights as an ordinary file. */
static message model_of(const shape *s)
{
    message m = {.size = 0};
    const uint64_t kernel = s->kernel ? s->kernel : 3, filters = s->filters ? s->filters : 2,
                   cover = s->cover ? s->cover : side_after(s);
    const uint64_t wanted =
        filters * (kernel * kernel + 1) + COLUMNS * (filters * cover * cover + 1);
    const size_t count = (wanted < 1 << 14 ? (size_t)wanted : 100) + s->more;
    put_sizes(&m, s);
    for (size_t i = 0; i < count; i++)
        number(&m, i == 0 && s->first != 0 ? s->first : 0.01f * (float)(i % 17) - 0.05f);
    return m;
}

/* ---- the evaluator */
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
    const struct engine_options built_in = {.engine = "builtin"};
    float x[ROWS * INPUTS];
    struct engine plain;
    for (size_t i = 0; i < ROWS * INPUTS; i++) x[i] = (float)(i % 7) - 3;
    int refused = engine_open(path, &built_in, &plain);
    if (!refused && (refused = engine_fits(&plain, path, INPUTS, COLUMNS))) engine_close(&plain);
    if (refused) {
        ck_assert_msg(plain.why[0] && !strstr(plain.why, "memory"), "%s", plain.why);
        return 0;
    }
    ck_assert_int_eq(engine_run(&plain, x, y, ROWS), 0);
    engine_close(&plain);
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
TEST(models_as_they_should_be_are_run)
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

static const struct {
    const char *name;
    shape s;
} hostile[] = {
    {"another kind of file", {.magic = "certregx"}},
    {"a later version", {.version = 2}},
    {"padding as wide as the kernel", {.pad = 3}},
    {"padding wider than the kernel", {.kernel = 1, .pad = 1}},
    {"padding much wider than the kernel", {.kernel = 1, .pad = 8}},
    {"padding beyond any", {.pad = UINT32_MAX}},
    {"a stride beyond any", {.stride = UINT32_MAX - 1}},
    {"a kernel wider than the image", {.kernel = 8, .pad = 1}},
    {"a kernel beyond any", {.kernel = UINT32_MAX, .pad = UINT32_MAX - 1}},
    {"images of another size", {.side = 5}},
    {"images beyond any", {.side = UINT32_MAX}},
    {"images whose size wraps round", {.side = 1u << 31 | SIDE}},
    {"windows that take all memory", {.kernel = 64, .pad = 63, .filters = 1}},
    {"more weights than there are", {.filters = 4096}},
    {"more filters than any", {.filters = UINT32_MAX}},
    {"sizes whose product wraps round", {.filters = 1u << 31, .kernel = 1u << 31}},
    {"no outputs but one", {.columns = 1}},
    {"a dense layer that sees a part", {.cover = 1}},
    {"a dense layer that sees more than there is", {.cover = 5}},
    {"more layers than there are", {.layers = 3}},
    {"fewer layers than there are", {.layers = 1}},
    {"layers beyond any", {.layers = UINT32_MAX}},
    {"a number too many", {.more = 1}},
    {"a weight that is not a number", {.first = NAN}},
    {"an infinite weight", {.first = -INFINITY}},
};

TEST_TIMES(models_that_do_not_fit_are_refused, (int)(sizeof hostile / sizeof *hostile))
{
    ck_assert_msg(!takes(&hostile[_i].s), "%s", hostile[_i].name);
}

/* ---- damage */
static uint32_t state = 1;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

TEST(every_cut_of_a_model_is_refused)
{
    const message m = model_of(&(shape){0});
    for (size_t size = 0; size < m.size; size++) {
        write_file(m.bytes, size);
        ck_assert_msg(!is_model(outputs), "%zu of %zu bytes", size, m.size);
    }
}

TEST(every_changed_byte_is_refused_or_run)
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

/* Bytes changed, pieces cut out and doubled, a few at a time. */
TEST(damaged_models_are_refused_or_run)
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

FIXTURE(set_up, tear_down)
KIT_MAIN("model files")
