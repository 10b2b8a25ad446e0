/* Probabilities and means under a shift of normal noise (theory 2.1), with the margins for their
 * rounding. */
#include "statistics/shift.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <math.h>

double cr_shift_level(double p)
{
    return cr_normal_quantile(p);
}

double cr_shift_slope(double p)
{
    return cr_normal_pdf(cr_normal_quantile(p));
}

double cr_shift_least(double p, double r)
{
    return cr_normal_sf(nextafter(r, INFINITY) + cr_normal_quantile_sf(p)) * (1 - CR_ROUNDING);
}

double cr_shift_radius(double from, double to)
{
    return cr_normal_quantile_sf(from) - cr_normal_quantile_sf(to);
}

/* Found by quantiles and seen to by the tail itself. Of z and r the margins are far more than what
 * rounding takes. */
double cr_shift_within(double from, double to, double most)
{
    const double z = cr_normal_quantile_sf(from), level = cr_normal_quantile_sf(to),
                 r = fmin((z - level) * (1 - 100 * CR_ROUNDING) -
                              CR_ROUNDING * (1 + fabs(z) + fabs(level)),
                          most);
    return r > 0 && cr_normal_sf(z - r) < to ? r : 0;
}

double cr_shift_radius_of_mean(double drop, double variance)
{
    return sqrt(log1p(drop * drop / variance));
}
