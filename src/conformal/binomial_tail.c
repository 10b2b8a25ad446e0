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
static double log_density_slope(const cr_binomial_tail *f, double t)
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
        if (log_density_slope(f, t) > 0) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

double cr_binomial_tail_quantile(const cr_binomial_tail *f, double value)
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
static const double min_quantile = -8, max_quantile = 8.5; /* limits of ramps, as quantiles */

/* The arc sine of the root of a fraction has a standard deviation that depends on the number of
 * samples only, 1/(2 sqrt(samples)). */
static double quantile_at_angle(double angle)
{
    const double clamped = fmin(fmax(angle, 0), 0.5 * CR_PI), sine = sin(clamped),
                 cosine = cos(clamped);
    const double t = sine < cosine ? cr_normal_quantile(sine * sine)
                                   : cr_normal_quantile_sf(cosine * cosine);
    return fmin(fmax(t, min_quantile), max_quantile);
}

cr_tail_ramp cr_tail_ramp_of(const cr_binomial_tail *f, double band)
{
    const double n = f->above + f->rank - 1, center = asin(sqrt((f->above - 0.5) / n)),
                 half = 0.5 * band / sqrt(n);
    return (cr_tail_ramp){n, f->shift, quantile_at_angle(center - half) - f->shift,
                          quantile_at_angle(center + half) - f->shift};
}

double cr_tail_ramp_next(const cr_tail_ramp *ramps, int count, double t, double step_fraction)
{
    double next_step = INFINITY;
    for (int i = 0; i < count; i++) {
        const cr_tail_ramp *r = ramps + i;
        if (t < r->begin) next_step = fmin(next_step, r->begin - t);
        if (t < r->begin || t >= r->end) continue;
        const double x = t + r->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x),
                     deviation = sqrt(p * q / r->samples) / cr_normal_pdf(x);
        next_step = fmin(next_step, step_fraction * fmin(deviation, 0.5));
    }
    return t + next_step;
}
