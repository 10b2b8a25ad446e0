/* Sums of powers in one pass, with compensated addition, central moments from them, and the
 * asymptotic interval of mean and variance (theory 5.1). */
#include "statistics/moments.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

void cr_moments_init(cr_moments *moments, double center)
{
    *moments = (cr_moments){.center = center, .min = INFINITY, .max = -INFINITY};
}

/* Neumaier: the part of the smaller summand that did not fit is kept apart. */
static void add_exactly(double *sum, double *compensation, double term)
{
    const double total = *sum + term;
    *compensation += fabs(*sum) >= fabs(term) ? (*sum - total) + term : (term - total) + *sum;
    *sum = total;
}

void cr_moments_add(cr_moments *moments, double u)
{
    const double gap = u - moments->center;
    double power = 1;
    moments->count++;
    for (int i = 0; i < CR_MOMENTS_ORDER; i++) {
        power *= gap;
        add_exactly(&moments->sum[i], &moments->compensation[i], power);
    }
    if (u < moments->min) moments->min = u;
    if (u > moments->max) moments->max = u;
    /* No comparison holds any more, so every interval abstains. */
    if (!isfinite(u)) moments->min = moments->max = NAN;
}

void cr_moments_of(const cr_samples *samples, cr_moments *moments)
{
    const cr_samples s = *samples; /* a copy, which `moments` cannot overlap, stays in registers */
    cr_moments_init(moments, s.count ? cr_samples_at(&s, 0) : 0);
    for (size_t i = 0; cr_samples_has(&s, i); i++) cr_moments_add(moments, cr_samples_at(&s, i));
}

/* Moments 1 .. 6 about the center; out[0] is the zeroth, 1. */
static void raw(const cr_moments *moments, double out[CR_MOMENTS_ORDER + 1])
{
    out[0] = 1;
    for (int i = 0; i < CR_MOMENTS_ORDER; i++)
        out[i + 1] = (moments->sum[i] + moments->compensation[i]) / (double)moments->count;
}

/* Moment about the sample mean: sum over j of binomial(order, j) raw_j (-shift)^(order - j). */
static double central(const cr_moments *moments, int order)
{
    double raw_moments[CR_MOMENTS_ORDER + 1], sum = 0, binomial = 1, power = 1;
    raw(moments, raw_moments);
    for (int j = order; j >= 0; j--) {
        sum += binomial * raw_moments[j] * power;
        power *= -raw_moments[1];
        binomial = binomial * j / (order - j + 1);
    }
    return sum;
}

double cr_moments_mean(const cr_moments *moments)
{
    double raw_moments[CR_MOMENTS_ORDER + 1];
    raw(moments, raw_moments);
    return fmin(fmax(moments->center + raw_moments[1], moments->min), moments->max);
}

double cr_moments_second(const cr_moments *moments)
{
    if (moments->min == moments->max) return 0;
    const double range = moments->max - moments->min;
    /* Two values that differ by the range alone leave range^2/(2n): rounding must not take the
     * variance below that. */
    return fmax(central(moments, 2), range * range / (2 * (double)moments->count));
}

double cr_moments_variance(const cr_moments *moments)
{
    const double n = (double)moments->count;
    return n < 2 ? NAN : cr_moments_second(moments) * (n / (n - 1));
}

double cr_moments_fourth(const cr_moments *moments)
{
    const double second = cr_moments_second(moments);
    return fmax(central(moments, 4), second * second);
}

double cr_moments_skewness(const cr_moments *moments)
{
    const double second = cr_moments_second(moments);
    return second > 0 ? central(moments, 3) / (second * sqrt(second)) : 0;
}

double cr_moments_square_skewness(const cr_moments *moments)
{
    const double second = cr_moments_second(moments), fourth = cr_moments_fourth(moments);
    const double square_variance = fourth - second * second;
    if (!(square_variance > 0)) return 0;
    return (central(moments, 6) - 3 * second * fourth + 2 * second * second * second) /
           (square_variance * sqrt(square_variance));
}

