/* Interval of the scaled gradient norm from block means of (u - c) e, by a U-statistic. */
#ifndef CR_STATISTICS_GRADIENT_H
#define CR_STATISTICS_GRADIENT_H
#include <stddef.h>

/* What the B x B Gram matrix of block means says about kappa^2 (theory 5.1). */
typedef struct cr_gradient {
    /* U: unbiased for kappa^2, may be negative. */
    double square;
    /* zeta >= 0: variance of the linear part, which contributes 4 zeta/B to the variance of U. */
    double projection;
    /* D2 >= 0: variance of the degenerate part, which dominates in high dimension. */
    double degenerate;
    /* t2 >= 0: squared Frobenius norm of the covariance of a block mean; D2 = 2 t2/(B (B - 1)). */
    double energy;
    /* Mean of the diagonal: kappa^2 plus d times the variance of a coordinate of a block mean. */
    double self;
    /* Skewness of the projections of block means on the sum of the others. */
    double skewness;
} cr_gradient;

/* The statistics above from a symmetric Gram matrix, row-major; blocks >= 4, else all NaN. */
void cr_gradient_estimate(const double *gram, size_t blocks, cr_gradient *estimate);

/* Interval of kappa from the Gram matrix of blocks >= 4 block means with `dimension` active
 * features. A known kurtosis E(u-c)^4/(E(u-c)^2)^2 of the weights tightens the upper end in high
 * dimension; INFINITY: not known. tail_lo, tail_hi: one-sided probabilities of a miss; 0: that
 * bound is not wanted (lo = 0, hi = infinity). Too few blocks give the trivial interval. */
void cr_gradient_interval(const double *gram, size_t blocks, double dimension, double kurtosis,
                          double tail_lo, double tail_hi, double *lo, double *hi);

#endif
