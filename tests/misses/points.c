#include "misses/points.h"
#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* The points along one axis. */
typedef struct line {
    int count, order[MOST_POINTS]; /* ascending, without those that failed */
    double x[MOST_POINTS], weight[MOST_POINTS], failed, total, slack;
} line;

typedef struct ends {
    double lo, hi;
} ends;

static void sort(line *l)
{
    for (int i = 1; i < l->count; i++) {
        const int moved = l->order[i];
        int j = i;
        for (; j > 0 && l->x[l->order[j - 1]] > l->x[moved]; j--) l->order[j] = l->order[j - 1];
        l->order[j] = moved;
    }
}

/* An output of which any part failed has failed. */
static line along(const points *p, const double *axis, int leaves_out)
{
    line l = {.slack = p->slack};
    for (int i = 0; i < p->count; i++) {
        l.x[i] = 0, l.weight[i] = p->weight[i];
        for (int k = 0; k < p->outputs; k++)
            if (axis[k] != 0) l.x[i] += axis[k] * p->value[i][k];
        if (p->weight[i] == 0) continue;
        if (isnan(l.x[i])) l.failed += p->weight[i];
        else l.order[l.count++] = i, l.total += p->weight[i];
    }
    if (leaves_out) l.failed = 0;
    l.total += l.failed;
    sort(&l);
    return l;
}

/* ---- one number */
/* The lowest and the highest quantile, with failed points below all and above all. */
static ends quantiles(const line *l, double level)
{
    const double below = l->total * (level + l->slack), above = l->total * (1 - level + l->slack);
    ends e = {INFINITY, -INFINITY};
    double sum = l->failed;
    if (sum >= fmin(below, above)) return (ends){-INFINITY, INFINITY};
    for (int i = 0; i < l->count && isinf(e.lo); i++)
        if ((sum += l->weight[l->order[i]]) >= below) e.lo = l->x[l->order[i]];
    sum = l->failed;
    for (int i = l->count; i-- > 0 && isinf(e.hi);)
        if ((sum += l->weight[l->order[i]]) >= above) e.hi = l->x[l->order[i]];
    return e;
}

static double huber_mean(const line *l, double theta, double width, int side)
{
    double sum = side * l->failed;
    for (int i = 0; i < l->count; i++) {
        const int k = l->order[i];
        sum += l->weight[k] * fmax(-1, fmin((l->x[k] - theta) / width, 1));
    }
    return sum / l->total;
}

/* Whether it changes its sign at or below a, or at or above b: without a search. */
static int huber_leaves(const line *l, double width, double a, double b)
{
    return huber_mean(l, a, width, -1) < -l->slack || huber_mean(l, b, width, 1) > l->slack;
}

/* The ends of the interval on which the mean score changes its sign. */
static ends hubers(const line *l, double width)
{
    if (l->count == 0 || l->failed >= l->total * (0.5 - l->slack))
        return (ends){-INFINITY, INFINITY};
    double found[2];
    for (int k = 0; k < 2; k++) {
        double low = l->x[l->order[0]] - width, high = l->x[l->order[l->count - 1]] + width;
        for (int i = 0; i < 60; i++) {
            const double middle = 0.5 * (low + high),
                         mean = huber_mean(l, middle, width, k ? 1 : -1);
            const int above = k ? mean > -l->slack : mean > l->slack;
            *(above ? &low : &high) = middle;
        }
        found[k] = k ? low : high;
    }
    return (ends){found[0], found[1]};
}

static double mean_of(const line *l)
{
    double sum = 0;
    for (int i = 0; i < l->count; i++) sum += l->weight[l->order[i]] * l->x[l->order[i]];
    return sum / l->total;
}

/* What is cut off is a whole number of samples (theory 9.2). */
static double trimmed_mean(const line *l, double trim)
{
    const double cut = floor(trim * l->total), last = l->total - cut;
    double sum = 0, before = 0;
    for (int i = 0; i < l->count; i++) {
        const double after = before + l->weight[l->order[i]];
        sum += fmax(0, fmin(after, last) - fmax(before, cut)) * l->x[l->order[i]];
        before = after;
    }
    return sum / (l->total - 2 * cut);
}

