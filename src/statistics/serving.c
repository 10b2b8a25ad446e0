/* Serving (theory 1.5): from independent samples, and from antithetic pairs. */
#include "statistics/serving.h"
#include "base/constants.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* ======== Thresholds for estimates from fresh independent samples (theory 1.5), and trimmed
 * means (theory 9.2). Antithetic pairs have a worst case of their own, below. */
/* For an estimate that fails if at most max_ones of the values are 1. */
static double min_mean(uint64_t samples, uint64_t max_ones, double beta)
{
    return nextafter(2 * cr_binomial_upper(max_ones, samples, beta) - 1, 2);
}

uint64_t cr_serving_count(uint64_t samples, double fraction)
{
    return (uint64_t)floor(fraction * (double)samples * (1 + CR_ROUNDING_MARGIN));
}

double cr_serving_binomial(uint64_t samples, double fraction, double beta)
{
    return min_mean(samples, cr_serving_count(samples, fraction), beta);
}

double cr_serving_binomial_count(uint64_t samples, uint64_t max_outside, double beta)
{
    return max_outside < samples ? min_mean(samples, samples - max_outside - 1, beta) : -INFINITY;
}

/* kl(a; p) = a log(a/p) + (1-a) log((1-a)/(1-p)) >= log(1/beta)/N' for the fraction a at which the
 * sum is 0: the tail at mean p is then at most beta (Hoeffding's first inequality). For values in
 * [-1, 1] it reads (1 - tau^2)^(N'/2) <= beta. */
double cr_serving_bounded(double samples, double min_value, double max_value, double beta)
{
    const double span = max_value - min_value, zero_fraction = -min_value / span,
                 min_divergence = -log(beta) / samples;
    if (!(span > 0) || !isfinite(span)) return INFINITY;
    if (zero_fraction < 0) return -INFINITY; /* the values are positive anyway */
    if (zero_fraction >= 1) return INFINITY;
    double low = zero_fraction, high = 1;
    for (int i = 0; i < 100; i++) {
        const double p = 0.5 * (low + high);
        const double divergence = (zero_fraction > 0 ? zero_fraction * log(zero_fraction / p) : 0) +
                                  (1 - zero_fraction) * (log1p(-zero_fraction) - log1p(-p));
        /* Logarithms of numbers below 1 may be off by 2 ulp each: for a large N' that is more than
         * 1e-9 of min_divergence. */
        if (divergence >= min_divergence * (1 + 1e-9) + 4 * DBL_EPSILON) high = p;
        else low = p;
    }
    return min_value + span * high + CR_ROUNDING_MARGIN * span;
}

/* ---- trimmed means */
uint64_t cr_serving_trim_count(uint64_t samples, double trim)
{
    const uint64_t count = (uint64_t)floor(trim * (double)samples), max_count = (samples - 1) / 2;
    return count < max_count ? count : max_count;
}

/* The number that is cut off at one end; or, with a range, j more of the m that remain, with j
 * max_distance + (m - j) core < m tolerance. Rounded so that j is too small in doubt. */
uint64_t cr_serving_max_outside(uint64_t samples, double trim, double tolerance, double core,
                                double max_distance)
{
    const uint64_t trim_count = cr_serving_trim_count(samples, trim);
    const double remaining = (double)(samples - 2 * trim_count),
                 reduced_tolerance = tolerance * (1 - CR_ROUNDING_MARGIN);
    if (max_distance < reduced_tolerance) return samples;
    if (!(core < reduced_tolerance && max_distance < INFINITY)) return trim_count;
    const double additional =
        remaining * ((reduced_tolerance - core) / (max_distance - core)) * (1 - CR_ROUNDING_MARGIN);
    return trim_count + (uint64_t)floor(fmin(remaining, additional));
}

/* ======== The worst case of antithetic pairs (theory 1.5, Lemma 1d). There is a one-parameter
 * family of worst events, over which a proof goes cell by cell. Independent noise needs only a
 * binomial bound, above. */
/* Margin of the normal distribution: relative for a tail, absolute for its argument in units of its
 * size. This is far more than the rounding of tails above 1e-20, the least that matter. */
static const double normal_margin = 1e-13;
static const double min_p = 1e-15, max_p = 0.999; /* range of p in a proof */
/* Limits of the cells of a proof and of the steps of a bisection: more would gain a thousandth of
 * sigma. */
enum { MAX_CELLS = 200, BISECTION_STEPS = 20, PROBE_POINTS = 8 };

/* ---- the tail of a request */
/* The sum of the first `count` <= M coefficients of (a + b x + c x^2)^M, for which
 *   (n + 1) a p_(n+1) = (M - n) b p_n + (2M - n + 1) c p_(n-1).
 * All terms are positive, so nothing cancels. */
static double leading_sum(double M, double a, double b, double c, double count)
{
    static const double rescale_factor = 0x1p800;
    double previous = 0, current = 1, sum = 0, rescalings = 0; /* divisions by rescale_factor */
    for (double n = 0; n < count; n += 1) {
        sum += current;
        const double next =
            ((M - n) * b * current + (2 * M - n + 1) * c * previous) / ((n + 1) * a);
        previous = current;
        current = next;
        if (current < rescale_factor) continue;
        previous /= rescale_factor;
        current /= rescale_factor;
        sum /= rescale_factor;
        rescalings += 1;
    }
    return exp(M * log(a) + rescalings * log(rescale_factor) + log(sum));
}

