/* The means at which the lower bound of the gradient is possible. */
#ifndef CR_SOLVER_FEASIBLE_MEANS_H
#define CR_SOLVER_FEASIBLE_MEANS_H
#include "solver/fixed_mean_dual.h"

/* Narrows the interval of means to those at which variance and range allow a correlation of
 * gradient_lo. In doubt a mean is kept. Returns 0 if there is none. */
int cr_feasible_means(cr_one_sided *rise);

#endif
