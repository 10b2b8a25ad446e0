/* Probabilities and means under a shift of normal noise (theory 2.1), with the margins for their
 * rounding. */
#include "statistics/gaussian_shift.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

enum { MARGINS = 40 };

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

double cr_shift_radius(double from, double to)
{
    return cr_normal_quantile_sf(from) - cr_normal_quantile_sf(to);
}

/* 1 if the tail above x surely exceeds p, by the smaller of both tails, which has more digits. */
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
 * event at most as probable as `from` has a level of at least z, and after a shift by z - level or
 * less it is rarer than `to`. The first margin is relative and far more than the errors of
 * quantiles, and short radii keep their digits. */
double cr_shift_max_radius(double from, double to, double most)
{
    if (to >= 1) return from < 1 || to > 1 ? most : 0; /* no shift makes an event certain */
    const double z = cr_normal_quantile_sf(fmax(from, CR_TINY)), level = cr_normal_quantile_sf(to);
    double margin = 64 * DBL_EPSILON * (fabs(z) + fabs(level)) + DBL_MIN;
    for (int i = 0; i < MARGINS; i++, margin *= 2) {
        if (!exceeds(z - margin, from) || !falls_short(level + margin, to)) continue;
        const double r = nextafter((z - margin) - (level + margin), 0);
        return r > 0 ? fmin(r, most) : 0;
    }
    return 0;
}

double cr_shift_radius_of_mean(double drop, double variance)
{
    return sqrt(log1p(drop * drop / variance));
}
