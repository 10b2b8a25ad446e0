/* The least proven bound of a one-sided problem at one mean (theory 3.2). */
#include "solver/solver.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

/* ======== The variance that a problem allows at a mean. */
/* The distance is rounded down and the difference up: cancellation costs only tightness. */
double cr_one_sided_moment_variance(const cr_one_sided *rise, double mean)
{
    if (rise->moment == INFINITY) return INFINITY;
    const double distance = fabs(mean - rise->moment_center) * (1 - DBL_EPSILON);
    const double remaining_variance =
        fmin(fma(-distance, distance, rise->moment) * (1 + DBL_EPSILON), DBL_MAX);
    return rise->moment > 0 ? fmax(remaining_variance, CR_MIN_VARIANCE) : 0;
}

double cr_one_sided_variance(const cr_one_sided *rise, double mean, double *slope)
{
    const double by_moment = cr_one_sided_moment_variance(rise, mean);
    *slope = by_moment < rise->variance ? -2 * (mean - rise->moment_center) : 0;
    return fmin(by_moment, rise->variance);
}

double cr_one_sided_max_variance(const cr_one_sided *rise)
{
    double unused;
    return cr_one_sided_variance(
        rise, fmin(fmax(rise->moment_center, rise->mean_lo), rise->mean_hi), &unused);
}

double cr_one_sided_min_variance(const cr_one_sided *rise)
{
    double unused;
    const double low = cr_one_sided_variance(rise, rise->mean_lo, &unused);
    return fmin(low, cr_one_sided_variance(rise, rise->mean_hi, &unused));
}

/* ======== Proves a value of the dual (theory 3.2). Elsewhere an error costs tightness; here it
 * would cost soundness. So D is evaluated by dual.c and by a rule of its own, and the larger
 * value counts, with their difference and a bound of all roundings added. */
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

/* ======== Solves at one mean. The constraints that bind are not known beforehand, so the likely
 * case comes first, and its solution shows if another one has to be tried. */
cr_problem cr_fixed_mean_problem(const cr_one_sided *rise, double mean, int order,
                                 double correlation)
{
    cr_problem problem = {.ratio = cr_ratio_make(order, rise->r),
                          .b = rise->range_lo - mean,
                          .B = rise->range_hi - mean,
                          .correlation = correlation,
                          .early_exit_value = rise->early_exit_value,
                          .budget = rise->budget};
    problem.variance = cr_one_sided_variance(rise, mean, &problem.variance_slope);
    return problem;
}

/* Sets *out to the outcome of a descent, with a known correlation. */
static void cr_fixed_mean_from_descent(const cr_problem *problem, const cr_newton_state *state,
                                       cr_fixed_mean_dual *out)
{
    out->problem = *problem;
    out->multipliers = state->multipliers;
    out->regions = state->regions;
    out->value = state->value;
    out->radius_slope = state->expectations.radius_slope;
    out->mean_slope = problem->ratio.norm *
                      (state->multipliers.nu + state->multipliers.lambda * problem->variance_slope);
    out->converged = state->converged;
    out->tight = state->tight;
    out->infeasible = state->infeasible;
    out->correlation_lo = out->correlation_hi = problem->correlation;
}

/* Returns multipliers of k = 1 with the same v and D: a puts back the part along t. */
static cr_multipliers raise_order(const cr_problem *problem, const cr_fixed_mean_dual *from)
{
    const double scale = from->problem.ratio.norm / problem->ratio.norm;
    return (cr_multipliers){from->multipliers.lambda * scale, from->multipliers.nu * scale,
                            -problem->ratio.r / problem->ratio.norm};
}

/* Returns whether the variance binds: C < (hi-m)(m-lo). Just below, dropping it loosens the bound
 * by less than rounding. */
static int variance_binds(const cr_problem *problem)
{
    return problem->variance < -problem->b * problem->B * (1 - 1e-13);
}

static int is_bounded(const cr_one_sided *rise)
{
    return rise->range_lo > -INFINITY && rise->range_hi < INFINITY;
}

