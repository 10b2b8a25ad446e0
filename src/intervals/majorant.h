/* Whether weighted tails lie above another tail: on all of the line, not on a grid (theory 12.3).
 */
#ifndef CR_INTERVALS_MAJORANT_H
#define CR_INTERVALS_MAJORANT_H
#include "intervals/tail.h"

enum { CR_MAJORANT_TAILS = 25, CR_MAJORANT_LACKS = 64 };

typedef struct cr_majorant { /* floor + the sum of step*b, which is to be at least a */
    double floor, step[CR_MAJORANT_TAILS];
    cr_tail b[CR_MAJORANT_TAILS], a;
    int count;
} cr_majorant;

typedef struct cr_lacks { /* where it is smaller than a: the worst point of each stretch */
    double t[CR_MAJORANT_LACKS];
    int count;
} cr_lacks;

/* A factor by which floor and steps together are large enough; infinite: there is none. */
double cr_majorant_scale(const cr_majorant *, cr_lacks *);

#endif
