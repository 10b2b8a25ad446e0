/* The worst case of antithetic pairs (theory 1.5, Lemma 1d). There is a one-parameter family of
 * worst events, over which a proof goes cell by cell. Independent noise needs only a binomial
 * bound, in serving_bounds.c. */
#include "statistics/antithetic.h"
#include "base/constants.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* Margin of the normal distribution: relative for a tail, absolute for its argument in units of its
 * size. This is far more than the rounding of tails above 1e-20, the least that matter. */
static const double off = 1e-13;
static const double least_p = 1e-15, most_p = 0.999; /* least and greatest p of a proof */
/* Limits of the cells of a proof and of the steps of a bisection: more would gain a thousandth of
 * sigma. */
enum { CELLS = 200, STEPS = 20, POINTS = 8 };

/* ---- the tail of a request */
/* The sum of the first `count` <= M coefficients of (a + b x + c x^2)^M, for which
 *   (n + 1) a p_(n+1) = (M - n) b p_n + (2M - n + 1) c p_(n-1).
 * All terms are positive, so nothing cancels. */
static double sum_of_first(double M, double a, double b, double c, double count)
{
    static const double great = 0x1p800;
    double before = 0, at = 1, sum = 0, scaled = 0; /* divisions by `great` */
    for (double n = 0; n < count; n += 1) {
        sum += at;
        const double next = ((M - n) * b * at + (2 * M - n + 1) * c * before) / ((n + 1) * a);
        before = at;
        at = next;
        if (at < great) continue;
        before /= great;
        at /= great;
        sum /= great;
        scaled += 1;
    }
    return exp(M * log(a) + scaled * log(great) + log(sum));
}

/* P(count or more outputs of M pairs are out), rounded up. */
static double tail_of_pairs(double M, double both, double neither, double count)
{
    const double one = fmax(1 - both - neither, 0), end = count > M ? both : neither,
                 lost = 4 * M * DBL_EPSILON; /* probability lost by the rounding of `one` */
    if (!(count > 0)) return 1;
    if (count > 2 * M) return 0;
    if (end < 1e-30) return 1; /* or the sum overflows */
    const double error = DBL_EPSILON * (4 * M * (2 - log(end)) + 5000);
    const double tail = count > M
                            ? sum_of_first(M, both, one, neither, 2 * M - count + 1) * (1 + error)
                            : 1 - sum_of_first(M, neither, one, both, count) * (1 - error);
    return fmin(1, fmax(0, tail) + lost);
}

double cr_antithetic_tail(const cr_antithetic *pairs, double both, double neither)
{
    const uint64_t half = pairs->samples / 2;
    const double M = (double)half, count = (double)pairs->out;
    both = fmin(both + DBL_EPSILON, 1); /* so that it is not 0 */
    neither = fmax(fmin(neither, 1 - both), 0);
    const double without = tail_of_pairs(M, both, neither, count);
    if (pairs->samples % 2 == 0) return without;
    const double with = tail_of_pairs(M, both, neither, count - 1),
                 q = fmin(0.5 * (1 + both - neither), 1);
    return fmin(1, (without + q * (with - without)) * (1 + 4 * DBL_EPSILON));
}

/* ---- the worst event: both of a pair out within a, one beyond b, none between */
static double both_within(double a)
{
    return 1 - 2 * cr_normal_sf(a) * (1 - off);
}

/* Probability at z of the event that both are out within a, rounded down. */
static double cost_within(double r, double a)
{
    return cr_normal_sf(r - a) * (1 - off) - cr_normal_sf(r + a) * (1 + off);
}

/* The remaining p is spent on one out beyond b >= a. Returns the probability of neither, rounded
 * down. */
static double neither_at(double p, double r, double a)
{
    const double left = p * (1 + off) - cost_within(r, a);
    const double b = left > 0 ? cr_normal_quantile_sf(left) - r - off * (40 + r) : INFINITY;
    if (!(b > a)) return 0;
    return fmax(0, 2 * (cr_normal_sf(a) * (1 - off) - cr_normal_sf(b) * (1 + off)));
}

/* Greatest a that p allows, rounded up. */
static double most_within(double p, double r, double least)
{
    double most = r + 10;
    for (int i = 0; i < 50; i++) {
        const double a = 0.5 * (least + most);
        if (cost_within(r, a) >= p) most = a;
        else least = a;
    }
    return most;
}

/* Returns 1 if requests hold for all a up to `to`, from the one with this `neither`. */
static int cell_holds(const cr_antithetic *pairs, double to, double neither)
{
    return cr_antithetic_tail(pairs, both_within(to), neither) <= pairs->rate;
}

int cr_antithetic_hold(const cr_antithetic *pairs, double p, double r)
{
    if (!(p <= most_p) || !(r >= 0)) return 0;
    p = fmax(p, least_p);
    const double least = fmax(0, r - cr_normal_quantile_sf(p) - off * (40 + r)),
                 most = most_within(p, r, least);
    for (int i = 0; i <= POINTS; i++) { /* a few points refute most p */
        const double a = least + (most - least) * i / POINTS;
        if (!cell_holds(pairs, a, neither_at(p, r, a))) return 0;
    }
    double from = least, width = (most - least) / POINTS, neither = neither_at(p, r, from);
    for (int i = 0; i < CELLS && from < most; i++) {
        const double to = fmin(from + width, most);
        const int holds = cell_holds(pairs, to, neither);
        width *= holds ? 1.5 : 0.5;
        if (!holds) continue;
        from = to;
        neither = neither_at(p, r, from);
    }
    return from >= most;
}

/* ---- the greatest that holds */
double cr_antithetic_radius(const cr_antithetic *pairs, double p, double likely)
{
    double holds = likely, beyond = 10 + cr_normal_quantile_sf(fmax(p, least_p));
    if (cr_antithetic_hold(pairs, p, likely)) beyond = fmax(beyond, likely);
    else {
        if (!cr_antithetic_hold(pairs, p, 0)) return 0;
        holds = 0;
        beyond = fmin(beyond, likely);
    }
    for (int i = 0; i < STEPS; i++) {
        const double r = 0.5 * (holds + beyond);
        if (cr_antithetic_hold(pairs, p, r)) holds = r;
        else beyond = r;
    }
    return holds;
}

/* As for independent noise, p and the threshold are as far apart as the radius. */
double cr_antithetic_threshold(const cr_antithetic *pairs, double mean, double likely)
{
    const double p = nextafter(0.5 * (1 - mean), 1), r = cr_antithetic_radius(pairs, p, likely);
    if (!(r > 0)) return 1;
    return nextafter(1 - 2 * cr_normal_sf(cr_normal_quantile_sf(p) - r) * (1 - CR_ROUNDING_MARGIN),
                     2);
}

double cr_antithetic_share(const cr_antithetic *pairs, double r)
{
    double holds = -8, beyond = 8;
    if (!cr_antithetic_hold(pairs, cr_normal_cdf(holds), r)) return 0;
    for (int i = 0; i < STEPS; i++) {
        const double level = 0.5 * (holds + beyond);
        if (cr_antithetic_hold(pairs, cr_normal_cdf(level), r)) holds = level;
        else beyond = level;
    }
    return cr_normal_cdf(holds);
}
