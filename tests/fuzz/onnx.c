/* The ONNX files that the examples read: whatever the bytes, they are refused with a sentence, or
 * what is read fits together. They come as they are or as fields within fields. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"
#include "engines/adapter.h"
#include <sys/mman.h>
#include <unistd.h>

const size_t fuzz_most_bytes = 1024;

enum { MOST_FILE = 1 << 16 };

static int file;
static char path[64];
static uint8_t made[MOST_FILE];
static size_t made_size;

void fuzz_prepare(void)
{
    file = memfd_create("fuzz", 0);
    MUST(file >= 0, "no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

static void write_file(const uint8_t *bytes, size_t size)
{
    MUST(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size, "no room");
}

static void put_byte(unsigned value)
{
    if (made_size < MOST_FILE) made[made_size++] = (uint8_t)value;
}

/* ---- ONNX: a field of the graph after the other; lengths are mostly right */
static void put_varint(uint64_t value)
{
    for (; value > 127; value >>= 7) put_byte((unsigned)(value & 127) | 128);
    put_byte((unsigned)value);
}

static void put_field(fuzz_bytes *b, int depth)
{
    static const uint8_t numbers[] = {7, 5, 11, 12, 8, 14, 1, 2, 3, 15};
    const uint8_t kind = fuzz_byte(b), number = numbers[fuzz_byte(b) % sizeof numbers];
    const unsigned type = kind % 8 < 5 ? 2 : kind % 8 == 5 ? 0 : kind / 8 % 8;
    put_varint((uint64_t)number << 3 | type);
    if (type == 0) put_varint(kind < 200 ? fuzz_byte(b) : fuzz_word(b));
    if (type != 2) return;
    const size_t at = made_size;
    put_byte(0); /* the length, of one or two bytes */
    put_byte(0);
    for (unsigned count = fuzz_byte(b) % 5; depth && count; count--) put_field(b, depth - 1);
    if (!depth || fuzz_byte(b) < 64)
        for (unsigned count = fuzz_byte(b) % 9; count; count--) put_byte(fuzz_byte(b));
    const size_t length = made_size - at - 2 + (kind == 255) - (kind == 254);
    if (at + 1 < MOST_FILE)
        made[at] = (uint8_t)((length & 127) | 128), made[at + 1] = (uint8_t)(length >> 7 & 127);
}

static void try_onnx(const uint8_t *bytes, size_t size, const char *output)
{
    const struct engine_options options = {.output = output};
    struct tensor input, out;
    struct engine engine = {.device = -1};
    char why[ENGINE_WHY] = "", text[TENSOR_TEXT];
    write_file(bytes, size);
    if (onnx_read(path, &options, &input, &out, why)) {
        MUST(why[0], "no reason");
        return;
    }
    MUST(input.rank >= -1 && input.rank <= TENSOR_RANK, "rank %d", input.rank);
    MUST(out.rank >= -1 && out.rank <= TENSOR_RANK, "rank %d", out.rank);
    MUST(strlen(input.name) < TENSOR_NAME && strlen(tensor_text(&input, text)) < TENSOR_TEXT,
         "name");
    if (tensor_input(&options, &input, &engine)) MUST(engine.why[0], "no reason");
    else if (tensor_output(&out, &engine)) MUST(engine.why[0], "no reason");
    else MUST(engine.inputs > 0, "no inputs");
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    fuzz_bytes b = {bytes, size};
    const uint8_t kind = fuzz_byte(&b);
    made_size = 0;
    if (kind % 2 == 0) {
        try_onnx(b.next, b.left, kind & 128 ? "y" : NULL);
        return;
    }
    for (int i = 0; i < 6 && b.left; i++) put_field(&b, 4);
    try_onnx(made, made_size, NULL);
}
