/* Sums over pairs of samples on the way to the statistics of the second order: what the CPU's way
 * and a device's share. */
#ifndef CR_BOUNDS_HESSIAN_SUMS_H
#define CR_BOUNDS_HESSIAN_SUMS_H
#include "bounds/hessian.h"

typedef struct cr_hessian_sums { /* in powers of the unit */
    certreg_estimator *e;
    const cr_hessian_job *job;
    cr_hessian_room *room; /* weights there; sums of the products of a sample with all others to
                              come */
    size_t d;
    double weights;        /* sum of w */
    double self, fourth;   /* sums of w^2 |A|^2, w^4 */
    double squares, pairs; /* of products of two different samples, and how many */
} cr_hessian_sums;

/* w^2 |A|^2 of sample `at` of the job, by |e|^2. */
static inline double cr_hessian_self(const cr_hessian_sums *s, size_t at, double norm)
{
    const double w = (double)s->room->weights[at];
    return w * w * (norm * norm - 2 * norm + (double)s->d) / 2;
}

/* Fill room->sums, self, squares and pairs; room->matrix with the weighted sum of e e' - I, where
 * `way` is CR_HESSIAN_MATRIX: its upper half by rows at least. */
certreg_status cr_hessian_by_blas(cr_hessian_sums *, int way);
certreg_status cr_hessian_on_device(cr_hessian_sums *, int way);
/* Operator norm of the mean of w A from room->matrix, which is used up. */
double cr_hessian_top(cr_hessian_sums *);

#endif
