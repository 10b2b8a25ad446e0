#include "solver/rise.h"
#include <float.h>
#include <math.h>

/* The distance is rounded down and the rest up, so that cancellation near the ends costs tightness
 * only. */
double cr_rise_moment_variance(const cr_rise *side, double mean)
{
    if (side->moment == INFINITY) return INFINITY;
    const double least = fabs(mean - side->moment_center) * (1 - DBL_EPSILON);
    const double rest = fmin(fma(-least, least, side->moment) * (1 + DBL_EPSILON), DBL_MAX);
    return side->moment > 0 ? fmax(rest, CR_LEAST_VARIANCE) : 0;
}

double cr_rise_variance(const cr_rise *side, double mean, double *slope)
{
    const double rest = cr_rise_moment_variance(side, mean);
    *slope = rest < side->variance ? -2 * (mean - side->moment_center) : 0;
    return fmin(rest, side->variance);
}

double cr_rise_greatest_variance(const cr_rise *side)
{
    double unused;
    return cr_rise_variance(side, fmin(fmax(side->moment_center, side->mean_lo), side->mean_hi),
                            &unused);
}

double cr_rise_least_variance(const cr_rise *side)
{
    double unused;
    const double low = cr_rise_variance(side, side->mean_lo, &unused);
    return fmin(low, cr_rise_variance(side, side->mean_hi, &unused));
}
