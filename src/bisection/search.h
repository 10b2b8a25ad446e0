/* Largest radius at which one bound holds: sup over the box of V(m; r) + weight*m at most `limit`.
 */
#ifndef CR_BISECTION_SEARCH_H
#define CR_BISECTION_SEARCH_H
#include "solver/bound.h"

#define CR_LARGEST_RADIUS 10.0 /* in units of sigma; beyond it a radius is reported as capped */

typedef struct cr_goal {
    cr_rise side; /* its r is set by the search */
    double weight, limit;
    int strict; /* the bound has to stay below the limit, not only at it */
} cr_goal;

/* The radius in units of sigma, proven, from *radius, which is proven already, to `most`: within
 * about 1e-10 of the largest one, unless the effort comes to its end. `wanted` and what is returned
 * as for cr_ask. */
int cr_search_radius(const cr_goal *goal, int wanted, double most, double *radius);

#endif
