#include "base/sequential.h"
#include "base/binomial.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the closed test ------------------------------------------------------------------------------------------------------------- */
static const double negligible = 1e-40; /* such a share of paths is counted as passed instead of being followed */

static const double least_exponent = -600; /* exp of it is far from underflow */
static const double most_steps = 5e7;      /* one trial after the other: what takes longer counts as lack of room */

typedef struct paths { /* share of the paths that have not passed, by their number of failures low .. high */
    double *share;
    size_t low, high;
} paths;

static void one_trial(paths *p, double q, size_t most)
{
    if (p->high < most) p->share[++p->high] = 0;
    for (size_t k = p->high; k > p->low; k--) p->share[k] = p->share[k] * (1 - q) + p->share[k - 1] * q;
    p->share[p->low] *= 1 - q;
}

/* Many trials at once: by the binomial law of their failures, whose first terms go to `law`. Their number is such that the first is no
 * underflow. From the upper end down, so that what is read has not been written yet. */
static void several_trials(paths *p, double q, uint64_t trials, size_t most, double *law)
{
    const size_t high = trials < most - p->high ? p->high + (size_t)trials : most;
    const size_t terms = trials < high - p->low ? (size_t)trials : high - p->low;
    law[0] = exp((double)trials * log1p(-q));
    for (size_t i = 1; i <= terms; i++) law[i] = law[i - 1] * ((double)(trials - i + 1) / (double)i) * (q / (1 - q));
    for (size_t k = high + 1; k-- > p->low;) {
        const size_t from = k > p->high ? k - p->high : 0, to = k - p->low < terms ? k - p->low : terms;
        double sum = 0;
        for (size_t i = from; i <= to; i++) sum += p->share[k - i] * law[i];
        p->share[k] = sum;
    }
    p->high = high;
}

/* `law`: room for most + 1 numbers, or NULL. */
static void advance(paths *p, double q, uint64_t trials, size_t most, double *law)
{
    const double safe = floor(least_exponent / log1p(-q));
    while (trials > 0) {
        const uint64_t together = (double)trials < safe ? trials : (uint64_t)fmax(1, safe);
        if (law && together > 1) several_trials(p, q, together, most, law);
        else one_trial(p, q, most);
        trials -= law ? together : 1;
    }
}

/* Takes out the paths that pass at this look, and what is too little to matter at the upper end. */
static double take_out(paths *p, int64_t critical)
{
    double taken = 0;
    while (p->low <= p->high && (int64_t)p->low <= critical) taken += p->share[p->low++];
    while (p->high > p->low && p->share[p->high] < negligible) taken += p->share[p->high--];
    return taken;
}

double cr_closed_crossing(const uint64_t *looks, size_t count, double q, const int64_t *critical, double *work, size_t room)
{
    double crossed = 0;
    if (!count || critical[count - 1] < 0) return 0;
    const size_t most = (size_t)critical[count - 1]; /* whoever has failed more often never passes any more */
    double *law = room / 2 > most ? work + most + 1 : NULL;
    if (most + 1 > room || (!law && (double)looks[count - 1] * (double)most > most_steps)) return NAN;
    paths p = {.share = work};
    work[0] = 1;
    for (size_t j = 0; j < count; j++) {
        advance(&p, q, looks[j] - (j ? looks[j - 1] : 0), most, law);
        crossed += take_out(&p, critical[j]);
        if (p.low > p.high) break;
    }
    return crossed * (1 + 1e-14 * (double)looks[count - 1]); /* positive terms: each trial rounds a few times at most */
}

static void set_level(const uint64_t *looks, size_t count, double q, double level, const int64_t *least, int64_t *critical)
{
    for (size_t j = 0; j < count; j++) {
        critical[j] = cr_binomial_critical(looks[j], q, level);
        if (least && critical[j] < least[j]) critical[j] = least[j];
        if (j && critical[j] < critical[j - 1]) critical[j] = critical[j - 1]; /* failures do not go away */
    }
}

/* The same level at every look, as high as the probability of passing anywhere allows. The lowest tried needs no proof by paths
 * (alpha/count at each look), unless it is raised to a test for a smaller q: then that test itself, which is valid here, serves. */
void cr_closed_make(const uint64_t *looks, size_t count, double q, double alpha, const int64_t *least, double *work, size_t room,
                    int64_t *critical)
{
    double low = log(alpha / (double)(count ? count : 1)), high = log(alpha);
    int proven = !least;
    for (int i = 0; i < 9; i++) {
        const double middle = i ? 0.5 * (low + high) : low + 0.6 * (high - low);
        set_level(looks, count, q, exp(middle), least, critical);
        const double crossing = cr_closed_crossing(looks, count, q, critical, work, room);
        if (isnan(crossing)) break;
        if (crossing <= alpha) low = middle, proven = 1;
        else high = middle;
    }
    if (proven) set_level(looks, count, q, exp(low), least, critical);
    else memcpy(critical, least, count * sizeof *critical);
}

/* ---- the mixture ----------------------------------------------------------------------------------------------------------------- */
/* E(q) = int_0^q pi(s) [s/q]^k [(1-s)/(1-q)]^(n-k) ds / int_0^q pi(s) ds with pi = [s (1-s)]^(-1/2), as a logarithm. Of a probability
 * p >= q each factor has expectation at most 1, since (s/q) p + (1-s)/(1-q) (1-p) falls with p and is 1 at p = q. */
static double log_evidence(double k, double n, double q)
{
    const double a = k + 0.5, b = n - k + 0.5, y = 1 - q;
    return log(cr_beta_lower(a, b, q, y)) - cr_beta_log_term(a, b, q, y) + 0.5 * log(q * y) - log(2 * asin(sqrt(q)));
}

int cr_mixture_rejects(uint64_t k, uint64_t n, double q, double alpha)
{
    const double failures = (double)k, trials = (double)n;
    if (!(q > 0 && q < 1 && alpha > 0 && alpha <= 0.5) || !(trials * q > failures + 0.5)) return 0;
    return log_evidence(failures, trials, q) > -log(alpha) + 1e-9 * (1 - log(alpha)) + 1e-12 * trials;
}

/* From n q - k = 1/2 on E rises with q wherever it is above 1 (its logarithm's slope is at least (nq - k)/(q (1-q)) minus
 * pi(q)/int_0^q pi <= 1/(2q sqrt(1-q))), and before that nothing is rejected: so what is rejected is all from one point on. */
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
