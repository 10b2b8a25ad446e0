#include "solver/reach.h"
#include <math.h>
#include <stddef.h>

static const double slack = 1e-11; /* relative, for the roundings of gradient_lo itself */

/* A proven upper bound of the correlation with t at this mean, and its slope. It is the worst shift as r -> 0, hence concave in the mean. */
static double most(const cr_side *side, double mean, double *slope)
{
    cr_side limit = *side;
    limit.r = limit.gradient_lo = 0;
    limit.gradient_hi = INFINITY;
    cr_point point;
    cr_proof proof;
    *slope = 0;
    cr_point_solve(&limit, mean, NULL, 1e-12, &point);
    if (point.constant) return 0;
    cr_proof_make(&point.problem, point.coefficient_lo, point.coefficient_hi, &point.at, &point.regions, &proof);
    if (proof.doubtful) return INFINITY;
    *slope = proof.slope;
    return proof.value * (1 + slack);
}

static double inside(const cr_side *side)
{
    double low = side->mean_lo, high = side->mean_hi;
    for (int i = 0; i < 100; i++) {
        double slope;
        const double mean = 0.5 * (low + high), here = most(side, mean, &slope);
        if (here >= side->gradient_lo) return mean;
        if (here + fmax(slope * (high - mean), slope * (low - mean)) < side->gradient_lo * (1 - slack)) break;
        if (slope > 0) low = mean;
        else high = mean;
    }
    return NAN;
}

/* From an end that may be out of reach inwards, as long as it is: the tangent lies above, so where it meets gradient_lo is still out of
 * reach, or just at the edge. Where it is vertical (an end of the range) or misses, bisection serves. */
static double draw_in(const cr_side *side, double end, double good)
{
    double slope, unused;
    for (int i = 0; i < 60 && fabs(good - end) > 1e-13 * (fabs(good) + fabs(end)); i++) {
        const double here = most(side, end, &slope), step = (side->gradient_lo - here) / slope, next = end + step;
        if (here >= side->gradient_lo || fabs(step) <= 1e-12 * fabs(good - end)) return end;
        if (slope != 0 && fmin(end, good) < next && next < fmax(end, good)) {
            end = next;
        } else {
            const double middle = 0.5 * (good + end);
            if (most(side, middle, &unused) >= side->gradient_lo) good = middle;
            else end = middle;
        }
    }
    return end;
}

int cr_reach_means(cr_side *side)
{
    const double root = sqrt(cr_side_least_variance(side)), room = fmin(side->mean_lo - side->range_lo, side->range_hi - side->mean_hi);
    const int unbounded = side->range_lo == -INFINITY && side->range_hi == INFINITY;
    if (side->gradient_lo <= 0) return 1;
    if (unbounded) return side->gradient_lo <= sqrt(cr_side_greatest_variance(side)) * (1 + 1e-12);
    if (root == INFINITY && !(side->range_lo > -INFINITY && side->range_hi < INFINITY)) return 1;
    /* clip(t), scaled to this variance, lies within the range at every mean of the box: enough in all but odd cases. */
    if (root < INFINITY && side->gradient_lo <= root * erf(room / root * 0.7071)) return 1;
    const double good = inside(side);
    if (isnan(good)) return 0;
    side->mean_lo = draw_in(side, side->mean_lo, good);
    side->mean_hi = draw_in(side, side->mean_hi, good);
    return 1;
}
