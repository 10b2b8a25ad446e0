/* Bounds that need no search: without a range (theory 3.3), and by the ends of the range. */
#ifndef CR_SOLVER_CLOSED_H
#define CR_SOLVER_CLOSED_H
#include "solver/point.h"

/* sup over kappa in [gradient_lo, gradient_hi] of sqrt(C - kappa^2) T_1(r) + r kappa, rounded up; *growth: its derivative in r. */
double cr_closed_shift(const cr_side *side, double *growth);
/* No function of this side exceeds the upper end of its range: bound of V(m) + weight*m over the box of means. */
double cr_closed_cap(const cr_side *side, double weight);

#endif
