/* Asymptotic intervals (theory 5.1): of mean and variance, of the gradient by a U-statistic, and
 * those of the paper. */
#include "statistics/moments.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ======== Sums of powers in one pass, with compensated addition, central moments from them, and
 * the asymptotic interval of mean and variance (theory 5.1). */
/* A sample shows only part of the skewness that its tails cause, and a smaller part of higher
 * powers. So the sample skewness is multiplied by the first factor for a mean of outputs, and by
 * the second for means of their squares or products with the noise. Chosen by simulation so that no
 * distribution from linear to log-normal missed more often than nominal (tests/cover_moments.c);
 * for light tails a bound is one or two per cent wider. */
#define CR_SKEWNESS_FACTOR_MEAN 1.25
#define CR_SKEWNESS_FACTOR_SQUARE 2.0

void cr_moments_init(cr_moments *moments, double center)
{
    *moments = (cr_moments){.center = center, .min = INFINITY, .max = -INFINITY};
}

/* Neumaier: the part of the smaller summand that did not fit is kept apart. */
static void add_exactly(double *sum, double *compensation, double term)
{
    const double total = *sum + term;
    *compensation += fabs(*sum) >= fabs(term) ? (*sum - total) + term : (term - total) + *sum;
    *sum = total;
}

void cr_moments_add(cr_moments *moments, double u)
{
    const double gap = u - moments->center;
    double power = 1;
    moments->count++;
    for (int i = 0; i < CR_MOMENTS_ORDER; i++) {
        power *= gap;
        add_exactly(&moments->sum[i], &moments->compensation[i], power);
    }
    if (u < moments->min) moments->min = u;
    if (u > moments->max) moments->max = u;
    /* No comparison holds any more, so every interval abstains. */
    if (!isfinite(u)) moments->min = moments->max = NAN;
}

void cr_moments_of(const cr_samples *samples, cr_moments *moments)
{
    const cr_samples s = *samples; /* a copy, which `moments` cannot overlap, stays in registers */
    cr_moments_init(moments, s.count ? cr_samples_at(&s, 0) : 0);
    for (size_t i = 0; cr_samples_has(&s, i); i++) cr_moments_add(moments, cr_samples_at(&s, i));
}

/* Moments 1 .. 6 about the center; out[0] is the zeroth, 1. */
static void raw(const cr_moments *moments, double out[CR_MOMENTS_ORDER + 1])
{
    out[0] = 1;
    for (int i = 0; i < CR_MOMENTS_ORDER; i++)
        out[i + 1] = (moments->sum[i] + moments->compensation[i]) / (double)moments->count;
}

/* Moment about the sample mean: sum over j of binomial(order, j) raw_j (-shift)^(order - j). */
static double central(const cr_moments *moments, int order)
{
    double raw_moments[CR_MOMENTS_ORDER + 1], sum = 0, binomial = 1, power = 1;
    raw(moments, raw_moments);
    for (int j = order; j >= 0; j--) {
        sum += binomial * raw_moments[j] * power;
        power *= -raw_moments[1];
        binomial = binomial * j / (order - j + 1);
    }
    return sum;
}

double cr_moments_mean(const cr_moments *moments)
{
    double raw_moments[CR_MOMENTS_ORDER + 1];
    raw(moments, raw_moments);
    return fmin(fmax(moments->center + raw_moments[1], moments->min), moments->max);
}

double cr_moments_second(const cr_moments *moments)
{
    if (moments->min == moments->max) return 0;
    const double range = moments->max - moments->min;
    /* Two values that differ by the range alone leave range^2/(2n): rounding must not take the
     * variance below that. */
    return fmax(central(moments, 2), range * range / (2 * (double)moments->count));
}

double cr_moments_variance(const cr_moments *moments)
{
    const double n = (double)moments->count;
    return n < 2 ? NAN : cr_moments_second(moments) * (n / (n - 1));
}

double cr_moments_fourth(const cr_moments *moments)
{
    const double second = cr_moments_second(moments);
    return fmax(central(moments, 4), second * second);
}

