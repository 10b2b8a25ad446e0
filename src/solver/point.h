/* A one-sided problem at one mean: its least bound, and the multipliers that prove it. */
#ifndef CR_SOLVER_POINT_H
#define CR_SOLVER_POINT_H
#include "solver/newton.h"
#include "solver/proof.h"
#include "solver/rise.h"

typedef struct cr_point {
    cr_problem problem;
    double coefficient_lo, coefficient_hi;
    cr_multipliers at;
    cr_regions regions;
    double mean, value; /* value: to draft accuracy */
    double slope;       /* dV/dm, to draft accuracy */
    double growth;      /* dV/dr, to draft accuracy */
    int constant;       /* no function with these constraints varies: V = 0 */
    int converged;
    int tight;      /* value is near V */
    int impossible; /* no function has this mean: value and slope are a tangent below 0 */
} cr_point;

/* Returns the problem at this mean: `order` is k, `coefficient` is E[y t] if k = 1. */
cr_problem cr_point_describe(const cr_rise *rise, double mean, int order, double coefficient);
/* Sets *out to the outcome of a descent, with a known coefficient. */
void cr_point_take(const cr_problem *problem, const cr_descent *descent, cr_point *out);
/* Solves at this mean. `warm`: NULL, or a point solved for similar data. `gain`: see newton.h.
 * range_lo < mean < range_hi unless the box is a point. */
void cr_point_solve(const cr_rise *rise, double mean, const cr_point *warm, double gain,
                    cr_point *out);

#endif
