/* gradient.h: outputs of the networks that network.h reads, and their gradients with respect to
 * the input, with OpenBLAS. For attacks. */
#ifndef ENGINE_GRADIENT_H
#define ENGINE_GRADIENT_H
#include "engine.h"

/* The most rows at a time: few, so that the values between two layers stay in cache. */
enum { GRADIENT_ROWS = 8 };

struct gradient;

/* Of a network that turns `inputs` numbers into `columns`. Returns 0, or 1 with a sentence in `why`
 * (ENGINE_WHY bytes); then *out is NULL. */
int gradient_open(const char *model, size_t inputs, size_t columns, struct gradient **out,
                  char *why);
void gradient_close(struct gradient *g);

/* y = network(x) for up to GRADIENT_ROWS rows; remembers what backward needs. */
void gradient_forward(struct gradient *g, const float *x, size_t rows, float *y);

/* Adds to dx, over the rows of the last forward, the sum of dy' times the derivative of y with
 * respect to x. dx has inputs numbers, dy has the shape of y. The derivative of a ReLU at 0 is
 * taken as 0. */
void gradient_backward(struct gradient *g, const float *dy, float *dx);
#endif
