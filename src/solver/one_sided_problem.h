/* A one-sided problem, the largest rise of the mean, and the variance that its constraints allow.
 * The drop of f is the rise of -f. */
#ifndef CR_SOLVER_ONE_SIDED_PROBLEM_H
#define CR_SOLVER_ONE_SIDED_PROBLEM_H
#include "solver/evaluation_budget.h"

/* Smaller variances are rounded up to this one: below, squares lose digits. */
#define CR_MIN_VARIANCE 1e-290

/* In a unit in which the deviation is about 1 (problem_setup.c). Unknown bounds are infinite. r is
 * 0 or at least CR_MIN_RADIUS. */
typedef struct cr_one_sided {
    double r;
    double mean_lo, mean_hi, range_lo, range_hi;
    double variance, gradient_lo, gradient_hi;
    /* 1: this end is the last mean that allows gradient_lo, and has no useful tangent. */
    int low_end_is_feasible_limit, high_end_is_feasible_limit;
    cr_evaluation_budget *budget;
    /* E (u - moment_center)^2 <= moment: the variance is at most moment - (m - moment_center)^2. */
    double moment_center, moment;
    double early_exit_value; /* a search at one mean ends below it; 0: only at the least bound */
} cr_one_sided;

/* Returns the greatest variance that the moment allows at this mean, rounded up. */
double cr_one_sided_moment_variance(const cr_one_sided *rise, double mean);
/* Returns the greatest variance at this mean, rounded up: the lesser of two concave functions of
 * the mean. *slope belongs to the one that binds, hence is a supergradient: value + slope * (m' -
 * mean) bounds the variance at every m'. */
double cr_one_sided_variance(const cr_one_sided *rise, double mean, double *slope);
/* Return the maximum and the minimum of these variances over the interval of means. */
double cr_one_sided_max_variance(const cr_one_sided *rise);
double cr_one_sided_min_variance(const cr_one_sided *rise);

#endif
