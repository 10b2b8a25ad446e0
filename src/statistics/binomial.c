#include "statistics/binomial.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* Remainder of Stirling's formula: log Gamma(z) = (z - 1/2) log z - z + log(2 pi)/2 + remainder(z).
 * The asymptotic series has its ten digits only for large z, so small z climb there by the
 * recurrence. */
static double stirling_remainder(double z)
{
    static const double series[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                    1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
    double climbed = 0;
    for (; z < 16; z += 1) climbed += (z + 0.5) * log1p(1 / z) - 1;
    const double inverse = 1 / z, square = inverse * inverse;
    double sum = 0;
    for (int i = 7; i >= 0; i--) sum = sum * square + series[i];
    return climbed + sum * inverse;
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

/* By deviances from the mean: lgamma would leave 1e-6 at a + b = 1e9. */
double cr_beta_log_term(double a, double b, double x, double y)
{
    const double n = a + b;
    return stirling_remainder(n) - stirling_remainder(a) - stirling_remainder(b) -
           deviance(a, n * x) - deviance(b, n * y) + 0.5 * (log(a) + log(b / n) - CR_LOG_TWO_PI);
}

/* The continued fraction F of I_x(a,b) = prefix * F / a (DLMF 8.17.22), by the modified Lentz
 * algorithm. It converges for every x < 1, and within about sqrt(a + b) steps left of the mean. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < CR_TINY ? CR_TINY : d);
    double value = d;
    for (double m = 1; m < 1e7; m += 1) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        d = 1 / (fabs(d) < CR_TINY ? CR_TINY : d);
        c = 1 + even / c;
        if (fabs(c) < CR_TINY) c = CR_TINY;
        value *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        d = 1 / (fabs(d) < CR_TINY ? CR_TINY : d);
        c = 1 + odd / c;
        if (fabs(c) < CR_TINY) c = CR_TINY;
        value *= d * c;
        if (fabs(d * c - 1) < 2 * DBL_EPSILON) break;
    }
    return value;
}

double cr_beta_lower(double a, double b, double x, double y)
{
    if (!(a > 0 && b > 0 && x >= 0 && y >= 0)) return NAN;
    if (x == 0 || y == 0) return x == 0 ? 0 : 1;
    if (x * (a + b + 2) < a + 1)
        return exp(cr_beta_log_term(a, b, x, y)) * beta_fraction(a, b, x) / a;
    return 1 - exp(cr_beta_log_term(b, a, y, x)) * beta_fraction(b, a, y) / b;
}

/* I_x(a, b) of whole a, b is a binomial tail: its largest term times a sum of falling products.
 * Returned is that sum, so that I_x(a, b) = prefix * sum / (a y). All terms are positive, nothing
 * cancels, and y close to 0 costs no digits. */
static double tail_sum(double a, double b, double x, double y)
{
    const double odds = x / y;
    double term = 1, sum = 1;
    for (double i = 1; i < b; i += 1) {
        term *= (b - i) / (a + i) * odds;
        sum += term;
        if (term < 0.01 * DBL_EPSILON * sum)
            break; /* the ratio falls with i: what is left is below 0.01 eps / (1 - ratio) */
    }
    return sum;
}

static double log_tail(double a, double b, double x, double y, double sum)
{
    return cr_beta_log_term(a, b, x, y) + log(sum / (a * y));
}

/* What a computed tail may be off by, relatively. Rounding of n p shifts a deviance by the distance
 * to the mean, tens of sqrt(n), times the unit roundoff, and as many terms are added. Deviances
 * themselves are about -log(tail), and each is rounded several times. */
static double tail_margin(double n, double tail)
{
    return 1e-13 + 1e-14 * sqrt(n) - 16 * DBL_EPSILON * log(tail);
}

/* P(X <= k) as I_(1-p)(n-k, k+1) left of the mean, else one minus the other tail. */
double cr_binomial_cdf(uint64_t k, uint64_t n, double p)
{
    if (!(p >= 0 && p <= 1)) return NAN;
    if (k >= n || p == 0) return 1;
    if (p == 1) return 0;
    const double successes = (double)k, failures = (double)(n - k), q = 1 - p;
    if (successes <= ((double)n + 1) * p)
        return fmin(1, exp(log_tail(failures, successes + 1, q, p,
                                    tail_sum(failures, successes + 1, q, p))));
    return 1 -
           exp(log_tail(successes + 1, failures, p, q, tail_sum(successes + 1, failures, p, q)));
}

/* A start for the upper bound: Wilson's, kept inside (0, 1). */
static double wilson(double k, double n, double z)
{
    const double square = z * z, share = (k + 1) / (n + 1);
    const double center = share + square / (2 * n),
                 half = z * sqrt(share * (1 - share) / n + square / (4 * n * n));
    return fmin(fmax((center + half) / (1 + square / n), DBL_MIN), 1 - DBL_EPSILON);
}

/* Root in p of log I_(1-p)(a, b) = log alpha. As a function of log p the tail of a beta
 * distribution is log-concave, so each Newton step lands where the tail is at most alpha, above the
 * bound, and from there the iterates close in on it. Returned is the least p whose computed tail is
 * below alpha by more than its error. */
static double solve_tail(double a, double b, double alpha, double p)
{
    const double margin = tail_margin(a + b, alpha), target = log(alpha) - margin;
    double found = 1;
    for (int i = 0; i < 100 && p > 0 && p < 1; i++) {
        const double x = 1 - p, sum = tail_sum(a, b, x, p);
        const double gap = log_tail(a, b, x, p, sum) - target;
        if (gap <= margin / 2) found = fmin(found, p);
        if (fabs(gap) <= margin / 2) break;
        /* of log I in log p: its density is prefix/(x y) */
        const double slope = -a * p / (x * sum);
        double next = p * exp(-gap / slope);
        if (next >= 1) next = 0.5 * (1 + p);
        if (next == p && gap > 0) next = nextafter(p, 1);
        if (next == p || (gap <= 0 && next > p)) break;
        p = next;
    }
    return found;
}

double cr_binomial_upper(uint64_t k, uint64_t n, double alpha)
{
    if (k >= n || !(alpha > 0 && alpha < 1)) return 1;
    const double start = wilson((double)k, (double)n, cr_normal_quantile_sf(alpha));
    return solve_tail((double)(n - k), (double)k + 1, alpha, start);
}

int64_t cr_binomial_critical(uint64_t n, double p, double alpha)
{
    const double level = alpha * (1 - tail_margin((double)n, alpha));
    if (!(p >= 0 && p <= 1) || !(cr_binomial_cdf(0, n, p) <= level)) return -1;
    /* cdf(within) <= level; `beyond` is too far, or no count at all. */
    uint64_t within = 0, beyond = n + 1;
    while (beyond - within > 1) {
        const uint64_t middle = within + (beyond - within) / 2;
        if (cr_binomial_cdf(middle, n, p) <= level) within = middle;
        else beyond = middle;
    }
    return (int64_t)within;
}

/* P(T > t) for t > 0, and the slope of its logarithm in log t. x = nu/(nu + t^2) is the argument of
 * the beta distribution of the tail. */
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

double cr_student_quantile_sf(double q, double degrees)
{
    if (!(q > 0 && q < 1 && degrees > 0)) return NAN;
    if (q > 0.5) return -cr_student_quantile_sf(1 - q, degrees);
    if (q == 0.5) return 0;
    const double z = cr_normal_quantile_sf(q), bend = degrees > 1 ? degrees - 0.5 : 0.5 * degrees;
    double t = sqrt(degrees * expm1(fmin(z * z / bend, 600)));
    /* The logarithm of the tail is concave in log t: after the first step Newton closes in from
     * above. */
    for (int i = 0; i < 200; i++) {
        double slope;
        const double step = (log(q) - student_log_tail(t, degrees, &slope)) / slope;
        t *= exp(fmax(-20, fmin(step, 20)));
        if (fabs(step) < 1e-14) break;
    }
    return t;
}
