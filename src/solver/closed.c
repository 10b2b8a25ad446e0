#include "solver/closed.h"
#include <float.h>
#include <math.h>

static double upward(double value)
{
    return value * (1 + 16 * DBL_EPSILON);
}

double cr_closed_shift(const cr_side *side, double *growth)
{
    const double r = side->r, C = side->variance, whole = cr_kernel_norm(0, r), rest = cr_kernel_norm(1, r);
    *growth = INFINITY;
    if (r == 0 || C == 0) return *growth = sqrt(C), 0;
    if (!(C < INFINITY) || !(whole < INFINITY)) return INFINITY;
    const double best = sqrt(C) * (r / whole);
    const double kappa = fmin(fmax(best, side->gradient_lo), fmin(side->gradient_hi, sqrt(C)));
    const double spread = sqrt(fmax(0, fma(-kappa, kappa, C))); /* rounded once: near kappa = sqrt(C) the rest cancels */
    *growth = kappa + spread * (r * expm1(r * r) / rest);
    return upward(spread * rest + r * kappa);
}

double cr_closed_cap(const cr_side *side, double weight)
{
    const double least_mean = fmax(side->mean_lo, side->range_lo);
    if (!(side->range_hi < INFINITY)) return INFINITY;
    return weight > 0 ? side->range_hi : nextafter(side->range_hi - least_mean, INFINITY);
}
