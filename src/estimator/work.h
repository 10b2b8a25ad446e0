/* What the rooms that answer questions have of an estimator: its parts, and the calls below. */
#ifndef CR_ESTIMATOR_WORK_H
#define CR_ESTIMATOR_WORK_H
#include "record/asked.h"
#include "record/record.h"
#include "record/replay.h"
#include "record/scratch.h"
#include <stdint.h>

/* ---- cost.c: the time of the closing computation, learned from earlier ones, so that sampling
 * ends in time for the next */
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

/* The computation behind the last batch, for the questions asked last. */
typedef struct cr_closing {
    cr_cost *cost;   /* NULL: none were asked */
    double times;    /* how often they will be answered after a batch */
    size_t from;     /* with fewer samples none of them has an answer */
    double supposed; /* seconds, as long as nothing is known of the cost */
} cr_closing;

typedef struct cr_clock { /* what takes how long, and by when it has to be done */
    double deadline;      /* of record.watch; 0: none */
    double slowest_batch; /* of this input */
    double fastest_batch; /* of all; 0: none yet */
    cr_cost costs[CR_COSTS_KEPT];
    size_t cost_next;   /* the one to be replaced */
    cr_closing closing; /* what has to fit behind the last batch */
    double model_seconds, library_seconds;
} cr_clock;

typedef struct cr_work {
    certreg_estimator *estimator; /* for the calls below */
    cr_record *record;
    cr_replay *replay;
    cr_scratch *scratch;
    cr_clock *clock;
    certreg_error *why; /* where failures are told */
} cr_work;

/* ---- create.c: certreg_estimator_create and both sizes (host, device), for plans with any number
 * of blocks. Block sums alone need many; replays as such need one. */
certreg_status cr_estimator_create(certreg_backend *, const certreg_model *, const certreg_plan *,
                                   size_t least_blocks, certreg_error *why,
                                   certreg_estimator **out);
certreg_status cr_estimator_count(certreg_backend *, const certreg_model *, const certreg_plan *,
                                  size_t least_blocks, size_t bytes[2], certreg_error *why);

/* ---- call.c */
/* Every public call on an estimator begins and ends with these; after a failure of enter there is
 * nothing to leave. INVALID for NULL, BUSY, WRONG_STATE in a forked child. *work (may be NULL) is
 * for the length of the call. */
certreg_status cr_estimator_enter(certreg_estimator *, cr_work *work);
certreg_status cr_estimator_leave(certreg_estimator *, certreg_status);
/* The same for calls that need no backend. */
certreg_status cr_estimator_hold(certreg_estimator *);
certreg_status cr_estimator_let_go(certreg_estimator *, certreg_status);
cr_work cr_estimator_work(certreg_estimator *);
/* Whether a cancel was requested; it is reported by now. */
int cr_estimator_cancelled(certreg_estimator *);

/* ---- begin.c */
/* Whether begin accepts them. */
certreg_status cr_estimator_check_input(certreg_estimator *, const float *z, double sigma);
/* certreg_estimator_begin_level within a call. */
certreg_status cr_estimator_begin(certreg_estimator *, const float *z, double sigma,
                                  uint64_t noise_id, uint64_t level);
/* An empty record of the same input, whose noise has the opposite sign from now on. */
certreg_status cr_estimator_mirror(certreg_estimator *);

/* ---- sample.c */
/* certreg_estimator_sample within a call, which will be evaluated at `requested` samples (0: not
 * known yet) and came with these looks: both count as fixed beforehand if the outputs end the
 * sampling. */
certreg_status cr_estimator_sample(certreg_estimator *, uint64_t first, size_t count,
                                   uint64_t requested, uint64_t looks);

#endif
