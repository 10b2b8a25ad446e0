/* The dual at given multipliers (theory 3.1), for drafts and as the first evaluation of a proof. */
#include "solver/dual.h"
#include <math.h>

/* Returns P(from < t < to), from the tail that does not cancel. */
static double normal_probability(double from, double to)
{
    if (from > 0) return 0.5 * (erfc(from * CR_SQRT_HALF) - erfc(to * CR_SQRT_HALF));
    return 0.5 * (erfc(-to * CR_SQRT_HALF) - erfc(-from * CR_SQRT_HALF));
}

static double normal_density(double t)
{
    return fabs(t) < 39 ? CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) : 0;
}

typedef struct clipped_interval { /* on which y* is an end of the range */
    double from, to, y;
} clipped_interval;

/* Adds a short clipped interval by one panel, since closed forms would cancel. */
static void integrate_short_clipped(const cr_problem *problem, const cr_multipliers *mult,
                                    const clipped_interval *interval,
                                    const cr_quadrature_rule *rule, cr_dual_expectations *out)
{
    const double slope = cr_dual_slope(problem, mult), y = interval->y;
    cr_quadrature_panel panel;
    cr_quadrature_panel_make(rule, interval->from, interval->to, &problem->ratio, &panel);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = panel.t[j], h = panel.h[j], wy = panel.weight[j] * y;
        out->inner_maximum += wy * (h - mult->nu - slope * t - mult->lambda * y);
        out->y += wy;
        out->yt += wy * t;
        out->yy += wy * y;
        out->radius_slope +=
            wy * (t - problem->ratio.r) * cr_ratio_likelihood(&problem->ratio, h, t);
    }
}

/* Adds a clipped interval in closed form. */
static void add_clipped_interval(const cr_problem *problem, const cr_multipliers *mult,
                                 const clipped_interval *interval, const cr_quadrature_rule *rule,
                                 cr_dual_expectations *out)
{
    const double from = interval->from, to = interval->to, y = interval->y;
    if (!(from < to)) return;
    if (to - from < 0.25) {
        integrate_short_clipped(problem, mult, interval, rule, out);
        return;
    }
    const double probability = normal_probability(from, to),
                 first_moment = normal_density(from) - normal_density(to);
    const double ratio_expectation =
        cr_ratio_tail(&problem->ratio, from) - cr_ratio_tail(&problem->ratio, to);
    const double slope = cr_dual_slope(problem, mult), r = problem->ratio.r;
    out->inner_maximum += y * (ratio_expectation - mult->nu * probability - slope * first_moment) -
                          mult->lambda * y * y * probability;
    out->y += y * probability;
    out->yt += y * first_moment;
    out->yy += y * y * probability;
    out->radius_slope += y * (normal_density(from - r) - normal_density(to - r));
}

/* Adds an unclipped interval, y* = v / 2 lambda, by the rule. */
static void add_unclipped_interval(const cr_problem *problem, const cr_multipliers *mult,
                                   double from, double to, const cr_quadrature_rule *rule,
                                   cr_dual_expectations *out)
{
    const cr_ratio *ratio = &problem->ratio;
    const double slope = cr_dual_slope(problem, mult),
                 half_inverse_lambda = mult->lambda > 0 ? 0.5 / mult->lambda : 0;
    double ends[CR_MAX_PANEL_ENDS];
    cr_dual_expectations sum = *out;
    const int count = cr_quadrature_panel_ends(rule, from, to, 0, 2 * ratio->r, ends);
    if (count) problem->budget->points += 2 * (uint64_t)(rule->positive_nodes * (count - 1));
    for (int i = 1; i < count; i++) {
        cr_quadrature_panel panel;
        cr_quadrature_panel_make(rule, ends[i], ends[i - 1], ratio, &panel);
        for (int j = 0; j < 2 * rule->positive_nodes; j++) {
            const double t = panel.t[j], h = panel.h[j],
                         y = (h - mult->nu - slope * t) * half_inverse_lambda, w = panel.weight[j],
                         wy = w * y, wt = w * t;
            sum.p += w;
            sum.t += wt;
            sum.tt += wt * t;
            sum.py += wy;
            sum.pyt += wy * t;
            sum.pyy += wy * y;
            sum.radius_slope += wy * (t - ratio->r) * cr_ratio_likelihood(ratio, h, t);
        }
    }
    *out = sum;
}

void cr_dual_by_quadrature(const cr_problem *problem, const cr_multipliers *mult,
                           const cr_clip_regions *regions, const cr_quadrature_rule *rule,
                           cr_dual_expectations *out)
{
    const double *edge = regions->edge;
    problem->budget->used++;
    *out = (cr_dual_expectations){0};
    for (int i = 0; i < CR_CLIP_EDGES; i += 2)
        add_unclipped_interval(problem, mult, edge[i], edge[i + 1], rule, out);
    out->y = out->py;
    out->yt = out->pyt;
    out->yy = out->pyy;
    out->inner_maximum = mult->lambda * out->pyy;
    add_clipped_interval(problem, mult, &(clipped_interval){-INFINITY, edge[0], problem->B}, rule,
                         out);
    add_clipped_interval(problem, mult, &(clipped_interval){edge[1], edge[2], problem->b}, rule,
                         out);
    add_clipped_interval(problem, mult, &(clipped_interval){edge[3], INFINITY, problem->B}, rule,
                         out);
}

double cr_dual_value(const cr_problem *problem, const cr_multipliers *mult, double inner_maximum)
{
    const cr_ratio *ratio = &problem->ratio;
    const double linear =
        ratio->order > 0 ? cr_dual_multiplier(problem, mult) * problem->correlation : 0;
    if (mult->lambda > 0) inner_maximum += mult->lambda * problem->variance;
    return linear + ratio->norm * inner_maximum;
}
