/* Bounds without normality, by betting (theory 6). */
#ifndef CR_BOUNDS_FINITE_H
#define CR_BOUNDS_FINITE_H
#include "question/conditions.h"

typedef struct cr_sampled { /* a number of each sample, by its place in the record */
    double (*value)(const void *of, size_t sample);
    const void *of;
} cr_sampled;

/* Bound of the mean of numbers in [lo, hi] by betting, for a fixed count or any time as the
 * question says. The pilot only teaches how to bet; bet upon are the samples from `first` on. */
double cr_finite_bound(const certreg_estimator *, const cr_conditions *, const cr_sampled *,
                       size_t first, double lo, double hi, double alpha, int upper);
/* Bounds without normality of a score with a finite range: its second moment about a center from
 * the pilot, or its mean where the constraints lack the variance; of the output itself both. */
void cr_finite_find(const certreg_estimator *, const cr_conditions *, const cr_score *,
                    uint32_t constraints, double alpha, certreg_bounds *out);

#endif
