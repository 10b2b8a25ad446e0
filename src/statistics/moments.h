/* Moments of a score from its samples, and the asymptotic interval of its mean and variance (theory
 * 5.1). */
#ifndef CR_STATISTICS_MOMENTS_H
#define CR_STATISTICS_MOMENTS_H
#include "certreg/solver.h"
#include "statistics/score_samples.h"
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
/* Bound of the rounding of the second moment and of the variance. */
double cr_moments_rounding_error(const cr_moments *moments);

enum { CR_MOMENTS_OK = 0, CR_MOMENTS_ABSTAINED = 1 };

/* A sample shows only part of the skewness that its tails cause, and a smaller part of higher
 * powers. So the sample skewness is multiplied by the first factor for a mean of outputs, and by
 * the second for means of their squares or products with the noise. Chosen by simulation so that no
 * distribution from linear to log-normal missed more often than nominal (tests/cover_moments.c,
 * cover_gradient_ustatistic.c); for light tails a bound is one or two per cent wider. */
#define CR_SKEWNESS_FACTOR_MEAN 1.25
#define CR_SKEWNESS_FACTOR_SQUARE 2.0

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

#endif
