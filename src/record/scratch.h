/* Memory for one answer, taken once, with the estimator. */
#ifndef CR_RECORD_SCRATCH_H
#define CR_RECORD_SCRATCH_H
#include "statistics/group.h"
#include "statistics/net.h"

typedef struct cr_scratch {
    double *center; /* outputs: the prediction of a vector */
    double *share;  /* outputs: of the tolerance, for each block of a vector */
    double *part;   /* CR_NET_PROJECTED * outputs: of that, for each direction of a projection */
    double *paths;  /* CR_GROUP_ROOM */
    cr_group_tests group[CR_GROUP_KEPT];
    size_t group_next; /* the one made longest ago */
} cr_scratch;

#endif
