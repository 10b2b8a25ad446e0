/* The expectations of a draft in closed form (theory 3.2), about ten times as fast as quadrature.
 * They are differences, so they are refused if too few digits would be left, and no proof uses
 * them. */
#include "solver/dual.h"
#include <math.h>

#define DENSITY_SUPPORT_END 39.0
/* EQUIVALENT_POINTS: points of a quadrature that takes as long */
enum { POWERS = 3, EQUIVALENT_POINTS = 20 };

/* T v = e - c[0] - c[1] t with e = exp(rt - r^2/2). */
typedef struct scaled_v {
    double r, c[2];
} scaled_v;

static scaled_v scaled_v_of(const cr_problem *problem, const cr_multipliers *mult)
{
    const cr_ratio *ratio = &problem->ratio;
    const double r = ratio->r, T = ratio->norm;
    return (scaled_v){
        r, {1 + T * mult->nu, T * cr_dual_slope(problem, mult) + (ratio->order > 0 ? r : 0)}};
}

/* value[j][k] = E[e^j t^k; t > x] */
typedef struct exp_moments {
    double value[3][POWERS];
} exp_moments;

static void set_tail_moments(const cr_problem *problem, double exp_second_moment, double t,
                             exp_moments *moments)
{
    const int in_support = fabs(t) < DENSITY_SUPPORT_END;
    const double r = problem->ratio.r, e = in_support ? exp(r * (t - 0.5 * r)) : 0;
    static const int max_power[] = {2, 2, 1};
    double boundary_term = in_support ? CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) : 0;
    for (int j = 0; j < 3; j++, boundary_term *= e) {
        double *moment = moments->value[j], power = boundary_term;
        moment[0] = (in_support ? 0.5 * erfc((t - j * r) * CR_SQRT_HALF) : t < 0) *
                    (j > 1 ? exp_second_moment : 1);
        moment[1] = j * r * moment[0] + power;
        for (int k = 2; k <= max_power[j]; k++)
            moment[k] = j * r * moment[k - 1] + (k - 1) * moment[k - 2] +
                        (power *= boundary_term > 0 ? t : 0);
    }
}

/* y = exp_weight * e + constant + slope * t, on one region */
typedef struct piece {
    double exp_weight, constant, slope;
} piece;

static void add_region(const cr_problem *problem, const cr_multipliers *mult, const scaled_v *v,
                       const exp_moments *moments, const piece *region_y, cr_dual_expectations *out)
{
    const double *p = moments->value[0], *e = moments->value[1], *ee = moments->value[2];
    const double k = region_y->exp_weight, c = region_y->constant, s = region_y->slope;
    const double y = k * e[0] + c * p[0] + s * p[1], yt = k * e[1] + c * p[1] + s * p[2],
                 ye = k * ee[0] + c * e[0] + s * e[1], yet = k * ee[1] + c * e[1] + s * e[2],
                 yy = k * ye + c * y + s * yt, yv = ye - v->c[0] * y - v->c[1] * yt;
    out->y += y;
    out->yt += yt;
    out->yy += yy;
    out->inner_maximum += yv / problem->ratio.norm - mult->lambda * yy;
    out->radius_slope += yet - v->r * ye;
    if (k == 0) return;
    out->p += p[0];
    out->t += p[1];
    out->tt += p[2];
    out->py += y;
    out->pyt += yt;
    out->pyy += yy;
}

/* Limits of use: the expectations are differences of terms of up to the square of max_coefficient.
 */
static const double max_coefficient = 500, max_radius = 5;

int cr_dual_by_closed_form(const cr_problem *problem, const cr_multipliers *mult,
                           cr_clip_regions *regions, cr_dual_expectations *out)
{
    const scaled_v v = scaled_v_of(problem, mult);
    const double exp_weight = 0.5 / (mult->lambda * problem->ratio.norm);
    const piece unclipped_piece = {exp_weight, -exp_weight * v.c[0], -exp_weight * v.c[1]};
    if (!(exp_weight * (1 + fabs(v.c[0]) + fabs(v.c[1])) < max_coefficient && v.r < max_radius &&
          v.r > 0))
        return 0;
    cr_clip_regions_find(problem, mult, CR_ROUGH_EDGE_TOLERANCE, regions);
    problem->budget->used++;
    problem->budget->points += EQUIVALENT_POINTS;
    *out = (cr_dual_expectations){0};
    exp_moments interval_moments = {{{0}}}, tail_at_end = interval_moments;
    const double exp_second_moment = exp(v.r * v.r); /* E e^2 */
    double from = -INFINITY;
    set_tail_moments(problem, exp_second_moment, from, &interval_moments);
    for (int i = 0; i <= CR_CLIP_EDGES; i++) {
        const double to = i < CR_CLIP_EDGES ? regions->edge[i] : INFINITY;
        const piece clipped_piece = {0, i % 4 ? problem->b : problem->B, 0};
        if (!(from < to)) continue;
        set_tail_moments(problem, exp_second_moment, from = to, &tail_at_end);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < POWERS; k++)
                interval_moments.value[j][k] -= tail_at_end.value[j][k];
        add_region(problem, mult, &v, &interval_moments, i % 2 ? &unclipped_piece : &clipped_piece,
                   out);
        interval_moments = tail_at_end;
    }
    return 1;
}
