#include "solver/proof.h"
#include <float.h>
#include <math.h>

static const double inv_sqrt_2pi = 0x1.9884533d43651p-2;

#define ROUNDINGS \
    64.0 /* in units of DBL_EPSILON, relative: what a term of moderate exponents may have lost */

typedef struct pointwise {
    double constraint, size; /* E max_y (...), and what rounding is measured against */
    double y;
} pointwise;

/* What cancels in h where its known part is subtracted: the size of the terms that cr_ratio_at
 * subtracts, scale * (rise |t| + flat) / norm. */
typedef struct cancelled {
    double scale, rise, flat;
} cancelled;

static cancelled cancelled_of(const cr_ratio *ratio)
{
    const double r = ratio->r;
    if (ratio->order < 2) return (cancelled){1, 0, ratio->order == 0 ? 0 : 0.5 * r * r};
    return (cancelled){r * r * r, 0.5, 0.125 * r};
}

static void add_panel(const cr_problem *problem, const cr_multipliers *at, double from, double to,
                      const cr_rule *rule, pointwise *out)
{
    const double slope = cr_dual_slope(problem, at), bend = cr_dual_bend(problem, at),
                 lambda = at->lambda, nu = at->nu, b = problem->b, B = problem->B;
    const double center = 0.5 * (from + to), half = 0.5 * (to - from), r = problem->ratio.r,
                 norm = problem->ratio.norm;
    const cancelled lost = cancelled_of(&problem->ratio);
    pointwise part = {0}; /* summed by itself: fewer roundings */
    for (int j = 0; j < rule->half; j += CR_TOGETHER / 2) {
        cr_nodes n;
        double term[CR_TOGETHER], size[CR_TOGETHER], wy[CR_TOGETHER];
        cr_quadrature_nodes(rule, j, center, half, &problem->ratio, &n);
        for (int i = 0; i < CR_TOGETHER; i++) {
            const double t = n.t[i], h = n.h[i], square = t * t,
                         v = h - nu - slope * t - bend * (square - 1);
            const double strain = 1 + (0.5 * t * t + fabs(r * (t - 0.5 * r))) /
                                          ROUNDINGS; /* roundings of exponents count in full */
            const double free = v / (2 * lambda), least = free > b ? free : b, /* 0 / 0: b */
                y = least < B ? least : B, w = n.weight[i];
            wy[i] = w * y;
            term[i] = w * y * (v - lambda * y);
            size[i] = strain * w * fabs(y) *
                      (fabs(h) + lost.scale * (lost.rise * fabs(t) + lost.flat) / norm + fabs(nu) +
                       fabs(slope * t) + fabs(bend) * (square + 1));
        }
        for (int i = 0; i < CR_TOGETHER; i++)
            part.constraint += term[i], part.size += size[i], part.y += wy[i];
    }
    out->constraint += part.constraint;
    out->size += part.size;
    out->y += part.y;
}

/* The maximum over y is computed again at every node, so that an edge in the wrong place costs
 * smoothness and nothing else. */
static pointwise integrate(const cr_problem *problem, const cr_multipliers *at,
                           const cr_regions *regions, const cr_rule *rule)
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

/* What a misplaced edge could hide: sup_J (v - L)^2 P(J) / 4 lambda over the bracket J of each
 * edge. */
static double edge_error(const cr_problem *problem, const cr_multipliers *at,
                         const cr_regions *regions)
{
    double sum = 0;
    for (int i = 0; i < CR_EDGES; i++) {
        const double t = regions->edge[i], width = regions->width;
        if (!isfinite(t)) continue;
        const double rise = fabs(cr_ratio_slope(&problem->ratio, t) - cr_dual_slope(problem, at) -
                                 2 * cr_dual_bend(problem, at) * t) *
                            width;
        /* The loss is never more than the whole range gains. */
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

void cr_proof_make(const cr_problem *problem, const double *low, const double *high,
                   const cr_multipliers *at, cr_regions *warm, cr_proof *out)
{
    const cr_ratio *ratio = &problem->ratio;
    cr_problem worst = *problem;
    double linear = 0; /* what the linear part's rounding is measured against */
    for (int j = 0; j < ratio->order; j++) {
        const double weight = cr_ratio_weight(ratio, j + 1);
        worst.coefficient[j] = weight + ratio->norm * at->a[j] > 0 ? high[j] : low[j];
        linear += (weight + fabs(ratio->norm * at->a[j])) * fmax(fabs(low[j]), fabs(high[j]));
    }
    cr_regions_find(problem, at, 1e-13, warm);
    cr_rule value_rule = cr_quadrature_value, proof_rule = cr_quadrature_proof;
    for (int attempt = 0; attempt < 3; attempt++) {
        problem->effort->refinements += attempt > 0;
        cr_sums sums;
        cr_dual_sums(problem, at, warm, &value_rule, &sums);
        const pointwise again = integrate(problem, at, warm, &proof_rule);
        const double rounding =
            ROUNDINGS * DBL_EPSILON * again.size + edge_error(problem, at, warm);
        const double gap = fabs(sums.constraint - again.constraint),
                     constraint = fmax(sums.constraint, again.constraint) + gap + rounding;
        const double value = cr_dual_value(&worst, at, constraint);
        out->value = value + 16 * DBL_EPSILON * (fabs(value) + linear);
        out->slack = ratio->norm * (gap + rounding) + out->value - value;
        /* The slope of lambda C(m), which lies below its tangent. */
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
