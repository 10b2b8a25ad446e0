/* Proves a value of the dual (theory 3.2). Elsewhere an error costs tightness; here it would cost
 * soundness. So D is evaluated by dual.c and by a rule of its own, and the larger value counts,
 * with their difference and a bound of all roundings added. */
#include "solver/verified_value.h"
#include <float.h>
#include <math.h>

static const double inv_sqrt_2pi = 0x1.9884533d43651p-2;

#define TERM_ROUNDING \
    64.0 /* in units of DBL_EPSILON: the relative error of a term of moderate exponents */

typedef struct pointwise_sum {
    double inner_maximum, size; /* E max_y (...), and the size that roundings are relative to */
    double y;
} pointwise_sum;

/* Returns the size of the terms that cr_ratio_value subtracts, and that cancel in h. */
static double cancelled_size(const cr_ratio *ratio)
{
    return ratio->order == 0 ? 0 : 0.5 * ratio->r * ratio->r / ratio->norm;
}

static void integrate_panel(const cr_problem *problem, const cr_multipliers *mult, double from,
                            double to, const cr_quadrature_rule *rule, pointwise_sum *out)
{
    const double slope = cr_dual_slope(problem, mult), r = problem->ratio.r;
    pointwise_sum panel_sum = {0}; /* summed apart: fewer roundings */
    cr_quadrature_panel panel;
    cr_quadrature_panel_make(rule, from, to, &problem->ratio, &panel);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = panel.t[j], h = panel.h[j], v = h - mult->nu - slope * t;
        /* Roundings of exponents count in full. */
        const double error_factor = 1 + (0.5 * t * t + fabs(r * (t - 0.5 * r))) / TERM_ROUNDING;
        const double unclipped = v / (2 * mult->lambda),
                     clipped_below = unclipped > problem->b ? unclipped : problem->b,
                     y = clipped_below < problem->B ? clipped_below : problem->B,
                     w = panel.weight[j]; /* 0 / 0: b */
        panel_sum.inner_maximum += w * y * (v - mult->lambda * y);
        panel_sum.size +=
            error_factor * w * fabs(y) *
            (fabs(h) + cancelled_size(&problem->ratio) + fabs(mult->nu) + fabs(slope * t));
        panel_sum.y += w * y;
    }
    out->inner_maximum += panel_sum.inner_maximum;
    out->size += panel_sum.size;
    out->y += panel_sum.y;
}

/* Evaluates D with the maximum over y computed at every node: a wrong edge costs smoothness only.
 */
static pointwise_sum integrate_pointwise(const cr_problem *problem, const cr_multipliers *mult,
                                         const cr_clip_regions *regions,
                                         const cr_quadrature_rule *rule)
{
    pointwise_sum out = {0};
    double ends[CR_MAX_PANEL_ENDS], from = -INFINITY;
    problem->budget->used++;
    for (int region = 0; region <= CR_CLIP_EDGES; region++) {
        const double to = region < CR_CLIP_EDGES ? regions->edge[region] : INFINITY;
        const int count = cr_quadrature_panel_ends(rule, from, to, 0,
                                                   (region & 1 ? 2 : 1) * problem->ratio.r, ends);
        if (count) problem->budget->points += 2 * (uint64_t)(rule->positive_nodes * (count - 1));
        for (int i = 1; i < count; i++)
            integrate_panel(problem, mult, ends[i], ends[i - 1], rule, &out);
        from = to;
    }
    return out;
}

/* Bounds the error of misplaced edges: sup_J (v - L)^2 P(J) / 4 lambda for the bracket J of each.
 */
static double misplaced_edge_error(const cr_problem *problem, const cr_multipliers *mult,
                                   const cr_clip_regions *regions)
{
    double sum = 0;
    for (int i = 0; i < CR_CLIP_EDGES; i++) {
        const double t = regions->edge[i], width = regions->edge_error;
        if (!isfinite(t)) continue;
        const double v_error =
            fabs(cr_ratio_slope(&problem->ratio, t) - cr_dual_slope(problem, mult)) * width;
        /* The error of y is at most the whole range. */
        const double range = problem->B - problem->b;
        const double y_error = v_error < 4 * mult->lambda * range ? v_error / (4 * mult->lambda)
                                                                  : range;
        sum += v_error * y_error * width * inv_sqrt_2pi;
    }
    return sum;
}

static void halve_panels(const cr_quadrature_rule *coarse, cr_quadrature_rule *fine)
{
    *fine = *coarse;
    fine->max_width *= 0.5;
    fine->max_log_change *= 0.5;
}

void cr_verify_dual_value(const cr_problem *problem, double correlation_lo, double correlation_hi,
                          const cr_multipliers *mult, cr_clip_regions *regions,
                          cr_verified_value *out)
{
    const cr_ratio *ratio = &problem->ratio;
    cr_problem at_worst_correlation = *problem;
    double linear_size = 0; /* the size that the linear part's rounding is relative to */
    if (ratio->order > 0) {
        at_worst_correlation.correlation = cr_dual_multiplier(problem, mult) > 0 ? correlation_hi
                                                                                 : correlation_lo;
        linear_size = (ratio->r + fabs(ratio->norm * mult->a)) *
                      fmax(fabs(correlation_lo), fabs(correlation_hi));
    }
    cr_clip_regions_find(problem, mult, 1e-13, regions);
    cr_quadrature_rule value_rule = cr_quadrature_value, proof_rule = cr_quadrature_proof;
    for (int attempt = 0; attempt < 3; attempt++) {
        problem->budget->refinements += attempt > 0;
        cr_dual_expectations expect;
        cr_dual_by_quadrature(problem, mult, regions, &value_rule, &expect);
        const pointwise_sum pointwise = integrate_pointwise(problem, mult, regions, &proof_rule);
        const double rounding = TERM_ROUNDING * DBL_EPSILON * pointwise.size +
                                misplaced_edge_error(problem, mult, regions);
        const double disagreement = fabs(expect.inner_maximum - pointwise.inner_maximum),
                     inner_maximum = fmax(expect.inner_maximum, pointwise.inner_maximum) +
                                     disagreement + rounding;
        const double value = cr_dual_value(&at_worst_correlation, mult, inner_maximum);
        out->value = value + 16 * DBL_EPSILON * (fabs(value) + linear_size);
        out->margin = ratio->norm * (disagreement + rounding) + out->value - value;
        /* The slope of a tangent of lambda C(m), which is concave. */
        const double variance_term = mult->lambda * problem->variance_slope;
        out->mean_slope = ratio->norm * (mult->nu + 2 * mult->lambda * pointwise.y + variance_term);
        out->mean_slope_error =
            64 * DBL_EPSILON * ratio->norm *
            (fabs(mult->nu) + 2 * mult->lambda * sqrt(fmax(expect.yy, 0)) + fabs(variance_term));
        out->unverified =
            !(ratio->norm * disagreement <= 1e-10 * fabs(value) + ratio->norm * rounding) ||
            !isfinite(out->value);
        if (!out->unverified) return;
        halve_panels(&value_rule, &value_rule);
        halve_panels(&proof_rule, &proof_rule);
    }
}
