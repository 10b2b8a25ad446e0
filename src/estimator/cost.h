/* The time of the closing computation, learned from earlier ones, so that sampling ends in time for
 * the next. */
#ifndef CR_ESTIMATOR_COST_H
#define CR_ESTIMATOR_COST_H
#include <stdint.h>

typedef struct cr_cost {
    uint64_t asked;   /* a hash of the questions; 0: none yet */
    double fixed;     /* seconds that do not depend on the number of samples */
    double each;      /* the others for each sample; 0: not known yet */
    double each_main; /* or for each behind the pilot */
} cr_cost;

typedef struct cr_counted {
    double all, pilot; /* samples, and how many of them the pilot has */
} cr_counted;

#define CR_COSTS_KEPT 4u /* sets of questions that take turns on one estimator */

static inline int cr_cost_known(const cr_cost *cost)
{
    return cost->each > 0;
}

/* Expected seconds for so many samples, rather too long than too short. Some steps pass over all of
 * them, others over those behind the pilot, and what share of the time is whose is not known: so
 * the longer of the two proportions counts. */
double cr_cost_expected(const cr_cost *, cr_counted);
/* A closing took these seconds, `fixed` of them independent of the number of samples. */
void cr_cost_learn(cr_cost *, cr_counted, double seconds, double fixed);
/* A closing was given up after these seconds: it would have taken longer. */
void cr_cost_learn_abandoned(cr_cost *, cr_counted, double seconds);

#endif
