#include "solver/side.h"
#include <float.h>
#include <math.h>

static const double least_positive = 1e-290; /* below, square roots and products lose digits */

double cr_side_variance(const cr_side *side, double mean, double *slope)
{
    *slope = 0;
    if (side->moment == INFINITY) return side->variance;
    /* The distance is rounded down and the rest up, so that cancellation near the ends costs tightness only. */
    const double away = mean - side->moment_centre, least = fabs(away) * (1 - DBL_EPSILON);
    const double rest = fmin(fma(-least, least, side->moment) * (1 + DBL_EPSILON), DBL_MAX);
    if (rest >= side->variance) return side->variance;
    *slope = -2 * away;
    return side->moment > 0 ? fmax(rest, least_positive) : 0;
}

double cr_side_greatest_variance(const cr_side *side)
{
    double unused;
    return cr_side_variance(side, fmin(fmax(side->moment_centre, side->mean_lo), side->mean_hi), &unused);
}

double cr_side_least_variance(const cr_side *side)
{
    double unused;
    const double low = cr_side_variance(side, side->mean_lo, &unused);
    return fmin(low, cr_side_variance(side, side->mean_hi, &unused));
}
