/* The largest radius at which one bound holds: sup over the box of V(m; r) + weight*m is at most
 * `limit`. */
#ifndef CR_BISECTION_SEARCH_H
#define CR_BISECTION_SEARCH_H
#include "solver/box.h"

/* In units of sigma: the largest cap, and the least relative accuracy of a radius. */
#define CR_LARGEST_RADIUS 10.0
#define CR_LEAST_ACCURACY 1e-9

typedef struct cr_goal {
    cr_rise rise; /* its r is set by the search */
    double weight, limit;
    int strict;      /* the bound has to stay below the limit, not only at it */
    double accuracy; /* relative */
    double cap;      /* the search goes no further */
} cr_goal;

/* The radius in units of sigma, proven, from *radius, which is proven already, to `most`, which is
 * at most the cap: within the accuracy of the largest one (about 1e-10 where that is the least),
 * unless the effort comes to its end. Returns whether it is next to the largest, as cr_ask does. */
int cr_search_radius(const cr_goal *goal, double most, double *radius);

#endif
