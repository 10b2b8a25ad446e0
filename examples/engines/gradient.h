/* gradient.h: outputs of the chains that onnx_chain.h reads together with their gradients in the
 * input, by OpenBLAS. For attacks. */
#ifndef ENGINE_GRADIENT_H
#define ENGINE_GRADIENT_H
#include "engine.h"

enum {
    GRADIENT_ROWS = 8
}; /* at most so many at a time: what lies between two layers then stays in cache */

struct gradient;

/* Returns 0, or 1 with a sentence in `why`; then *out is NULL. */
int gradient_open(const char *model, size_t inputs, size_t columns, struct gradient **out,
                  char *why);
void gradient_close(struct gradient *g);

/* y = network(x) for up to GRADIENT_ROWS rows; remembers what backward needs. */
void gradient_forward(struct gradient *g, const float *x, size_t rows, float *y);

/* Adds to dx (inputs numbers) the sum over the rows of the last forward of dy' * (derivative of y
 * in x); dy has the shape of y. Where a ReLU has its kink the derivative is taken as 0. */
void gradient_backward(struct gradient *g, const float *dy, float *dx);
#endif
