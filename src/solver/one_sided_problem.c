/* The variance that a problem allows at a mean. */
#include "solver/one_sided_problem.h"
#include <float.h>
#include <math.h>

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
