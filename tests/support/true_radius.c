#include "support/true_radius.h"
#include <math.h>
#include <stdlib.h>

static const double reach = 10.5; /* sigmas beyond which no radius is certified */

/* ---- functions */
static double squared(double r)
{
    return r * r;
}

static double slice(double x)
{
    return x > 0 ? x : 0;
}

static double sandwich(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

const target targets[FUNCTIONS] = {
    {"quadratic", squared, 1, 0.5, 0, INFINITY},
    {"slice", slice, 0, 0.2, 0, INFINITY},
    {"sandwich", sandwich, 0, 0.2, 0, 1},
};

/* ---- quadrature */
/* Gauss-Legendre, eight nodes, by Newton on the polynomial. */
static double node[8], weight[8];

static void make_rule(void)
{
    for (int i = 0; i < 8; i++) {
        double x = cos(pi * (i + 0.75) / 8.5), slope = 1;
        for (int step = 0; step < 50; step++) {
            double before = 1, now = x;
            for (int k = 2; k <= 8; k++) {
                const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
                before = now, now = next;
            }
            slope = 8 * (x * now - before) / (x * x - 1);
            x -= now / slope;
        }
        node[i] = x, weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

/* exp(-x) I_0(x): the mean of exp(x cos t - x) over a turn, which equidistant points give to all
 * digits; an expansion for large x. */
static double bessel(double x)
{
    if (x > 20) {
        const double q = 1 / (8 * x);
        return (1 + q * (1 + q * (4.5 + q * (37.5 + q * 459.375)))) / sqrt(2 * pi * x);
    }
    static double turn[20];
    if (turn[1] == 0)
        for (int k = 1; k < 20; k++) turn[k] = cos(pi * k / 20) - 1;
    double sum = 0.5 * (1 + exp(-2 * x));
    for (int k = 1; k < 20; k++) sum += exp(x * turn[k]);
    return sum / 20;
}

/* Density of the coordinate that the function sees, the input being at `at`. */
static double density(const target *t, double at, double x)
{
    const double s = (x - at) / sigma;
    if (!t->radial) return exp(-0.5 * s * s) / (sigma * sqrt(2 * pi));
    return x / (sigma * sigma) * exp(-0.5 * s * s) * bessel(x * at / (sigma * sigma));
}

/* The score of a location: width 0 is the sign, infinite the difference itself. Half-open ends
 * count as broken on their side. */
double score(double t, double width, int side)
{
    if (width == 0) return side < 0 ? (t > 0 ? 1 : -1) : (t < 0 ? -1 : 1);
    if (isinf(width)) return t;
    return fmin(fmax(t / width, -1), 1);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { UNIFORM = 19, MOST_CUTS = UNIFORM + 6 };
static size_t cuts_of(const target *t, double at, double theta, double width, double *cut)
{
    const double least = t->radial ? fmax(0, at - 9 * sigma) : at - 9 * sigma,
                 most = at + 9 * sigma;
    const double kinks[] = {0, 1, theta, theta - width, theta + width};
    size_t count = 0;
    for (int i = 0; i < UNIFORM; i++) cut[count++] = least + (most - least) * i / (UNIFORM - 1);
    for (int i = 0; i < 5; i++) {
        const double kink = t->radial ? sqrt(fmax(0, kinks[i])) : kinks[i];
        if (kink > least && kink < most) cut[count++] = kink;
    }
    qsort(cut, count, sizeof *cut, ascending);
    return count;
}

/* Mean score about theta of the outputs at an input that the function sees at `at`. */
double mean_score(const target *t, double at, double theta, double width, int side)
{
    double cut[MOST_CUTS], sum = 0;
    const size_t count = cuts_of(t, at, theta, width, cut);
    if (node[0] == 0) make_rule();
    for (size_t i = 0; i + 1 < count; i++) {
        const double middle = 0.5 * (cut[i] + cut[i + 1]), half = 0.5 * (cut[i + 1] - cut[i]);
        for (int k = 0; half > 0 && k < 8; k++) {
            const double x = middle + half * node[k];
            sum += weight[k] * half * density(t, at, x) * score(t->value(x) - theta, width, side);
        }
    }
    return sum;
}

/* ---- the true radius */
static int holds(const target *t, double at, double lo, double hi, double width)
{
    if (t->radial) at = fabs(at);
    return mean_score(t, at, lo, width, -1) > 0 && mean_score(t, at, hi, width, 1) < 0;
}

/* First distance from `at` in one direction where the promise breaks; the input reaches no
 * distance below zero from the origin. */
static double first_break(const target *t, double at, int direction, double lo, double hi,
                          double width)
{
    const double step = 0.1 * sigma;
    double good = 0, bad = step;
    for (;; good = bad, bad += step) {
        if (good > reach * sigma || (t->radial && at + direction * good < 0)) return INFINITY;
        if (!holds(t, at + direction * bad, lo, hi, width)) break;
    }
    for (int i = 0; i < 28; i++) {
        const double middle = 0.5 * (good + bad);
        if (holds(t, at + direction * middle, lo, hi, width)) good = middle;
        else bad = middle;
    }
    return bad;
}

double true_radius(const target *t, double at, double prediction, double width)
{
    const double lo = prediction - t->tolerance, hi = prediction + t->tolerance;
    if (!holds(t, at, lo, hi, width)) return 0;
    return fmin(first_break(t, at, -1, lo, hi, width), first_break(t, at, 1, lo, hi, width));
}
