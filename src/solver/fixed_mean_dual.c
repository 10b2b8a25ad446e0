/* Solves at one mean. The constraints that bind are not known beforehand, so the likely case comes
 * first, and its solution shows if another one has to be tried. */
#include "solver/two_point_solution.h"
#include "solver/fixed_mean_dual.h"
#include "solver/initial_multipliers.h"
#include <math.h>
#include <stddef.h>

cr_problem cr_point_describe(const cr_one_sided *rise, double mean, int order, double coefficient)
{
    cr_problem problem = {.ratio = cr_ratio_make(order, rise->r),
                          .b = rise->range_lo - mean,
                          .B = rise->range_hi - mean,
                          .coefficient = coefficient,
                          .enough = rise->enough,
                          .effort = rise->effort};
    problem.variance = cr_one_sided_variance(rise, mean, &problem.variance_slope);
    return problem;
}

void cr_point_take(const cr_problem *problem, const cr_newton_state *descent,
                   cr_fixed_mean_dual *out)
{
    out->problem = *problem;
    out->at = descent->at;
    out->regions = descent->regions;
    out->value = descent->value;
    out->growth = descent->sums.growth;
    out->slope =
        problem->ratio.norm * (descent->at.nu + descent->at.lambda * problem->variance_slope);
    out->converged = descent->converged;
    out->tight = descent->tight;
    out->impossible = descent->impossible;
    out->coefficient_lo = out->coefficient_hi = problem->coefficient;
}

