/* The dual at given multipliers (theory 3.1), for drafts and as the first evaluation of a proof. */
#include "solver/dual.h"
#include <math.h>

/* Returns P(from < t < to), from the tail that does not cancel. */
static double chance(double from, double to)
{
    if (from > 0) return 0.5 * (erfc(from * CR_SQRT_HALF) - erfc(to * CR_SQRT_HALF));
    return 0.5 * (erfc(-to * CR_SQRT_HALF) - erfc(-from * CR_SQRT_HALF));
}

static double density(double t)
{
    return fabs(t) < 39 ? CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) : 0;
}

typedef struct clipped { /* a part on which y* is constant at an end of the range */
    double from, to, y;
} clipped;

/* Adds a short clipped part by one panel, since closed forms would cancel. */
static void add_short(const cr_problem *problem, const cr_multipliers *at, const clipped *part,
                      const cr_rule *rule, cr_dual_expectations *out)
{
    const double slope = cr_dual_slope(problem, at), y = part->y;
    cr_nodes n;
    cr_quadrature_nodes(rule, part->from, part->to, &problem->ratio, &n);
    for (int j = 0; j < 2 * rule->half; j++) {
        const double t = n.t[j], h = n.h[j], wy = n.weight[j] * y;
        out->constraint += wy * (h - at->nu - slope * t - at->lambda * y);
        out->y += wy;
        out->yt += wy * t;
        out->yy += wy * y;
        out->growth += wy * (t - problem->ratio.r) * cr_ratio_itself(&problem->ratio, h, t);
    }
}

/* Adds a clipped part in closed form. */
static void add_clipped(const cr_problem *problem, const cr_multipliers *at, const clipped *part,
                        const cr_rule *rule, cr_dual_expectations *out)
{
    const double from = part->from, to = part->to, y = part->y;
    if (!(from < to)) return;
    if (to - from < 0.25) {
        add_short(problem, at, part, rule, out);
        return;
    }
    const double p = chance(from, to), t = density(from) - density(to);
    const double h = cr_ratio_tail(&problem->ratio, from) - cr_ratio_tail(&problem->ratio, to);
    const double slope = cr_dual_slope(problem, at), r = problem->ratio.r;
    out->constraint += y * (h - at->nu * p - slope * t) - at->lambda * y * y * p;
    out->y += y * p;
    out->yt += y * t;
    out->yy += y * y * p;
    out->growth += y * (density(from - r) - density(to - r));
}

/* Adds a part between the clips, y* = v / 2 lambda, by the rule. */
static void add_between(const cr_problem *problem, const cr_multipliers *at, double from, double to,
                        const cr_rule *rule, cr_dual_expectations *out)
{
    const cr_ratio *ratio = &problem->ratio;
    const double slope = cr_dual_slope(problem, at),
                 inverse = at->lambda > 0 ? 0.5 / at->lambda : 0;
    double ends[CR_PANELS];
    cr_dual_expectations sum = *out;
    const int count = cr_quadrature_cut(rule, from, to, 0, 2 * ratio->r, ends);
    if (count) problem->effort->points += 2 * (uint64_t)(rule->half * (count - 1));
    for (int i = 1; i < count; i++) {
        cr_nodes n;
        cr_quadrature_nodes(rule, ends[i], ends[i - 1], ratio, &n);
        for (int j = 0; j < 2 * rule->half; j++) {
            const double t = n.t[j], h = n.h[j], y = (h - at->nu - slope * t) * inverse,
                         w = n.weight[j], wy = w * y, wt = w * t;
            sum.p += w;
            sum.t += wt;
            sum.tt += wt * t;
            sum.py += wy;
            sum.pyt += wy * t;
            sum.pyy += wy * y;
            sum.growth += wy * (t - ratio->r) * cr_ratio_itself(ratio, h, t);
        }
    }
    *out = sum;
}

void cr_dual_sums(const cr_problem *problem, const cr_multipliers *at,
                  const cr_clip_regions *regions, const cr_rule *rule, cr_dual_expectations *out)
{
    const double *edge = regions->edge;
    problem->effort->used++;
    *out = (cr_dual_expectations){0};
    for (int i = 0; i < CR_EDGES; i += 2) add_between(problem, at, edge[i], edge[i + 1], rule, out);
    out->y = out->py;
    out->yt = out->pyt;
    out->yy = out->pyy;
    out->constraint = at->lambda * out->pyy;
    add_clipped(problem, at, &(clipped){-INFINITY, edge[0], problem->B}, rule, out);
    add_clipped(problem, at, &(clipped){edge[1], edge[2], problem->b}, rule, out);
    add_clipped(problem, at, &(clipped){edge[3], INFINITY, problem->B}, rule, out);
}

double cr_dual_value(const cr_problem *problem, const cr_multipliers *at, double constraint)
{
    const cr_ratio *ratio = &problem->ratio;
    const double linear = ratio->order > 0 ? cr_dual_multiplier(problem, at) * problem->coefficient
                                           : 0;
    if (at->lambda > 0) constraint += at->lambda * problem->variance;
    return linear + ratio->norm * constraint;
}
