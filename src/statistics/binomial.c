/* The incomplete beta function, binomial tails and exact bounds (theory 6.1), and a test that
 * holds at all numbers of trials (6.8). */
#include "statistics/binomial.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* ======== The incomplete beta function of any parameters, by a continued fraction, and
 * Student's quantile, by Newton's method. Binomial tails, which have whole parameters, are below.
 */
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

/* ======== Binomial tails as sums of positive terms, with a bound of their relative error, and the
 * Clopper-Pearson bound, which certifies the median. The continued fraction above
 * takes any parameters, but its error is known only up to a + b = 1e4. */
/* Returns the sum in I_x(a, b) = prefix * sum / (a y), for whole a and b: a binomial tail is its
 * largest term times a sum of decreasing products. All terms are positive, so nothing cancels, and
 * y close to 0 costs no digits. */
static double tail_sum(double a, double b, double x, double y)
{
    const double odds = x / y;
    double term = 1, sum = 1;
    for (double i = 1; i < b; i += 1) {
        term *= (b - i) / (a + i) * odds;
        sum += term;
        if (term < 0.01 * DBL_EPSILON * sum)
            break; /* the ratio decreases: the remainder is below 0.01 eps / (1 - ratio) */
    }
    return sum;
}

static double log_tail(double a, double b, double x, double y, double sum)
{
    return cr_beta_log_term(a, b, x, y) + log(sum / (a * y));
}

/* Relative error of a computed tail. Rounding n p changes a deviance by the unit roundoff times
 * the distance of the count from the mean, which is tens of sqrt(n). The sum also has tens of
 * sqrt(n) terms. Deviances
 * themselves are about -log(tail), and each is rounded several times. */
static double tail_margin(double n, double tail)
{
    return 1e-13 + 1e-14 * sqrt(n) - 16 * DBL_EPSILON * log(tail);
}

/* Sums the tail left of the mean, and subtracts the opposite tail from 1 right of it. */
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

/* Start of the iteration: Wilson's bound, kept inside (0, 1). */
static double wilson(double k, double n, double z)
{
    const double square = z * z, fraction = (k + 1) / (n + 1);
    const double center = fraction + square / (2 * n),
                 half = z * sqrt(fraction * (1 - fraction) / n + square / (4 * n * n));
    return fmin(fmax((center + half) / (1 + square / n), DBL_MIN), 1 - DBL_EPSILON);
}

/* Solves log I_(1-p)(a, b) = log alpha for p by Newton's method. As a function of log p the tail of
 * a beta distribution is log-concave, so each step lands at or above the bound, and the iterates
 * then decrease to it. Returns the least iterate with a computed tail that is below alpha by more
 * than its error. */
static double solve_tail(double a, double b, double alpha, double p)
{
    const double margin = tail_margin(a + b, alpha), log_target = log(alpha) - margin;
    double bound = 1;
    for (int i = 0; i < 100 && p > 0 && p < 1; i++) {
        const double x = 1 - p, sum = tail_sum(a, b, x, p);
        const double log_difference = log_tail(a, b, x, p, sum) - log_target;
        if (log_difference <= margin / 2) bound = fmin(bound, p);
        if (fabs(log_difference) <= margin / 2) break;
        /* of log I in log p: its density is prefix/(x y) */
        const double slope = -a * p / (x * sum);
        double next = p * exp(-log_difference / slope);
        if (next >= 1) next = 0.5 * (1 + p);
        if (next == p && log_difference > 0) next = nextafter(p, 1);
        if (next == p || (log_difference <= 0 && next > p)) break;
        p = next;
    }
    return bound;
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
    /* cdf(accepted) <= level, and `rejected` is too large or n + 1. */
    uint64_t accepted = 0, rejected = n + 1;
    while (rejected - accepted > 1) {
        const uint64_t middle = accepted + (rejected - accepted) / 2;
        if (cr_binomial_cdf(middle, n, p) <= level) accepted = middle;
        else rejected = middle;
    }
    return (int64_t)accepted;
}

/* ======== Anytime bound of a probability by a mixture of likelihood ratios (theory 6.8). The
 * binomial bound is tighter, but valid at one number of trials only. */
/* E(q) = int_0^q pi(s) [s/q]^k [(1-s)/(1-q)]^(n-k) ds / int_0^q pi(s) ds with pi = [s
 * (1-s)]^(-1/2), as a logarithm. If the probability is p >= q, each factor has expectation at most
 * 1, since (s/q) p + (1-s)/(1-q) (1-p) falls with p and is 1 at p = q. */
static double log_evidence(double k, double n, double q)
{
    const double a = k + 0.5, b = n - k + 0.5, y = 1 - q;
    return log(cr_beta_cdf(a, b, q, y)) - cr_beta_log_term(a, b, q, y) + 0.5 * log(q * y) -
           log(2 * asin(sqrt(q)));
}

int cr_mixture_rejects(uint64_t k, uint64_t n, double q, double alpha)
{
    const double failures = (double)k, trials = (double)n;
    if (!(q > 0 && q < 1 && alpha > 0 && alpha <= 0.5) || !(trials * q > failures + 0.5)) return 0;
    return log_evidence(failures, trials, q) >
           -log(alpha) + 1e-9 * (1 - log(alpha)) + 1e-12 * trials;
}

/* From n q - k = 1/2 on E rises with q wherever it is above 1 (its logarithm's slope is at least
 * (nq - k)/(q (1-q)) minus pi(q)/int_0^q pi <= 1/(2q sqrt(1-q))), and no smaller q is rejected: so
 * the rejected q are all from one point on. */
double cr_mixture_upper(uint64_t k, uint64_t n, double alpha)
{
    double low = k < n ? (double)k / (double)n : 1, high = 1 - DBL_EPSILON;
    if (!n || !cr_mixture_rejects(k, n, high, alpha)) return 1;
    for (int i = 0; i < 60 && high - low > 1e-13 * high; i++) {
        const double middle = low > 0 && high > 4 * low ? sqrt(low * high) : 0.5 * (low + high);
        if (cr_mixture_rejects(k, n, middle, alpha)) high = middle;
        else low = middle;
    }
    return high;
}
