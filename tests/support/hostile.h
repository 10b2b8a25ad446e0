/* Constraints that are hard on a solver, from functions that have them: steps at places where
 * hardly any mass is, ends of the range equal or next to the mean, boxes from a point to wide,
 * variances next to what the range allows. What the function does is known to long double. */
#ifndef CR_TESTS_HOSTILE_H
#define CR_TESTS_HOSTILE_H
#include "support/random_problems.h"
#include <certreg/solver.h>

typedef struct hostile {
    certreg_bounds bounds; /* of every kind; a mask of constraints chooses among them. sigma is 1 */
    double r;              /* in [1e-6, 20] */
    double tolerance;      /* of the order of the shift */
    /* E f(t + r) - E f(t): what the bound has to cover; the drop has to cover its opposite */
    long double rise;
    long double mean; /* E f(t) */
} hostile;

/* A function of one normal variable that takes a few values, its constraints rounded outward, its
 * boxes widened at random. */
hostile random_hostile(dice *);
/* Constraints as they occur, of no function in particular: its rise and its mean are 0. */
hostile ordinary_hostile(dice *);

#endif
