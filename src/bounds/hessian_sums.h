/* Sums over pairs of samples, on the way to the statistics of the second order. */
#ifndef CR_BOUNDS_HESSIAN_SUMS_H
#define CR_BOUNDS_HESSIAN_SUMS_H
#include "bounds/hessian.h"

typedef struct cr_hessian_sums { /* in powers of the unit */
    cr_replay *replay;
    const cr_samples *samples;
    double weights;        /* sum of w, which host.pair_weights has */
    double self, fourth;   /* sums of w^2 |A|^2, w^4 */
    double squares, pairs; /* of products of two different samples, and how many */
} cr_hessian_sums;

/* To self, squares and pairs; to host.pair_sums sums of the products of a sample with all others;
 * where `way` is CR_HESSIAN_MATRIX, to host.matrix the weighted sum of e e' - I: its upper half by
 * rows at least. DEADLINE, or the failure of an op, without a text. */
certreg_status cr_hessian_sums_add(cr_hessian_sums *, int way);
/* Operator norm of the mean of w A from host.matrix, which is used up. */
double cr_hessian_sums_top(const cr_hessian_sums *);

#endif
