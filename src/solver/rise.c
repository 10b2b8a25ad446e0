/* The variance that a problem allows at a mean. */
#include "solver/rise.h"
#include <float.h>
#include <math.h>

/* The distance is rounded down and the difference up: cancellation costs only tightness. */
double cr_rise_moment_variance(const cr_rise *rise, double mean)
{
    if (rise->moment == INFINITY) return INFINITY;
    const double least = fabs(mean - rise->moment_center) * (1 - DBL_EPSILON);
    const double rest = fmin(fma(-least, least, rise->moment) * (1 + DBL_EPSILON), DBL_MAX);
    return rise->moment > 0 ? fmax(rest, CR_LEAST_VARIANCE) : 0;
}

double cr_rise_variance(const cr_rise *rise, double mean, double *slope)
{
    const double rest = cr_rise_moment_variance(rise, mean);
    *slope = rest < rise->variance ? -2 * (mean - rise->moment_center) : 0;
    return fmin(rest, rise->variance);
}

double cr_rise_greatest_variance(const cr_rise *rise)
{
    double unused;
    return cr_rise_variance(rise, fmin(fmax(rise->moment_center, rise->mean_lo), rise->mean_hi),
                            &unused);
}

double cr_rise_least_variance(const cr_rise *rise)
{
    double unused;
    const double low = cr_rise_variance(rise, rise->mean_lo, &unused);
    return fmin(low, cr_rise_variance(rise, rise->mean_hi, &unused));
}
