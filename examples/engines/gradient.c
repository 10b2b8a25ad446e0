#include "gradient.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_chain.h"

/* Between layers the channels of a pixel lie side by side. A convolution gathers the pixels under
 * its windows, one window to a row, and is one matrix product; its derivative is the product with
 * the same weights the other way, scattered back to the pixels. */
struct step {
    const struct chain_layer *layer;
    size_t channels;        /* that lie side by side in the input */
    size_t in, out;         /* numbers of a row before and after */
    size_t positions, taps; /* windows of an image, pixels of a window; 1 and 0 of a dense layer */
    long *pixel;            /* [positions][taps]: index in the input image, -1 in the padding */
};

struct gradient {
    struct chain chain;
    struct step step[CHAIN_LAYERS];
    float *value[CHAIN_LAYERS + 1]; /* before the first and after each layer */
    float *window, *from, *to;      /* work space */
    size_t rows;                    /* of the last forward */
};

static size_t inner(const struct step *s)
{
    return s->taps > 0 ? s->taps * s->channels : s->in;
}

/* ---- opening */
/* From [outer][channel][position] to [outer][position][channel]. */
static int channels_last(float *values, size_t outer, size_t channels, size_t positions)
{
    const size_t count = channels * positions;
    float *copy = malloc(count * sizeof *copy);
    for (size_t o = 0; copy != NULL && o < outer; o++) {
        memcpy(copy, values + o * count, count * sizeof *copy);
        for (size_t i = 0; i < count; i++)
            values[o * count + i % positions * channels + i / positions] = copy[i];
    }
    free(copy);
    return copy == NULL;
}

static size_t side_after(const struct chain_layer *l, size_t side)
{
    return l->kernel > 0 ? (side + 2 * l->pad - l->kernel) / l->stride + 1 : 1;
}

/* Where each window's pixels are. */
static int place_windows(struct step *s, size_t height, size_t width, size_t out_width)
{
    const struct chain_layer *l = s->layer;
    s->pixel = malloc(s->positions * s->taps * sizeof *s->pixel);
    for (size_t i = 0; s->pixel != NULL && i < s->positions * s->taps; i++) {
        const size_t position = i / s->taps, tap = i % s->taps;
        const long row = (long)(position / out_width * l->stride + tap / l->kernel) - (long)l->pad;
        const long column =
            (long)(position % out_width * l->stride + tap % l->kernel) - (long)l->pad;
        const int inside = row >= 0 && row < (long)height && column >= 0 && column < (long)width;
        s->pixel[i] = inside ? row * (long)width + column : -1;
    }
    return s->pixel == NULL;
}

static int prepare(struct gradient *g)
{
    const struct chain *c = &g->chain;
    size_t channels = c->channels, height = c->height, width = c->width,
           most = channels * height * width, window = 1;
    int bad = (g->value[0] = malloc(GRADIENT_ROWS * most * sizeof(float))) == NULL;
    for (size_t i = 0; i < c->layers && !bad; i++) {
        const struct chain_layer *l = &c->layer[i];
        struct step *s = &g->step[i];
        const size_t h = side_after(l, height), w = side_after(l, width);
        *s = (struct step){.layer = l,
                           .channels = channels,
                           .in = channels * height * width,
                           .out = l->out * h * w,
                           .positions = h * w,
                           .taps = l->kernel * l->kernel};
        bad =
            channels_last(l->weight, l->out, channels, l->kernel > 0 ? s->taps : height * width) ||
            (l->kernel > 0 && place_windows(s, height, width, w)) ||
            (g->value[i + 1] = malloc(GRADIENT_ROWS * s->out * sizeof(float))) == NULL;
        most = s->out > most ? s->out : most;
        window = s->positions * inner(s) > window ? s->positions * inner(s) : window;
        channels = l->out, height = h, width = w;
    }
    g->window = malloc(GRADIENT_ROWS * window * sizeof(float));
    g->from = malloc(GRADIENT_ROWS * most * sizeof(float));
    g->to = malloc(GRADIENT_ROWS * most * sizeof(float));
    return bad || g->window == NULL || g->from == NULL || g->to == NULL;
}