static void descend(const cr_problem *problem, const cr_fixed_mean_dual *warm, double min_gain,
                    cr_fixed_mean_dual *out)
{
    const int use_warm_start = warm && warm->converged &&
                               warm->problem.ratio.order == problem->ratio.order &&
                               warm->multipliers.lambda > 0;
    cr_newton_state state = {.multipliers = use_warm_start ? warm->multipliers
                                                           : cr_initial_guess(problem)};
    if (use_warm_start) state.regions = warm->regions;
    cr_newton_descend(problem, min_gain, &state);
    if (use_warm_start && !state.tight && !state.infeasible) {
        state.multipliers = cr_initial_guess(problem);
        cr_newton_descend(problem, min_gain, &state);
    }
    cr_fixed_mean_from_descent(problem, &state, out);
}

/* Allows every gradient between its ends: the worst is the end that the multiplier's sign gives. */
static void allow_gradient_interval(const cr_one_sided *rise, cr_fixed_mean_dual *solution)
{
    const double multiplier = cr_dual_multiplier(&solution->problem, &solution->multipliers),
                 assumed = solution->problem.correlation;
    const double excess =
        multiplier * ((multiplier > 0 ? rise->gradient_hi : rise->gradient_lo) - assumed);
    solution->correlation_lo = rise->gradient_lo;
    solution->correlation_hi = rise->gradient_hi;
    if (multiplier == 0 || !(excess > 0)) return;
    solution->value += excess;
    solution->tight &= excess <= 1e-9 * solution->value;
}

/* Solves with the gradient at its upper end. Returns whether this is right: the gradient is exactly
 * that, or the multiplier has the sign of an upper bound. */
static int solve_at_upper_gradient(const cr_one_sided *rise, double mean,
                                   const cr_fixed_mean_dual *warm, double min_gain,
                                   cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_fixed_mean_problem(rise, mean, 1, rise->gradient_hi);
    descend(&problem, warm, min_gain, out);
    if (!out->infeasible) allow_gradient_interval(rise, out);
    out->correlation_lo = rise->gradient_lo;
    const int gradient_is_known = rise->gradient_lo == rise->gradient_hi;
    if (out->infeasible && gradient_is_known) return 1;
    return out->tight &&
           (gradient_is_known || rise->r + problem.ratio.norm * out->multipliers.a >= 0);
}

/* Solves with a function whose only values are the two ends of the range. It is the worst function
 * if the variance is not constrained; the upper bound of the gradient is used if it binds. */
static void solve_two_valued(const cr_one_sided *rise, double mean, cr_fixed_mean_dual *out)
{
    const double b = rise->range_lo - mean, B = rise->range_hi - mean;
    const int gradient_binds = rise->gradient_hi < cr_two_valued_correlation(b, B);
    out->problem = cr_fixed_mean_problem(rise, mean, gradient_binds, rise->gradient_hi);
    if (!gradient_binds) out->problem.correlation = 0;
    out->multipliers = cr_two_valued_solve(&out->problem);
    out->correlation_lo = rise->gradient_lo;
    out->correlation_hi = rise->gradient_hi;
    cr_clip_regions_find(&out->problem, &out->multipliers, 1e-12, &out->regions);
    cr_dual_expectations expectations;
    cr_dual_by_quadrature(&out->problem, &out->multipliers, &out->regions, &cr_quadrature_draft,
                          &expectations);
    out->value = cr_dual_value(&out->problem, &out->multipliers, expectations.inner_maximum);
    out->radius_slope = expectations.radius_slope;
    out->mean_slope = out->problem.ratio.norm * out->multipliers.nu;
    out->converged = out->tight = 1;
}

static void keep_smaller(const cr_fixed_mean_dual *candidate, cr_fixed_mean_dual *best)
{
    if (candidate->value < best->value) *best = *candidate;
}

static double correlation_of(const cr_fixed_mean_dual *solution)
{
    cr_dual_expectations expectations;
    cr_clip_regions regions = solution->regions;
    cr_clip_regions_find(&solution->problem, &solution->multipliers, 1e-9, &regions);
    cr_dual_by_quadrature(&solution->problem, &solution->multipliers, &regions,
                          &cr_quadrature_draft, &expectations);
    return expectations.yt;
}

