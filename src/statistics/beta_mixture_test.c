/* Anytime bound of a probability by a mixture of likelihood ratios (theory 6.8). The binomial bound
 * is tighter, but valid at one number of trials only. */
#include "statistics/beta_mixture_test.h"
#include "statistics/incomplete_beta.h"
#include <float.h>
#include <math.h>

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
