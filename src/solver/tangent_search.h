/* A one-sided problem over its whole interval of means: sup of V(m) + weight*m. V is concave in m,
 * and so is D at fixed multipliers, so every solution at one mean gives a tangent that bounds V at
 * all means. Two tangents of opposite slope enclose the supremum (theory 3.4). */
#ifndef CR_SOLVER_TANGENT_SEARCH_H
#define CR_SOLVER_TANGENT_SEARCH_H
#include "solver/fixed_mean_dual.h"

typedef struct cr_tangent_pair {
    cr_fixed_mean_dual solution[2]; /* the tangents, and the warm start of the next search */
    int count;                      /* 0: nothing solved yet, or nothing to solve */
    double value, radius_slope;     /* to draft accuracy: the supremum and its derivative in r */
    int tight;                      /* the tangents enclose the supremum closely */
} cr_tangent_pair;

#define CR_FINAL_GAIN \
    1e-12 /* a search ends if a Newton step would lower the value by less than this fraction */
#define CR_SEARCH_EVALUATIONS 500 /* at most, for a search */
#define CR_MEAN_EVALUATIONS 120   /* and for one mean of it */

/* Searches the supremum to draft accuracy. weight is 0 (the change of the mean) or 1 (the shifted
 * mean). *tangents comes with count 0, or from a search with similar data, to start from. */
void cr_tangent_search(const cr_one_sided *rise, double weight, double min_gain,
                       cr_tangent_pair *tangents);
/* Returns a proven bound from the solutions of a search, rounded up: the minimum of the tangents'
 * bound and the closed forms. If the two evaluations of a tangent disagree, only the closed forms
 * count. tangents->tight stays set if the proof loses nothing against the search. */
double cr_tangent_verify(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents);
/* Searches and proves. tangents->tight is set if the returned bound is near the supremum. */
double cr_tangent_bound(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents);

#endif