double cr_moments_skewness(const cr_moments *moments)
{
    const double second = cr_moments_second(moments);
    return second > 0 ? central(moments, 3) / (second * sqrt(second)) : 0;
}

double cr_moments_square_skewness(const cr_moments *moments)
{
    const double second = cr_moments_second(moments), fourth = cr_moments_fourth(moments);
    const double square_variance = fourth - second * second;
    if (!(square_variance > 0)) return 0;
    return (central(moments, 6) - 3 * second * fourth + 2 * second * second * second) /
           (square_variance * sqrt(square_variance));
}

double cr_moments_skewed_quantile(double z, double skewness, double count)
{
    const double g = skewness / sqrt(count);
    if (!isfinite(z) || !(g > 1e-6)) return z;
    return fmax(z, 3 / g * (1 - cbrt(1 - g * z - g * g / 6)));
}

/* Bound of the rounding of the second moment and of the variance. */
static double cr_moments_rounding_error(const cr_moments *moments)
{
    double raw_moments[CR_MOMENTS_ORDER + 1];
    raw(moments, raw_moments);
    return 16 * DBL_EPSILON * raw_moments[2];
}

double cr_moments_max_variance(double range_lo, double range_hi, double mean_lo, double mean_hi)
{
    if (!isfinite(range_lo) || !isfinite(range_hi)) return INFINITY;
    const double middle = fmin(fmax(range_lo + 0.5 * (range_hi - range_lo), mean_lo), mean_hi);
    return fmax(0, (range_hi - middle) * (middle - range_lo));
}

/* Quantile of an end of the mean; infinite at the end of the range. */
static double mean_quantile(double tail, double skewness, double n)
{
    return tail > 0 ? cr_moments_skewed_quantile(cr_normal_quantile_sf(tail), skewness, n)
                    : INFINITY;
}

int cr_moments_asymptotic(const cr_moments *moments, double range_lo, double range_hi,
                          const cr_moments_tails *tails, certreg_bounds *bounds)
{
    bounds->constraints |= CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    if (isfinite(range_lo) || isfinite(range_hi)) bounds->constraints |= CERTREG_CONSTRAINT_RANGE;
    bounds->range_lo = bounds->mean_lo = range_lo;
    bounds->range_hi = bounds->mean_hi = range_hi;
    bounds->variance_hi = cr_moments_max_variance(range_lo, range_hi, range_lo, range_hi);
    if (moments->count < 2 || !(moments->min < moments->max)) return CR_MOMENTS_ABSTAINED;
    const double n = (double)moments->count, mean = cr_moments_mean(moments),
                 second = cr_moments_second(moments);
    const double variance = cr_moments_variance(moments),
                 rounding = cr_moments_rounding_error(moments),
                 error = sqrt((variance + rounding) / n),
                 mean_rounding = 2 * DBL_EPSILON * fabs(mean); /* also of mean -/+ z error */
    const double skewness = CR_SKEWNESS_FACTOR_MEAN * cr_moments_skewness(moments);
    const double z_lo = mean_quantile(tails->mean_lo, -skewness, n),
                 z_hi = mean_quantile(tails->mean_hi, skewness, n);
    bounds->mean_lo = fmin(fmax(range_lo, mean - (z_lo * error + mean_rounding)), range_hi);
    bounds->mean_hi = fmax(fmin(range_hi, mean + (z_hi * error + mean_rounding)), range_lo);
    /* E(u-m)^2 is estimated about the sample mean, which is too small by (mean - m)^2: the quantile
     * of the mean bounds this. */
    const double z_mean = fmax(isfinite(z_lo) ? z_lo : 0, isfinite(z_hi) ? z_hi : 0);
    const double second_error = sqrt(fmax(0, cr_moments_fourth(moments) - second * second) / n);
    const double square_skewness = CR_SKEWNESS_FACTOR_SQUARE * cr_moments_square_skewness(moments);
    const double z =
        cr_moments_skewed_quantile(cr_normal_quantile_sf(tails->variance_hi), square_skewness, n);
    const double bound = second + z_mean * z_mean * variance / n + z * second_error;
    const double cap =
        cr_moments_max_variance(range_lo, range_hi, bounds->mean_lo, bounds->mean_hi);
    bounds->variance_hi = fmin(bound + rounding, cap * (1 + 4 * DBL_EPSILON));
    return CR_MOMENTS_OK;
}

