/* Memory for one answer, allocated once, with the estimator. */
#ifndef CR_RECORD_WORKSPACE_H
#define CR_RECORD_WORKSPACE_H
#include "statistics/group_sequential.h"
#include "statistics/distribution_bound.h"
#include "statistics/direction_net.h"
#include "statistics/antithetic.h"

#define CR_LAWS 4 /* sides and near conditions */
#define CR_ANTITHETIC_CACHE_SIZE 16u
typedef struct cr_antithetic_cache { /* a result of cr_antithetic_max_probability, which is 0 if
                                      * there is none
                                      */
    cr_antithetic pairs;
    double shift, share;
} cr_antithetic_cache;

typedef struct cr_workspace {
    double *center; /* outputs: the prediction of a vector */
    double *share;  /* outputs: the part of the tolerance for each block of a vector */
    double *part;   /* CR_NET_MAX_PROJECTIONS * outputs: parts of it for each direction of a
                       projection */
    double *paths;  /* CR_GROUP_WORK_DOUBLES */
    cr_distribution_bound laws[CR_LAWS];
    cr_group_tests group[CR_GROUP_CACHE_SIZE];
    size_t group_next; /* the oldest one */
    cr_antithetic_cache shares[CR_ANTITHETIC_CACHE_SIZE];
    size_t shares_next;
} cr_workspace;

#endif
