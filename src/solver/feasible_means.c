/* Excludes means at which gradient_lo is impossible (theory 3.3). Multipliers diverge there, so a
 * search over the whole interval of means would not do. */
#include "solver/feasible_means.h"
#include <math.h>
#include <stddef.h>

#define FEASIBLE_MEANS_EVALUATIONS 200

/* Relative, for the roundings of gradient_lo itself and of a tangent's slope. */
static const double correlation_margin = 1e-11, slope_margin = 1e-9;

/* Returns a proven upper bound of the correlation with t at this mean, and its slope. It is the
 * worst case as r -> 0, hence concave in the mean. */
static double max_correlation(const cr_one_sided *rise, double mean, double *slope)
{
    cr_one_sided zero_radius = *rise;
    zero_radius.r = zero_radius.gradient_lo = 0;
    zero_radius.gradient_hi = INFINITY;
    cr_fixed_mean_dual solution;
    cr_verified_value verified;
    *slope = 0;
    cr_fixed_mean_solve(&zero_radius, mean, NULL, 1e-12, &solution);
    if (solution.constant) return 0;
    cr_verify_dual_value(&solution.problem, solution.correlation_lo, solution.correlation_hi,
                         &solution.multipliers, &solution.regions, &verified);
    const double deviation = sqrt(solution.problem.variance) * (1 + correlation_margin);
    if (verified.unverified || !(verified.value < deviation))
        return deviation; /* in doubt it has no slope */
    *slope = verified.mean_slope +
             copysign(verified.mean_slope_error, verified.mean_slope); /* steeper than it is */
    return verified.value * (1 + correlation_margin);
}

/* Returns a mean at which gradient_lo is possible. The maximum of the correlation is concave in the
 * mean, so the ends come first, then the interior by bisection. NaN: tangents prove that there is
 * none. In doubt the best mean seen. */
static double find_feasible_mean(const cr_one_sided *rise)
{
    double low = rise->mean_lo, high = rise->mean_hi, slope, best_mean = low,
           best_correlation = -INFINITY;
    for (int i = 0; i < 40; i++) {
        const double mean = i == 0   ? low
                            : i == 1 ? high
                                     : 0.5 * (low + high),
                     correlation = max_correlation(rise, mean, &slope);
        if (correlation > best_correlation) {
            best_correlation = correlation;
            best_mean = mean;
        }
        if (correlation >= rise->gradient_lo) return mean;
        if (!cr_budget_left(rise->budget)) break;
        if (slope == 0 && i < 2) continue;   /* next to an end of the range: no tangent */
        if (slope == 0 && low < high) break; /* nor a double in between */
        if (correlation + fmax(slope * (high - mean), slope * (low - mean)) <
            rise->gradient_lo * (1 - correlation_margin))
            return NAN;
        if (slope > 0) low = mean;
        else high = mean;
        if (!(low < high)) break;
    }
    return best_mean;
}

/* Moves an end inwards as long as it is not feasible. The tangent lies above, so the mean at which
 * it meets gradient_lo is still not feasible, or just at the edge. If the tangent is vertical (at
 * an end of the range) or misses, bisection replaces it. */
static double shrink_to_feasible(const cr_one_sided *rise, double infeasible, double feasible)
{
    double slope, unused;
    for (int i = 0; i < 60 && cr_budget_left(rise->budget) &&
                    fabs(feasible - infeasible) > 1e-13 * (fabs(feasible) + fabs(infeasible));
         i++) {
        const double correlation = max_correlation(rise, infeasible, &slope),
                     step = slope != 0
                                ? (rise->gradient_lo - correlation) / slope * (1 - slope_margin)
                                : INFINITY;
        /* Rounding must not lead beyond the edge. */
        const double next = nextafter(infeasible + step, infeasible);
        if (correlation >= rise->gradient_lo || fabs(step) <= 1e-12 * fabs(feasible - infeasible))
            return infeasible;
        if (fmin(infeasible, feasible) < next && next < fmax(infeasible, feasible)) {
            infeasible = next;
        } else {
            const double middle = 0.5 * (feasible + infeasible);
            if (max_correlation(rise, middle, &unused) >= rise->gradient_lo) feasible = middle;
            else infeasible = middle;
        }
    }
    return infeasible;
}

/* Narrows the means to the ones that `constraints` allow with gradient_lo. Returns 0 for none. */
static int restrict_means(cr_one_sided *rise, const cr_one_sided *constraints)
{
    cr_one_sided restricted = *constraints;
    restricted.mean_lo = rise->mean_lo;
    restricted.mean_hi = rise->mean_hi;
    const int outer_limit = cr_budget_narrow(rise->budget, FEASIBLE_MEANS_EVALUATIONS);
    const double feasible = find_feasible_mean(&restricted);
    const double low = isnan(feasible) ? feasible
                                       : shrink_to_feasible(&restricted, rise->mean_lo, feasible),
                 high = isnan(feasible) ? feasible
                                        : shrink_to_feasible(&restricted, rise->mean_hi, feasible);
    rise->budget->limit = outer_limit;
    if (isnan(feasible)) return 0;
    rise->low_end_is_feasible_limit |= low > rise->mean_lo;
    rise->high_end_is_feasible_limit |= high < rise->mean_hi;
    rise->mean_lo = low;
    rise->mean_hi = high;
    return 1;
}

int cr_feasible_means(cr_one_sided *rise)
{
    const double deviation = sqrt(cr_one_sided_min_variance(rise)),
                 range_distance =
                     fmin(rise->mean_lo - rise->range_lo, rise->range_hi - rise->mean_hi);
    const int bounded = rise->range_lo > -INFINITY && rise->range_hi < INFINITY;
    if (rise->gradient_lo <= 0) return 1;
    if (rise->range_lo == -INFINITY && rise->range_hi == INFINITY)
        return rise->gradient_lo <= sqrt(cr_one_sided_max_variance(rise)) * (1 + 1e-12);
    if (deviation == INFINITY && !bounded) return 1;
    /* A sufficient test, which decides all but odd cases: clip(t), scaled to this variance, lies
     * within the range at every mean of the interval. */
    if (deviation > 0 && deviation < INFINITY &&
        rise->gradient_lo <= deviation * erf(range_distance / deviation * 0.7071))
        return 1;
    /* First by the range alone: that is fast, and comes nearly as far if it matters most. */
    cr_one_sided range_only = *rise;
    range_only.variance = range_only.moment = INFINITY;
    if (bounded && deviation < INFINITY && !restrict_means(rise, &range_only)) return 0;
    return restrict_means(rise, rise);
}
