#include "target.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846, farthest = 8.0;

int crowd_open(struct lab *lab, size_t rows, struct crowd *c)
{
    *c = (struct crowd){.rows = rows};
    if (desk_open(lab, rows, LAB_BATCH, SIZE_MAX, CERTREG_CONSTRAINT_MEAN, &c->desk)) return 1;
    c->noise = malloc(rows * DIGITS_PIXELS * sizeof *c->noise);
    c->x = malloc((size_t)LAB_BATCH * DIGITS_PIXELS * sizeof *c->x);
    c->y = malloc(rows * LAB_COLUMNS * sizeof *c->y);
    c->angle = malloc(rows * sizeof *c->angle);
    if (c->noise != NULL && c->x != NULL && c->y != NULL && c->angle != NULL) return 0;
    fprintf(stderr, "no memory for %zu noisy inputs\n", rows);
    crowd_close(c);
    return 1;
}

void crowd_close(struct crowd *c)
{
    desk_close(&c->desk);
    free(c->noise);
    free(c->x);
    free(c->y);
    free(c->angle);
    *c = (struct crowd){0};
}

/* About the input 0 the noisy inputs are the noise. */
int crowd_draw(struct crowd *c, double sigma, enum lab_kind kind, size_t stream)
{
    static const float zero[DIGITS_PIXELS];
    return desk_begin_at(&c->desk, zero, sigma, kind, stream) ||
           certreg_estimator_draw(c->desk.estimator, 0, c->rows, c->noise) != CERTREG_OK;
}

/* The network at z + radius * direction + noise. */
static int evaluate(struct crowd *c, const float *z, const float *direction, double radius)
{
    struct lab *lab = c->desk.lab;
    for (size_t first = 0; first < c->rows; first += LAB_BATCH) {
        const size_t count = c->rows - first < LAB_BATCH ? c->rows - first : LAB_BATCH;
        const float *noise = c->noise + first * DIGITS_PIXELS;
        for (size_t i = 0; i < count * DIGITS_PIXELS; i++)
            c->x[i] =
                z[i % DIGITS_PIXELS] + (float)radius * direction[i % DIGITS_PIXELS] + noise[i];
        if (lab->engine.run(lab->engine.self, c->x, c->y + first * LAB_COLUMNS, count)) return 1;
        lab->calls += count;
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* T of the outputs, in degrees. */
static double location(struct crowd *c)
{
    double cosines = 0.0, sines = 0.0;
    for (size_t i = 0; i < c->rows; i++) {
        const double length = hypot((double)c->y[2 * i], (double)c->y[2 * i + 1]);
        cosines += (double)c->y[2 * i] / length;
        sines += (double)c->y[2 * i + 1] / length;
    }
    const double middle = atan2(sines, cosines) * 180.0 / pi;
    for (size_t i = 0; i < c->rows; i++)
        c->angle[i] =
            lab_apart(middle, atan2((double)c->y[2 * i + 1], (double)c->y[2 * i]) * 180.0 / pi);
    qsort(c->angle, c->rows, sizeof *c->angle, ascending);
    return middle + 0.5 * (c->angle[(c->rows - 1) / 2] + c->angle[c->rows / 2]);
}

int crowd_ask(struct crowd *c, const struct target *t, const float *direction, double radius,
              int side, double *moved, double *share)
{
    size_t beyond = 0;
    if (evaluate(c, t->z, direction, radius)) return 1;
    for (size_t i = 0; i < c->rows; i++)
        beyond +=
            side * lab_apart(t->prediction,
                             atan2((double)c->y[2 * i + 1], (double)c->y[2 * i]) * 180.0 / pi) >=
            lab_tolerance;
    if (share != NULL) *share = (double)beyond / (double)c->rows;
    if (moved != NULL) *moved = lab_apart(t->prediction, location(c));
    return 0;
}

static int is_out(struct crowd *c, const struct target *t, const float *direction, double radius,
                  int *out)
{
    double moved;
    if (crowd_ask(c, t, direction, radius, 1, &moved, NULL)) return 1;
    *out = fabs(moved) >= lab_tolerance;
    return 0;
}

int crowd_reach(struct crowd *c, const struct target *t, const float *direction, double guess,
                double precision, double *radius)
{
    double inside = 0.0, outside = guess;
    int out = 0;
    for (; !out; outside *= out ? 1.0 : 1.1) {
        if (is_out(c, t, direction, outside, &out)) return 1;
        inside = out ? inside : outside;
        if (outside > farthest * guess) {
            *radius = INFINITY;
            return 0;
        }
    }
    for (double step = 0.92; out && inside == 0.0; step *= 0.92) { /* the guess was out already:
                                                                      where was it not? */
        if (is_out(c, t, direction, step * guess, &out)) return 1;
        *(out ? &outside : &inside) = step * guess;
        out = out && step > 0.05;
    }
    while (outside - inside > precision * outside) {
        const double middle = 0.5 * (inside + outside);
        if (is_out(c, t, direction, middle, &out)) return 1;
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
