/* The likelihood ratio: by series for small r, elsewhere by exp and erfc, without cancellation. */
#include "solver/likelihood_ratio.h"
#include "base/constants.h"
#include <float.h>
#include <math.h>

/* 1/2!, 1/3!, ... */
static const double inverse_factorial[] = {
    1.0 / 2,         1.0 / 6,          1.0 / 24,          1.0 / 120,          1.0 / 720,
    1.0 / 5040,      1.0 / 40320,      1.0 / 362880,      1.0 / 3628800,      1.0 / 39916800,
    1 / 479001600.0, 1 / 6227020800.0, 1 / 87178291200.0, 1 / 1307674368000.0};

/* The sum of coefficient[j] x^j for j < 2 halves. Even and odd powers are summed apart, since
 * the processor does both at the same time. */
static double series(const double *coefficient, int halves, double x)
{
    const double square = x * x;
    double even = coefficient[2 * halves - 2], odd = coefficient[2 * halves - 1];
    for (int j = halves - 2; j >= 0; j--) {
        even = coefficient[2 * j] + square * even;
        odd = coefficient[2 * j + 1] + square * odd;
    }
    return even + x * odd;
}

/* (exp(x) - 1 - x)/x^2, for |x| <= 1/2. */
static double exp_remainder_over_square(double x)
{
    return series(inverse_factorial, 7, x);
}

/* exp(x) - 1 - x without cancellation. */
static double exp_remainder(double x)
{
    return fabs(x) > 0.5 ? exp(x) - 1 - x : x * x * exp_remainder_over_square(x);
}

double cr_ratio_norm(int order, double r)
{
    if (r > CR_MAX_FINITE_NORM_RADIUS) return INFINITY;
    if (order == 1 && r * r <= 0.5)
        return r * r * sqrt(exp_remainder_over_square(r * r)); /* its square may underflow */
    /* The rounding error of r^2 counts exp(r^2)-fold. */
    const double x = r * r, rounding_error = fma(r, r, -x), slope = order == 0 ? exp(x) : expm1(x);
    return sqrt((order == 0 ? expm1(x) : exp_remainder(x)) + rounding_error * slope);
}

double cr_ratio_norm_up(int order, double r)
{
    return cr_ratio_norm(order, r) * (1 + 8 * DBL_EPSILON);
}

cr_ratio cr_ratio_make(int order, double r)
{
    return (cr_ratio){.order = order, .r = r, .norm = r > 0 ? cr_ratio_norm(order, r) : 1};
}

double cr_ratio_value(const cr_ratio *ratio, double t)
{
    const double r = ratio->r, x = r * (t - 0.5 * r);
    if (r == 0) return t;
    return (ratio->order == 0 ? x + exp_remainder(x) : exp_remainder(x) - 0.5 * r * r) /
           ratio->norm;
}

double cr_ratio_slope(const cr_ratio *ratio, double t)
{
    const double r = ratio->r, x = r * (t - 0.5 * r);
    if (r == 0) return 1;
    return r * (ratio->order == 0 ? exp(x) : expm1(x)) / ratio->norm;
}

double cr_ratio_likelihood(const cr_ratio *ratio, double h, double t)
{
    return 1 + h * ratio->norm + (ratio->order == 0 ? 0 : ratio->r * t);
}

/* sum_{j>k} r^j/j! He_{j-1}(x), since E[He_j; t > x] = He_{j-1}(x) pdf(x). */
static double tail_series(int order, double r, double x)
{
    double previous = 0, current = 1, power = r, sum = order == 0 ? r : 0; /* term j has He_(j-1) */
    for (int j = 2; j < 18; j++) {
        const double next = x * current - (j - 2) * previous;
        previous = current;
        current = next;
        power *= r / j;
        if (j > order) sum += power * current;
    }
    return sum;
}

double cr_ratio_tail(const cr_ratio *ratio, double x)
{
    if (!(fabs(x) < 100)) return 0;
    const double r = ratio->r, density = CR_INV_SQRT_TWO_PI * exp(-0.5 * x * x);
    if (r == 0) return density;
    if (r * (1 + fabs(x)) < 0.25) return density * tail_series(ratio->order, r, x) / ratio->norm;
    const double probability_change =
        x > 0 ? 0.5 * erfc((x - r) * CR_SQRT_HALF) - 0.5 * erfc(x * CR_SQRT_HALF)
              : 0.5 * erfc(-x * CR_SQRT_HALF) - 0.5 * erfc((r - x) * CR_SQRT_HALF);
    return (probability_change - (ratio->order == 0 ? 0 : r * density)) / ratio->norm;
}
