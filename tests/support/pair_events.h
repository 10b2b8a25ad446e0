/* What a server of antithetic pairs misses, by exact sums over all counts of pairs: for events that
 * are sets of intervals along one input. */
#ifndef SUPPORT_PAIR_EVENTS_H
#define SUPPORT_PAIR_EVENTS_H
#include "statistics/serving.h"
#include "support/suite.h"

static inline double above(double x)
{
    return 0.5 * erfc(x * 0.70710678118654752440);
}

/* ---- exact sums */
static inline double ways(unsigned M, unsigned two, unsigned one)
{
    return lgamma(M + 1.0) - lgamma(two + 1.0) - lgamma(one + 1.0) - lgamma(M - two - one + 1.0);
}

static inline double power_log(unsigned n, double p)
{
    return n ? n * log(p) : 0;
}

static inline double sum_of(unsigned M, double both, double neither, int count)
{
    const double one = fmax(0, 1 - both - neither);
    double sum = 0;
    for (unsigned two = 0; two <= M; two++)
        for (unsigned k = 0; k <= M - two; k++)
            if ((int)(2 * two + k) >= count)
                sum += exp(ways(M, two, k) + power_log(two, both) + power_log(k, one) +
                           power_log(M - two - k, neither));
    return fmin(1, sum);
}

static inline double tail_of(const cr_antithetic *pairs, double both, double neither)
{
    const unsigned M = (unsigned)(pairs->samples / 2);
    const int out = (int)pairs->min_outside;
    const double q = 0.5 * (1 + both - neither);
    if (pairs->samples % 2 == 0) return sum_of(M, both, neither, out);
    return (1 - q) * sum_of(M, both, neither, out) + q * sum_of(M, both, neither, out - 1);
}

/* ---- events */
enum { ENDS = 6 };
typedef struct event { /* out beyond the last end, and between every second two before it */
    double end[ENDS];
    int count;
} event;

static inline int is_out(const event *e, double x)
{
    int beyond = 0;
    for (int i = 0; i < e->count; i++) beyond += e->end[i] >= x;
    return beyond % 2 == 0;
}

/* Without a shift. */
static inline double share_of(const event *e)
{
    double share = e->count % 2 ? 0 : 1;
    for (int i = 0; i < e->count; i++) share += ((e->count - i) % 2 ? 1 : -1) * above(e->end[i]);
    return share;
}

/* How often more of the outputs than allowed are out, after a shift of length r. */
static inline double misses_of(const cr_antithetic *pairs, const event *e, double r)
{
    double t[ENDS + 2] = {0, 40}, both = 0, neither = 0;
    for (int i = 0; i < e->count; i++) t[i + 2] = fabs(e->end[i] - r);
    kit_sort(t, (size_t)e->count + 2);
    for (int i = 0; i <= e->count; i++) {
        const double middle = 0.5 * (t[i] + t[i + 1]), mass = 2 * (above(t[i]) - above(t[i + 1]));
        const int out = is_out(e, r + middle) + is_out(e, r - middle);
        if (out == 2) both += mass;
        if (out == 0) neither += mass;
    }
    return tail_of(pairs, both, neither);
}

/* Both of a pair out within a, one beyond b >= a, by an event of probability p. Zero: a is too
 * large for that, or too small. */
static inline int make_worst(event *e, double r, double p, double a)
{
    const double left = p - above(r - a) + above(r + a);
    double lo = a, hi = 40;
    for (int i = 0; i < 80; i++) {
        const double b = 0.5 * (lo + hi);
        if (above(r + b) > left) lo = b;
        else hi = b;
    }
    *e = (event){.end = {r - a, r + a, r + hi}, .count = 3};
    return left > 0 && lo > a;
}

#endif