/* The outermost 2-approximate centers on the line (theory 9.3); there may be others beside it. */
static ends centers(const line *l)
{
    double least = INFINITY;
    ends e = {INFINITY, -INFINITY};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < l->count; i++) {
            double sum = 0;
            for (int j = i; j < l->count; j++) {
                const double from = l->x[l->order[i]], to = l->x[l->order[j]];
                sum += l->weight[l->order[j]];
                if (pass == 0 && sum >= l->total * (0.5 - l->slack))
                    least = fmin(least, 0.5 * (to - from));
                if (pass == 0 || sum < l->total * (0.5 + l->slack) || to - from > 4 * least)
                    continue;
                e.lo = fmin(e.lo, to - 2 * least), e.hi = fmax(e.hi, from + 2 * least);
            }
        }
    return e;
}

static int out_of(const region *r, double x, double margin)
{
    const double a = r->center[0] - r->low - margin, b = r->center[0] + r->high + margin;
    return r->closed ? x < a || x > b : x <= a || x >= b;
}

static int number_leaves(const points *p, const statistic *s, const region *r)
{
    const line l = along(p, (const double[]){1, 0, 0}, s->leaves_out);
    const double margin = p->rounding * (fabs(r->center[0]) + fmin(r->low, r->high));
    double x = 0;
    ends e = {0, 0};
    if (l.total == 0) return 0;
    switch (s->row->score) {
    case CR_SCORE_SIGN: /* exact, since the points are */
        e = quantiles(&l, s->row->level);
        return out_of(r, e.lo, 0) || out_of(r, e.hi, 0);
    case CR_SCORE_HUBER:
        return huber_leaves(&l, s->width, r->center[0] - r->low - margin,
                            r->center[0] + r->high + margin);
    case CR_SCORE_BALL: e = centers(&l); break;
    case CR_SCORE_WITHIN: x = trimmed_mean(&l, s->trim), e = (ends){x, x}; break;
    case CR_SCORE_LINEAR: x = mean_of(&l), e = (ends){x, x}; break;
    case CR_SCORE_OUTPUT: /* of no statistic of a number */
    case CR_SCORE_SINE:
    case CR_SCORE_ARC: abort();
    }
    return out_of(r, e.lo, margin) || out_of(r, e.hi, margin);
}

/* ---- an angle */
static double wrapped(double x, double turn)
{
    return x - turn * floor(x / turn + 0.5);
}

/* The direction of the resultant; 0 where there is none. */
static int circular_mean(const points *p, double *mean)
{
    double c = 0, d = 0, all = 0;
    for (int i = 0; i < p->count; i++) {
        const double x = 2 * pi * p->value[i][0] / p->turn;
        c += p->weight[i] * cos(x), d += p->weight[i] * sin(x), all += p->weight[i];
    }
    *mean = atan2(d, c) * p->turn / (2 * pi);
    return hypot(c, d) > p->rounding * all;
}

/* What nearly lies on the cut may be on either side of it, so that nothing is said. */
static int cut(points *p, double opposite)
{
    for (int i = 0; i < p->count; i++) {
        p->value[i][0] = wrapped(p->value[i][0] - opposite, p->turn);
        if (fabs(p->value[i][0]) > p->turn * (0.5 - p->rounding) && p->weight[i] > 0) return 0;
    }
    return 1;
}

static int angle_leaves(const points *p, const statistic *s, const region *r)
{
    const double margin = p->rounding * p->turn, middle = r->center[0] + 0.5 * (r->high - r->low),
                 half = 0.5 * (r->low + r->high) + margin;
    double mean = middle;
    points flat = *p;
    ends e = {0, 0};
    if (half >= 0.5 * p->turn) return 0;
    if (!s->cut_at_center && !circular_mean(p, &mean)) return 0;
    if (s->row->score != CR_SCORE_SINE) {
        if (!cut(&flat, mean)) return 0;
        const line l = along(&flat, (const double[]){1, 0, 0}, 0);
        const double from = wrapped(middle - mean, p->turn);
        if (s->row->score == CR_SCORE_HUBER && fabs(from) + half < 0.5 * p->turn)
            return huber_leaves(&l, s->width, from - half, from + half);
        if (s->row->score == CR_SCORE_HUBER) e = hubers(&l, s->width);
        else if (s->row->score == CR_SCORE_WITHIN) e.lo = e.hi = trimmed_mean(&l, s->trim);
        else e = quantiles(&l, s->row->level);
    }
    return fabs(wrapped(mean + e.lo - middle, p->turn)) > half ||
           fabs(wrapped(mean + e.hi - middle, p->turn)) > half;
}

