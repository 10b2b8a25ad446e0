/* Moments of a score from its samples, and the asymptotic interval of its mean and variance (theory
 * 5.1). */
#ifndef CR_STATISTICS_MOMENTS_H
#define CR_STATISTICS_MOMENTS_H
#include "certreg/solver.h"
#include "statistics/score.h"
#include <stddef.h>
#include <stdint.h>

#define CR_MOMENTS_ORDER 6

/* Sums of powers 1 .. 6 of u - center, each with its compensation for rounding (Neumaier), and the
 * extremes. A center near the values (a pilot mean, the first value) keeps digits; a poor one only
 * widens the interval, see cr_moments_rounding_error. */
typedef struct cr_moments {
    uint64_t count;
    double center;
    double sum[CR_MOMENTS_ORDER], compensation[CR_MOMENTS_ORDER];
    double min, max;
} cr_moments;

/* Empty sums about a center. */
void cr_moments_init(cr_moments *moments, double center);
/* Adds a value. After one that is not finite every interval abstains. */
void cr_moments_add(cr_moments *moments, double u);
/* Sums over these samples, about the first. */
void cr_moments_of(const cr_samples *samples, cr_moments *moments);

/* Sample mean, between the extremes. */
double cr_moments_mean(const cr_moments *moments);
/* Central moments, about the sample mean: the second and fourth divided by n, the variance S^2 by
 * n - 1. The second is exactly 0 iff all values are equal (n >= 2). */
double cr_moments_second(const cr_moments *moments);
double cr_moments_variance(const cr_moments *moments);
double cr_moments_fourth(const cr_moments *moments);
/* Skewness of u and of (u - mean)^2; 0 if all values are equal. */
double cr_moments_skewness(const cr_moments *moments);
double cr_moments_square_skewness(const cr_moments *moments);

enum { CR_MOMENTS_OK = 0, CR_MOMENTS_ABSTAINED = 1 };

/* Returns the upper end of an interval of a mean, in standard errors: Hall's monotone
 * transformation of the studentised mean, which takes out its skewness, and at least the normal
 * quantile z. For values with positive skewness the studentised mean misses too often above (by
 * skewness (2 z^2 + 1) pdf(z)/(6 sqrt n)), and squares always have it. */
double cr_moments_skewed_quantile(double z, double skewness, double count);

typedef struct cr_moments_tails { /* probabilities of a miss; mean: 0 for the end of the range */
    double mean_lo, mean_hi, variance_hi;
} cr_moments_tails;

/* Sets the asymptotic interval (theory 5.1, with quantiles corrected for skewness as above): mean
 * -/+ z S/sqrt(n), rounded outward, within the range, and variance_hi, at most max (hi - m)(m - lo)
 * over this interval. Adds the constraints MEAN and VARIANCE, and RANGE with the two ends if one of
 * them is finite; sets no other field. Not valid against values too rare to be seen among n
 * samples, and hardly for the variance of outputs with heavy tails. @return CR_MOMENTS_ABSTAINED,
 * with mean and variance at their trivial values, if n < 2, all values are equal, or one is not
 * finite. */
int cr_moments_asymptotic(const cr_moments *moments, double range_lo, double range_hi,
                          const cr_moments_tails *tails, certreg_bounds *bounds);

/* Returns the maximum variance of values in [range_lo, range_hi] with a mean in [mean_lo, mean_hi]:
 * max (hi - m)(m - lo). Infinite if an end of the range is. */
double cr_moments_max_variance(double range_lo, double range_hi, double mean_lo, double mean_hi);

/* ---- Interval of the scaled gradient norm kappa from block means of (u - c) e, by a U-statistic
 * (theory 5.1, asymptotic). */
/* Statistics of the B x B Gram matrix of block means, with their names in theory 5.1. */
typedef struct cr_gradient_statistics {
    size_t blocks;     /* B */
    double square;     /* U: unbiased for kappa^2, may be negative */
    double projection; /* zeta >= 0: variance of the linear part, which adds 4 zeta/B to Var U */
    double degenerate; /* D2 = 2 t2/(B (B - 1)): the degenerate part, largest in high dimension */
    double energy;     /* t2 >= 0: squared Frobenius norm of the covariance of a block mean */
    double self;       /* mean of the diagonal: kappa^2 + d times the variance of a coordinate */
    double skewness;   /* of the projections of block means on the sum of all other block means */
} cr_gradient_statistics;

/* Sets the statistics of a symmetric Gram matrix, row-major. All are NaN if blocks < 4 or a sum
 * overflows. */
void cr_gradient_estimate(const double *gram, size_t blocks, cr_gradient_statistics *estimate);

/* Returns an end of the interval of kappa, in the unit of the score; tail: probability of a miss at
 * this end, in (0, 1/2]. dimension: active features. kurtosis: E(u-c)^4/(E(u-c)^2)^2 of the
 * weights, which tightens the upper end in high dimension; INFINITY: unknown. The trivial end, 0 or
 * INFINITY, if tail is 0 or the statistics are NaN. */
double cr_gradient_lower(const cr_gradient_statistics *, double tail);
double cr_gradient_upper(const cr_gradient_statistics *, double dimension, double kurtosis,
                         double tail);

/* ---- Intervals of the paper's method, after Zhang and Frank (ICML 2026): uncentered all-pairs
 * estimate of kappa^2 with the plug-in variance, the mean taken as a point. For comparison only;
 * theory 5.1 has better ones. */
/* Sums over outputs y times noise e of active features. */
typedef struct cr_paper_sums {
    uint64_t count;
    double norm_squared; /* ||sum y e||^2 */
    double self;         /* sum y^2 ||e||^2 */
    double square;       /* sum (y e.g)^2 with g = sum y e / n; the mean of y e.g is ||g||^2 */
} cr_paper_sums;

/* Returns the sums of these samples, from norm = ||sum y e||, dots[i] = e_i . g/||g|| and norms[i]
 * = ||e_i||^2. */
cr_paper_sums cr_paper_sums_of(const cr_samples *, double norm, const double *dots,
                               const double *norms);

/* Returns the estimate of kappa^2, which may be negative. */
double cr_paper_gradient_square(const cr_paper_sums *paper);
/* Returns the variance of this estimate by the paper's formula: 4/n times the sample variance of
 * the projections y e.g. */
double cr_paper_square_variance(const cr_paper_sums *paper);

/* Sets mean and variance, and the gradient norm unless paper is NULL, by the paper's formulas, with
 * the misprint under its root corrected: sqrt((m4 - S^4)/n). Its intervals are two-sided: of
 * variance and gradient norm at alpha/2 each, or of the variance alone at alpha. Only the upper end
 * of the variance is used, so a part of alpha stays unspent. The mean is a point and has no share,
 * which is one reason why the stated confidence is not reached (theory 10). Adds the constraints
 * MEAN, VARIANCE and GRADIENT, and RANGE if an end is finite. @return CR_MOMENTS_ABSTAINED, with
 * trivial values, if all outputs are equal, or paper and moments have different counts. */
int cr_paper_bounds(const cr_paper_sums *paper, const cr_moments *moments, double range_lo,
                    double range_hi, double alpha, certreg_bounds *bounds);

#endif
