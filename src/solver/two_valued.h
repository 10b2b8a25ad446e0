/* The branch lambda = 0 (theory 3.1): the variance does not bind, and the worst function takes
 * the two ends of the range only. */
#ifndef CR_SOLVER_TWO_VALUED_H
#define CR_SOLVER_TWO_VALUED_H
#include "solver/dual.h"

/* Greatest correlation with t of a function with these b and B (both finite): the half-space's. */
double cr_two_valued_correlation(double b, double B);
/* Multipliers of the worst function: a half-space for k = 0 (Neyman-Pearson), and for k = 1 the
 * outside of the interval that has the wanted correlation, which must be below
 * cr_two_valued_correlation. */
cr_multipliers cr_two_valued_solve(const cr_problem *problem);
/* The interval on which that function is lo; it is hi outside. For k = 0 it begins at -infinity.
 * Where the interval is short, the multipliers tell it to fewer digits. */
void cr_two_valued_edges(const cr_problem *problem, double *left, double *right);

#endif
