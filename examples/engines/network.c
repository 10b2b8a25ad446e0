#include "network.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

/* Only damaged files have larger sizes. Within these limits no product below overflows. */
enum { MOST_SIZE = 4096, MOST_SIDE = 2048, MOST_BETWEEN = 1 << 22, MOST_NUMBERS = 1 << 28 };
enum { MAGIC = 8, VERSION = 1, WORD = 4 };

size_t network_inputs(const struct network *n)
{
    return layer_in(n->layer);
}

size_t network_columns(const struct network *n)
{
    return layer_out(n->layer + n->layers - 1);
}

size_t layer_in(const struct layer *l)
{
    return l->in_side * l->in_side * l->in_channels;
}

size_t layer_out(const struct layer *l)
{
    return l->side * l->side * l->channels;
}

size_t layer_windows(const struct layer *l)
{
    return l->side * l->side * l->window;
}

/* All functions below return NULL, or what is wrong. */
static const char *read_words(FILE *f, size_t count, uint32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char b[WORD];
        if (fread(b, 1, WORD, f) != WORD) return "the file is too short";
        out[i] = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    }
    return NULL;
}

/* Every window must have a pixel: with padding as wide as the kernel some have none. */
static const char *place_layer(const struct layer *before, const uint32_t word[4], struct layer *l)
{
    for (int i = 0; i < 4; i++)
        if (word[i] > MOST_SIZE) return "a layer is too large";
    *l = (struct layer){.in_channels = before->channels,
                        .in_side = before->side,
                        .channels = word[0],
                        .kernel = word[1],
                        .stride = word[2],
                        .padding = word[3]};
    const size_t wide = l->in_side + 2 * l->padding;
    if (l->channels == 0 || l->stride == 0 || l->padding >= l->kernel || l->kernel > wide)
        return "a layer does not fit the one before it";
    l->side = (wide - l->kernel) / l->stride + 1;
    l->window = l->kernel * l->kernel * l->in_channels;
    const size_t most = l->channels > l->window ? l->channels : l->window;
    return l->side * l->side > MOST_BETWEEN / most ? "a layer is too large" : NULL;
}

/* The sizes of all layers; they follow from one another. */
static const char *read_sizes(FILE *f, struct network *n)
{
    char magic[MAGIC];
    uint32_t head[3], word[4];
    if (fread(magic, 1, MAGIC, f) != MAGIC || memcmp(magic, "certregw", MAGIC) != 0)
        return "this is not a weight file";
    const char *wrong = read_words(f, 3, head);
    if (wrong != NULL) return wrong;
    if (head[0] != VERSION) return "the version of this weight file is not known";
    if (head[1] == 0 || head[1] > MOST_SIDE || head[2] == 0 || head[2] > NETWORK_LAYERS)
        return "the images are empty or too large, or there are no layers or too many";
    struct layer last = {.channels = 1, .side = head[1]};
    for (; n->layers < head[2] && wrong == NULL; last = n->layer[n->layers++]) {
        wrong = read_words(f, 4, word);
        if (wrong == NULL) wrong = place_layer(&last, word, &n->layer[n->layers]);
    }
    return wrong;
}

static size_t count_numbers(const struct network *n)
{
    size_t count = 0;
    for (size_t i = 0; i < n->layers; i++) count += n->layer[i].channels * (n->layer[i].window + 1);
    return count;
}

/* Checked first, so that no memory is allocated for weights that the file does not have. */
static int has_numbers(FILE *f, size_t count)
{
    const long here = ftell(f);
    if (here < 0 || count > MOST_NUMBERS || fseek(f, 0, SEEK_END) != 0) return 0;
    return ftell(f) - here == (long)(count * WORD) && fseek(f, here, SEEK_SET) == 0;
}

static const char *read_numbers(FILE *f, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        const char *wrong = read_words(f, 1, &word);
        if (wrong != NULL) return wrong;
        memcpy(&out[i], &word, sizeof word);
        if (!isfinite(out[i])) return "a weight is not a finite number";
    }
    return NULL;
}

static const char *read_network(FILE *f, struct network *n)
{
    const char *wrong = read_sizes(f, n);
    if (wrong != NULL) return wrong;
    const size_t count = count_numbers(n);
    if (!has_numbers(f, count)) return "the file is shorter or longer than its layers need";
    n->numbers = malloc(count * sizeof *n->numbers);
    if (n->numbers == NULL) return "no memory for the weights";
    float *at = n->numbers;
    for (struct layer *l = n->layer; l < n->layer + n->layers; l++) {
        l->weight = at;
        l->bias = at += l->channels * l->window;
        at += l->channels;
    }
    return read_numbers(f, count, n->numbers);
}

/* NAME.weights for NAME.onnx; other names as they are. */
static int weight_path(const char *model, char *path, size_t room)
{
    const char *ending = strrchr(model, '.');
    const int onnx = ending != NULL && strcmp(ending, ".onnx") == 0;
    const int kept = (int)(onnx ? ending - model : (long)strlen(model));
    return snprintf(path, room, "%.*s%s", kept, model, onnx ? ".weights" : "") >= (int)room;
}

int network_read(const char *model, struct network *out, char *why)
{
    char path[4096];
    FILE *f = NULL;
    *out = (struct network){0};
    if (weight_path(model, path, sizeof path)) errno = ENAMETOOLONG;
    else f = fopen(path, "rb");
    const char *wrong = f == NULL ? strerror(errno) : read_network(f, out);
    if (f != NULL) fclose(f);
    if (wrong == NULL) return 0;
    network_free(out);
    return engine_fail(why, "%.400s: %s", path, wrong);
}

void network_free(struct network *n)
{
    free(n->numbers);
    *n = (struct network){0};
}