/* Returns multipliers of k = 1 with the same v and D: a puts back the part along t. */
static cr_multipliers raise_order(const cr_problem *problem, const cr_fixed_mean_dual *from)
{
    const double scale = from->problem.ratio.norm / problem->ratio.norm;
    return (cr_multipliers){from->at.lambda * scale, from->at.nu * scale,
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

static void descend(const cr_problem *problem, const cr_fixed_mean_dual *warm, double gain,
                    cr_fixed_mean_dual *out)
{
    const int similar = warm && warm->converged &&
                        warm->problem.ratio.order == problem->ratio.order && warm->at.lambda > 0;
    cr_newton_state descent = {.at = similar ? warm->at : cr_initial_guess(problem)};
    if (similar) descent.regions = warm->regions;
    cr_newton_descend(problem, gain, &descent);
    if (similar && !descent.tight && !descent.impossible) {
        descent.at = cr_initial_guess(problem);
        cr_newton_descend(problem, gain, &descent);
    }
    cr_point_take(problem, &descent, out);
}

/* Allows every gradient between its ends: the worst is the end that the multiplier's sign gives. */
static void allow_all(const cr_one_sided *rise, cr_fixed_mean_dual *point)
{
    const double surplus = cr_dual_multiplier(&point->problem, &point->at),
                 assumed = point->problem.coefficient;
    const double excess =
        surplus * ((surplus > 0 ? rise->gradient_hi : rise->gradient_lo) - assumed);
    point->coefficient_lo = rise->gradient_lo;
    point->coefficient_hi = rise->gradient_hi;
    if (surplus == 0 || !(excess > 0)) return;
    point->value += excess;
    point->tight &= excess <= 1e-9 * point->value;
}

/* Solves with the gradient at its upper end. Returns whether this is right: the gradient is exactly
 * that, or the multiplier has the sign of an upper bound. */
static int solve_upper(const cr_one_sided *rise, double mean, const cr_fixed_mean_dual *warm,
                       double gain, cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_point_describe(rise, mean, 1, rise->gradient_hi);
    descend(&problem, warm, gain, out);
    if (!out->impossible) allow_all(rise, out);
    out->coefficient_lo = rise->gradient_lo;
    const int exact = rise->gradient_lo == rise->gradient_hi;
    if (out->impossible && exact) return 1;
    return out->tight && (exact || rise->r + problem.ratio.norm * out->at.a >= 0);
}

/* Solves with a function that takes the two ends of the range only. It is the worst one without the
 * variance; the gradient counts if it binds. */
static void solve_two_valued(const cr_one_sided *rise, double mean, cr_fixed_mean_dual *out)
{
    const double b = rise->range_lo - mean, B = rise->range_hi - mean;
    const int binds = rise->gradient_hi < cr_two_valued_correlation(b, B);
    out->problem = cr_point_describe(rise, mean, binds, rise->gradient_hi);
    if (!binds) out->problem.coefficient = 0;
    out->at = cr_two_valued_solve(&out->problem);
    out->coefficient_lo = rise->gradient_lo;
    out->coefficient_hi = rise->gradient_hi;
    cr_regions_find(&out->problem, &out->at, 1e-12, &out->regions);
    cr_dual_expectations sums;
    cr_dual_sums(&out->problem, &out->at, &out->regions, &cr_quadrature_draft, &sums);
    out->value = cr_dual_value(&out->problem, &out->at, sums.constraint);
    out->growth = sums.growth;
    out->slope = out->problem.ratio.norm * out->at.nu;
    out->converged = out->tight = 1;
}

static void keep_lesser(const cr_fixed_mean_dual *other, cr_fixed_mean_dual *best)
{
    if (other->value < best->value) *best = *other;
}

static double correlation_of(const cr_fixed_mean_dual *point)
{
    cr_dual_expectations sums;
    cr_clip_regions regions = point->regions;
    cr_regions_find(&point->problem, &point->at, 1e-9, &regions);
    cr_dual_sums(&point->problem, &point->at, &regions, &cr_quadrature_draft, &sums);
    return sums.yt;
}

/* Solves with the gradient at this end. The descent begins at a guess. If that fails it begins at
 * the solution without the gradient, and can only improve on it. */
static void solve_with(const cr_one_sided *rise, double end, const cr_fixed_mean_dual *warm,
                       const cr_fixed_mean_dual *without, double gain, cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_point_describe(rise, without->mean, 1, end);
    cr_fixed_mean_dual with = {.mean = without->mean}, other = with;
    descend(&problem, warm, gain, &with);
    if (!with.tight && !with.impossible && without->at.lambda > 0) {
        cr_newton_state descent = {.at = raise_order(&problem, without)};
        cr_newton_descend(&problem, gain, &descent);
        cr_point_take(&problem, &descent, &other);
        if (other.impossible || other.value < with.value) with = other;
    }
    allow_all(rise, &with);
    if (with.tight || with.impossible || with.value < without->value) *out = with;
}

/* Solves without the gradient first: its correlation shows which end binds, if any. */
static void solve_by_correlation(const cr_one_sided *rise, double mean,
                                 const cr_fixed_mean_dual *warm, double gain,
                                 cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_point_describe(rise, mean, 0, 0);
    cr_fixed_mean_dual without = {.mean = mean}, two_valued = without;
    descend(&problem, warm, fmin(gain, 1e-11), &without);
    const double correlation = correlation_of(&without);
    *out = without;
    if (correlation > rise->gradient_hi)
        solve_with(rise, rise->gradient_hi, warm, &without, gain, out);
    else if (correlation < rise->gradient_lo)
        solve_with(rise, rise->gradient_lo, warm, &without, gain, out);
    if (out->tight || out->impossible || !is_bounded(rise)) return;
    solve_two_valued(rise, mean, &two_valued);
    keep_lesser(&two_valued, out);
    out->tight = 0;
}

/* Returns whether the gradient's upper end is likely to bind, and is feasible. It cannot bind
 * beyond the best gradient without a range, and clip(t), scaled to this variance, attains root *
 * erf(...) within the range. An end that is not feasible would send Newton to infinity. */
static int upper_end_likely(const cr_one_sided *rise, const cr_problem *problem)
{
    const double root = sqrt(problem->variance), room = fmin(-problem->b, problem->B);
    if (rise->gradient_lo == rise->gradient_hi) return 1;
    return rise->gradient_hi < 0.98 * root * rise->r / problem->ratio.norm &&
           rise->gradient_hi < root * erf(room / root * 0.7071);
}

void cr_point_solve(const cr_one_sided *rise, double mean, const cr_fixed_mean_dual *warm,
                    double gain, cr_fixed_mean_dual *out)
{
    const cr_problem problem = cr_point_describe(rise, mean, 0, 0);
    cr_fixed_mean_dual result = {.problem = problem, .mean = mean};
    if (problem.variance == 0 || problem.b >= 0 || problem.B <= 0) {
        result.constant = result.tight = 1;
    } else if (!variance_binds(&problem)) {
        solve_two_valued(rise, mean, &result);
    } else {
        const int likely = upper_end_likely(rise, &problem),
                  found = likely && solve_upper(rise, mean, warm, gain, &result);
        cr_fixed_mean_dual other = {.mean = mean};
        if (!found) solve_by_correlation(rise, mean, warm, gain, &other);
        if (!found && (!likely || !result.converged || other.value < result.value)) result = other;
    }
    result.mean = mean;
    *out = result;
}
