#include "plain.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_chain.h"

/* Rows go through the whole chain a few at a time, so that all values between two layers stay in
 * cache. Between layers the channels of a pixel are adjacent: then a convolution window is a few
 * contiguous runs, and a layer is one product of [pixels][window] by [window][out]. The weights are
 * rearranged once, when the engine opens. */
enum { CHUNK = 8 };

struct image {
    size_t channels, height, width;
};

struct plain {
    struct chain chain;
    size_t inputs, columns;
    float *window, *from, *to; /* work space */
};

static struct image after(const struct chain_layer *l, struct image in)
{
    const struct image dense = {l->out, 1, 1};
    const struct image image = {l->out, (in.height + 2 * l->pad - l->kernel) / l->stride + 1,
                                (in.width + 2 * l->pad - l->kernel) / l->stride + 1};
    return l->kernel == 0 ? dense : image;
}

static size_t size_of(struct image i)
{
    return i.channels * i.height * i.width;
}

/* From [outer][channel][position] to [outer][position][channel]. */
static int channels_last(float *values, size_t outer, size_t channels, size_t positions)
{
    const size_t count = channels * positions;
    float *copy = malloc(count * sizeof *copy);
    if (copy == NULL) return 1;
    for (size_t o = 0; o < outer; o++) {
        memcpy(copy, values + o * count, count * sizeof *copy);
        for (size_t c = 0; c < channels; c++)
            for (size_t p = 0; p < positions; p++)
                values[o * count + p * channels + c] = copy[c * positions + p];
    }
    free(copy);
    return 0;
}

/* The part of a window's row of pixels that lies inside the image is copied, the rest is zero. */
static void copy_run(const float *row, size_t width, size_t channels, size_t left,
                     const struct chain_layer *l, float *run)
{
    const size_t before = left < l->pad ? l->pad - left : 0, start = left + before - l->pad;
    const size_t room = l->kernel - before, count = start + room <= width ? room : width - start;
    memset(run, 0, before * channels * sizeof *run);
    memcpy(run + before * channels, row + start * channels, count * channels * sizeof *run);
    memset(run + (before + count) * channels, 0,
           (l->kernel - before - count) * channels * sizeof *run);
}

/* All windows of one image, one to a row. `left`, `top` count from the padded corner. */
static void windows(const float *image, struct image in, struct image out,
                    const struct chain_layer *l, float *window)
{
    const size_t run = l->kernel * in.channels;
    for (size_t y = 0; y < out.height; y++)
        for (size_t x = 0; x < out.width; x++)
            for (size_t k = 0; k < l->kernel; k++, window += run) {
                const size_t row = y * l->stride + k;
                if (row >= l->pad && row < in.height + l->pad)
                    copy_run(image + (row - l->pad) * in.width * in.channels, in.width, in.channels,
                             x * l->stride, l, window);
                else memset(window, 0, run * sizeof *window);
            }
}

/* to = from * weight' + bias, then perhaps max(0, .). */
static void product(const struct chain_layer *l, const float *from, size_t rows, size_t inner,
                    float *to)
{
    for (size_t r = 0; r < rows; r++) memcpy(to + r * l->out, l->bias, l->out * sizeof *to);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)l->out, (int)inner, 1.0f,
                from, (int)inner, l->weight, (int)inner, 1.0f, to, (int)l->out);
    if (l->relu)
        for (size_t i = 0; i < rows * l->out; i++) to[i] = to[i] > 0.0f ? to[i] : 0.0f;
}

static struct image layer(struct plain *p, const struct chain_layer *l, struct image in,
                          size_t rows)
{
    const struct image out = after(l, in);
    if (l->kernel == 0) {
        product(l, p->from, rows, l->in, p->to);
    } else {
        const size_t positions = out.height * out.width, inner = l->in * l->kernel * l->kernel;
        for (size_t r = 0; r < rows; r++)
            windows(p->from + r * size_of(in), in, out, l, p->window + r * positions * inner);
        product(l, p->window, rows * positions, inner, p->to);
    }
    float *swap = p->from;
    p->from = p->to;
    p->to = swap;
    return out;
}

static int run(void *self, const float *x, float *y, size_t rows)
{
    struct plain *p = self;
    for (size_t first = 0; first < rows; first += CHUNK) {
        const size_t count = rows - first < CHUNK ? rows - first : CHUNK;
        struct image image = {p->chain.channels, p->chain.height, p->chain.width};
        memcpy(p->from, x + first * p->inputs, count * p->inputs * sizeof *x);
        for (size_t i = 0; i < p->chain.layers; i++)
            image = layer(p, &p->chain.layer[i], image, count);
        memcpy(y + first * p->columns, p->from, count * p->columns * sizeof *y);
    }
    return 0;
}

static void close_plain(void *self)
{
    struct plain *p = self;
    if (p == NULL) return;
    chain_free(&p->chain);
    free(p->window);
    free(p->from);
    free(p->to);
    free(p);
}

/* Rearranges the weights, and sizes the work space by the largest layer. */
static int prepare(struct plain *p)
{
    struct image in = {p->chain.channels, p->chain.height, p->chain.width};
    size_t most = size_of(in), window = 1;
    int bad = 0;
    for (size_t i = 0; i < p->chain.layers && !bad; i++) {
        const struct chain_layer *l = &p->chain.layer[i];
        const struct image out = after(l, in);
        const size_t square = l->kernel * l->kernel,
                     needed = out.height * out.width * l->in * square;
        bad = channels_last(l->weight, l->out, in.channels,
                            l->kernel > 0 ? square : in.height * in.width);
        most = size_of(out) > most ? size_of(out) : most;
        window = needed > window ? needed : window;
        in = out;
    }
    p->window = malloc(CHUNK * window * sizeof *p->window);
    p->from = malloc(CHUNK * most * sizeof *p->from);
    p->to = malloc(CHUNK * most * sizeof *p->to);
    return bad || p->window == NULL || p->from == NULL || p->to == NULL;
}

static int check_shape(const struct plain *p, char *why)
{
    const struct chain *c = &p->chain;
    const struct image in = {c->channels, c->height, c->width};
    if (in.channels == 1 && size_of(in) == p->inputs && c->layer[c->layers - 1].kernel == 0 &&
        c->layer[c->layers - 1].out == p->columns)
        return 0;
    snprintf(why, ENGINE_WHY, "the model is not one from %zu grey pixels to %zu numbers", p->inputs,
             p->columns);
    return 1;
}

int engine_open_plain(const char *model, size_t inputs, size_t columns, int threads,
                      struct engine *out, char *why)
{
    memset(out, 0, sizeof *out);
    struct plain *p = calloc(1, sizeof *p);
    if (p == NULL) {
        snprintf(why, ENGINE_WHY, "no memory for the built-in engine");
        return 1;
    }
    p->inputs = inputs;
    p->columns = columns;
    int bad = chain_read(model, &p->chain, why) || check_shape(p, why);
    if (!bad && (bad = prepare(p)) != 0)
        snprintf(why, ENGINE_WHY, "no memory for the built-in engine");
    if (bad) {
        close_plain(p);
        return 1;
    }
    openblas_set_num_threads(threads > 0 ? threads : 1);
    *out = (struct engine){run, close_plain, p, "built-in (OpenBLAS)"};
    return 0;
}
