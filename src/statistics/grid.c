#include "statistics/grid.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <math.h>

static const double least = -8, most = 8.5; /* beyond, no tail is measured */

/* The arc sine of the root of a share has a standard deviation that depends on the number of
 * samples only, 1/(2 sqrt(samples)). */
static double at_angle(double angle)
{
    const double within = fmin(fmax(angle, 0), 0.5 * CR_PI), s = sin(within), c = cos(within);
    const double t = s < c ? cr_normal_quantile(s * s) : cr_normal_quantile_sf(c * c);
    return fmin(fmax(t, least), most);
}

cr_rise cr_grid_rise(const cr_tail *f, double band)
{
    const double n = f->above + f->rank - 1, middle = asin(sqrt((f->above - 0.5) / n)),
                 half = 0.5 * band / sqrt(n);
    return (cr_rise){n, f->shift, at_angle(middle - half) - f->shift,
                     at_angle(middle + half) - f->shift};
}

double cr_grid_next(const cr_rise *rises, int count, double t, double share)
{
    double step = INFINITY;
    for (int i = 0; i < count; i++) {
        const cr_rise *r = rises + i;
        if (t < r->begin) step = fmin(step, r->begin - t);
        if (t < r->begin || t >= r->end) continue;
        const double x = t + r->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x),
                     deviation = sqrt(p * q / r->samples) / cr_normal_pdf(x);
        step = fmin(step, share * fmin(deviation, 0.5));
    }
    return t + step;
}
