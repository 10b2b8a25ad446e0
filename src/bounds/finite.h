/* Bounds without normality, by betting (theory 6). */
#ifndef CR_BOUNDS_FINITE_H
#define CR_BOUNDS_FINITE_H
#include "question/conditions.h"

typedef struct cr_finite_job { /* one score of the conditions, at probability alpha of a miss */
    cr_view *view;
    const cr_conditions *conditions;
    const cr_score *score;
    double alpha;
    size_t expected; /* 0, or a number of main samples: then no bound rests on it, it is what the
                        pilot expects */
} cr_finite_job;

/* Bounds without normality of a score with a finite range: its second moment about a center from
 * the pilot, or its mean where the constraints lack the variance; of the output itself both. */
void cr_finite_find(const cr_finite_job *, uint32_t constraints, certreg_bounds *);
/* The same by the condition's law, whose mean it bounds. */
void cr_finite_find_law(cr_view *, const cr_conditions *, const cr_condition *, double alpha,
                        certreg_bounds *b);

#endif
