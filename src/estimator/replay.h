/* The noise of the record once more, wherever the batches live: weighted sums of it, and its
 * projections on a direction. At most e->tile samples at a time; tiles but the last are multiples
 * of CR_REPLAY_CHUNK, so that bits do not depend on them. A tile is a step of the closing
 * computation: CERTREG_DEADLINE where that is late. */
#ifndef CR_ESTIMATOR_REPLAY_H
#define CR_ESTIMATOR_REPLAY_H
#include "estimator/estimator.h"

/* How many of `count` samples the next tile has, where some are done. */
static inline size_t cr_replay_tile(const certreg_estimator *e, size_t done, size_t count)
{
    return count - done < e->tile ? count - done : e->tile;
}

/* The sums become 0; they get at.weights times the noise of samples first .. first+count-1. */
certreg_status cr_replay_clear(certreg_estimator *);
certreg_status cr_replay_add(certreg_estimator *, uint64_t first, size_t count);
/* The direction of the sums of active inputs, in float, is the one to project on from now on; none where they are all 0. */
certreg_status cr_replay_aim(certreg_estimator *);
/* To at.dots projections on it, to at.norms squared lengths of the noise of active inputs, to at.lengths the length of the sums when they
 * were aimed at, and of the direction, which rounding moves off 1. One transfer from a device; with count 0 lengths alone come. */
certreg_status cr_replay_project(certreg_estimator *, uint64_t first, size_t count);

#endif
