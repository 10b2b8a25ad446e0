/* The multipliers from which Newton's method begins: formulas for the shapes of worst functions. */
#ifndef CR_SOLVER_INITIAL_MULTIPLIERS_H
#define CR_SOLVER_INITIAL_MULTIPLIERS_H
#include "solver/dual.h"

/* Returns a guess with lambda > 0. A poor one costs steps, or leaves the bound loose. */
cr_multipliers cr_initial_guess(const cr_problem *problem);

#endif
