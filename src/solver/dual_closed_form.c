/* The sums of a draft in closed form (theory 3.2), about ten times as fast as quadrature. They are
 * differences, so they are refused if too few digits would be left, and no proof uses them. */
#include "solver/dual.h"
#include <math.h>

#define LINE_END 39.0
/* SAME_POINTS: points of a quadrature that takes as long */
enum { POWERS = 3, SAME_POINTS = 20 };

/* T v = e - c[0] - c[1] t with e = exp(rt - r^2/2). */
typedef struct curve {
    double r, c[2];
} curve;

static curve curve_of(const cr_problem *problem, const cr_multipliers *at)
{
    const cr_ratio *ratio = &problem->ratio;
    const double r = ratio->r, T = ratio->norm;
    return (curve){r,
                   {1 + T * at->nu, T * cr_dual_slope(problem, at) + (ratio->order > 0 ? r : 0)}};
}

/* at[j][k] = E[e^j t^k; t > x] */
typedef struct moments {
    double at[3][POWERS];
} moments;

static void beyond(const cr_problem *problem, double whole, double t, moments *m)
{
    const int here = fabs(t) < LINE_END;
    const double r = problem->ratio.r, e = here ? exp(r * (t - 0.5 * r)) : 0;
    static const int most[] = {2, 2, 1};
    double edge = here ? CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) : 0;
    for (int j = 0; j < 3; j++, edge *= e) {
        double *to = m->at[j], power = edge;
        to[0] = (here ? 0.5 * erfc((t - j * r) * CR_SQRT_HALF) : t < 0) * (j > 1 ? whole : 1);
        to[1] = j * r * to[0] + power;
        for (int k = 2; k <= most[j]; k++)
            to[k] = j * r * to[k - 1] + (k - 1) * to[k - 2] + (power *= edge > 0 ? t : 0);
    }
}

/* y = share * e + constant + slope * t, on one region */
typedef struct piece {
    double share, constant, slope;
} piece;

static void add_region(const cr_problem *problem, const cr_multipliers *at, const curve *v,
                       const moments *m, const piece *form, cr_dual_expectations *out)
{
    const double *p = m->at[0], *e = m->at[1], *ee = m->at[2];
    const double k = form->share, c = form->constant, s = form->slope;
    const double y = k * e[0] + c * p[0] + s * p[1], yt = k * e[1] + c * p[1] + s * p[2],
                 ye = k * ee[0] + c * e[0] + s * e[1], yet = k * ee[1] + c * e[1] + s * e[2],
                 yy = k * ye + c * y + s * yt, yv = ye - v->c[0] * y - v->c[1] * yt;
    out->y += y;
    out->yt += yt;
    out->yy += yy;
    out->constraint += yv / problem->ratio.norm - at->lambda * yy;
    out->growth += yet - v->r * ye;
    if (k == 0) return;
    out->p += p[0];
    out->t += p[1];
    out->tt += p[2];
    out->py += y;
    out->pyt += yt;
    out->pyy += yy;
}

/* Limits of use: the sums are differences of terms of up to the square of this size. */
static const double most_size = 500, most_radius = 5;

int cr_dual_closed(const cr_problem *problem, const cr_multipliers *at, cr_clip_regions *regions,
                   cr_dual_expectations *out)
{
    const curve v = curve_of(problem, at);
    const double share = 0.5 / (at->lambda * problem->ratio.norm);
    const piece between = {share, -share * v.c[0], -share * v.c[1]};
    if (!(share * (1 + fabs(v.c[0]) + fabs(v.c[1])) < most_size && v.r < most_radius && v.r > 0))
        return 0;
    cr_regions_find(problem, at, CR_ROUGH_EDGES, regions);
    problem->effort->used++;
    problem->effort->points += SAME_POINTS;
    *out = (cr_dual_expectations){0};
    moments here = {{{0}}}, next = here;
    const double whole = exp(v.r * v.r); /* E e^2 */
    double from = -INFINITY;
    beyond(problem, whole, from, &here);
    for (int i = 0; i <= CR_EDGES; i++) {
        const double to = i < CR_EDGES ? regions->edge[i] : INFINITY;
        const piece clipped = {0, i % 4 ? problem->b : problem->B, 0};
        if (!(from < to)) continue;
        beyond(problem, whole, from = to, &next);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < POWERS; k++) here.at[j][k] -= next.at[j][k];
        add_region(problem, at, &v, &here, i % 2 ? &between : &clipped, out);
        here = next;
    }
    return 1;
}
