/* Bounds without normality, by betting (theory 6). */
#ifndef CR_BOUNDS_FINITE_H
#define CR_BOUNDS_FINITE_H
#include "conditions/conditions.h"

/* Bounds without normality of a score with a finite range: its second moment about a center from
 * the pilot, or its mean where the constraints lack the variance; of the output itself both.
 * expected: 0, or a number of main samples. Then no bound rests on it: it is what the pilot
 * expects. */
void cr_finite_find(cr_view *, const cr_conditions *, const cr_score *, uint32_t constraints,
                    double alpha, size_t expected, certreg_bounds *b);
/* The same by the law of the condition. Returns a lower bound of the mean of its H. */
double cr_finite_find_law(cr_view *, const cr_conditions *, const cr_condition *, double alpha,
                          certreg_bounds *b);

#endif
