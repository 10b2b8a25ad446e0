/* The largest radius at which sup over the means of V(m; r) + weight*m is at most `limit`. */
#ifndef CR_BISECTION_SEARCH_H
#define CR_BISECTION_SEARCH_H
#include "solver/tangent_search.h"

/* In units of sigma: the largest cap, and the smallest relative accuracy of a radius. */
#define CR_MAX_RADIUS 10.0
#define CR_MIN_ACCURACY 1e-9

typedef struct cr_radius_goal {
    cr_one_sided rise; /* its r is set by the search */
    double weight, limit;
    int strict;      /* the bound has to stay below the limit, not only at it */
    double accuracy; /* relative */
    double cap;      /* the search goes no further */
} cr_radius_goal;

/* Raises *radius, in units of sigma and proven, to the largest radius of at most max_radius (itself
 * at most the cap), within the accuracy (1e-10 at best) unless the budget is exhausted. Returns
 * whether it is tight, as cr_subset_solver does. */
int cr_search_radius(const cr_radius_goal *goal, double max_radius, double *radius);

#endif
