#include "noise_set.h"

#include <certreg/sampling.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846, farthest = 8.0;

int noise_set_open(struct context *context, size_t rows, struct noise_set *n)
{
    *n = (struct noise_set){.rows = rows};
    if (bench_run_open(context, rows, BENCH_BATCH, SIZE_MAX, CERTREG_CONSTRAINT_MEAN, &n->run))
        return 1;
    n->noise = malloc(rows * DIGITS_PIXELS * sizeof *n->noise);
    n->x = malloc((size_t)BENCH_BATCH * DIGITS_PIXELS * sizeof *n->x);
    n->y = malloc(rows * NETWORK_COLUMNS * sizeof *n->y);
    n->angle = malloc(rows * sizeof *n->angle);
    if (n->noise != NULL && n->x != NULL && n->y != NULL && n->angle != NULL) return 0;
    fprintf(stderr, "no memory for %zu noisy inputs\n", rows);
    noise_set_close(n);
    return 1;
}

void noise_set_close(struct noise_set *n)
{
    bench_run_close(&n->run);
    free(n->noise);
    free(n->x);
    free(n->y);
    free(n->angle);
    *n = (struct noise_set){0};
}

/* The noisy inputs of the input 0 are the noise alone. */
int noise_set_draw(struct noise_set *n, double sigma, enum noise_kind kind, size_t noise_id)
{
    static const float zero[DIGITS_PIXELS];
    return bench_run_begin_at(&n->run, zero, sigma, kind, noise_id) ||
           certreg_estimator_draw(n->run.estimator, 0, n->rows, n->noise) != CERTREG_OK;
}

/* The network at z + radius * direction + noise. */
static int evaluate(struct noise_set *n, const float *z, const float *direction, double radius)
{
    struct context *context = n->run.context;
    for (size_t first = 0; first < n->rows; first += BENCH_BATCH) {
        const size_t count = n->rows - first < BENCH_BATCH ? n->rows - first : BENCH_BATCH;
        const float *noise = n->noise + first * DIGITS_PIXELS;
        for (size_t i = 0; i < count * DIGITS_PIXELS; i++)
            n->x[i] =
                z[i % DIGITS_PIXELS] + (float)radius * direction[i % DIGITS_PIXELS] + noise[i];
        if (engine_run(&context->engine, n->x, n->y + first * NETWORK_COLUMNS, count)) return 1;
        context->calls += count;
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* T of the outputs, in degrees. */
static double location(struct noise_set *n)
{
    double cosines = 0.0, sines = 0.0;
    for (size_t i = 0; i < n->rows; i++) {
        const double length = hypot((double)n->y[2 * i], (double)n->y[2 * i + 1]);
        cosines += (double)n->y[2 * i] / length;
        sines += (double)n->y[2 * i + 1] / length;
    }
    const double middle = atan2(sines, cosines) * 180.0 / pi;
    for (size_t i = 0; i < n->rows; i++)
        n->angle[i] = degrees_between(middle, atan2((double)n->y[2 * i + 1], (double)n->y[2 * i]) *
                                                  180.0 / pi);
    qsort(n->angle, n->rows, sizeof *n->angle, ascending);
    return middle + 0.5 * (n->angle[(n->rows - 1) / 2] + n->angle[n->rows / 2]);
}

int noise_set_evaluate(struct noise_set *n, const struct objective *t, const float *direction,
                       double radius, int side, double *moved, double *share)
{
    size_t beyond = 0;
    if (evaluate(n, t->z, direction, radius)) return 1;
    for (size_t i = 0; i < n->rows; i++)
        beyond += side * degrees_between(t->prediction,
                                         atan2((double)n->y[2 * i + 1], (double)n->y[2 * i]) *
                                             180.0 / pi) >=
                  bench_tolerance;
    if (share != NULL) *share = (double)beyond / (double)n->rows;
    if (moved != NULL) *moved = degrees_between(t->prediction, location(n));
    return 0;
}

static int is_out(struct noise_set *n, const struct objective *t, const float *direction,
                  double radius, int *out)
{
    double moved;
    if (noise_set_evaluate(n, t, direction, radius, 1, &moved, NULL)) return 1;
    *out = fabs(moved) >= bench_tolerance;
    return 0;
}

int noise_set_exit_radius(struct noise_set *n, const struct objective *t, const float *direction,
                          double guess, double precision, double *radius)
{
    double inside = 0.0, outside = guess;
    int out = 0;
    for (; !out; outside *= out ? 1.0 : 1.1) {
        if (is_out(n, t, direction, outside, &out)) return 1;
        inside = out ? inside : outside;
        if (outside > farthest * guess) {
            *radius = INFINITY;
            return 0;
        }
    }
    /* Where the guess was outside already, smaller radii are tried until one is inside. */
    for (double step = 0.92; out && inside == 0.0; step *= 0.92) {
        if (is_out(n, t, direction, step * guess, &out)) return 1;
        *(out ? &outside : &inside) = step * guess;
        out = out && step > 0.05;
    }
    while (outside - inside > precision * outside) {
        const double middle = 0.5 * (inside + outside);
        if (is_out(n, t, direction, middle, &out)) return 1;
        *(out ? &outside : &inside) = middle;
    }
    *radius = outside;
    return 0;
}

void unit_length(float *v)
{
    double square = 0.0;
    for (size_t i = 0; i < DIGITS_PIXELS; i++) square += (double)v[i] * (double)v[i];
    for (size_t i = 0; square > 0.0 && i < DIGITS_PIXELS; i++)
        v[i] = (float)((double)v[i] / sqrt(square));
}
