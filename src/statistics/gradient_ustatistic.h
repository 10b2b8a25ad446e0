/* Interval of the scaled gradient norm kappa from block means of (u - c) e, by a U-statistic
 * (theory 5.1, asymptotic). */
#ifndef CR_STATISTICS_GRADIENT_USTATISTIC_H
#define CR_STATISTICS_GRADIENT_USTATISTIC_H
#include <stddef.h>

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

#endif