/* Solves with the gradient at this end. The descent begins at a guess. If that fails it begins at
 * the solution without the gradient, and can only improve on it. */
static void solve_with_gradient(const cr_one_sided *rise, double gradient,
                                const cr_fixed_mean_dual *warm,
                                const cr_fixed_mean_dual *without_gradient, double min_gain,
                                cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_fixed_mean_problem(rise, without_gradient->mean, 1, gradient);
    cr_fixed_mean_dual with_gradient = {.mean = without_gradient->mean}, restarted = with_gradient;
    descend(&problem, warm, min_gain, &with_gradient);
    if (!with_gradient.tight && !with_gradient.infeasible &&
        without_gradient->multipliers.lambda > 0) {
        cr_newton_state state = {.multipliers = raise_order(&problem, without_gradient)};
        cr_newton_descend(&problem, min_gain, &state);
        cr_fixed_mean_from_descent(&problem, &state, &restarted);
        if (restarted.infeasible || restarted.value < with_gradient.value)
            with_gradient = restarted;
    }
    allow_gradient_interval(rise, &with_gradient);
    if (with_gradient.tight || with_gradient.infeasible ||
        with_gradient.value < without_gradient->value)
        *out = with_gradient;
}

/* Solves without the gradient first: its correlation shows which end binds, if any. */
static void solve_by_correlation(const cr_one_sided *rise, double mean,
                                 const cr_fixed_mean_dual *warm, double min_gain,
                                 cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_fixed_mean_problem(rise, mean, 0, 0);
    cr_fixed_mean_dual without_gradient = {.mean = mean}, two_valued = without_gradient;
    descend(&problem, warm, fmin(min_gain, 1e-11), &without_gradient);
    const double correlation = correlation_of(&without_gradient);
    *out = without_gradient;
    if (correlation > rise->gradient_hi)
        solve_with_gradient(rise, rise->gradient_hi, warm, &without_gradient, min_gain, out);
    else if (correlation < rise->gradient_lo)
        solve_with_gradient(rise, rise->gradient_lo, warm, &without_gradient, min_gain, out);
    if (out->tight || out->infeasible || !is_bounded(rise)) return;
    solve_two_valued(rise, mean, &two_valued);
    keep_smaller(&two_valued, out);
    out->tight = 0;
}

/* Returns whether the gradient's upper end is likely to bind, and is feasible. It cannot bind
 * beyond the best gradient without a range, and clip(t), scaled to this variance, attains root *
 * erf(...) within the range. An end that is not feasible would send Newton to infinity. */
static int upper_gradient_is_likely(const cr_one_sided *rise, const cr_problem *problem)
{
    const double deviation = sqrt(problem->variance),
                 range_distance = fmin(-problem->b, problem->B);
    if (rise->gradient_lo == rise->gradient_hi) return 1;
    return rise->gradient_hi < 0.98 * deviation * rise->r / problem->ratio.norm &&
           rise->gradient_hi < deviation * erf(range_distance / deviation * 0.7071);
}

void cr_fixed_mean_solve(const cr_one_sided *rise, double mean, const cr_fixed_mean_dual *warm,
                         double min_gain, cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_fixed_mean_problem(rise, mean, 0, 0);
    cr_fixed_mean_dual result = {.problem = problem, .mean = mean};
    if (problem.variance == 0 || problem.b >= 0 || problem.B <= 0) {
        result.constant = result.tight = 1;
    } else if (!variance_binds(&problem)) {
        solve_two_valued(rise, mean, &result);
    } else {
        const int upper_is_likely = upper_gradient_is_likely(rise, &problem),
                  upper_is_right = upper_is_likely &&
                                   solve_at_upper_gradient(rise, mean, warm, min_gain, &result);
        cr_fixed_mean_dual by_correlation = {.mean = mean};
        if (!upper_is_right) solve_by_correlation(rise, mean, warm, min_gain, &by_correlation);
        if (!upper_is_right &&
            (!upper_is_likely || !result.converged || by_correlation.value < result.value))
            result = by_correlation;
    }
    result.mean = mean;
    *out = result;
}
