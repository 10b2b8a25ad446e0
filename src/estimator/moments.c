#include "estimator/moments.h"
#include "base/normal.h"
#include <float.h>
#include <math.h>

void cr_moments_start(cr_moments *moments, double centre)
{
    *moments = (cr_moments){.centre = centre, .least = INFINITY, .greatest = -INFINITY};
}

/* Neumaier: the part of the smaller summand that did not fit is kept apart. */
static void add_exactly(double *sum, double *lost, double term)
{
    const double total = *sum + term;
    *lost += fabs(*sum) >= fabs(term) ? (*sum - total) + term : (term - total) + *sum;
    *sum = total;
}

void cr_moments_add(cr_moments *moments, double u)
{
    const double gap = u - moments->centre, square = gap * gap;
    moments->count++;
    add_exactly(&moments->sum1, &moments->lost1, gap);
    add_exactly(&moments->sum2, &moments->lost2, square);
    add_exactly(&moments->sum3, &moments->lost3, square * gap);
    add_exactly(&moments->sum4, &moments->lost4, square * square);
    if (u < moments->least) moments->least = u;
    if (u > moments->greatest) moments->greatest = u;
}

/* Raw moments about the centre. */
static void raw(const cr_moments *moments, double out[4])
{
    const double n = (double)moments->count;
    out[0] = (moments->sum1 + moments->lost1) / n;
    out[1] = (moments->sum2 + moments->lost2) / n;
    out[2] = (moments->sum3 + moments->lost3) / n;
    out[3] = (moments->sum4 + moments->lost4) / n;
}

double cr_moments_mean(const cr_moments *moments)
{
    double about[4];
    raw(moments, about);
    const double mean = moments->centre + about[0];
    return fmin(fmax(mean, moments->least), moments->greatest);
}

double cr_moments_second(const cr_moments *moments)
{
    double about[4];
    raw(moments, about);
    if (moments->least == moments->greatest) return 0;
    const double second = about[1] - about[0] * about[0], spread = moments->greatest - moments->least;
    /* Two values that differ by `spread` alone leave spread^2/(2n): rounding must not take the variance below that. */
    return fmax(second, spread * spread / (2 * (double)moments->count));
}

double cr_moments_variance(const cr_moments *moments)
{
    const double n = (double)moments->count;
    return n < 2 ? NAN : cr_moments_second(moments) * (n / (n - 1));
}

double cr_moments_fourth(const cr_moments *moments)
{
    double about[4];
    raw(moments, about);
    const double shift = about[0], square = shift * shift;
    const double fourth = about[3] - 4 * shift * about[2] + 6 * square * about[1] - 3 * square * square;
    const double second = cr_moments_second(moments);
    return fmax(fourth, second * second);
}

double cr_moments_rounding(const cr_moments *moments)
{
    double about[4];
    raw(moments, about);
    return 16 * DBL_EPSILON * about[1];
}

double cr_moments_largest_variance(double range_lo, double range_hi, double mean_lo, double mean_hi)
{
    if (!isfinite(range_lo) || !isfinite(range_hi)) return INFINITY;
    const double middle = fmin(fmax(range_lo + 0.5 * (range_hi - range_lo), mean_lo), mean_hi);
    return fmax(0, (range_hi - middle) * (middle - range_lo));
}

int cr_asymptotic_moments_sided(const cr_moments *moments, double range_lo, double range_hi, double tail_lo, double tail_hi,
                                double tail_variance, certreg_bounds *bounds)
{
    bounds->facts |= CERTREG_MEAN | CERTREG_VARIANCE;
    if (isfinite(range_lo) || isfinite(range_hi)) bounds->facts |= CERTREG_RANGE;
    bounds->range_lo = bounds->mean_lo = range_lo;
    bounds->range_hi = bounds->mean_hi = range_hi;
    bounds->variance_hi = cr_moments_largest_variance(range_lo, range_hi, range_lo, range_hi);
    if (moments->count < 2 || !(moments->least < moments->greatest)) return CR_MOMENTS_ABSTAINED;
    const double n = (double)moments->count, mean = cr_moments_mean(moments), second = cr_moments_second(moments);
    const double variance = cr_moments_variance(moments), error = sqrt(variance / n);
    const double z_lo = tail_lo > 0 ? cr_normal_quantile_sf(tail_lo) : INFINITY;
    const double z_hi = tail_hi > 0 ? cr_normal_quantile_sf(tail_hi) : INFINITY;
    bounds->mean_lo = fmin(fmax(range_lo, mean - z_lo * error), range_hi);
    bounds->mean_hi = fmax(fmin(range_hi, mean + z_hi * error), range_lo);
    /* E(u-m)^2 is estimated about the sample mean: what that takes off, (mean - m)^2, comes back at the quantile of the mean. */
    const double finite_z = fmax(isfinite(z_lo) ? z_lo : 0, isfinite(z_hi) ? z_hi : 0);
    const double wobble = sqrt(fmax(0, cr_moments_fourth(moments) - second * second) / n);
    const double bound = second + finite_z * finite_z * variance / n + cr_normal_quantile_sf(tail_variance) * wobble;
    const double cap = cr_moments_largest_variance(range_lo, range_hi, bounds->mean_lo, bounds->mean_hi);
    bounds->variance_hi = fmin(bound + cr_moments_rounding(moments), cap);
    return CR_MOMENTS_OK;
}

int cr_asymptotic_moments(const cr_moments *moments, double range_lo, double range_hi, double tail_mean, double tail_variance,
                          certreg_bounds *bounds)
{
    return cr_asymptotic_moments_sided(moments, range_lo, range_hi, tail_mean, tail_mean, tail_variance, bounds);
}