/* P(count or more outputs of M pairs are out), rounded up. */
static double pair_tail(double M, double both, double neither, double count)
{
    const double exactly_one = fmax(1 - both - neither, 0),
                 end_probability = count > M ? both : neither,
                 rounding_loss = 4 * M * DBL_EPSILON; /* by the rounding of exactly_one */
    if (!(count > 0)) return 1;
    if (count > 2 * M) return 0;
    if (end_probability < 1e-30) return 1; /* or the sum overflows */
    const double error = DBL_EPSILON * (4 * M * (2 - log(end_probability)) + 5000);
    const double tail =
        count > M ? leading_sum(M, both, exactly_one, neither, 2 * M - count + 1) * (1 + error)
                  : 1 - leading_sum(M, neither, exactly_one, both, count) * (1 - error);
    return fmin(1, fmax(0, tail) + rounding_loss);
}

double cr_antithetic_tail(const cr_antithetic *pairs, double both, double neither)
{
    const uint64_t pair_count = pairs->samples / 2;
    const double M = (double)pair_count, count = (double)pairs->min_outside;
    both = fmin(both + DBL_EPSILON, 1); /* so that it is not 0 */
    neither = fmax(fmin(neither, 1 - both), 0);
    const double even_tail = pair_tail(M, both, neither, count);
    if (pairs->samples % 2 == 0) return even_tail;
    const double odd_tail_if_out = pair_tail(M, both, neither, count - 1),
                 single_probability = fmin(0.5 * (1 + both - neither), 1);
    return fmin(1, (even_tail + single_probability * (odd_tail_if_out - even_tail)) *
                       (1 + 4 * DBL_EPSILON));
}

/* ---- the worst event: both of a pair out within a, one beyond b, none between */
static double both_probability(double a)
{
    return 1 - 2 * cr_normal_sf(a) * (1 - normal_margin);
}

/* Probability at z of the event that both are out within a, rounded down. */
static double both_probability_at_center(double r, double a)
{
    return cr_normal_sf(r - a) * (1 - normal_margin) - cr_normal_sf(r + a) * (1 + normal_margin);
}

/* Spends the remaining p on one out beyond b >= a. Returns P(neither), rounded down. */
static double neither_probability(double p, double r, double a)
{
    const double remaining = p * (1 + normal_margin) - both_probability_at_center(r, a);
    const double b = remaining > 0 ? cr_normal_quantile_sf(remaining) - r - normal_margin * (40 + r)
                                   : INFINITY;
    if (!(b > a)) return 0;
    return fmax(
        0, 2 * (cr_normal_sf(a) * (1 - normal_margin) - cr_normal_sf(b) * (1 + normal_margin)));
}

/* Greatest a that p allows, rounded up. */
static double max_inner_bound(double p, double r, double min_a)
{
    double max_a = r + 10;
    for (int i = 0; i < 50; i++) {
        const double a = 0.5 * (min_a + max_a);
        if (both_probability_at_center(r, a) >= p) max_a = a;
        else min_a = a;
    }
    return max_a;
}

/* Returns 1 if requests hold for all a up to cell_end, from the a with this `neither`. */
static int cell_holds(const cr_antithetic *pairs, double cell_end, double neither)
{
    return cr_antithetic_tail(pairs, both_probability(cell_end), neither) <= pairs->failure_rate;
}

int cr_antithetic_holds(const cr_antithetic *pairs, double p, double r)
{
    if (!(p <= max_p) || !(r >= 0)) return 0;
    p = fmax(p, min_p);
    const double min_a = fmax(0, r - cr_normal_quantile_sf(p) - normal_margin * (40 + r)),
                 max_a = max_inner_bound(p, r, min_a);
    for (int i = 0; i <= PROBE_POINTS; i++) { /* a few points refute most p */
        const double a = min_a + (max_a - min_a) * i / PROBE_POINTS;
        if (!cell_holds(pairs, a, neither_probability(p, r, a))) return 0;
    }
    double cell_start = min_a, width = (max_a - min_a) / PROBE_POINTS,
           neither = neither_probability(p, r, cell_start);
    for (int i = 0; i < MAX_CELLS && cell_start < max_a; i++) {
        const double cell_end = fmin(cell_start + width, max_a);
        const int holds = cell_holds(pairs, cell_end, neither);
        width *= holds ? 1.5 : 0.5;
        if (!holds) continue;
        cell_start = cell_end;
        neither = neither_probability(p, r, cell_start);
    }
    return cell_start >= max_a;
}

/* ---- the largest radius, threshold and probability */
double cr_antithetic_radius(const cr_antithetic *pairs, double p, double guess)
{
    double holds = guess, fails = 10 + cr_normal_quantile_sf(fmax(p, min_p));
    if (cr_antithetic_holds(pairs, p, guess)) fails = fmax(fails, guess);
    else {
        if (!cr_antithetic_holds(pairs, p, 0)) return 0;
        holds = 0;
        fails = fmin(fails, guess);
    }
    for (int i = 0; i < BISECTION_STEPS; i++) {
        const double r = 0.5 * (holds + fails);
        if (cr_antithetic_holds(pairs, p, r)) holds = r;
        else fails = r;
    }
    return holds;
}

double cr_antithetic_max_probability(const cr_antithetic *pairs, double r)
{
    double holds = -8, fails = 8;
    if (!cr_antithetic_holds(pairs, cr_normal_cdf(holds), r)) return 0;
    for (int i = 0; i < BISECTION_STEPS; i++) {
        const double level = 0.5 * (holds + fails);
        if (cr_antithetic_holds(pairs, cr_normal_cdf(level), r)) holds = level;
        else fails = level;
    }
    return cr_normal_cdf(holds);
}
