/* U-statistics of the squared gradient norm, and the two ends of its interval (theory 5.1). The
 * diagonal of the Gram matrix enters none of them but `self`: it would bias them. The paper's
 * interval is in paper_interval.c. */
#include "statistics/gradient_ustatistic.h"
#include "statistics/incomplete_beta.h"
#include "statistics/moments.h"
#include <math.h>
#include <string.h>

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
