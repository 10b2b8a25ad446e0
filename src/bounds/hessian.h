/* Upper bound of the second order of one score: a_2 = |M|, M = E[(u - c)(e e' - I)]/sqrt 2, from
 * replayed noise (theory 8).
 *
 * With A(e) = (e e' - I)/sqrt 2 and weights w = u - c, the product of two samples is
 *     w_i w_j <A_i, A_j> = w_i w_j [(e_i.e_j)^2 - |e_i|^2 - |e_j|^2 + d]/2.
 * The mean over pairs is unbiased for |M|^2 in the Frobenius norm, whatever the center; the closer
 * the center is to the mean, the less it scatters. */
#ifndef CR_BOUNDS_HESSIAN_H
#define CR_BOUNDS_HESSIAN_H
#include "record/replay.h"
#include "statistics/samples.h"

/* Ways of computation; 0: whichever is less work and has room. */
enum { CR_HESSIAN_PAIRS = 1, CR_HESSIAN_MATRIX = 2 };

/* In powers of `unit`, so that neither huge nor tiny scores leave the range of double. */
typedef struct cr_hessian {
    double unit;       /* a power of two at or above the greatest |w| */
    double square;     /* U: unbiased for |M|^2 (Frobenius), may be negative */
    double projection; /* zeta >= 0: variance of <w A, M>, which contributes 4 zeta/n to the
                          variance of U */
    double energy;     /* t2 >= 0: squared Frobenius norm of the covariance of w A */
    double degenerate; /* D2 = 2 t2/(n (n - 1)) */
    double self;       /* mean of w^2 |A|^2 */
    double skewness;   /* of the projections of samples on the sum of the others */
    double fourth;     /* mean of w^4 */
    double top; /* operator norm of the mean of w A; NaN by pairs, which never see that matrix */
    uint64_t count; /* n */
} cr_hessian;

/* From samples of the record; score and center are fixed without them. INVALID if plan.constraints
 * left the second order out; WRONG_STATE with fewer than 4 samples or, forced to CR_HESSIAN_MATRIX,
 * without room for the matrix. Scores that are not finite, or all equal to the center, say nothing:
 * everything is NaN. */
certreg_status cr_hessian_estimate(cr_replay *, const cr_samples *, int way, cr_hessian *);

/* Asymptotic upper bounds, each with the one-sided probability `tail` of a miss: of the Frobenius
 * norm; of the operator norm by the top eigenvalue (infinite by pairs). `dimension`: active
 * features. */
double cr_hessian_frobenius(const cr_hessian *, double dimension, double tail);
double cr_hessian_operator(const cr_hessian *, double dimension, double tail);
/* The operator norm by both: the less of the two, the first at 3/4 of `tail` and the second at the
 * rest, which hardly matters to it where the dimension is high. */
double cr_hessian_less(const cr_hessian *, double dimension, double tail);

/* The same from the record; infinite where nothing is known. */
certreg_status cr_hessian_upper(cr_replay *, const cr_samples *, double tail,
                                double *second_order_hi);

#endif
