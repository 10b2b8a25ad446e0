/* The function that attains the dual at given multipliers (theory 3.6), and what it really does:
 * its moments, by quadrature of the function itself. */
#ifndef CR_SOLVER_FUNCTION_H
#define CR_SOLVER_FUNCTION_H
#include "certreg/worst_function.h"
#include "solver/point.h"

/* The worst function of a point less the point's mean, in the problem's unit, as if it rose. */
void cr_function_make(const cr_point *point, certreg_worst_function *out);
/* Its mean, variance, gradient, and its change at r units of sigma. */
void cr_function_measure(certreg_worst_function *, double r, cr_effort *effort);
/* To the caller of a problem in units of 2^unit: about this mean, and -u for u if the side is
 * LOWER. */
void cr_function_give(certreg_worst_function *, const cr_rise *rise, double mean, int unit,
                      int32_t side);

#endif
