/* Largest radius at which one bound holds: sup over the box of V(m; r) + weight*m at most `limit`. */
#ifndef CR_BISECTION_SEARCH_H
#define CR_BISECTION_SEARCH_H
#include "solver/box.h"

#define CR_LARGEST_RADIUS 10.0 /* in units of sigma; beyond it a radius is reported as capped */

typedef struct cr_goal {
    cr_side side; /* its r is set by the search */
    double weight, limit;
    int strict;   /* the bound has to stay below the limit, not only at it */
} cr_goal;

enum { CR_SEARCH_PROVEN = 0, CR_SEARCH_DOUBT = 1 };

/* The radius in units of sigma, proven, within about 1e-10 of the largest one, never above `most`; 0 if nothing is proven.
 * CR_SEARCH_DOUBT: no radius could be proven because evaluations disagreed. */
int cr_search_radius(const cr_goal *goal, double most, double *radius);

#endif
