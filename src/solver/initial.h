/* Where Newton begins: formulas for the shapes that the worst function takes. */
#ifndef CR_SOLVER_INITIAL_H
#define CR_SOLVER_INITIAL_H
#include "solver/dual.h"

cr_multipliers cr_initial_guess(const cr_problem *problem);

#endif
