#include "solver/bang.h"
#include "solver/point.h"
#include "solver/start.h"
#include <math.h>
#include <stddef.h>

static cr_problem describe(const cr_side *side, double mean, int order, double coefficient)
{
    cr_problem problem = {.kernel = cr_kernel_make(order, side->r), .b = side->range_lo - mean, .B = side->range_hi - mean,
                          .coefficient = {coefficient}};
    problem.variance = cr_side_variance(side, mean, &problem.variance_slope);
    return problem;
}

/* The variance does not bind iff C >= (hi-m)(m-lo). Just below, dropping it is a bound that is loose by less than rounding. */
static int variance_binds(const cr_problem *problem)
{
    return problem->variance < -problem->b * problem->B * (1 - 1e-13);
}

/* The variance is spent at the optimum. From a poor start Newton can end where lambda has all but vanished and nothing moves any more. */
static int settled(const cr_problem *problem, const cr_descent *descent)
{
    return descent->impossible || (descent->converged && fabs(descent->sums.yy - problem->variance) <= 0.01 * problem->variance);
}

static void descend(const cr_problem *problem, const cr_point *warm, double gain, cr_point *out)
{
    const int similar = warm && warm->converged && warm->problem.kernel.order == problem->kernel.order && warm->at.lambda > 0;
    cr_descent descent = {.at = similar ? warm->at : cr_start_guess(problem)};
    if (similar) descent.regions = warm->regions;
    cr_newton_descend(problem, gain, &descent);
    if (similar && !settled(problem, &descent)) {
        descent.at = cr_start_guess(problem);
        cr_newton_descend(problem, gain, &descent);
    }
    out->problem = *problem;
    out->at = descent.at;
    out->regions = descent.regions;
    out->value = descent.value;
    out->growth = descent.sums.growth;
    out->slope = problem->kernel.norm * (descent.at.nu + descent.at.lambda * problem->variance_slope);
    out->converged = descent.converged;
    out->impossible = descent.impossible;
    out->coefficient_lo[0] = out->coefficient_hi[0] = problem->coefficient[0];
}

/* With the gradient known to be exactly, or at most, its upper end: theirs is the multiplier of the right sign. */
static int solve_upper(const cr_side *side, double mean, const cr_point *warm, double gain, cr_point *out)
{
    const cr_problem problem = describe(side, mean, 1, side->gradient_hi);
    descend(&problem, warm, gain, out);
    out->coefficient_lo[0] = side->gradient_lo;
    const int exact = side->gradient_lo == side->gradient_hi;
    if (out->impossible && exact) return 1;
    return out->converged && (exact || side->r + problem.kernel.norm * out->at.a[0] >= 0);
}

/* Without the gradient first: whether and at which end it binds is then known. */
static void solve_by_correlation(const cr_side *side, double mean, const cr_point *warm, double gain, cr_point *out)
{
    const cr_problem problem = describe(side, mean, 0, 0);
    cr_point without = {.mean = mean};
    descend(&problem, warm, fmin(gain, 1e-11), &without);
    cr_sums sums;
    cr_regions_find(&problem, &without.at, 1e-9, &without.regions);
    cr_dual_sums(&problem, &without.at, &without.regions, &cr_rule_draft, &sums);
    const double excess = sums.yt - side->gradient_hi, lack = side->gradient_lo - sums.yt;
    if (excess > 0 || lack > 0) {
        const cr_problem with = describe(side, mean, 1, excess > 0 ? side->gradient_hi : side->gradient_lo);
        descend(&with, warm, gain, out);
        out->coefficient_lo[0] = side->gradient_lo;
        out->coefficient_hi[0] = side->gradient_hi;
        if (out->converged || out->value < without.value) return;
    }
    *out = without;
}

static void solve_bang(const cr_side *side, double mean, cr_point *out)
{
    const double b = side->range_lo - mean, B = side->range_hi - mean;
    const int binds = side->gradient_hi < cr_bang_correlation(b, B);
    out->problem = describe(side, mean, binds, side->gradient_hi);
    if (!binds) out->problem.coefficient[0] = 0;
    out->at = cr_bang_solve(&out->problem);
    out->coefficient_lo[0] = side->gradient_lo;
    out->coefficient_hi[0] = side->gradient_hi;
    cr_regions_find(&out->problem, &out->at, 1e-12, &out->regions);
    out->regions.edge[0] = out->regions.edge[1];
    out->regions.edge[3] = out->regions.edge[2];
    out->regions.edge[4] = out->regions.edge[5];
    cr_sums sums;
    cr_dual_sums(&out->problem, &out->at, &out->regions, &cr_rule_draft, &sums);
    out->value = cr_dual_value(&out->problem, &out->at, sums.constraint);
    out->growth = sums.growth;
    out->slope = out->problem.kernel.norm * out->at.nu;
    out->converged = 1;
}

/* ---- second order --------------------------------------------------------------------------------------------------------------- */
/* The same v in terms of k = 2, where what is not used has M = weight + T a = 0: the solution so far is where the descent begins, so that
 * the bound can only get better. Two-valued solutions get a little room between the clips, without which nothing curves. */
