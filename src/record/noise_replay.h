/* Replays the noise of a record: weighted sums of it, and its projections on a direction. Fails
 * with CERTREG_E_DEADLINE if the deadline has expired, as checked between the steps of a replay or
 * the blocks of a walk. */
#ifndef CR_RECORD_NOISE_REPLAY_H
#define CR_RECORD_NOISE_REPLAY_H
#include "backend/backend.h"
#include "record/record_view.h"

#define CR_REPLAY_FUNCTIONS 2u   /* of one replay */
#define CR_CUMULATIVE_BLOCKS 64u /* of a record, for the finite-sample gradient */
#define CR_SWEEP_FUNCTIONS 24u   /* that are kept at a time (noise_sums.h) */

/* Memory of the backend: what its operations read and write. */
typedef struct cr_replay_device {
    float *mask;            /* inputs: 1 for a feature with noise, else 0 */
    double *sums;           /* 2 functions * inputs, or the sweep's */
    float *weights;         /* 2 functions * max_samples */
    float *direction;       /* inputs */
    double *dots;           /* of the samples projected last; behind them squared norms */
    cr_sweep_buffers sweep; /* parts of the above, and memory of its own */
} cr_replay_device;

/* Memory of the host: copies of the above, or the same arrays if both memories are one. */
typedef struct cr_replay_host {
    float *mask, *weights;
    double *dots;
} cr_replay_host;

/* The functions of this noise that were requested (noise_sums.h). The first `computed_count` of
 * them have results. */
typedef struct cr_noise_sums {
    cr_noise noise;
    size_t count, computed_count;
    size_t count_before_answers; /* before the present answers (cr_noise_sums_begin_answers) */
    int was_hit;                 /* one of these was requested again */
    size_t grams_used, weights_used, dots_used; /* the used parts of the sizes */
    cr_sweep_function *functions;
    double *units;
    float *weights;
    double *products, *norms, *dots; /* results of all */
    double *squared_norms;           /* max_samples */
} cr_noise_sums;

typedef struct cr_replay {
    cr_view *view;
    certreg_backend *backend;
    certreg_error *why; /* receives failures */
    cr_replay_host host;
    cr_replay_device device;
    cr_sweep_sizes sizes;
    cr_noise_sums sums_cache;
} cr_replay;

/* Called between two steps. */
static inline certreg_status cr_replay_check_deadline(const cr_replay *r)
{
    return cr_deadline_expired(r->view->deadline) ? CERTREG_E_DEADLINE : CERTREG_OK;
}

/* Sets the sums to 0. */
certreg_status cr_replay_clear(cr_replay *);
/* Adds host.weights times the noise of samples first .. first+count-1 to the sums, for one function
 * or two. The weights of the second one start at plan.max_samples. */
certreg_status cr_replay_add(cr_replay *, uint64_t first, size_t count, size_t functions);
/* Copies the sums of one function after another to the host. */
certreg_status cr_replay_sums(cr_replay *, size_t functions, double *sums);
/* Sets the direction of projections, an array of the host that is 0 for features without noise. */
certreg_status cr_replay_set_direction(cr_replay *, const float *direction);
/* Writes projections to host.dots, and behind them squared norms of the noise (active inputs). */
certreg_status cr_replay_project(cr_replay *, uint64_t first, size_t count);

#endif
