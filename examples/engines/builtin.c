/* The built-in engine, for machines without ONNX Runtime: it evaluates the networks that network.h
 * reads, with OpenBLAS, whose number of threads it sets to 1 for the whole process. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "network.h"

/* Rows go through the whole network a few at a time, so that all values between two layers stay in
 * cache. Between layers the channels of a pixel are adjacent: then a convolution window is a few
 * contiguous runs, and a layer is one product of [pixels][window] by [window][channels]. */
enum { CHUNK = 8 };

struct builtin {
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
static void convolve(struct builtin *p, const struct layer *l, size_t images)
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
static void run_layer(struct builtin *p, size_t layer, size_t images)
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

static int run(void *self, const certreg_batch *b, char *why)
{
    struct builtin *p = self;
    (void)why;
    for (size_t first = 0; first < b->rows; first += CHUNK) {
        const size_t count = b->rows - first < CHUNK ? b->rows - first : CHUNK;
        memcpy(p->from, b->x + first * b->inputs, count * b->inputs * sizeof *b->x);
        for (size_t i = 0; i < p->network.layers; i++) run_layer(p, i, count);
        memcpy(b->y + first * b->columns, p->from, count * b->columns * sizeof *b->y);
    }
    return 0;
}

static void close_builtin(void *self)
{
    struct builtin *p = self;
    network_free(&p->network);
    free(p->window);
    free(p->from);
    free(p->to);
    free(p);
}

/* The work space is sized by the largest layer. */
static int prepare(struct builtin *p)
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

/* The input is a grey image, and the output is called "y", as in the ONNX file; options may say so.
 */
static int check_shape(const struct builtin *p, const struct engine_options *options,
                       struct engine *out)
{
    const int64_t side = (int64_t)p->network.layer[0].in_side;
    struct tensor input = {"x", TENSOR_FLOAT, 2, {-1, side * side}};
    const char *const output = "y";
    out->columns = network_columns(&p->network);
    return tensor_choose(options, &output, 1, out->why) < 0 || tensor_input(options, &input, out);
}

int engine_open_builtin(const char *model, const struct engine_options *options, struct engine *out)
{
    struct builtin *p = calloc(1, sizeof *p);
    if (p == NULL) return engine_fail(out->why, "no memory for the built-in engine");
    if (network_read(model, &p->network, out->why) || check_shape(p, options, out) ||
        (prepare(p) && engine_fail(out->why, "no memory for the built-in engine"))) {
        close_builtin(p);
        return ENGINE_FAILED;
    }
    openblas_set_num_threads(1);
    out->self = p;
    out->run = run;
    out->close = close_builtin;
    strcpy(out->name, "the built-in engine (OpenBLAS)");
    return 0;
}
