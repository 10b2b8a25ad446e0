#include "plain.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

/* Rows go through the whole network a few at a time, so that all values between two layers stay in
 * cache. Between layers the channels of a pixel are adjacent: then a convolution window is a few
 * contiguous runs, and a layer is one product of [pixels][window] by [window][channels]. */
enum { CHUNK = 8 };

struct plain {
    struct network network;
    float *window, *from, *to; /* work space */
};

/* The part of a window's row of pixels that lies inside the image is copied, the rest is zero. */
static void copy_run(const float *row, const struct layer *l, size_t left, float *run)
{
    const size_t channels = l->in_channels, before = left < l->padding ? l->padding - left : 0,
                 start = left + before - l->padding, room = l->kernel - before,
                 count = start + room <= l->in_side ? room : l->in_side - start;
    memset(run, 0, before * channels * sizeof *run);
    memcpy(run + before * channels, row + start * channels, count * channels * sizeof *run);
    memset(run + (before + count) * channels, 0, (room - count) * channels * sizeof *run);
}

/* Copies all windows of one image, one to a row. Positions count from the padded corner. */
static void copy_windows(const float *image, const struct layer *l, float *window)
{
    const size_t run = l->kernel * l->in_channels;
    for (size_t at = 0; at < l->side * l->side; at++)
        for (size_t k = 0; k < l->kernel; k++, window += run) {
            const size_t row = at / l->side * l->stride + k, left = at % l->side * l->stride;
            if (row >= l->padding && row < l->in_side + l->padding)
                copy_run(image + (row - l->padding) * l->in_side * l->in_channels, l, left, window);
            else memset(window, 0, run * sizeof *window);
        }
}

/* to = windows of from * weight' + bias. */
static void convolve(struct plain *p, const struct layer *l, size_t images)
{
    const size_t rows = images * l->side * l->side;
    for (size_t i = 0; i < images; i++)
        copy_windows(p->from + i * layer_in(l), l, p->window + i * layer_windows(l));
    for (size_t r = 0; r < rows; r++)
        memcpy(p->to + r * l->channels, l->bias, l->channels * sizeof *p->to);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)l->channels,
                (int)l->window, 1.0f, p->window, (int)l->window, l->weight, (int)l->window, 1.0f,
                p->to, (int)l->channels);
}

/* Computes a layer. Its outputs are then in p->from. */
static void run_layer(struct plain *p, size_t layer, size_t images)
{
    const struct layer *l = &p->network.layer[layer];
    convolve(p, l, images);
    if (layer + 1 < p->network.layers)
        for (size_t i = 0; i < images * layer_out(l); i++)
            p->to[i] = p->to[i] > 0.0f ? p->to[i] : 0.0f;
    float *swap = p->from;
    p->from = p->to;
    p->to = swap;
}

static int run(void *self, const float *x, float *y, size_t rows)
{
    struct plain *p = self;
    const struct network *n = &p->network;
    const size_t inputs = layer_in(n->layer), columns = layer_out(n->layer + n->layers - 1);
    for (size_t first = 0; first < rows; first += CHUNK) {
        const size_t count = rows - first < CHUNK ? rows - first : CHUNK;
        memcpy(p->from, x + first * inputs, count * inputs * sizeof *x);
        for (size_t i = 0; i < n->layers; i++) run_layer(p, i, count);
        memcpy(y + first * columns, p->from, count * columns * sizeof *y);
    }
    return 0;
}

static void close_plain(void *self)
{
    struct plain *p = self;
    if (p == NULL) return;
    network_free(&p->network);
    free(p->window);
    free(p->from);
    free(p->to);
    free(p);
}

/* The work space is sized by the largest layer. */
static int prepare(struct plain *p)
{
    size_t most = layer_in(p->network.layer), window = 0;
    for (size_t i = 0; i < p->network.layers; i++) {
        const struct layer *l = &p->network.layer[i];
        most = layer_out(l) > most ? layer_out(l) : most;
        window = layer_windows(l) > window ? layer_windows(l) : window;
    }
    p->window = malloc(CHUNK * window * sizeof *p->window);
    p->from = malloc(CHUNK * most * sizeof *p->from);
    p->to = malloc(CHUNK * most * sizeof *p->to);
    return p->window == NULL || p->from == NULL || p->to == NULL;
}

static int no_memory(char *why)
{
    snprintf(why, ENGINE_WHY, "no memory for the built-in engine");
    return 1;
}

int engine_open_plain(const char *model, size_t inputs, size_t columns, struct engine *out,
                      char *why)
{
    *out = (struct engine){0};
    struct plain *p = calloc(1, sizeof *p);
    if (p == NULL) return no_memory(why);
    if (network_read(model, inputs, columns, &p->network, why) || (prepare(p) && no_memory(why))) {
        close_plain(p);
        return 1;
    }
    openblas_set_num_threads(1);
    *out = (struct engine){run, close_plain, p, "the built-in engine (OpenBLAS)"};
    return 0;
}