/* ======== U-statistics of the squared gradient norm, and the two ends of its interval (theory
 * 5.1). The diagonal of the Gram matrix enters none of them but `self`: it would bias them. The
 * paper's interval is here as well. */
/* Sum of row p without its diagonal, and of the squares. */
static double row_sum(const double *gram, size_t blocks, size_t p, double *squares)
{
    double sum = 0, square_sum = 0;
    for (size_t q = 0; q < blocks; q++) {
        if (q == p) continue;
        sum += gram[p * blocks + q];
        square_sum += gram[p * blocks + q] * gram[p * blocks + q];
    }
    *squares = square_sum;
    return sum;
}

static double row_skewness(const double *gram, size_t blocks, double mean)
{
    double second = 0, third = 0, unused;
    for (size_t p = 0; p < blocks; p++) {
        const double gap = row_sum(gram, blocks, p, &unused) - mean;
        second += gap * gap;
        third += gap * gap * gap;
    }
    const double b = (double)blocks;
    return second > 0 ? third / b / (second / b * sqrt(second / b)) : 0;
}

void cr_gradient_estimate(const double *gram, size_t blocks, cr_gradient_statistics *estimate)
{
    *estimate = (cr_gradient_statistics){blocks, NAN, NAN, NAN, NAN, NAN, NAN};
    if (blocks < 4) return;
    double total = 0, rows = 0, squares = 0, self = 0; /* T, P, Q and the trace */
    for (size_t p = 0; p < blocks; p++) {
        double square;
        const double row = row_sum(gram, blocks, p, &square);
        total += row;
        rows += row * row;
        squares += square;
        self += gram[p * blocks + p];
    }
    if (!isfinite(total + rows + squares + self)) return; /* overflow */
    const double b = (double)blocks, pair_count = b * (b - 1), triple_count = pair_count * (b - 2),
                 quadruple_count = triple_count * (b - 3);
    /* Unbiased for E <S1,S2><S1,S3> and for kappa^4. */
    const double shared = (rows - squares) / triple_count,
                 disjoint = (total * total - 4 * rows + 2 * squares) / quadruple_count;
    estimate->square = total / pair_count;
    estimate->projection = fmax(0, shared - disjoint);
    estimate->energy = fmax(0, squares / pair_count - 2 * shared + disjoint);
    estimate->degenerate = 2 * estimate->energy / pair_count;
    estimate->self = self / b;
    estimate->skewness = row_skewness(gram, blocks, total / b);
}

double cr_gradient_lower(const cr_gradient_statistics *estimate, double tail)
{
    if (!(tail > 0) || isnan(estimate->square)) return 0;
    const double b = (double)estimate->blocks, q = cr_student_quantile(tail, b - 1);
    const double square =
        estimate->square - q * sqrt(4 * estimate->projection / b + estimate->degenerate);
    return square > 0 ? sqrt(square) : 0;
}

/* Variance v of a block mean along the gradient. If U is clear of its noise, v is zeta/U, but at
 * least the variance of an average coordinate. Otherwise the gradient may point along the
 * coordinate of greatest variance, which is bounded
 * - by the eigenvalues: lambda - average <= sqrt(sum (lambda_i - average)^2), an estimate with a
 *   noise of about 2 energy/B;
 * - by Cauchy and Schwarz: E (u-c)^2 (e.g)^2 <= sqrt(E (u-c)^4 3 |g|^4), that is sqrt(3 kurtosis)
 *   averages. */
static double variance_along(const cr_gradient_statistics *estimate, double dimension,
                             double kurtosis, double q)
{
    const double average = fmax(0, (estimate->self - estimate->square) / dimension);
    if (estimate->square > 2 * sqrt(estimate->degenerate))
        return fmax(average, estimate->projection / estimate->square);
    if (dimension < 2) return average;
    const double excess = fmax(0, estimate->energy - average * average * dimension) +
                          2 * q * estimate->energy / (double)estimate->blocks;
    return fmin(average + sqrt(excess), average * sqrt(3 * kurtosis));
}

