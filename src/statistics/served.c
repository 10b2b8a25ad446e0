#include "statistics/served.h"
#include "base/constants.h"
#include "statistics/binomial.h"
#include <math.h>

/* The estimate fails if at most floor(share N') of the values are 1. */
double cr_served_binomial(uint64_t samples, double share, double beta)
{
    const uint64_t most = (uint64_t)floor(share * (double)samples * (1 + CR_ROUNDING));
    return nextafter(2 * cr_binomial_upper(most, samples, beta) - 1, 2);
}

/* kl(a; p) = a log(a/p) + (1-a) log((1-a)/(1-p)) >= log(1/beta)/N' for the share a at which the sum
 * is 0: the tail at mean p is then at most beta (Hoeffding's first inequality). For values in [-1,
 * 1] it reads (1 - tau^2)^(N'/2) <= beta. */
double cr_served_bounded(uint64_t samples, double least, double greatest, double beta)
{
    const double span = greatest - least, zero = -least / span, need = -log(beta) / (double)samples;
    if (!(span > 0) || !isfinite(span)) return INFINITY;
    if (zero < 0) return -INFINITY; /* the values are positive anyway */
    if (zero >= 1) return INFINITY;
    double low = zero, high = 1;
    for (int i = 0; i < 100; i++) {
        const double p = 0.5 * (low + high);
        const double divergence =
            (zero > 0 ? zero * log(zero / p) : 0) + (1 - zero) * (log1p(-zero) - log1p(-p));
        if (divergence >= need * (1 + 1e-9)) high = p;
        else low = p;
    }
    return least + span * high + CR_ROUNDING * span;
}
