/* The paper's radius procedure, compiled, as the solver's peer: the bounded (E,C,G) dual by 40
 * nodes, minimised by Newton's method from the multipliers before, for the upward and the downward
 * shift, inside a secant method (regula falsi, Illinois) or 50 bisections. It proves nothing: its
 * quadrature errs by up to 2e-3 once clipping starts. */
#ifndef PAPER_PROCEDURE_H
#define PAPER_PROCEDURE_H
#include <math.h>
#include <string.h>

enum { PAPER_NODES = 40, PAPER_STEPS = 60, PAPER_BISECTIONS = 50 };

typedef struct paper_side {
    double variance, gradient, b, B, at[3]; /* lambda, nu, mu */
} paper_side;

typedef struct paper_nodes { /* the midpoint rule over 7 deviations on either side */
    double t[PAPER_NODES], weight[PAPER_NODES], ratio[PAPER_NODES], norm;
} paper_nodes;

static void paper_fill(double r, paper_nodes *n)
{
    const double width = 14.0 / PAPER_NODES;
    n->norm = sqrt(expm1(r * r));
    for (int i = 0; i < PAPER_NODES; i++) {
        const double t = n->t[i] = width * (i + 0.5) - 7;
        n->weight[i] = width * 0.3989422804014327 * exp(-0.5 * t * t);
        n->ratio[i] = (exp(r * (t - 0.5 * r)) - 1) / n->norm;
    }
}

/* D, its slope and its Hessian (lower half), in units of the ratio's norm. */
static double paper_dual(const paper_side *s, const paper_nodes *n, const double at[3], double g[3],
                         double h[3][3])
{
    const double half = 0.5 / at[0];
    double sum = 0;
    memset(h, 0, 9 * sizeof h[0][0]);
    g[0] = s->variance, g[1] = 0, g[2] = s->gradient;
    for (int i = 0; i < PAPER_NODES; i++) {
        const double t = n->t[i], w = n->weight[i], v = n->ratio[i] - at[1] - at[2] * t,
                     free = v * half, least = free > s->b ? free : s->b,
                     y = least < s->B ? least : s->B;
        const double d[3] = {2 * y, 1, t}, share = y == free ? w * half : 0;
        sum += w * y * (v - at[0] * y);
        g[0] -= w * y * y, g[1] -= w * y, g[2] -= w * y * t;
        for (int j = 0; j < 3; j++)
            for (int k = 0; k <= j; k++) h[j][k] += share * d[j] * d[k];
    }
    return sum + at[0] * s->variance + at[2] * s->gradient;
}

/* h x = -g by Cholesky's factors, with a little on the diagonal. */
static void paper_solve(double h[3][3], const double g[3], double x[3])
{
    for (int j = 0; j < 3; j++) {
        h[j][j] += 1e-10 * (1 + h[j][j]);
        for (int k = 0; k < j; k++) {
            for (int i = 0; i < k; i++) h[j][k] -= h[j][i] * h[k][i];
            h[j][k] /= h[k][k];
            h[j][j] -= h[j][k] * h[j][k];
        }
        h[j][j] = sqrt(fmax(h[j][j], 1e-12));
        x[j] = -g[j];
        for (int k = 0; k < j; k++) x[j] -= h[j][k] * x[k];
        x[j] /= h[j][j];
    }
    for (int j = 2; j >= 0; j--) {
        for (int k = j + 1; k < 3; k++) x[j] -= h[k][j] * x[k];
        x[j] /= h[j][j];
    }
}

/* From the multipliers before, or from a guess where those led nowhere. */
static double paper_change(paper_side *s, const paper_nodes *n)
{
    double g[3], h[3][3], x[3], to[3], next_g[3], drop = INFINITY;
    if (!(s->at[0] > 0)) s->at[0] = 0.5 / sqrt(s->variance), s->at[1] = s->at[2] = 0;
    double value = paper_dual(s, n, s->at, g, h);
    for (int i = 0; i < PAPER_STEPS && drop > 1e-9 * fabs(value); i++) {
        paper_solve(h, g, x);
        drop = -(g[0] * x[0] + g[1] * x[1] + g[2] * x[2]);
        double length = x[0] < 0 ? fmin(1, 0.9 * s->at[0] / -x[0]) : 1, next = INFINITY;
        for (; length > 1e-6 && !(next <= value - 1e-4 * length * drop); length *= 0.5) {
            for (int j = 0; j < 3; j++) to[j] = s->at[j] + length * x[j];
            next = paper_dual(s, n, to, next_g, h);
        }
        if (!(next < value)) break;
        memcpy(s->at, to, sizeof to), memcpy(g, next_g, sizeof g);
        value = next;
    }
    if (!(drop <= 1e-6 * fabs(value))) s->at[0] = 0;
    return n->norm * value;
}

/* In units of sigma. */
static double paper_radius(double mean, double variance, double gradient, double tolerance,
                           int secant)
{
    paper_side side[2] = {{variance, gradient, -1 - mean, 1 - mean, {0}},
                          {variance, gradient, -1 + mean, 1 + mean, {0}}};
    paper_nodes n;
    int last = 0;
    double low = 0, high = 10, at_low = -tolerance, at_high = 2 - tolerance;
    for (int i = 0; i < PAPER_BISECTIONS && high - low > (secant ? 1e-9 * high : 0); i++) {
        const double r = secant && low > 0 ? low - at_low * (high - low) / (at_high - at_low)
                                           : 0.5 * (low + high);
        paper_fill(r, &n);
        const double room = fmax(paper_change(side, &n), paper_change(side + 1, &n)) - tolerance;
        if (secant && fabs(room) < 1e-10 * tolerance) return r;
        const int side_of = room <= 0 ? -1 : 1;
        if (side_of < 0) low = r, at_low = room, at_high *= last == side_of ? 0.5 : 1;
        else high = r, at_high = room, at_low *= last == side_of ? 0.5 : 1;
        last = side_of;
    }
    return low;
}

#endif
