/* The function that attains the dual at given multipliers (theory 3.6), and its own moments. */
#ifndef CR_SOLVER_EXTREMAL_FUNCTION_H
#define CR_SOLVER_EXTREMAL_FUNCTION_H
#include "certreg/worst_function.h"
#include "solver/fixed_mean_dual.h"

/* Makes the worst function of a solution: of mean 0, in the problem's unit, and for a rise. */
void cr_extremal_function_make(const cr_fixed_mean_dual *solution, certreg_worst_function *out);
/* Sets its mean, variance, gradient, and its change at r units of sigma. */
void cr_extremal_function_measure(certreg_worst_function *, double r, cr_evaluation_budget *budget);
/* Converts it from units of 2^unit for the caller: adds the mean, and turns u into -u for LOWER. */
void cr_extremal_function_to_caller(certreg_worst_function *, const cr_one_sided *rise, double mean,
                                    int unit, int32_t side);

#endif
