/* The branch lambda = 0 (theory 3.1): the variance does not bind, and the worst function takes
 * the two ends of the range only. */
#ifndef CR_SOLVER_TWO_POINT_SOLUTION_H
#define CR_SOLVER_TWO_POINT_SOLUTION_H
#include "solver/dual.h"

/* Returns the greatest correlation with t for these b and B (both finite), a half-space's. */
double cr_two_valued_correlation(double b, double B);
/* Returns the multipliers of the worst function: a half-space for k = 0 (Neyman-Pearson), and for k
 * = 1 the outside of the interval that has the correlation problem->coefficient, which must be
 * below cr_two_valued_correlation. */
cr_multipliers cr_two_valued_solve(const cr_problem *problem);
/* Finds the interval on which that function is lo; it is hi outside. For k = 0 it begins at
 * -infinity. If it is short, it has more digits than the multipliers keep. */
void cr_two_valued_edges(const cr_problem *problem, double *left_edge, double *right_edge);

#endif
