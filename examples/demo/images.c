#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SEED = 42, CLASSES = 10, MOST_ITEMS = 100000 };
static const double pi = 3.14159265358979323846;

struct idx { /* one IDX file of bytes */
    size_t items, size;
    unsigned char *data;
};

static unsigned long big_endian(const unsigned char *b)
{
    return (unsigned long)b[0] << 24 | (unsigned long)b[1] << 16 | (unsigned long)b[2] << 8 | b[3];
}

/* gzopen reads plain files too. The header: 0, 0, 8 (bytes), rank, then each dimension. */
static int read_idx(const char *path, unsigned rank, struct idx *out, char *why)
{
    unsigned char head[16];
    gzFile file = gzopen(path, "rb");
    int bad = 1;
    *out = (struct idx){.size = 1};
    snprintf(why, IMAGES_WHY, "%s is missing or is not an IDX file of bytes", path);
    if (file == NULL) return 1;
    const unsigned length = 4 + 4 * rank;
    if (gzread(file, head, length) == (int)length && big_endian(head) == 0x800u + rank) {
        out->items = big_endian(head + 4);
        for (unsigned i = 1; i < rank; i++) out->size *= big_endian(head + 4 + 4 * i);
        if (out->items > 0 && out->items <= MOST_ITEMS &&
            out->size == (rank == 1 ? 1 : DIGITS_PIXELS))
            out->data = malloc(out->items * out->size);
        const unsigned bytes = (unsigned)(out->items * out->size);
        bad = out->data == NULL || gzread(file, out->data, bytes) != (int)bytes;
    }
    gzclose(file);
    return bad;
}

static int read_either(const char *folder, const char *name, unsigned rank, struct idx *out,
                       char *why)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (read_idx(path, rank, out, why) == 0) return 0;
    free(out->data);
    snprintf(path, sizeof path, "%s/%s.gz", folder, name);
    return read_idx(path, rank, out, why);
}

/* A random item of the class that was not taken before. A taken item gets the label 255. */
static int pick(struct idx *labels, int class, uint64_t *state, size_t *item)
{
    size_t left = 0;
    for (size_t i = 0; i < labels->items; i++) left += labels->data[i] == class;
    if (left == 0) return 1;
    size_t skip = (size_t)(digits_uniform(state) * (double)left);
    for (*item = 0; labels->data[*item] != class || skip > 0; ++*item)
        skip -= labels->data[*item] == class;
    labels->data[*item] = 255;
    return 0;
}

static void turn(struct images *im, size_t i, const float *upright, uint64_t *state)
{
    im->degrees[i] = -180.0 + 360.0 * digits_uniform(state);
    digits_turn(upright, im->degrees[i] * pi / 180.0, im->pixels + i * DIGITS_PIXELS);
}

static int choose(struct images *im, const struct idx *pixels, struct idx *labels, char *why)
{
    uint64_t state = SEED;
    float upright[DIGITS_PIXELS];
    for (size_t i = 0; i < im->count; i++) {
        size_t item;
        im->label[i] = (int)(i % CLASSES);
        if (pick(labels, im->label[i], &state, &item)) {
            snprintf(why, IMAGES_WHY, "there are too few images of digit %d", im->label[i]);
            return 1;
        }
        for (size_t p = 0; p < DIGITS_PIXELS; p++)
            upright[p] = (float)pixels->data[item * DIGITS_PIXELS + p] / 255.0f;
        turn(im, i, upright, &state);
    }
    return 0;
}

static int from_folder(struct images *im, const char *folder, char *why)
{
    struct idx pixels = {0}, labels = {0};
    int bad = read_either(folder, "t10k-images-idx3-ubyte", 3, &pixels, why) ||
              read_either(folder, "t10k-labels-idx1-ubyte", 1, &labels, why);
    if (!bad && pixels.items != labels.items) {
        snprintf(why, IMAGES_WHY, "%s: the numbers of images and labels differ", folder);
        bad = 1;
    }
    bad = bad || choose(im, &pixels, &labels, why);
    free(pixels.data);
    free(labels.data);
    im->source = "MNIST test images";
    return bad;
}

static void from_strokes(struct images *im)
{
    uint64_t state = SEED;
    float upright[DIGITS_PIXELS];
    for (size_t i = 0; i < im->count; i++) {
        im->label[i] = (int)(i % CLASSES);
        digits_draw(im->label[i], SEED + i, upright);
        turn(im, i, upright, &state);
    }
    im->source = "drawn digits";
}

int images_open(const char *folder, size_t count, struct images *im, char *why)
{
    *im = (struct images){.count = count};
    im->pixels = malloc(count * DIGITS_PIXELS * sizeof *im->pixels);
    im->label = malloc(count * sizeof *im->label);
    im->degrees = malloc(count * sizeof *im->degrees);
    if (im->pixels == NULL || im->label == NULL || im->degrees == NULL) {
        snprintf(why, IMAGES_WHY, "no memory for %zu images", count);
        images_close(im);
        return 1;
    }
    if (folder == NULL) from_strokes(im);
    else if (from_folder(im, folder, why)) {
        images_close(im);
        return 1;
    }
    return 0;
}

void images_close(struct images *im)
{
    free(im->pixels);
    free(im->label);
    free(im->degrees);
    *im = (struct images){0};
}
