/* Proves a value of the dual (theory 3.2). Elsewhere an error costs tightness; here it would cost
 * soundness. So D is evaluated by dual.c and by a rule of its own, and the larger value counts,
 * with their difference and a bound of all roundings added. */
#include "solver/verified_value.h"
#include <float.h>
#include <math.h>

static const double inv_sqrt_2pi = 0x1.9884533d43651p-2;

#define ROUNDINGS \
    64.0 /* in units of DBL_EPSILON: the relative error of a term of moderate exponents */

typedef struct pointwise {
    double constraint, size; /* E max_y (...), and the size that roundings are relative to */
    double y;
} pointwise;

/* Returns the size of the terms that cr_ratio_at subtracts, and that cancel in h. */
static double cancelled(const cr_ratio *ratio)
{
    return ratio->order == 0 ? 0 : 0.5 * ratio->r * ratio->r / ratio->norm;
}

static void add_panel(const cr_problem *problem, const cr_multipliers *at, double from, double to,
                      const cr_rule *rule, pointwise *out)
{
    const double slope = cr_dual_slope(problem, at), r = problem->ratio.r;
    pointwise part = {0}; /* summed apart: fewer roundings */
    cr_nodes n;
    cr_quadrature_nodes(rule, from, to, &problem->ratio, &n);
    for (int j = 0; j < 2 * rule->half; j++) {
        const double t = n.t[j], h = n.h[j], v = h - at->nu - slope * t;
        const double strain = 1 + (0.5 * t * t + fabs(r * (t - 0.5 * r))) /
                                      ROUNDINGS; /* roundings of exponents count in full */
        const double free = v / (2 * at->lambda), least = free > problem->b ? free : problem->b,
                     y = least < problem->B ? least : problem->B, w = n.weight[j]; /* 0 / 0: b */
        part.constraint += w * y * (v - at->lambda * y);
        part.size += strain * w * fabs(y) *
                     (fabs(h) + cancelled(&problem->ratio) + fabs(at->nu) + fabs(slope * t));
        part.y += w * y;
    }
    out->constraint += part.constraint;
    out->size += part.size;
    out->y += part.y;
}

/* Evaluates D with the maximum over y computed at every node: a wrong edge costs smoothness only.
 */
static pointwise integrate(const cr_problem *problem, const cr_multipliers *at,
                           const cr_clip_regions *regions, const cr_rule *rule)
{
    pointwise out = {0};
    double ends[CR_PANELS], from = -INFINITY;
    problem->effort->used++;
    for (int part = 0; part <= CR_EDGES; part++) {
        const double to = part < CR_EDGES ? regions->edge[part] : INFINITY;
        const int count =
            cr_quadrature_cut(rule, from, to, 0, (part & 1 ? 2 : 1) * problem->ratio.r, ends);
        if (count) problem->effort->points += 2 * (uint64_t)(rule->half * (count - 1));
        for (int i = 1; i < count; i++) add_panel(problem, at, ends[i], ends[i - 1], rule, &out);
        from = to;
    }
    return out;
}

/* Bounds the error of misplaced edges: sup_J (v - L)^2 P(J) / 4 lambda for the bracket J of each.
 */
static double edge_error(const cr_problem *problem, const cr_multipliers *at,
                         const cr_clip_regions *regions)
{
    double sum = 0;
    for (int i = 0; i < CR_EDGES; i++) {
        const double t = regions->edge[i], width = regions->width;
        if (!isfinite(t)) continue;
        const double rise =
            fabs(cr_ratio_slope(&problem->ratio, t) - cr_dual_slope(problem, at)) * width;
        /* The loss is at most the gain of the whole range. */
        const double ends = problem->B - problem->b;
        const double gain = rise < 4 * at->lambda * ends ? rise / (4 * at->lambda) : ends;
        sum += rise * gain * width * inv_sqrt_2pi;
    }
    return sum;
}

static void finer(const cr_rule *rule, cr_rule *out)
{
    *out = *rule;
    out->widest *= 0.5;
    out->budget *= 0.5;
}

void cr_verify_dual_value(const cr_problem *problem, double low, double high,
                          const cr_multipliers *at, cr_clip_regions *warm, cr_verified_value *out)
{
    const cr_ratio *ratio = &problem->ratio;
    cr_problem worst = *problem;
    double linear = 0; /* the size that the linear part's rounding is relative to */
    if (ratio->order > 0) {
        worst.coefficient = cr_dual_multiplier(problem, at) > 0 ? high : low;
        linear = (ratio->r + fabs(ratio->norm * at->a)) * fmax(fabs(low), fabs(high));
    }
    cr_regions_find(problem, at, 1e-13, warm);
    cr_rule value_rule = cr_quadrature_value, proof_rule = cr_quadrature_proof;
    for (int attempt = 0; attempt < 3; attempt++) {
        problem->effort->refinements += attempt > 0;
        cr_dual_expectations sums;
        cr_dual_sums(problem, at, warm, &value_rule, &sums);
        const pointwise again = integrate(problem, at, warm, &proof_rule);
        const double rounding =
            ROUNDINGS * DBL_EPSILON * again.size + edge_error(problem, at, warm);
        const double gap = fabs(sums.constraint - again.constraint),
                     constraint = fmax(sums.constraint, again.constraint) + gap + rounding;
        const double value = cr_dual_value(&worst, at, constraint);
        out->value = value + 16 * DBL_EPSILON * (fabs(value) + linear);
        out->slack = ratio->norm * (gap + rounding) + out->value - value;
        /* The slope of a tangent of lambda C(m), which is concave. */
        const double bend = at->lambda * problem->variance_slope;
        out->slope = ratio->norm * (at->nu + 2 * at->lambda * again.y + bend);
        out->slope_error = 64 * DBL_EPSILON * ratio->norm *
                           (fabs(at->nu) + 2 * at->lambda * sqrt(fmax(sums.yy, 0)) + fabs(bend));
        out->doubtful = !(ratio->norm * gap <= 1e-10 * fabs(value) + ratio->norm * rounding) ||
                        !isfinite(out->value);
        if (!out->doubtful) return;
        finer(&value_rule, &value_rule);
        finer(&proof_rule, &proof_rule);
    }
}
