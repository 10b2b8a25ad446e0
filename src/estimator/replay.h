/* The noise of the record once more, wherever the batches live: weighted sums of it, and its
 * projections on a direction. CERTREG_E_DEADLINE where the closing computation is late; it is asked
 * between pieces of CR_REPLAY_STEP samples, or the blocks of a walk. */
#ifndef CR_ESTIMATOR_REPLAY_H
#define CR_ESTIMATOR_REPLAY_H
#include "estimator/estimator.h"

#define CR_REPLAY_STEP 512u /* a multiple of CR_REPLAY_CHUNK */

/* The sums become 0; they get at.weights times the noise of samples first .. first+count-1. */
certreg_status cr_replay_clear(certreg_estimator *);
certreg_status cr_replay_add(certreg_estimator *, uint64_t first, size_t count);
/* The direction of the sums of active inputs, in float, is the one to project on from now on; none
 * where they are all 0. */
certreg_status cr_replay_aim(certreg_estimator *);
/* To at.dots projections on it, to at.norms squared lengths of the noise of active inputs, to
 * at.lengths the length of the sums when they were aimed at, and of the direction, which rounding
 * moves off 1. One transfer from a device. */
certreg_status cr_replay_project(certreg_estimator *, uint64_t first, size_t count);
/* Replays the samples block by block (CR_WALK_BLOCKS blocks, borders: cr_walk_border). Each block
 * is projected on the direction of the sums before it. To at.lengths two lengths for each border,
 * the last of which is that of all sums. One transfer. */
certreg_status cr_replay_walk(certreg_estimator *, uint64_t first, size_t count);

#endif
