/* Which means of a box go together with the least gradient. */
#ifndef CR_SOLVER_FEASIBLE_H
#define CR_SOLVER_FEASIBLE_H
#include "solver/point.h"

/* Draws the ends of the box of means in to where mean, variance and range allow a correlation of
 * gradient_lo, never past such a mean; 0 if there is none. Doubt counts as allowed. */
int cr_feasible_means(cr_rise *rise);

#endif
