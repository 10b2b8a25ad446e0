/* A one-sided problem over the whole box of means: sup of V(m) + weight*m. V is concave in m, and
 * so is D at fixed multipliers, so every solved point gives a tangent that bounds V on the whole
 * box; two tangents of opposite slope enclose the supremum (theory 3.4). */
#ifndef CR_SOLVER_BOX_H
#define CR_SOLVER_BOX_H
#include "solver/point.h"

typedef struct cr_box {
    cr_point point[2];    /* the tangents; also the warm start of the next search */
    int count;            /* 0: nothing solved yet, or nothing to solve */
    double value, growth; /* to draft accuracy: the supremum and its derivative in r */
    int tight;            /* the tangents enclose the supremum closely, as far as is known */
} cr_box;

#define CR_FINAL_GAIN 1e-12       /* share of the value that one more Newton step could gain */
#define CR_SEARCH_EVALUATIONS 500 /* at most, per search */
#define CR_POINT_EVALUATIONS 120  /* and per mean */

/* weight is 0 (the change of the mean) or 1 (the shifted mean). `box` comes with count 0 or from a
 * search with near-by data. */
void cr_box_search(const cr_rise *rise, double weight, double gain, cr_box *box);
/* The proven bound from the points of a search, rounded up: the lesser of the tangents' and what
 * needs no search. Where the two evaluations of a tangent disagree it is left out. box->tight stays
 * set if the proof takes nothing away from the search. */
double cr_box_prove(const cr_rise *rise, double weight, cr_box *box);
/* Both: sup over the box of V(m) + weight*m, proven and rounded up. box->tight: it is next to the
 * truth. */
double cr_box_bound(const cr_rise *rise, double weight, cr_box *box);

#endif
