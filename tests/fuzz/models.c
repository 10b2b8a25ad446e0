/* Files that the examples read: ONNX and images. Whatever the bytes, they are refused with a
 * sentence, or what is read fits together. ONNX comes as it is or as fields within fields. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"
#include "demo/images.h"
#include "engines/adapter.h"
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

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

/* ---- images, of two files; in place of zlib, so that no archive is made */
typedef struct reader {
    const uint8_t *next;
    size_t left;
} reader;
static reader images_file, labels_file, opened;

gzFile gzopen(const char *name, const char *mode)
{
    (void)mode;
    opened = strstr(name, "images") ? images_file : labels_file;
    return opened.next ? (gzFile)&opened : NULL;
}

int gzread(gzFile gz, voidp out, unsigned size)
{
    reader *r = (reader *)gz;
    const unsigned count = r->left < size ? (unsigned)r->left : size;
    if (count) memcpy(out, r->next, count);
    r->next += count, r->left -= count;
    return (int)count;
}

int gzclose(gzFile gz)
{
    (void)gz;
    return 0;
}

static void put_big(uint32_t value)
{
    for (int i = 4; i--;) put_byte(value >> 8 * i & 0xff);
}

static void try_images(fuzz_bytes *b)
{
    const uint8_t odd = fuzz_byte(b), items = fuzz_byte(b) % 40, other = fuzz_byte(b);
    const uint32_t wrong = (uint32_t)fuzz_word(b);
    put_big(odd == 1 ? wrong : 0x803), put_big(odd == 2 ? wrong : items);
    put_big(odd == 3 ? wrong : 28), put_big(odd == 4 ? wrong : odd == 5 ? 784 : 28);
    const size_t lot = (size_t)items * DIGITS_PIXELS;
    for (size_t i = 0; i < lot && made_size < MOST_FILE; i++)
        made[made_size++] = (uint8_t)(i * other);
    images_file = (reader){odd == 6 ? NULL : made, odd == 7 ? wrong % (made_size + 1) : made_size};
    const size_t at = made_size;
    put_big(odd == 8 ? wrong : 0x801), put_big(odd == 9 ? wrong : items);
    for (size_t i = 0; i < items; i++) put_byte(fuzz_byte(b) % (odd < 128 ? 10u : 256u));
    labels_file = (reader){odd == 10 ? NULL : made + at, made_size - at};
    struct images images;
    char why[IMAGES_WHY] = "";
    const size_t count = fuzz_byte(b) % 4 + 1u;
    if (images_open("folder", count, &images, why)) {
        MUST(why[0] && !images.pixels, "no reason");
        return;
    }
    MUST(images.count == count, "%zu images", images.count);
    for (size_t i = 0; i < count * DIGITS_PIXELS; i++)
        MUST(images.pixels[i] >= 0 && images.pixels[i] <= 1, "pixel %g", (double)images.pixels[i]);
    for (size_t i = 0; i < count; i++)
        MUST(images.label[i] >= 0 && images.label[i] <= 9, "label %d", images.label[i]);
    images_close(&images);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    fuzz_bytes b = {bytes, size};
    const uint8_t kind = fuzz_byte(&b);
    made_size = 0;
    switch (kind % 4) {
    case 0: try_onnx(b.next, b.left, kind & 128 ? "y" : NULL); break;
    case 1:
        for (int i = 0; i < 6 && b.left; i++) put_field(&b, 4);
        try_onnx(made, made_size, NULL);
        break;
    default: try_images(&b); break;
    }
}
