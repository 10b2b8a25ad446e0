/* The time of the closing computation, learned from earlier ones, so that sampling ends in time for
 * the next. */
#ifndef CR_ESTIMATOR_COST_H
#define CR_ESTIMATOR_COST_H
#include <stdint.h>

typedef struct cr_cost {
    uint64_t asked; /* a hash of the questions; 0: none yet */
    double fixed;   /* seconds that do not depend on the number of samples */
    double each;    /* seconds for each sample; 0: not known yet */
} cr_cost;

#define CR_COSTS_KEPT 4u /* sets of questions that take turns on one estimator */

static inline int cr_cost_known(const cr_cost *cost)
{
    return cost->each > 0;
}

/* Expected seconds for this number of samples, rather too long than too short. */
double cr_cost_expected(const cr_cost *, double samples);
/* A closing took these seconds, `fixed` of them independent of the number of samples. */
void cr_cost_learn(cr_cost *, double samples, double seconds, double fixed);
/* A closing was given up after these seconds: it would have taken longer. */
void cr_cost_learn_abandoned(cr_cost *, double samples, double seconds);

#endif
