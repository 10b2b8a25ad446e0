/* Thresholds for estimates from fresh independent samples (theory 1.5), and trimmed means (theory
 * 9.2). Antithetic pairs have a worst case of their own, in antithetic.c. */
#include "statistics/serving_bounds.h"
#include "base/constants.h"
#include "statistics/binomial.h"
#include <float.h>
#include <math.h>

/* For an estimate that fails if at most max_ones of the values are 1. */
static double min_mean(uint64_t samples, uint64_t max_ones, double beta)
{
    return nextafter(2 * cr_binomial_upper(max_ones, samples, beta) - 1, 2);
}

uint64_t cr_serving_count(uint64_t samples, double fraction)
{
    return (uint64_t)floor(fraction * (double)samples * (1 + CR_ROUNDING_MARGIN));
}

double cr_serving_binomial(uint64_t samples, double fraction, double beta)
{
    return min_mean(samples, cr_serving_count(samples, fraction), beta);
}

double cr_serving_binomial_count(uint64_t samples, uint64_t max_outside, double beta)
{
    return max_outside < samples ? min_mean(samples, samples - max_outside - 1, beta) : -INFINITY;
}

/* kl(a; p) = a log(a/p) + (1-a) log((1-a)/(1-p)) >= log(1/beta)/N' for the fraction a at which the
 * sum is 0: the tail at mean p is then at most beta (Hoeffding's first inequality). For values in
 * [-1, 1] it reads (1 - tau^2)^(N'/2) <= beta. */
double cr_serving_bounded(double samples, double min_value, double max_value, double beta)
{
    const double span = max_value - min_value, zero_fraction = -min_value / span,
                 min_divergence = -log(beta) / samples;
    if (!(span > 0) || !isfinite(span)) return INFINITY;
    if (zero_fraction < 0) return -INFINITY; /* the values are positive anyway */
    if (zero_fraction >= 1) return INFINITY;
    double low = zero_fraction, high = 1;
    for (int i = 0; i < 100; i++) {
        const double p = 0.5 * (low + high);
        const double divergence = (zero_fraction > 0 ? zero_fraction * log(zero_fraction / p) : 0) +
                                  (1 - zero_fraction) * (log1p(-zero_fraction) - log1p(-p));
        /* Logarithms of numbers below 1 may be off by 2 ulp each: for a large N' that is more than
         * 1e-9 of min_divergence. */
        if (divergence >= min_divergence * (1 + 1e-9) + 4 * DBL_EPSILON) high = p;
        else low = p;
    }
    return min_value + span * high + CR_ROUNDING_MARGIN * span;
}

/* ---- trimmed means */
uint64_t cr_serving_trim_count(uint64_t samples, double trim)
{
    const uint64_t count = (uint64_t)floor(trim * (double)samples), max_count = (samples - 1) / 2;
    return count < max_count ? count : max_count;
}

/* The number that is cut off at one end; or, with a range, j more of the m that remain, with j
 * max_distance + (m - j) core < m tolerance. Rounded so that j is too small in doubt. */
uint64_t cr_serving_max_outside(uint64_t samples, double trim, double tolerance, double core,
                                double max_distance)
{
    const uint64_t trim_count = cr_serving_trim_count(samples, trim);
    const double remaining = (double)(samples - 2 * trim_count),
                 reduced_tolerance = tolerance * (1 - CR_ROUNDING_MARGIN);
    if (max_distance < reduced_tolerance) return samples;
    if (!(core < reduced_tolerance && max_distance < INFINITY)) return trim_count;
    const double additional =
        remaining * ((reduced_tolerance - core) / (max_distance - core)) * (1 - CR_ROUNDING_MARGIN);
    return trim_count + (uint64_t)floor(fmin(remaining, additional));
}
