#include "ascent.h"

#include <certreg/sampling.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statistics/normal.h"

/* The ascent maximizes the share of angles beyond the tolerance, made smooth by a sigmoid. An angle
 * lies beyond the tolerance, by up to half a turn, where the output (cos, sin) is on one side of a
 * line through the origin. The sigmoid is taken of the distance from that line: unlike the angle,
 * it has a moderate gradient where the network's angle jumps by half a turn. */
static const double pi = 3.14159265358979323846;
/* Widths of the sigmoid, relative to the length of the network's outputs. */
static const double widest = 0.35, narrowest = 0.08;
static const double least_gain = 0.08, share_edge = 0.03, radius_gain = 0.4;
enum { ASCENT_SAMPLES = 1 << 18 };

int ascent_open(struct context *context, struct ascent *a)
{
    char why[ENGINE_WHY];
    *a = (struct ascent){.length = 0.0};
    if (gradient_open(context->set.model, DIGITS_PIXELS, NETWORK_COLUMNS, &a->gradient, why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    a->x = malloc((size_t)ASCENT_ROWS * DIGITS_PIXELS * sizeof *a->x);
    if (a->x != NULL && bench_run_open(context, ASCENT_SAMPLES, ASCENT_ROWS, SIZE_MAX,
                                       CERTREG_CONSTRAINT_MEAN, &a->noise) == 0)
        return 0;
    ascent_close(a);
    return 1;
}

void ascent_close(struct ascent *a)
{
    bench_run_close(&a->noise);
    gradient_close(a->gradient);
    free(a->x);
    *a = (struct ascent){0};
}

int ascent_begin(struct ascent *a, const struct objective *t, size_t noise_id)
{
    a->next = 0;
    return bench_run_begin_at(&a->noise, t->z, t->sigma, NOISE_ASCENT, noise_id);
}

/* Derivatives of the sigmoids with respect to the outputs of a few rows; returns how many angles
 * lie beyond the tolerance. */
static size_t derive(struct ascent *a, const struct objective *t, int side, double width,
                     const float *y, size_t rows, float *dy)
{
    const double edge = (t->prediction + side * bench_tolerance) * pi / 180.0, c = side * cos(edge),
                 s = side * sin(edge);
    size_t beyond = 0;
    for (size_t r = 0; r < rows; r++) {
        const double u = (double)y[2 * r], v = (double)y[2 * r + 1], length = hypot(u, v);
        a->length = a->length > 0.0 ? 0.999 * a->length + 0.001 * length : length;
        const double scale = width * a->length, margin = (c * v - s * u) / scale,
                     slope = 0.25 / (cosh(0.5 * margin) * cosh(0.5 * margin));
        dy[2 * r] = (float)(-s * slope / scale);
        dy[2 * r + 1] = (float)(c * slope / scale);
        beyond += side * degrees_between(t->prediction, atan2(v, u) * 180.0 / pi) >=
                  bench_tolerance;
    }
    return beyond;
}

/* The gradient of the smoothed share at the climb's shift, on fresh noise, and the share itself. */
static int slope_at(struct ascent *a, const struct objective *t, const struct climb *c,
                    double width, float *gradient, double *share)
{
    float y[GRADIENT_ROWS * NETWORK_COLUMNS], dy[GRADIENT_ROWS * NETWORK_COLUMNS];
    size_t beyond = 0;
    if (a->next + ASCENT_ROWS > ASCENT_SAMPLES) a->next = 0;
    if (certreg_estimator_draw(a->noise.estimator, a->next, ASCENT_ROWS, a->x) != CERTREG_OK)
        return 1;
    a->next += ASCENT_ROWS;
    a->calls += ASCENT_ROWS;
    memset(gradient, 0, DIGITS_PIXELS * sizeof *gradient);
    for (size_t i = 0; i < (size_t)ASCENT_ROWS * DIGITS_PIXELS; i++)
        a->x[i] += (float)c->radius * c->direction[i % DIGITS_PIXELS];
    for (size_t first = 0; first < ASCENT_ROWS; first += GRADIENT_ROWS) {
        gradient_forward(a->gradient, a->x + first * DIGITS_PIXELS, GRADIENT_ROWS, y);
        beyond += derive(a, t, c->side, width, y, GRADIENT_ROWS, dy);
        gradient_backward(a->gradient, dy, gradient);
    }
    *share = (double)beyond / ASCENT_ROWS;
    return 0;
}

/* At the least shift that moves T out of the tolerance, the shift is parallel to the gradient of
 * the share. So the direction moves towards the gradient by ever smaller parts, which averages over
 * the noise of all steps. The radius follows the point where half of the angles lie beyond: as a
 * normal quantile, the share rises no faster than radius/sigma along any direction, so partial
 * steps do not overshoot. */
int ascent_climb(struct ascent *a, const struct objective *t, struct climb *c, size_t steps,
                 size_t planned)
{
    float gradient[DIGITS_PIXELS];
    for (; c->steps < steps; c->steps++) {
        const double done = (double)c->steps / (double)planned,
                     width = widest * pow(narrowest / widest, done);
        const double gain = fmax(least_gain, 1.0 / ((double)c->steps + 2.0));
        double share;
        if (slope_at(a, t, c, width, gradient, &share)) return 1;
        unit_length(gradient);
        for (size_t i = 0; i < DIGITS_PIXELS; i++)
            c->direction[i] =
                (float)((1.0 - gain) * (double)c->direction[i] + gain * (double)gradient[i]);
        unit_length(c->direction);
        const double seen = fmin(1.0 - share_edge, fmax(share_edge, share));
        c->radius =
            fmax(0.02 * t->sigma, c->radius - radius_gain * t->sigma * cr_normal_quantile(seen));
    }
    return 0;
}
