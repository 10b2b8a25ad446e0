/* Excludes means at which gradient_lo is impossible (theory 3.3). Multipliers diverge there, so a
 * search over all means of the box would not do. */
#include "solver/feasible_means.h"
#include <math.h>
#include <stddef.h>

#define CR_FEASIBLE_EVALUATIONS 200

static const double slack = 1e-11; /* relative, for the roundings of gradient_lo itself */
static const double shy = 1e-9;    /* relative, for the roundings of a tangent's slope */

/* Returns a proven upper bound of the correlation with t at this mean, and its slope. It is the
 * worst case as r -> 0, hence concave in the mean. */
static double greatest(const cr_one_sided *rise, double mean, double *slope)
{
    cr_one_sided limit = *rise;
    limit.r = limit.gradient_lo = 0;
    limit.gradient_hi = INFINITY;
    cr_fixed_mean_dual point;
    cr_verified_value proof;
    *slope = 0;
    cr_point_solve(&limit, mean, NULL, 1e-12, &point);
    if (point.constant) return 0;
    cr_verify_dual_value(&point.problem, point.coefficient_lo, point.coefficient_hi, &point.at,
                         &point.regions, &proof);
    const double deviation = sqrt(point.problem.variance) * (1 + slack);
    if (proof.doubtful || !(proof.value < deviation))
        return deviation;                                            /* in doubt it has no slope */
    *slope = proof.slope + copysign(proof.slope_error, proof.slope); /* steeper than it is */
    return proof.value * (1 + slack);
}

/* Returns a mean at which gradient_lo is possible. The greatest correlation is concave in the mean,
 * so the ends come first, then the inside by bisection. NaN: tangents prove that there is none. In
 * doubt the best mean seen. */
static double inside(const cr_one_sided *rise)
{
    double low = rise->mean_lo, high = rise->mean_hi, slope, best = low, top = -INFINITY;
    for (int i = 0; i < 40; i++) {
        const double mean = i == 0   ? low
                            : i == 1 ? high
                                     : 0.5 * (low + high),
                     here = greatest(rise, mean, &slope);
        if (here > top) {
            top = here;
            best = mean;
        }
        if (here >= rise->gradient_lo) return mean;
        if (!cr_budget_left(rise->effort)) break;
        if (slope == 0 && i < 2) continue;   /* next to an end of the range: no tangent */
        if (slope == 0 && low < high) break; /* nor a double in between */
        if (here + fmax(slope * (high - mean), slope * (low - mean)) <
            rise->gradient_lo * (1 - slack))
            return NAN;
        if (slope > 0) low = mean;
        else high = mean;
        if (!(low < high)) break;
    }
    return best;
}

/* Moves an end inwards as long as it is not feasible. The tangent lies above, so the mean at which
 * it meets gradient_lo is still not feasible, or just at the edge. If the tangent is vertical (at
 * an end of the range) or misses, bisection replaces it. */
static double draw_in(const cr_one_sided *rise, double end, double good)
{
    double slope, unused;
    for (int i = 0; i < 60 && cr_budget_left(rise->effort) &&
                    fabs(good - end) > 1e-13 * (fabs(good) + fabs(end));
         i++) {
        const double here = greatest(rise, end, &slope),
                     step = slope != 0 ? (rise->gradient_lo - here) / slope * (1 - shy) : INFINITY;
        const double next = nextafter(end + step, end); /* rounding must not lead beyond the edge */
        if (here >= rise->gradient_lo || fabs(step) <= 1e-12 * fabs(good - end)) return end;
        if (fmin(end, good) < next && next < fmax(end, good)) {
            end = next;
        } else {
            const double middle = 0.5 * (good + end);
            if (greatest(rise, middle, &unused) >= rise->gradient_lo) good = middle;
            else end = middle;
        }
    }
    return end;
}

/* Narrows the means to the ones that `constraints` allow with gradient_lo. Returns 0 for none. */
static int narrow(cr_one_sided *rise, const cr_one_sided *constraints)
{
    cr_one_sided limit = *constraints;
    limit.mean_lo = rise->mean_lo;
    limit.mean_hi = rise->mean_hi;
    const int most = cr_budget_narrow(rise->effort, CR_FEASIBLE_EVALUATIONS);
    const double good = inside(&limit);
    const double low = isnan(good) ? good : draw_in(&limit, rise->mean_lo, good),
                 high = isnan(good) ? good : draw_in(&limit, rise->mean_hi, good);
    rise->effort->most = most;
    if (isnan(good)) return 0;
    rise->low_reached |= low > rise->mean_lo;
    rise->high_reached |= high < rise->mean_hi;
    rise->mean_lo = low;
    rise->mean_hi = high;
    return 1;
}

int cr_feasible_means(cr_one_sided *rise)
{
    const double root = sqrt(cr_one_sided_least_variance(rise)),
                 room = fmin(rise->mean_lo - rise->range_lo, rise->range_hi - rise->mean_hi);
    const int bounded = rise->range_lo > -INFINITY && rise->range_hi < INFINITY;
    if (rise->gradient_lo <= 0) return 1;
    if (rise->range_lo == -INFINITY && rise->range_hi == INFINITY)
        return rise->gradient_lo <= sqrt(cr_one_sided_greatest_variance(rise)) * (1 + 1e-12);
    if (root == INFINITY && !bounded) return 1;
    /* A sufficient test, which settles all but odd cases: clip(t), scaled to this variance, lies
     * within the range at every mean of the box. */
    if (root > 0 && root < INFINITY && rise->gradient_lo <= root * erf(room / root * 0.7071))
        return 1;
    /* First by the range alone: that is fast, and comes nearly as far if it matters most. */
    cr_one_sided ranged = *rise;
    ranged.variance = ranged.moment = INFINITY;
    if (bounded && root < INFINITY && !narrow(rise, &ranged)) return 0;
    return narrow(rise, rise);
}