int gradient_open(const char *model, size_t inputs, size_t columns, struct gradient **out,
                  char *why)
{
    struct gradient *g = *out = calloc(1, sizeof *g);
    snprintf(why, ENGINE_WHY, "no memory for gradients");
    if (g == NULL) return 1;
    int bad = chain_read(model, &g->chain, why);
    const struct chain *c = &g->chain;
    if (!bad && (c->channels != 1 || c->height * c->width != inputs ||
                 c->layer[c->layers - 1].kernel > 0 || c->layer[c->layers - 1].out != columns)) {
        snprintf(why, ENGINE_WHY, "the model is not one from %zu grey pixels to %zu numbers",
                 inputs, columns);
        bad = 1;
    }
    if (bad || prepare(g)) {
        gradient_close(g);
        *out = NULL;
        return 1;
    }
    return 0;
}

void gradient_close(struct gradient *g)
{
    if (g == NULL) return;
    for (size_t i = 0; i < CHAIN_LAYERS; i++) {
        free(g->step[i].pixel);
        free(g->value[i + 1]);
    }
    free(g->value[0]);
    free(g->window);
    free(g->from);
    free(g->to);
    chain_free(&g->chain);
    free(g);
}

/* ---- forward */
static void gather(const struct step *s, const float *image, float *window)
{
    const size_t c = s->channels;
    for (size_t i = 0; i < s->positions * s->taps; i++, window += c)
        if (s->pixel[i] >= 0) memcpy(window, image + (size_t)s->pixel[i] * c, c * sizeof *window);
        else memset(window, 0, c * sizeof *window);
}

static void forward(struct gradient *g, const struct step *s, const float *from, float *to)
{
    const struct chain_layer *l = s->layer;
    const size_t rows = g->rows * s->positions, depth = inner(s);
    const float *a = from;
    for (size_t r = 0; r < rows; r++) memcpy(to + r * l->out, l->bias, l->out * sizeof *to);
    if (s->taps > 0) {
        for (size_t r = 0; r < g->rows; r++)
            gather(s, from + r * s->in, g->window + r * s->positions * depth);
        a = g->window;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)l->out, (int)depth, 1.0f,
                a, (int)depth, l->weight, (int)depth, 1.0f, to, (int)l->out);
    for (size_t i = 0; l->relu && i < rows * l->out; i++) to[i] = to[i] > 0.0f ? to[i] : 0.0f;
}

void gradient_forward(struct gradient *g, const float *x, size_t rows, float *y)
{
    const size_t layers = g->chain.layers;
    g->rows = rows;
    memcpy(g->value[0], x, rows * g->step[0].in * sizeof *x);
    for (size_t i = 0; i < layers; i++) forward(g, &g->step[i], g->value[i], g->value[i + 1]);
    memcpy(y, g->value[layers], rows * g->step[layers - 1].out * sizeof *y);
}

/* ---- backward */
static void scatter(const struct step *s, const float *window, float *image)
{
    const size_t c = s->channels;
    for (size_t i = 0; i < s->positions * s->taps; i++, window += c)
        if (s->pixel[i] >= 0)
            for (size_t k = 0; k < c; k++) image[(size_t)s->pixel[i] * c + k] += window[k];
}

/* from: derivatives in the layer's sums (its ReLU done with); to: in its input. */
static void backward(struct gradient *g, const struct step *s, size_t images, const float *from,
                     float *to)
{
    const struct chain_layer *l = s->layer;
    const size_t rows = images * s->positions, depth = inner(s);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)depth, (int)l->out, 1.0f,
                from, (int)l->out, l->weight, (int)depth, 0.0f, s->taps > 0 ? g->window : to,
                (int)depth);
    if (s->taps == 0) return;
    memset(to, 0, images * s->in * sizeof *to);
    for (size_t r = 0; r < images; r++)
        scatter(s, g->window + r * s->positions * depth, to + r * s->in);
}

void gradient_backward(struct gradient *g, const float *dy, float *dx)
{
    const struct step *first = &g->step[0], *last = &g->step[g->chain.layers - 1];
    memcpy(g->from, dy, g->rows * last->out * sizeof *dy);
    for (size_t i = g->chain.layers; i-- > 0;) {
        const struct step *s = &g->step[i];
        for (size_t k = 0; s->layer->relu && k < g->rows * s->out; k++)
            g->from[k] = g->value[i + 1][k] > 0.0f ? g->from[k] : 0.0f;
        if (i == 0) /* the rest is linear and the same for all rows: once, for their sum */
            for (size_t k = s->out; k < g->rows * s->out; k++) g->from[k % s->out] += g->from[k];
        backward(g, s, i > 0 ? g->rows : 1, g->from, g->to);
        float *swap = g->from;
        g->from = g->to;
        g->to = swap;
    }
    for (size_t k = 0; k < first->in; k++) dx[k] += g->from[k];
}
