#include "statistics/tail.h"
#include "statistics/beta.h"
#include "statistics/normal.h"
#include <math.h>

cr_tail cr_tail_of(uint64_t samples, uint64_t above, double shift)
{
    return (cr_tail){(double)above, (double)(samples - above) + 1, shift};
}

double cr_tail_value(const cr_tail *f, double t)
{
    const double x = t + f->shift;
    return cr_beta_lower(f->above, f->rank, cr_normal_cdf(x), cr_normal_sf(x));
}

double cr_tail_density(const cr_tail *f, double t)
{
    const double x = t + f->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x);
    if (!(p > 0 && q > 0)) return 0;
    return exp(cr_beta_log_term(f->above, f->rank, p, q)) / (p * q) * cr_normal_pdf(x);
}

/* The derivative of the density's logarithm. */
static double slope_at(const cr_tail *f, double t)
{
    const double x = t + f->shift, pdf = cr_normal_pdf(x);
    return (f->above - 1) * pdf / cr_normal_cdf(x) - (f->rank - 1) * pdf / cr_normal_sf(x) - x;
}

enum { HALVINGS = 60 };

double cr_tail_mode(const cr_tail *f)
{
    double lo = -10 - f->shift, hi = 10 - f->shift;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (slope_at(f, t) > 0) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

double cr_tail_reaches(const cr_tail *f, double value)
{
    double lo = -38 - f->shift, hi = 38 - f->shift;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (cr_tail_value(f, t) < value) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}
