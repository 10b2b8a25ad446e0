/* Bounds without normality, by betting (theory 6). */
#ifndef CR_BOUNDS_FINITE_H
#define CR_BOUNDS_FINITE_H
#include "question/conditions.h"

/* Bounds without normality of a score with a finite range: its second moment about a center from
 * the pilot, or its mean where the constraints lack the variance; of the output itself both. */
void cr_finite_find(cr_view *, const cr_conditions *, const cr_score *, uint32_t constraints,
                    double alpha, certreg_bounds *b);
/* The same by the condition's law, whose mean it bounds. */
void cr_finite_find_law(cr_view *, const cr_conditions *, const cr_condition *, double alpha,
                        certreg_bounds *b);

/* What the pilot expects of the former with so many main samples; no bound rests on it. */
void cr_finite_expect(cr_view *, const cr_conditions *, const cr_score *, size_t samples,
                      certreg_bounds *b);

#endif
