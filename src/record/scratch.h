/* Memory for one answer, allocated once, with the estimator. */
#ifndef CR_RECORD_SCRATCH_H
#define CR_RECORD_SCRATCH_H
#include "statistics/group.h"
#include "statistics/law.h"
#include "statistics/net.h"
#include "statistics/pairs.h"

#define CR_LAWS 4 /* sides and near conditions */
#define CR_SHARES_KEPT 16u
typedef struct cr_kept_share { /* a result of cr_pairs_share, which is 0 if there is none */
    cr_pairs pairs;
    double shift, share;
} cr_kept_share;

typedef struct cr_scratch {
    double *center; /* outputs: the prediction of a vector */
    double *share;  /* outputs: the part of the tolerance for each block of a vector */
    double *part;   /* CR_NET_PROJECTED * outputs: parts of it for each direction of a projection */
    double *paths;  /* CR_GROUP_ROOM */
    cr_law laws[CR_LAWS];
    cr_group_tests group[CR_GROUP_KEPT];
    size_t group_next; /* the oldest one */
    cr_kept_share shares[CR_SHARES_KEPT];
    size_t shares_next;
} cr_scratch;

#endif
