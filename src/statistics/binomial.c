/* Binomial tails as sums of positive terms, with a bound of their relative error, and the
 * Clopper-Pearson bound, which certifies the median. The continued fraction of incomplete_beta.c
 * takes any parameters, but its error is known only up to a + b = 1e4. */
#include "statistics/binomial.h"
#include "statistics/incomplete_beta.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

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
