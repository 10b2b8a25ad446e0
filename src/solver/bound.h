/* The bound with all facts of a side, with and without the second order. */
#ifndef CR_SOLVER_BOUND_H
#define CR_SOLVER_BOUND_H
#include "solver/box.h"

#define CR_FINAL_GAIN 1e-12 /* share of the value that one more Newton step could gain */

enum { CR_TIGHT_FIRST = 1, CR_TIGHT_SECOND = 2, CR_TIGHT = 3 }; /* next to the truth without the second order; with it */

/* sup over the box of V(m) + weight*m, proven and rounded up. `box` starts the search without the second order, as in box.h. *tight loses
 * what does not hold. */
double cr_bound_find(const cr_side *side, double weight, cr_box *box, int *tight);

#endif
