/* Binomial tails as functions of the normal quantile of a probability, by the incomplete beta
 * function, and the grid on which the weights of prediction intervals are found and proved (theory
 * 12.3). */
#include "conformal/binomial_tail.h"
#include "base/constants.h"
#include "statistics/incomplete_beta.h"
#include "statistics/normal.h"
#include <math.h>

cr_binomial_tail cr_binomial_tail_of(uint64_t samples, uint64_t above, double shift)
{
    return (cr_binomial_tail){(double)above, (double)(samples - above) + 1, shift};
}

double cr_binomial_tail_value(const cr_binomial_tail *f, double t)
{
    const double x = t + f->shift;
    return cr_beta_cdf(f->above, f->rank, cr_normal_cdf(x), cr_normal_sf(x));
}

double cr_binomial_tail_density(const cr_binomial_tail *f, double t)
{
    const double x = t + f->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x);
    if (!(p > 0 && q > 0)) return 0;
    return exp(cr_beta_log_term(f->above, f->rank, p, q)) / (p * q) * cr_normal_pdf(x);
}

/* The derivative of the density's logarithm. */
static double slope_at(const cr_binomial_tail *f, double t)
{
    const double x = t + f->shift, pdf = cr_normal_pdf(x);
    return (f->above - 1) * pdf / cr_normal_cdf(x) - (f->rank - 1) * pdf / cr_normal_sf(x) - x;
}

enum { HALVINGS = 60 };

double cr_binomial_tail_mode(const cr_binomial_tail *f)
{
    double lo = -10 - f->shift, hi = 10 - f->shift;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (slope_at(f, t) > 0) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

double cr_binomial_tail_reaches(const cr_binomial_tail *f, double value)
{
    double lo = -38 - f->shift, hi = 38 - f->shift;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (cr_binomial_tail_value(f, t) < value) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

/* ---- the grid */
static const double least = -8, most = 8.5; /* limits of rises, as quantiles */

/* The arc sine of the root of a fraction has a standard deviation that depends on the number of
 * samples only, 1/(2 sqrt(samples)). */
static double at_angle(double angle)
{
    const double within = fmin(fmax(angle, 0), 0.5 * CR_PI), s = sin(within), c = cos(within);
    const double t = s < c ? cr_normal_quantile(s * s) : cr_normal_quantile_sf(c * c);
    return fmin(fmax(t, least), most);
}

cr_tail_ramp cr_tail_rise(const cr_binomial_tail *f, double band)
{
    const double n = f->above + f->rank - 1, middle = asin(sqrt((f->above - 0.5) / n)),
                 half = 0.5 * band / sqrt(n);
    return (cr_tail_ramp){n, f->shift, at_angle(middle - half) - f->shift,
                          at_angle(middle + half) - f->shift};
}

double cr_tail_next(const cr_tail_ramp *rises, int count, double t, double share)
{
    double step = INFINITY;
    for (int i = 0; i < count; i++) {
        const cr_tail_ramp *r = rises + i;
        if (t < r->begin) step = fmin(step, r->begin - t);
        if (t < r->begin || t >= r->end) continue;
        const double x = t + r->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x),
                     deviation = sqrt(p * q / r->samples) / cr_normal_pdf(x);
        step = fmin(step, share * fmin(deviation, 0.5));
    }
    return t + step;
}
