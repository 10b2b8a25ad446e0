/* The noise of the record once more, wherever the batches live: weighted sums of it, and its projections on a direction. At most e->tile
 * samples at a time; tiles but the last are multiples of CR_REPLAY_CHUNK, so that bits do not depend on them. */
#ifndef CR_ESTIMATOR_REPLAY_H
#define CR_ESTIMATOR_REPLAY_H
#include "estimator/estimator.h"

/* The sums become 0; they get at.weights times the noise of samples first .. first+count-1; they come to at.sums (inputs). */
certreg_status cr_replay_clear(certreg_estimator *);
certreg_status cr_replay_add(certreg_estimator *, uint64_t first, size_t count);
certreg_status cr_replay_sums(certreg_estimator *);
/* at.direction is the direction from now on; projections on it to at.dots, squared lengths of the noise of active inputs to at.norms. */
certreg_status cr_replay_aim(certreg_estimator *);
certreg_status cr_replay_project(certreg_estimator *, uint64_t first, size_t count);

#endif
