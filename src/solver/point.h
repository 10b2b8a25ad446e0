/* A one-sided problem at one mean: the least bound that its constraints give, with the multipliers
 * that prove it. */
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
    double slope;       /* dV/dm, likewise */
    double growth;      /* dV/dr, likewise */
    int constant;       /* no function with these constraints varies: V = 0 */
    int converged;
    int tight;      /* value is next to V, as far as can be told */
    int impossible; /* no function with these constraints has this mean: value and slope are a
                       tangent below 0 */
} cr_point;

cr_problem cr_point_describe(const cr_rise *rise, double mean, int order, double coefficient);
/* The outcome of a descent; the coefficient is taken to be known. */
void cr_point_take(const cr_problem *problem, const cr_descent *descent, cr_point *out);
/* `warm` may be NULL, or a point solved for near-by data. `gain`: see
 * newton.h. range_lo < mean < range_hi unless the box is a point. */
void cr_point_solve(const cr_rise *rise, double mean, const cr_point *warm, double gain,
                    cr_point *out);

#endif
