/* Memory for one answer, allocated once, with the estimator. */
#ifndef CR_RECORD_WORKSPACE_H
#define CR_RECORD_WORKSPACE_H
#include "statistics/group_sequential.h"
#include "statistics/distribution_bound.h"
#include "statistics/direction_net.h"
#include "statistics/antithetic.h"

#define CR_MAX_DISTRIBUTION_BOUNDS 4 /* of the conditions of a question */
#define CR_ANTITHETIC_CACHE_SIZE 16u

typedef struct cr_antithetic_cache {
    cr_antithetic pairs;
    double shift;           /* with the pairs, the key */
    double max_probability; /* for this key; 0: no probability qualifies */
} cr_antithetic_cache;

typedef struct cr_workspace {
    double *vector_prediction; /* outputs: the prediction of a vector */
    double *block_fractions; /* outputs: the fraction of the tolerance for each block of a vector */
    double *direction_fractions; /* CR_NET_MAX_PROJECTIONS * outputs: fractions of it for each
                                    direction of a projection */
    double *group_paths;         /* CR_GROUP_WORK_DOUBLES */
    cr_distribution_bound distribution_bounds[CR_MAX_DISTRIBUTION_BOUNDS];
    cr_group_tests group_tests[CR_GROUP_CACHE_SIZE];
    size_t next_group_slot; /* the oldest one */
    cr_antithetic_cache antithetic_cache[CR_ANTITHETIC_CACHE_SIZE];
    size_t next_antithetic_slot;
} cr_workspace;

#endif