/* ---- a vector */
/* Medians along the axes of theory 7.3 that lie as far as they can in the direction `to`. */
static void projection(const points *p, const double *to, double *t)
{
    const double third = pi / 6, golden = 0.5 * (1 + sqrt(5)), a = 0.5 * golden, b = 0.5 / golden;
    const int axes = p->outputs == 2 ? 6 : 15;
    for (int k = 0; k < p->outputs; k++) t[k] = 0;
    for (int i = 0; i < axes; i++) {
        double v[MOST_OUTPUTS] = {cos(third * i), sin(third * i), 0}, dot = 0;
        if (p->outputs == 3) {
            const int shift = (i - 3) % 3, signs = (i - 3) / 3;
            for (int k = 0; k < 3; k++) v[k] = i == k;
            if (i >= 3) {
                v[shift] = 0.5, v[(shift + 1) % 3] = signs & 1 ? -a : a;
                v[(shift + 2) % 3] = signs & 2 ? -b : b;
            }
        }
        const line l = along(p, v, 0);
        const ends e = quantiles(&l, 0.5);
        for (int k = 0; k < p->outputs; k++) dot += v[k] * to[k];
        const double median = dot < 0 ? e.lo : e.hi;
        for (int k = 0; k < p->outputs; k++) t[k] += v[k] * median / (p->outputs == 2 ? 3 : 5);
    }
}

static double length(const double *x, int count)
{
    return count == 2 ? hypot(x[0], x[1]) : sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* No search for the farthest version of all: a few directions, each followed twice. */
static double projection_distance(const points *p, const double *center)
{
    double farthest = 0;
    for (int i = 0; i < 6; i++) {
        double t[MOST_OUTPUTS], to[MOST_OUTPUTS] = {0};
        to[i / 2] = i % 2 ? -1 : 1;
        if (i / 2 >= p->outputs) break;
        for (int again = 0; again < 2; again++) {
            projection(p, to, t);
            for (int k = 0; k < p->outputs; k++) to[k] = t[k] - center[k];
            const double far = length(to, p->outputs);
            if (!isfinite(far)) return INFINITY;
            farthest = fmax(farthest, far);
        }
    }
    return farthest;
}

static int vector_leaves(const points *p, const statistic *s, const region *r)
{
    double far[MOST_OUTPUTS] = {0}, distance;
    for (int k = 0; k < p->outputs; k++) {
        double axis[MOST_OUTPUTS] = {0};
        axis[k] = 1;
        const line l = along(p, axis, s->leaves_out);
        ends e = {0, 0};
        if (l.total == 0) return 0;
        if (s->row->score == CR_SCORE_SIGN) e = quantiles(&l, s->row->level);
        else if (s->row->score == CR_SCORE_HUBER) e = hubers(&l, s->width);
        else e.lo = e.hi = mean_of(&l);
        far[k] = fmax(fabs(e.lo - r->center[k]), fabs(e.hi - r->center[k]));
    }
    distance = s->row->net == CR_NET_PROJECTIONS ? projection_distance(p, r->center)
                                                 : length(far, p->outputs);
    return distance > r->high * (1 + p->rounding) + p->rounding * length(r->center, p->outputs);
}

/* A ball's outputs are multiples of one vector, so that a line has all of them. */
static int ball_leaves(const points *p, const statistic *s, const region *r)
{
    points flat = *p;
    region on = *r;
    const double unit = 1 / sqrt(p->outputs);
    flat.outputs = 1, on.center[0] = 0;
    for (int k = 0; k < p->outputs; k++) on.center[0] += unit * r->center[k];
    for (int i = 0; i < p->count; i++) {
        flat.value[i][0] = 0;
        for (int k = 0; k < p->outputs; k++) flat.value[i][0] += unit * p->value[i][k];
    }
    on.low += 1e-6 * on.low, on.high += 1e-6 * on.high; /* floats are not on it exactly */
    return number_leaves(&flat, s, &on);
}

int points_leave(const points *p, const statistic *s, const region *r)
{
    if (p->turn > 0) return angle_leaves(p, s, r);
    if (p->outputs == 1) return number_leaves(p, s, r);
    return s->row->score == CR_SCORE_BALL ? ball_leaves(p, s, r) : vector_leaves(p, s, r);
}
