/* A one-sided problem at one mean: its least bound, and the multipliers that prove it. */
#ifndef CR_SOLVER_FIXED_MEAN_DUAL_H
#define CR_SOLVER_FIXED_MEAN_DUAL_H
#include "solver/dual_newton.h"
#include "solver/verified_value.h"
#include "solver/one_sided_problem.h"

typedef struct cr_fixed_mean_dual {
    cr_problem problem;
    double correlation_lo, correlation_hi;
    cr_multipliers multipliers;
    cr_clip_regions regions;
    double mean, value;  /* value: to draft accuracy */
    double mean_slope;   /* dV/dm, to draft accuracy */
    double radius_slope; /* dV/dr, to draft accuracy */
    int constant;        /* no function with these constraints varies: V = 0 */
    int converged;
    int tight;      /* value is near V */
    int infeasible; /* no function has this mean: value and mean_slope are a tangent below 0 */
} cr_fixed_mean_dual;

/* Returns the problem at this mean: `order` is k, `correlation` is E[y t] if k = 1. */
cr_problem cr_fixed_mean_problem(const cr_one_sided *rise, double mean, int order,
                                 double correlation);
/* Sets *out to the outcome of a descent, with a known correlation. */
void cr_fixed_mean_from_descent(const cr_problem *problem, const cr_newton_state *state,
                                cr_fixed_mean_dual *out);
/* Solves at this mean. `warm`: NULL, or a solution for similar data. `min_gain`: see dual_newton.h.
 * range_lo < mean < range_hi unless there is one mean only. */
void cr_fixed_mean_solve(const cr_one_sided *rise, double mean, const cr_fixed_mean_dual *warm,
                         double min_gain, cr_fixed_mean_dual *out);

#endif
