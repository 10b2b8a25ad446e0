/* Probabilities and means under a shift of normal noise (theory 2.1), with the margins for their
 * rounding. */
#include "statistics/gaussian_shift.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

enum { MAX_MARGINS = 40 };

double cr_shift_probit(double p)
{
    return cr_normal_quantile(p);
}

double cr_shift_slope(double p)
{
    return cr_normal_pdf(cr_normal_quantile(p));
}

double cr_shift_min_probability(double p, double r)
{
    return cr_normal_sf(nextafter(r, INFINITY) + cr_normal_quantile_sf(p)) *
           (1 - CR_ROUNDING_MARGIN);
}

double cr_shift_radius(double probability, double target)
{
    return cr_normal_quantile_sf(probability) - cr_normal_quantile_sf(target);
}

/* 1 if P(N(0,1) > x) surely exceeds p. For p > 1/2 it compares the lower tail with 1 - p, since the
 * smaller tail has more correct digits. */
static int exceeds(double x, double p)
{
    const double error = 8 * DBL_EPSILON;
    return p <= 0.5 ? cr_normal_sf(x) > p * (1 + error) : cr_normal_sf(-x) < (1 - p) * (1 - error);
}

/* 1 if it surely falls short of p. */
static int falls_short(double x, double p)
{
    const double error = 8 * DBL_EPSILON;
    return p <= 0.5 ? cr_normal_sf(x) < p * (1 - error) : cr_normal_sf(-x) > (1 - p) * (1 + error);
}

/* Both levels come from quantiles and are moved inward until the tails themselves confirm them: an
 * event of at most this probability has a level of at least z, and after a shift by z - level or
 * less it is rarer than the threshold. The first margin is relative and far more than the errors of
 * quantiles, and short radii keep their digits. */
double cr_shift_max_radius(double probability, double threshold, double max_radius)
{
    /* No shift makes an event certain. */
    if (threshold >= 1) return probability < 1 || threshold > 1 ? max_radius : 0;
    const double z = cr_normal_quantile_sf(fmax(probability, CR_TINY)),
                 level = cr_normal_quantile_sf(threshold);
    double margin = 64 * DBL_EPSILON * (fabs(z) + fabs(level)) + DBL_MIN;
    for (int i = 0; i < MAX_MARGINS; i++, margin *= 2) {
        if (!exceeds(z - margin, probability) || !falls_short(level + margin, threshold)) continue;
        const double r = nextafter((z - margin) - (level + margin), 0);
        return r > 0 ? fmin(r, max_radius) : 0;
    }
    return 0;
}

double cr_shift_radius_of_mean(double drop, double variance)
{
    return sqrt(log1p(drop * drop / variance));
}
