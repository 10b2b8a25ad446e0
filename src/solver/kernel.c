#include "solver/kernel.h"
#include <math.h>

static const double sqrt_half = 0x1.6a09e667f3bcdp-1, inv_sqrt_2pi = 0x1.9884533d43651p-2;

/* exp(x) - 1 - x without cancellation. */
static double exp_rest(double x)
{
    if (fabs(x) > 0.5) return exp(x) - 1 - x;
    static const double inverse_factorial[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,        1.0 / 720,
                                               1.0 / 5040,    1.0 / 40320,    1.0 / 362880,    1.0 / 3628800,    1.0 / 39916800,
                                               1 / 479001600.0, 1 / 6227020800.0, 1 / 87178291200.0};
    double sum = inverse_factorial[12];
    for (int j = 11; j >= 0; j--) sum = inverse_factorial[j] + x * sum;
    return x * x * sum;
}

/* exp(x) - 1 - x - x^2/2 likewise. */
static double exp_rest_of_second(double x)
{
    if (fabs(x) > 1) return exp(x) - 1 - x - 0.5 * x * x;
    double sum = 0;
    for (int j = 20; j > 3; j--) sum = (1 + sum) * x / j;
    return x * x * x / 6 * (1 + sum);
}

double cr_kernel_norm(int order, double r)
{
    if (r > 26) return INFINITY;
    return sqrt(order == 0 ? expm1(r * r) : order == 1 ? exp_rest(r * r) : exp_rest_of_second(r * r));
}

double cr_kernel_weight(const cr_kernel *kernel, int j)
{
    return j == 1 ? kernel->r : kernel->r * kernel->r * sqrt_half;
}

double cr_kernel_inflection(const cr_kernel *kernel, double curve)
{
    const double r = kernel->r, excess = curve * kernel->norm / (r * r); /* d2h/dt2 = r^2 (exp(rt - r^2/2) - 1)/T */
    return excess <= -1 ? -INFINITY : log1p(excess) / r + 0.5 * r;
}

cr_kernel cr_kernel_make(int order, double r)
{
    return (cr_kernel){.order = order, .r = r, .norm = r > 0 ? cr_kernel_norm(order, r) : 1};
}

double cr_kernel_at(const cr_kernel *kernel, double t)
{
    const double r = kernel->r, x = r * (t - 0.5 * r);
    if (r == 0) return t;
    if (kernel->order > 1) return (exp_rest_of_second(x) - r * r * (0.5 * r * t - 0.125 * r * r)) / kernel->norm;
    return (kernel->order == 0 ? x + exp_rest(x) : exp_rest(x) - 0.5 * r * r) / kernel->norm;
}

double cr_kernel_slope(const cr_kernel *kernel, double t)
{
    const double r = kernel->r, x = r * (t - 0.5 * r);
    if (r == 0) return 1;
    if (kernel->order > 1) return r * (exp_rest(x) - 0.5 * r * r) / kernel->norm;
    return r * (kernel->order == 0 ? exp(x) : expm1(x)) / kernel->norm;
}

double cr_kernel_ratio(const cr_kernel *kernel, double h, double t)
{
    const double second = kernel->order > 1 ? 0.5 * kernel->r * kernel->r * (t * t - 1) : 0;
    return 1 + h * kernel->norm + (kernel->order == 0 ? 0 : kernel->r * t + second);
}

/* sum_{j>k} r^j/j! He_{j-1}(x), since E[He_j; t > x] = He_{j-1}(x) pdf(x). */
static double tail_series(int order, double r, double x)
{
    double before = 0, now = 1, power = r, sum = order == 0 ? r : 0; /* term j has He_(j-1) */
    for (int j = 2; j < 18; j++) {
        const double next = x * now - (j - 2) * before;
        before = now;
        now = next;
        power *= r / j;
        if (j > order) sum += power * now;
    }
    return sum;
}

double cr_kernel_tail(const cr_kernel *kernel, double x)
{
    if (!(fabs(x) < 100)) return 0;
    const double r = kernel->r, density = inv_sqrt_2pi * exp(-0.5 * x * x);
    if (r == 0) return density;
    if (r * (1 + fabs(x)) < 0.25) return density * tail_series(kernel->order, r, x) / kernel->norm;
    const double gain = x > 0 ? 0.5 * erfc((x - r) * sqrt_half) - 0.5 * erfc(x * sqrt_half)
                              : 0.5 * erfc(-x * sqrt_half) - 0.5 * erfc((r - x) * sqrt_half);
    const double second = kernel->order > 1 ? 0.5 * r * r * x * density : 0;
    return (gain - (kernel->order == 0 ? 0 : r * density + second)) / kernel->norm;
}
