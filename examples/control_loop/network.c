/* network.c: 16 pixels, two layers of 64, one angle. The weights are those of weights.f32, which
 * train.py made. The order of sums is fixed, so outputs have the same bits everywhere. */
#include "control_loop.h"
#include <string.h>

enum { SECOND = (PIXELS + 1) * HIDDEN, LAST = SECOND + (HIDDEN + 1) * HIDDEN };

/* Floats as their bits: make writes weights.h from the file. */
static const union {
    uint32_t bits[LAST + HIDDEN + 1];
    float w[LAST + HIDDEN + 1];
} all = {{
#include "weights.h"
}};

/* relu(b + x W), where b comes after W. */
static void layer(const float *restrict w, size_t inputs, const float *restrict x,
                  float *restrict y)
{
    memcpy(y, w + inputs * HIDDEN, HIDDEN * sizeof *y);
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < HIDDEN; j++) y[j] += x[i] * w[i * HIDDEN + j];
    for (size_t j = 0; j < HIDDEN; j++) y[j] = y[j] > 0 ? y[j] : 0;
}

static float run(const float *pixels, float *first, float *second)
{
    float angle = all.w[LAST + HIDDEN];
    layer(all.w, PIXELS, pixels, first);
    layer(all.w + SECOND, HIDDEN, first, second);
    for (int j = 0; j < HIDDEN; j++) angle += second[j] * all.w[LAST + j];
    return angle;
}

float network_read(const float *pixels)
{
    float first[HIDDEN], second[HIDDEN];
    return run(pixels, first, second);
}

void network_slope(const float *pixels, double *slope)
{
    float first[HIDDEN], second[HIDDEN];
    run(pixels, first, second);
    for (int k = 0; k < PIXELS; k++) slope[k] = 0;
    for (int i = 0; i < HIDDEN; i++) {
        const float *const row = all.w + SECOND + i * HIDDEN;
        double back = 0;
        for (int j = 0; j < HIDDEN && first[i] > 0; j++)
            if (second[j] > 0) back += (double)(row[j] * all.w[LAST + j]);
        for (int k = 0; k < PIXELS; k++) slope[k] += back * (double)all.w[k * HIDDEN + i];
    }
}

int network_eval(void *user, const certreg_batch *b)
{
    (void)user;
    if (b->inputs != PIXELS) return 1;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = network_read(b->x + i * PIXELS);
    return 0;
}