double cr_moments_skewed_quantile(double z, double skewness, double count)
{
    const double g = skewness / sqrt(count);
    if (!isfinite(z) || !(g > 1e-6)) return z;
    return fmax(z, 3 / g * (1 - cbrt(1 - g * z - g * g / 6)));
}

double cr_moments_rounding_error(const cr_moments *moments)
{
    double raw_moments[CR_MOMENTS_ORDER + 1];
    raw(moments, raw_moments);
    return 16 * DBL_EPSILON * raw_moments[2];
}

double cr_moments_max_variance(double range_lo, double range_hi, double mean_lo, double mean_hi)
{
    if (!isfinite(range_lo) || !isfinite(range_hi)) return INFINITY;
    const double middle = fmin(fmax(range_lo + 0.5 * (range_hi - range_lo), mean_lo), mean_hi);
    return fmax(0, (range_hi - middle) * (middle - range_lo));
}

/* Quantile of an end of the mean; infinite at the end of the range. */
static double mean_quantile(double tail, double skewness, double n)
{
    return tail > 0 ? cr_moments_skewed_quantile(cr_normal_quantile_sf(tail), skewness, n)
                    : INFINITY;
}

int cr_moments_asymptotic(const cr_moments *moments, double range_lo, double range_hi,
                          const cr_moments_tails *tails, certreg_bounds *bounds)
{
    bounds->constraints |= CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    if (isfinite(range_lo) || isfinite(range_hi)) bounds->constraints |= CERTREG_CONSTRAINT_RANGE;
    bounds->range_lo = bounds->mean_lo = range_lo;
    bounds->range_hi = bounds->mean_hi = range_hi;
    bounds->variance_hi = cr_moments_max_variance(range_lo, range_hi, range_lo, range_hi);
    if (moments->count < 2 || !(moments->min < moments->max)) return CR_MOMENTS_ABSTAINED;
    const double n = (double)moments->count, mean = cr_moments_mean(moments),
                 second = cr_moments_second(moments);
    const double variance = cr_moments_variance(moments),
                 rounding = cr_moments_rounding_error(moments),
                 error = sqrt((variance + rounding) / n),
                 mean_rounding = 2 * DBL_EPSILON * fabs(mean); /* also of mean -/+ z error */
    const double skewness = CR_SKEWNESS_FACTOR_MEAN * cr_moments_skewness(moments);
    const double z_lo = mean_quantile(tails->mean_lo, -skewness, n),
                 z_hi = mean_quantile(tails->mean_hi, skewness, n);
    bounds->mean_lo = fmin(fmax(range_lo, mean - (z_lo * error + mean_rounding)), range_hi);
    bounds->mean_hi = fmax(fmin(range_hi, mean + (z_hi * error + mean_rounding)), range_lo);
    /* E(u-m)^2 is estimated about the sample mean, which is too small by (mean - m)^2: the quantile
     * of the mean bounds this. */
    const double z_mean = fmax(isfinite(z_lo) ? z_lo : 0, isfinite(z_hi) ? z_hi : 0);
    const double second_error = sqrt(fmax(0, cr_moments_fourth(moments) - second * second) / n);
    const double square_skewness = CR_SKEWNESS_FACTOR_SQUARE * cr_moments_square_skewness(moments);
    const double z =
        cr_moments_skewed_quantile(cr_normal_quantile_sf(tails->variance_hi), square_skewness, n);
    const double bound = second + z_mean * z_mean * variance / n + z * second_error;
    const double cap =
        cr_moments_max_variance(range_lo, range_hi, bounds->mean_lo, bounds->mean_hi);
    bounds->variance_hi = fmin(bound + rounding, cap * (1 + 4 * DBL_EPSILON));
    return CR_MOMENTS_OK;
}
