/* What answering takes: learned from the closings there were, so that sampling ends in time for
 * the next one. */
#ifndef CR_ESTIMATOR_COST_H
#define CR_ESTIMATOR_COST_H
#include <stdint.h>

typedef struct cr_cost {
    uint64_t asked; /* a hash of what was asked; 0: nothing yet */
    double fixed;   /* seconds whatever the number of samples */
    double each;    /* and for each of them; 0: not known yet */
} cr_cost;

#define CR_COSTS_KEPT 4u /* sets of questions that take turns on one estimator */

static inline int cr_cost_known(const cr_cost *cost)
{
    return cost->each > 0;
}

/* Expected seconds for this number of samples, a little on the long side. */
double cr_cost_expected(const cr_cost *, double samples);
/* A closing took so long, `fixed` of it for what does not grow with the number of samples. */
void cr_cost_learn(cr_cost *, double samples, double seconds, double fixed);
/* One was given up after so long: it would have taken longer. */
void cr_cost_learn_abandoned(cr_cost *, double samples, double seconds);

#endif