/* Solves x - U = q sqrt(4 x v/B + D2). The linear variance is taken at the bound x, not at the
 * estimate U, which may be near zero although x is not. Products of outputs and noise are skewed,
 * hence the corrected quantile. */
double cr_gradient_upper(const cr_gradient_statistics *estimate, double dimension, double kurtosis,
                         double tail)
{
    if (!(tail > 0) || isnan(estimate->square)) return INFINITY;
    const double b = (double)estimate->blocks;
    const double q = cr_moments_skewed_quantile(cr_student_quantile(tail, b - 1),
                                                CR_SKEWNESS_FACTOR_SQUARE * estimate->skewness, b);
    const double positive = fmax(estimate->square, 0), d2 = estimate->degenerate;
    const double a = 4 * q * q * variance_along(estimate, dimension, kurtosis, q) / b;
    return sqrt(positive + a / 2 + sqrt(a * a / 4 + a * positive + q * q * d2));
}

/* ======== The paper's estimate of the squared gradient norm, its variance, and its intervals
 * (theory 5.1, 10). The library's own interval is here as well. */
cr_paper_sums cr_paper_sums_of(const cr_samples *s, double norm, const double *dots,
                               const double *norms)
{
    cr_paper_sums paper = {.count = s->count, .norm_squared = norm * norm};
    const double g = sqrt(paper.norm_squared) / (double)s->count;
    for (size_t i = 0; i < s->count; i++) {
        const double value = cr_samples_at(s, i), projection = value * dots[i] * g;
        paper.self += value * value * norms[i];
        paper.square += projection * projection;
    }
    return paper;
}

double cr_paper_gradient_square(const cr_paper_sums *paper)
{
    const double n = (double)paper->count;
    return (paper->norm_squared - paper->self) / (n * (n - 1));
}

double cr_paper_square_variance(const cr_paper_sums *paper)
{
    const double n = (double)paper->count, mean = paper->norm_squared / (n * n);
    return 4 * fmax(0, paper->square - n * mean * mean) / (n - 1) / n;
}

int cr_paper_bounds(const cr_paper_sums *paper, const cr_moments *moments, double range_lo,
                    double range_hi, double alpha, certreg_bounds *bounds)
{
    const double n = (double)moments->count;
    bounds->constraints |= CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    if (paper) bounds->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    if (isfinite(range_lo) || isfinite(range_hi)) bounds->constraints |= CERTREG_CONSTRAINT_RANGE;
    bounds->range_lo = bounds->mean_lo = range_lo;
    bounds->range_hi = bounds->mean_hi = range_hi;
    bounds->variance_hi = cr_moments_max_variance(range_lo, range_hi, range_lo, range_hi);
    bounds->gradient_lo = 0;
    bounds->gradient_hi = paper ? sqrt(bounds->variance_hi) : 0;
    if (n < 2 || !(moments->min < moments->max)) return CR_MOMENTS_ABSTAINED;
    if (paper && paper->count != moments->count) return CR_MOMENTS_ABSTAINED;
    const double variance = cr_moments_variance(moments), mean = cr_moments_mean(moments);
    const double variance_error =
        sqrt(fmax(0, cr_moments_fourth(moments) - variance * variance) / n);
    bounds->mean_lo = bounds->mean_hi = fmin(fmax(mean, range_lo), range_hi);
    const double z = cr_normal_quantile_sf(paper ? alpha / 4 : alpha / 2);
    bounds->variance_hi = variance + z * variance_error + cr_moments_rounding_error(moments);
    if (!paper) return CR_MOMENTS_OK;
    const double square = cr_paper_gradient_square(paper),
                 half_width = z * sqrt(cr_paper_square_variance(paper));
    bounds->gradient_lo = sqrt(fmax(0, square - half_width));
    bounds->gradient_hi = sqrt(fmax(0, square + half_width));
    return CR_MOMENTS_OK;
}
