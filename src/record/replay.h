/* The noise of the record once more: weighted sums of it, and its projections on a direction.
 * CERTREG_E_DEADLINE where the closing computation is late; it is asked between steps of a replay,
 * or the blocks of a walk. */
#ifndef CR_RECORD_REPLAY_H
#define CR_RECORD_REPLAY_H
#include "backend/blas.h"
#include "record/view.h"

#define CR_REPLAY_FUNCTIONS 2u /* the most that one replay weighs */
#define CR_WALK_BLOCKS 64u     /* of the walk through a record for the finite-sample gradient */

/* Floats for each row of a matrix whose eigenvalues are found: LAPACK's best for them, and the
 * values. */
#define CR_HESSIAN_EIGEN_ROOM 36u

/* Memory of the backend: what its operations read and write. */
typedef struct cr_replay_device {
    float *mask;         /* inputs: 1 where there is noise, else 0 */
    double *sums, *gram; /* 2 functions * blocks * inputs; blocks * blocks */
    float *weights;      /* 2 functions * max_samples */
    float *direction;    /* inputs */
    double *lengths;     /* two for each border of a walk; behind them, in one piece: */
    double *dots;        /* and squared lengths, of the samples replayed last */
    int32_t *features;   /* active: indices of those that have noise; for the second order */
    cr_pair_room pairs;  /* likewise */
    size_t tile;         /* rows of its tiles; 0 without it */
    float *pair_weights; /* max_samples, like what follows */
    double *pair_sums, *pair_norms;
} cr_replay_device;

/* Memory of the host: what it has of the above (the same memory where the backend's is the host's,
 * else a copy), and room for eigenvalues. */
typedef struct cr_replay_host {
    float *mask, *weights, *pair_weights, *matrix;
    double *gram, *lengths, *dots, *pair_sums, *pair_norms, *squares;
    int32_t *features;
    float *eigen; /* active * CR_HESSIAN_EIGEN_ROOM; or NULL, like the matrix */
} cr_replay_host;

typedef struct cr_replay {
    cr_view *view; /* whose noise it is */
    certreg_backend *backend;
    certreg_error *why; /* where failures are told */
    cr_replay_host host;
    cr_replay_device device;
} cr_replay;

/* Between two steps. */
static inline certreg_status cr_replay_in_time(const cr_replay *r)
{
    return cr_watch_late(r->view->watch) ? CERTREG_E_DEADLINE : CERTREG_OK;
}

/* Lengths, dots and norms lie in one piece, so that one transfer brings them. */
static inline size_t cr_replay_room(size_t samples)
{
    return 2 * (CR_WALK_BLOCKS + 1) + 2 * samples;
}

/* The sums become 0; they get host.weights times the noise of samples first .. first+count-1, for
 * one function or two, whose weights are plan.max_samples apart. */
certreg_status cr_replay_clear(cr_replay *);
certreg_status cr_replay_add(cr_replay *, uint64_t first, size_t count, size_t functions);
/* The sums of one function after the other: to the host. */
certreg_status cr_replay_sums(cr_replay *, size_t functions, double *sums);
/* A direction of the host's, 0 where there is no noise, is the one to project on from now on. */
certreg_status cr_replay_aim_at(cr_replay *, const float *direction);
/* The direction of the sums of active inputs, in float, is the one to project on from now on; none
 * where they are all 0. */
certreg_status cr_replay_aim(cr_replay *);
/* To host.dots projections on it and, behind them (cr_replay_norms), squared lengths of the noise
 * of active inputs; to host.lengths the length of the sums when they were aimed at, and of the
 * direction, which rounding moves off 1. One transfer. */
certreg_status cr_replay_project(cr_replay *, uint64_t first, size_t count);
/* Replays the samples block by block (CR_WALK_BLOCKS blocks, borders: cr_walk_border). Each block
 * is projected on the direction of the sums before it. To host.lengths two lengths for each border,
 * the last of which is that of all sums. One transfer. */
certreg_status cr_replay_walk(cr_replay *, uint64_t first, size_t count);

/* The norms of the `count` samples that were projected last. */
static inline const double *cr_replay_norms(const cr_replay *r, size_t count)
{
    return r->host.dots + count;
}

#endif
