/* Proof that a weighted sum of tails lies above another tail on all of the line, not only on a grid
 * (theory 12.3). */
#ifndef CR_CONFORMAL_TAIL_MAJORANT_H
#define CR_CONFORMAL_TAIL_MAJORANT_H
#include "conformal/binomial_tail.h"

enum { CR_MAJORANT_TAILS = 25, CR_MAJORANT_MAX_VIOLATIONS = 64 };

typedef struct cr_tail_majorant { /* floor + the sum of step*b, which has to be at least a */
    double floor, step[CR_MAJORANT_TAILS];
    cr_binomial_tail b[CR_MAJORANT_TAILS], a;
    int count;
} cr_tail_majorant;

typedef struct cr_violations { /* points at which it is smaller: the worst of each stretch */
    double t[CR_MAJORANT_MAX_VIOLATIONS];
    int count;
} cr_violations;

/* Returns a factor for floor and steps that makes the sum large enough, proved in spite of
 * rounding; infinite if there is none. Sets the points that need more than 1.0005. */
double cr_majorant_scale(const cr_tail_majorant *, cr_violations *);

#endif
