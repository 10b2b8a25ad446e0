/* Bounds by betting, without normality (theory 6.4, 6.5, 6.9). The exact bound of the median is in
 * bounds/mean_bounds.h. */
#ifndef CR_BOUNDS_FINITE_SAMPLE_H
#define CR_BOUNDS_FINITE_SAMPLE_H
#include "conditions/conditions.h"

typedef struct cr_finite_sample_problem { /* a bound of one score of the conditions */
    cr_view *view;
    const cr_conditions *conditions;
    const cr_score *score;
    double alpha;            /* probability that the bounds of this score miss, in (0, 1) */
    size_t forecast_samples; /* 0; or the main samples of a forecast from the pilot alone, on which
                        no bound rests */
} cr_finite_sample_problem;

/* Sets bounds of a score, in its unit (theory 6.4): of its second moment about a center from the
 * pilot, or of its mean if the constraints lack the variance; of both for the output itself. The
 * bound is an end of the range, which may be infinite, if nothing better is proved. */
void cr_finite_sample_bounds(const cr_finite_sample_problem *, uint32_t constraints,
                             certreg_bounds *);
/* Returns a lower bound at level alpha of the mean of the condition's H, and sets the bounds of the
 * score that follow from it (theory 6.9). */
double cr_finite_sample_distribution_bound(cr_view *, const cr_conditions *, const cr_condition *,
                                           double alpha, certreg_bounds *b);

#endif
