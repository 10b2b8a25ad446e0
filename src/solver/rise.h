/* A one-sided problem, which asks for the largest rise of the mean, and what its constraints say of
 * the variance. The drop of f is the rise of -f. */
#ifndef CR_SOLVER_RISE_H
#define CR_SOLVER_RISE_H
#include "solver/effort.h"

/* Smaller variances are rounded up to it: below, squares lose digits. */
#define CR_LEAST_VARIANCE 1e-290

/* In a unit in which the deviation is about 1 (constraints.c). What is not known is infinite. r is
 * 0 or at least CR_LEAST_RADIUS. */
typedef struct cr_rise {
    double r;
    double mean_lo, mean_hi, range_lo, range_hi;
    double variance, gradient_lo, gradient_hi;
    /* Whether this end of the means is the last that goes together with gradient_lo. The objective
     * has no tangent of use there. */
    int low_reached, high_reached;
    cr_effort *effort;
    /* E (u - moment_center)^2 is at most the moment: at mean m the variance is at most moment - (m
     * - moment_center)^2. */
    double moment_center, moment;
    double enough; /* a search at one mean ends below it; 0: it looks for the least bound */
} cr_rise;

/* The greatest variance at this mean as far as the moment limits it, rounded up. */
double cr_rise_moment_variance(const cr_rise *rise, double mean);
/* The greatest variance at this mean, rounded up: the lesser of two concave functions of the mean.
 * *slope belongs to the one that binds, hence is a supergradient: value + slope * (m' - mean)
 * bounds the variance at every m'. */
double cr_rise_variance(const cr_rise *rise, double mean, double *slope);
/* The greatest and the least of it over the box of means. */
double cr_rise_greatest_variance(const cr_rise *rise);
double cr_rise_least_variance(const cr_rise *rise);

#endif
