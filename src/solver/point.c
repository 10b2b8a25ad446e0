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
    out->regions.edge[1] = out->regions.edge[0];
    out->regions.edge[2] = out->regions.edge[3];
    cr_sums sums;
    cr_dual_sums(&out->problem, &out->at, &out->regions, &cr_rule_draft, &sums);
    out->value = cr_dual_value(&out->problem, &out->at, sums.constraint);
    out->growth = sums.growth;
    out->slope = out->problem.kernel.norm * out->at.nu;
    out->converged = 1;
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
    result.mean = mean;
    *out = result;
}
