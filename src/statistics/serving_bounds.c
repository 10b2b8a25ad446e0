/* Thresholds for estimates from fresh independent samples (theory 1.5), and trimmed means (theory
 * 9.2). Antithetic pairs have a worst case of their own, in antithetic.c. */
#include "statistics/serving_bounds.h"
#include "base/constants.h"
#include "statistics/binomial.h"
#include <float.h>
#include <math.h>

/* For an estimate that fails if at most `most` of the values are 1. */
static double least_mean(uint64_t samples, uint64_t most, double beta)
{
    return nextafter(2 * cr_binomial_upper(most, samples, beta) - 1, 2);
}

uint64_t cr_serving_share(uint64_t samples, double share)
{
    return (uint64_t)floor(share * (double)samples * (1 + CR_ROUNDING_MARGIN));
}

double cr_serving_binomial(uint64_t samples, double share, double beta)
{
    return least_mean(samples, cr_serving_share(samples, share), beta);
}

double cr_serving_misses(uint64_t samples, uint64_t out, double beta)
{
    return out < samples ? least_mean(samples, samples - out - 1, beta) : -INFINITY;
}

/* kl(a; p) = a log(a/p) + (1-a) log((1-a)/(1-p)) >= log(1/beta)/N' for the fraction a at which the
 * sum is 0: the tail at mean p is then at most beta (Hoeffding's first inequality). For values in
 * [-1, 1] it reads (1 - tau^2)^(N'/2) <= beta. */
double cr_serving_bounded(double samples, double least, double greatest, double beta)
{
    const double span = greatest - least, zero = -least / span, need = -log(beta) / samples;
    if (!(span > 0) || !isfinite(span)) return INFINITY;
    if (zero < 0) return -INFINITY; /* the values are positive anyway */
    if (zero >= 1) return INFINITY;
    double low = zero, high = 1;
    for (int i = 0; i < 100; i++) {
        const double p = 0.5 * (low + high);
        const double divergence =
            (zero > 0 ? zero * log(zero / p) : 0) + (1 - zero) * (log1p(-zero) - log1p(-p));
        /* Logarithms of numbers below 1 may be off by 2 ulp each: for a large N' that is more than
         * 1e-9 of `need`. */
        if (divergence >= need * (1 + 1e-9) + 4 * DBL_EPSILON) high = p;
        else low = p;
    }
    return least + span * high + CR_ROUNDING_MARGIN * span;
}

/* ---- trimmed means */
uint64_t cr_serving_cut(uint64_t samples, double trim)
{
    const uint64_t cut = (uint64_t)floor(trim * (double)samples), most = (samples - 1) / 2;
    return cut < most ? cut : most;
}

/* The number that is cut off at one end; or, with a range, j more of the m that remain, with j
 * reach + (m - j) core < m tolerance. Rounded so that j is too small in doubt. */
uint64_t cr_serving_out(uint64_t samples, double trim, double tolerance, double core, double reach)
{
    const uint64_t cut = cr_serving_cut(samples, trim);
    const double left = (double)(samples - 2 * cut), below = tolerance * (1 - CR_ROUNDING_MARGIN);
    if (reach < below) return samples;
    if (!(core < below && reach < INFINITY)) return cut;
    const double more = left * ((below - core) / (reach - core)) * (1 - CR_ROUNDING_MARGIN);
    return cut + (uint64_t)floor(fmin(left, more));
}