static cr_multipliers raise_order(const cr_problem *problem, const cr_point *from)
{
    const cr_kernel *kernel = &problem->kernel;
    const double ratio = from->problem.kernel.norm / kernel->norm, lambda = from->at.lambda * ratio;
    cr_multipliers at = {lambda > 0 ? lambda : 0.15 / (problem->B - problem->b), from->at.nu * ratio, {-kernel->r / kernel->norm}};
    if (from->problem.kernel.order > 0) at.a[0] = from->at.a[0] * ratio;
    at.a[1] = -cr_kernel_weight(kernel, 2) / kernel->norm;
    return at;
}

static double surplus(const cr_problem *problem, const cr_multipliers *at, int j)
{
    return cr_kernel_weight(&problem->kernel, j + 1) + problem->kernel.norm * at->a[j];
}

static cr_problem describe_second(const cr_side *side, double mean, int with_gradient)
{
    cr_problem problem = describe(side, mean, 2, with_gradient ? side->gradient_hi : 0);
    const double most = -problem.b * problem.B;
    if (!(problem.variance < most)) problem.variance = most, problem.variance_slope = problem.b + problem.B; /* tangent of a concave function */
    problem.coefficient[1] = side->second;
    problem.fixed[0] = !with_gradient;
    return problem;
}

/* Coefficients in [-gradient_hi, gradient_hi] and [-second, second], both taken for equal to their upper ends: right if both M come out
 * positive. Without the gradient M_1 stays 0. Whatever comes out is a bound. */
static int try_second(const cr_side *side, double mean, double gain, int with_gradient, const cr_point *from, cr_point *best)
{
    const cr_problem problem = describe_second(side, mean, with_gradient);
    const double known = (with_gradient ? side->gradient_hi * side->gradient_hi : 0) + side->second * side->second;
    if (!(known < 0.9999 * problem.variance)) return 0;
    cr_descent descent = {.at = raise_order(&problem, from)};
    if (!with_gradient) descent.at.a[0] = -problem.kernel.r / problem.kernel.norm;
    cr_newton_descend(&problem, gain, &descent);
    const int right = !descent.impossible && surplus(&problem, &descent.at, 1) >= 0 && (!with_gradient || surplus(&problem, &descent.at, 0) >= 0);
    if (!right || !(descent.value < best->value)) return right;
    *best = (cr_point){.problem = problem, .at = descent.at, .regions = descent.regions, .mean = mean, .value = descent.value,
                       .growth = descent.sums.growth, .converged = descent.converged};
    best->slope = problem.kernel.norm * (descent.at.nu + descent.at.lambda * problem.variance_slope);
    best->coefficient_hi[0] = with_gradient ? side->gradient_hi : fmin(side->gradient_hi, sqrt(problem.variance));
    best->coefficient_hi[1] = side->second;
    for (int j = 0; j < CR_ORDERS; j++) best->coefficient_lo[j] = -best->coefficient_hi[j];
    return 1;
}

/* Below that radius the second order is lost in the first. */
static const double least_radius = 1e-2;

static void use_second(const cr_side *side, double mean, double gain, cr_point *point)
{
    const cr_point before = *point;
    if (!(side->second < INFINITY) || !(side->r > least_radius) || before.impossible) return;
    const int bounded = side->range_lo > -INFINITY && side->range_hi < INFINITY;
    if (!bounded && !(before.at.lambda > 0)) return;
    if (side->gradient_hi < INFINITY && try_second(side, mean, gain, 1, &before, point)) return;
    try_second(side, mean, gain, 0, &before, point);
}

/* Whether the gradient's upper end is likely to bind, and within reach. It is not chosen beyond what is best without a range, and
 * clip(t), scaled to this variance, reaches what erf says within the range; a target out of reach would send Newton to infinity. */
static int upper_end_likely(const cr_side *side, const cr_problem *problem)
{
    const double root = sqrt(problem->variance), room = fmin(-problem->b, problem->B);
    if (side->gradient_lo == side->gradient_hi) return 1;
    return side->gradient_hi < 0.98 * root * side->r / problem->kernel.norm && side->gradient_hi < root * erf(room / root * 0.7071);
}

void cr_point_solve(const cr_side *side, double mean, const cr_point *warm, double gain, cr_point *out)
{
    const cr_problem problem = describe(side, mean, 0, 0);
    cr_point result = {.problem = problem, .mean = mean};
    if (problem.variance == 0 || problem.b >= 0 || problem.B <= 0) {
        result.constant = 1;
    } else if (!variance_binds(&problem)) {
        solve_bang(side, mean, &result);
    } else {
        if (!upper_end_likely(side, &problem) || !solve_upper(side, mean, warm, gain, &result)) solve_by_correlation(side, mean, warm, gain, &result);
    }
    if (!result.constant) use_second(side, mean, gain, &result);
    result.mean = mean;
    *out = result;
}
