#include "gradient.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "network.h"

/* Between layers the channels of a pixel are adjacent. A layer copies the pixels under each window
 * into a row, and then is one matrix product. Its derivative is a product with the transposed
 * weights, whose rows are added back to the pixels. */
struct step {
    const struct layer *layer;
    size_t windows, taps; /* windows of an image, pixels of a window */
    long *pixel;          /* [windows][taps]: index in the input image, -1 in the padding */
};

struct gradient {
    struct network network;
    struct step step[NETWORK_LAYERS];
    float *value[NETWORK_LAYERS + 1]; /* before the first and after each layer */
    float *window, *from, *to;        /* work space */
    size_t rows;                      /* of the last forward */
};

/* ---- opening */
/* Where each window's pixels are. */
static int place_windows(struct step *s, const struct layer *l)
{
    const long side = (long)l->in_side;
    *s = (struct step){l, l->side * l->side, l->kernel * l->kernel, NULL};
    s->pixel = malloc(s->windows * s->taps * sizeof *s->pixel);
    for (size_t i = 0; s->pixel != NULL && i < s->windows * s->taps; i++) {
        const size_t window = i / s->taps, tap = i % s->taps,
                     row = window / l->side * l->stride + tap / l->kernel,
                     column = window % l->side * l->stride + tap % l->kernel;
        const long y = (long)row - (long)l->padding, x = (long)column - (long)l->padding;
        s->pixel[i] = y >= 0 && y < side && x >= 0 && x < side ? y * side + x : -1;
    }
    return s->pixel == NULL;
}

static float *rows_of(size_t numbers)
{
    return malloc(GRADIENT_ROWS * numbers * sizeof(float));
}

static int prepare(struct gradient *g)
{
    const struct network *n = &g->network;
    size_t most = layer_in(n->layer), window = 0;
    int bad = (g->value[0] = rows_of(most)) == NULL;
    for (size_t i = 0; i < n->layers && !bad; i++) {
        const struct layer *l = &n->layer[i];
        bad = place_windows(&g->step[i], l) || (g->value[i + 1] = rows_of(layer_out(l))) == NULL;
        most = layer_out(l) > most ? layer_out(l) : most;
        window = layer_windows(l) > window ? layer_windows(l) : window;
    }
    g->window = rows_of(window);
    g->from = rows_of(most);
    g->to = rows_of(most);
    return bad || g->window == NULL || g->from == NULL || g->to == NULL;
}

static int open_network(const char *model, size_t inputs, size_t columns, struct gradient *g,
                        char *why)
{
    const struct network *n = &g->network;
    if (network_read(model, &g->network, why)) return 1;
    if (network_inputs(n) != inputs || network_columns(n) != columns)
        return engine_fail(why, "%.300s turns %zu numbers into %zu, not %zu into %zu", model,
                           network_inputs(n), network_columns(n), inputs, columns);
    return prepare(g) && engine_fail(why, "no memory for gradients");
}

int gradient_open(const char *model, size_t inputs, size_t columns, struct gradient **out,
                  char *why)
{
    struct gradient *g = *out = calloc(1, sizeof *g);
    if (g == NULL) return engine_fail(why, "no memory for gradients");
    if (open_network(model, inputs, columns, g, why)) {
        gradient_close(g);
        *out = NULL;
    }
    return *out == NULL;
}

void gradient_close(struct gradient *g)
{
    if (g == NULL) return;
    for (size_t i = 0; i < NETWORK_LAYERS; i++) {
        free(g->step[i].pixel);
        free(g->value[i + 1]);
    }
    free(g->value[0]);
    free(g->window);
    free(g->from);
    free(g->to);
    network_free(&g->network);
    free(g);
}

/* ---- forward */
static void gather(const struct step *s, const float *image, float *window)
{
    const size_t c = s->layer->in_channels;
    for (size_t i = 0; i < s->windows * s->taps; i++, window += c)
        if (s->pixel[i] >= 0) memcpy(window, image + (size_t)s->pixel[i] * c, c * sizeof *window);
        else memset(window, 0, c * sizeof *window);
}

static void forward(struct gradient *g, size_t layer, const float *from, float *to)
{
    const struct step *s = &g->step[layer];
    const struct layer *l = s->layer;
    const size_t rows = g->rows * s->windows, count = rows * l->channels;
    for (size_t r = 0; r < g->rows; r++)
        gather(s, from + r * layer_in(l), g->window + r * layer_windows(l));
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * l->channels, l->bias, l->channels * sizeof *to);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)l->channels,
                (int)l->window, 1.0f, g->window, (int)l->window, l->weight, (int)l->window, 1.0f,
                to, (int)l->channels);
    if (layer + 1 < g->network.layers)
        for (size_t i = 0; i < count; i++) to[i] = to[i] > 0.0f ? to[i] : 0.0f;
}

void gradient_forward(struct gradient *g, const float *x, size_t rows, float *y)
{
    const size_t layers = g->network.layers;
    g->rows = rows;
    memcpy(g->value[0], x, rows * layer_in(g->network.layer) * sizeof *x);
    for (size_t i = 0; i < layers; i++) forward(g, i, g->value[i], g->value[i + 1]);
    memcpy(y, g->value[layers], rows * layer_out(&g->network.layer[layers - 1]) * sizeof *y);
}

/* ---- backward */
static void scatter(const struct step *s, const float *window, float *image)
{
    const size_t c = s->layer->in_channels;
    for (size_t i = 0; i < s->windows * s->taps; i++, window += c)
        if (s->pixel[i] >= 0)
            for (size_t k = 0; k < c; k++) image[(size_t)s->pixel[i] * c + k] += window[k];
}

/* from: derivatives with respect to the layer's sums, before its ReLU; to: its input. */
static void backward(struct gradient *g, const struct step *s, size_t images, const float *from,
                     float *to)
{
    const struct layer *l = s->layer;
    const size_t rows = images * s->windows;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)l->window,
                (int)l->channels, 1.0f, from, (int)l->channels, l->weight, (int)l->window, 0.0f,
                g->window, (int)l->window);
    memset(to, 0, images * layer_in(l) * sizeof *to);
    for (size_t r = 0; r < images; r++)
        scatter(s, g->window + r * layer_windows(l), to + r * layer_in(l));
}

/* Turns derivatives with respect to a layer's values into those with respect to its sums. */
static void backward_relu(struct gradient *g, size_t layer, size_t count)
{
    for (size_t k = 0; layer + 1 < g->network.layers && k < count; k++)
        g->from[k] = g->value[layer + 1][k] > 0.0f ? g->from[k] : 0.0f;
}

void gradient_backward(struct gradient *g, const float *dy, float *dx)
{
    const struct layer *first = g->network.layer, *last = first + g->network.layers - 1;
    memcpy(g->from, dy, g->rows * layer_out(last) * sizeof *dy);
    for (size_t i = g->network.layers; i-- > 0;) {
        const size_t out = layer_out(first + i);
        backward_relu(g, i, g->rows * out);
        if (i == 0) /* the rest is linear and equal for all rows, so their sum is enough */
            for (size_t k = out; k < g->rows * out; k++) g->from[k % out] += g->from[k];
        backward(g, &g->step[i], i > 0 ? g->rows : 1, g->from, g->to);
        float *swap = g->from;
        g->from = g->to;
        g->to = swap;
    }
    for (size_t k = 0; k < layer_in(first); k++) dx[k] += g->from[k];
}
