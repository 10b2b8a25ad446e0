/* A one-sided problem, turned so that it asks for the rise (the drop of f is the rise of -f), and
 * what it says of the variance. */
#ifndef CR_SOLVER_RISE_H
#define CR_SOLVER_RISE_H
#include "solver/effort.h"

/* In a unit in which the deviation is about 1 (constraints.c). Infinite where nothing is known. r
 * is 0 or at least CR_LEAST_RADIUS. */
#define CR_LEAST_VARIANCE                                                  \
    1e-290 /* lesser ones are rounded up to it: below, squares lose digits \
            */

typedef struct cr_rise {
    double r;
    double mean_lo, mean_hi, range_lo, range_hi;
    double variance, gradient_lo, gradient_hi;
    double second;                 /* |E[u h_2]| along any direction is at most this */
    int low_reached, high_reached; /* this end of the means is the last that goes together with
                                      gradient_lo: no tangent to speak of */
    cr_effort *effort;
    double moment_center, moment; /* E (u - moment_center)^2 <= moment: at mean m the variance is at
                                     most moment - (m - center)^2 */
} cr_rise;

/* Greatest variance at this mean, rounded up: the lesser of two concave functions of the mean.
 * *slope belongs to the one that binds, hence is a supergradient: value + slope * (m' - mean)
 * bounds the variance at every m'. */
double cr_rise_moment_variance(const cr_rise *rise, double mean); /* as far as the moment limits it
                                                                   */
double cr_rise_variance(const cr_rise *rise, double mean, double *slope);
/* Greatest and least of it over the box of means. */
double cr_rise_greatest_variance(const cr_rise *rise);
double cr_rise_least_variance(const cr_rise *rise);

#endif
