/* The incomplete beta function of any parameters, by a continued fraction, and Student's quantile,
 * by Newton's method. Binomial tails, which have whole parameters, are in binomial.c. */
#include "statistics/incomplete_beta.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* Remainder of Stirling's formula: log Gamma(z) = (z - 1/2) log z - z + log(2 pi)/2 + remainder(z).
 * The asymptotic series is accurate for large z only; the recurrence raises small z. */
static double stirling_remainder(double z)
{
    static const double series[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                    1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
    double recurrence_sum = 0;
    for (; z < 16; z += 1) recurrence_sum += (z + 0.5) * log1p(1 / z) - 1;
    const double inverse = 1 / z, square = inverse * inverse;
    double sum = 0;
    for (int i = 7; i >= 0; i--) sum = sum * square + series[i];
    return recurrence_sum + sum * inverse;
}

/* a log(a/expected) + expected - a >= 0, without the cancellation near a = expected. */
static double deviance(double a, double expected)
{
    const double gap = a - expected;
    if (fabs(gap) > 0.1 * (a + expected)) return a * log(a / expected) - gap;
    const double v = gap / (a + expected), square = v * v;
    double power = v, sum = 0;
    for (int i = 3; i < 60; i += 2) {
        power *= square;
        const double term = power / i;
        sum += term;
        if (fabs(term) <= DBL_EPSILON * 0.125 * fabs(sum)) break;
    }
    return gap * v + 2 * a * sum;
}

/* Sums deviances from the mean: lgamma would leave 1e-6 at a + b = 1e9. */
double cr_beta_log_term(double a, double b, double x, double y)
{
    const double n = a + b;
    return stirling_remainder(n) - stirling_remainder(a) - stirling_remainder(b) -
           deviance(a, n * x) - deviance(b, n * y) + 0.5 * (log(a) + log(b / n) - CR_LOG_TWO_PI);
}

static double not_zero(double value)
{
    return fabs(value) < CR_TINY ? CR_TINY : value;
}

/* The continued fraction F of I_x(a,b) = prefix * F / a (DLMF 8.17.22), by the modified Lentz
 * algorithm. It converges for every x < 1, and within about sqrt(a + b) steps left of the mean. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (double m = 1; m < 1e7; m += 1) {
        const double step[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                               -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int i = 0; i < 2; i++) {
            d = 1 / not_zero(1 + step[i] * d);
            c = not_zero(1 + step[i] / c);
            value *= d * c;
        }
        if (fabs(d * c - 1) < 2 * DBL_EPSILON) break;
    }
    return value;
}

double cr_beta_cdf(double a, double b, double x, double y)
{
    if (!(a > 0 && b > 0 && x >= 0 && y >= 0)) return NAN;
    if (x == 0 || y == 0) return x == 0 ? 0 : 1;
    if (x * (a + b + 2) < a + 1)
        return exp(cr_beta_log_term(a, b, x, y)) * beta_fraction(a, b, x) / a;
    return 1 - exp(cr_beta_log_term(b, a, y, x)) * beta_fraction(b, a, y) / b;
}

/* Returns log P(T > t) for t > 0, and its slope in log t. x = nu/(nu + t^2) is the argument of the
 * beta distribution of the tail. */
static double student_log_tail(double t, double degrees, double *slope)
{
    const double a = 0.5 * degrees, b = 0.5, ratio = t * t / degrees;
    const double x = 1 / (1 + ratio), y = ratio / (1 + ratio),
                 prefix = exp(cr_beta_log_term(a, b, x, y));
    if (x * (a + b + 2) < a + 1) {
        const double fraction = beta_fraction(a, b, x);
        *slope = -2 * a / fraction;
        return cr_beta_log_term(a, b, x, y) + log(fraction / a) + log(0.5);
    }
    const double tail = 0.5 * (1 - prefix * beta_fraction(b, a, y) / b);
    *slope = -prefix / tail;
    return log(tail);
}

double cr_student_quantile(double q, double degrees)
{
    if (!(q > 0 && q < 1 && degrees > 0)) return NAN;
    if (q > 0.5) return -cr_student_quantile(1 - q, degrees);
    if (q == 0.5) return 0;
    const double z = cr_normal_quantile_sf(q),
                 effective_degrees = degrees > 1 ? degrees - 0.5 : 0.5 * degrees;
    double t = sqrt(degrees * expm1(fmin(z * z / effective_degrees, 600)));
    /* The logarithm of the tail is concave in log t, so after the first step Newton's iterates
     * decrease to the root. */
    for (int i = 0; i < 200; i++) {
        double slope;
        const double step = (log(q) - student_log_tail(t, degrees, &slope)) / slope;
        t *= exp(fmax(-20, fmin(step, 20)));
        if (fabs(step) < 1e-14) break;
    }
    return t;
}
