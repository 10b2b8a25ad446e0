/* The noise of the record once more: weighted sums of it, and its projections on a direction.
 * CERTREG_E_DEADLINE where the closing computation is late; it is asked between steps of a replay,
 * or the blocks of a walk. */
#ifndef CR_RECORD_REPLAY_H
#define CR_RECORD_REPLAY_H
#include "backend/backend.h"
#include "record/view.h"

#define CR_REPLAY_FUNCTIONS 2u /* the most that one replay weighs */
#define CR_WALK_BLOCKS 64u     /* of a record, for the finite-sample gradient */
#define CR_SWEEP_FUNCTIONS 24u /* the most that are kept (sweep.h) */

/* Memory of the backend: what its operations read and write. */
typedef struct cr_replay_device {
    float *mask;         /* inputs: 1 where there is noise, else 0 */
    double *sums;        /* 2 functions * inputs, or the sweep's */
    float *weights;      /* 2 functions * max_samples */
    float *direction;    /* inputs */
    double *dots;        /* and behind them squared lengths, of the samples projected last */
    cr_sweep_room sweep; /* what of this is its, too, and its own */
} cr_replay_device;

/* Memory of the host: what it has of the above, the same memory where the backend's is the host's,
 * else a copy. */
typedef struct cr_replay_host {
    float *mask, *weights;
    double *dots;
} cr_replay_host;

/* Functions that were wanted (sweep.h), and what was found of the first `swept` of them: about
 * this noise. */
typedef struct cr_findings {
    cr_noise noise;
    size_t count, swept;
    size_t earlier; /* of them, those from before the answers under way (cr_sweep_new_answers) */
    int reused;     /* it took one of these */
    size_t grams, weighed, projected; /* what of the sizes they use */
    cr_function *functions;
    double *units;
    float *weights;
    double *products, *lengths, *dots; /* results of all */
    double *norms;                     /* max_samples */
} cr_findings;

typedef struct cr_replay {
    cr_view *view; /* whose noise it is */
    certreg_backend *backend;
    certreg_error *why; /* where failures are told */
    cr_replay_host host;
    cr_replay_device device;
    cr_sweep_sizes sizes;
    cr_findings found;
} cr_replay;

/* Between two steps. */
static inline certreg_status cr_replay_in_time(const cr_replay *r)
{
    return cr_watch_late(r->view->watch) ? CERTREG_E_DEADLINE : CERTREG_OK;
}

/* The sums become 0; they get host.weights times the noise of samples first .. first+count-1, for
 * one function or two, whose weights are plan.max_samples apart. */
certreg_status cr_replay_clear(cr_replay *);
certreg_status cr_replay_add(cr_replay *, uint64_t first, size_t count, size_t functions);
/* The sums of one function after the other: to the host. */
certreg_status cr_replay_sums(cr_replay *, size_t functions, double *sums);
/* A direction of the host's, 0 where there is no noise, is the one to project on from now on. */
certreg_status cr_replay_aim_at(cr_replay *, const float *direction);
/* To host.dots projections on it and, behind them, squared lengths of the noise of active inputs.
 */
certreg_status cr_replay_project(cr_replay *, uint64_t first, size_t count);

#endif
