/* The noise of the record once more: weighted sums of it, and its projections on a direction.
 * CERTREG_E_DEADLINE where the closing computation is late; it is asked between steps of a replay,
 * or the blocks of a walk. */
#ifndef CR_ESTIMATOR_REPLAY_H
#define CR_ESTIMATOR_REPLAY_H
#include "estimator/estimator.h"

#define CR_REPLAY_FUNCTIONS 2u /* the most that one replay weighs */

/* The sums become 0; they get here.weights times the noise of samples first .. first+count-1, for
 * one function or two, whose weights are plan.max_samples apart. */
certreg_status cr_replay_clear(certreg_estimator *);
certreg_status cr_replay_add(certreg_estimator *, uint64_t first, size_t count, size_t functions);
/* The sums of one function after the other: to the host. */
certreg_status cr_replay_sums(certreg_estimator *, size_t functions, double *sums);
/* A direction of the host's, 0 where there is no noise, is the one to project on from now on. */
certreg_status cr_replay_aim_at(certreg_estimator *, const float *direction);
/* The direction of the sums of active inputs, in float, is the one to project on from now on; none
 * where they are all 0. */
certreg_status cr_replay_aim(certreg_estimator *);
/* To here.dots projections on it and, behind them (cr_replay_norms), squared lengths of the noise
 * of active inputs; to here.lengths the length of the sums when they were aimed at, and of the
 * direction, which rounding moves off 1. One transfer. */
certreg_status cr_replay_project(certreg_estimator *, uint64_t first, size_t count);
/* Replays the samples block by block (CR_WALK_BLOCKS blocks, borders: cr_walk_border). Each block
 * is projected on the direction of the sums before it. To here.lengths two lengths for each border,
 * the last of which is that of all sums. One transfer. */
certreg_status cr_replay_walk(certreg_estimator *, uint64_t first, size_t count);

/* Of the `count` samples that were projected last. */
static inline const double *cr_replay_norms(const certreg_estimator *e, size_t count)
{
    return e->here.dots + count;
}

#endif
