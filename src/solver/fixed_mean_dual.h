/* A one-sided problem at one mean: its least bound, and the multipliers that prove it. */
#ifndef CR_SOLVER_FIXED_MEAN_DUAL_H
#define CR_SOLVER_FIXED_MEAN_DUAL_H
#include "solver/dual_newton.h"
#include "solver/verified_value.h"
#include "solver/one_sided_problem.h"

typedef struct cr_fixed_mean_dual {
    cr_problem problem;
    double coefficient_lo, coefficient_hi;
    cr_multipliers at;
    cr_clip_regions regions;
    double mean, value; /* value: to draft accuracy */
    double slope;       /* dV/dm, to draft accuracy */
    double growth;      /* dV/dr, to draft accuracy */
    int constant;       /* no function with these constraints varies: V = 0 */
    int converged;
    int tight;      /* value is near V */
    int impossible; /* no function has this mean: value and slope are a tangent below 0 */
} cr_fixed_mean_dual;

/* Returns the problem at this mean: `order` is k, `coefficient` is E[y t] if k = 1. */
cr_problem cr_point_describe(const cr_one_sided *rise, double mean, int order, double coefficient);
/* Sets *out to the outcome of a descent, with a known coefficient. */
void cr_point_take(const cr_problem *problem, const cr_newton_state *descent,
                   cr_fixed_mean_dual *out);
/* Solves at this mean. `warm`: NULL, or a point solved for similar data. `gain`: see dual_newton.h.
 * range_lo < mean < range_hi unless the box is a point. */
void cr_point_solve(const cr_one_sided *rise, double mean, const cr_fixed_mean_dual *warm,
                    double gain, cr_fixed_mean_dual *out);

#endif
