/* All memory of an estimator: one function lays it out, to count and to carve. */
#ifndef CR_ESTIMATOR_LAYOUT_H
#define CR_ESTIMATOR_LAYOUT_H
#include "base/arena.h"
#include "estimator/estimator.h"

typedef struct cr_declared { /* outputs each: the arrays of the model, to be filled */
    int32_t *kind;
    double *lo, *hi; /* declared range; a full turn for angles */
} cr_declared;

/* By model, plan, columns and backend. Where the backend's memory is the host's,
 * nothing is taken from `device`. */
cr_declared cr_layout(certreg_estimator *, cr_arena *host, cr_arena *device);
/* An empty arena for what is not the host's. */
cr_arena cr_layout_device(void *memory);
/* Takes what the backend has beyond the host's reach; nothing, where it has none. */
certreg_status cr_layout_take(certreg_estimator *, size_t bytes);
/* After the layout: what stays on the device for all inputs goes over. NO_MEMORY, DEVICE_FAILED. */
certreg_status cr_layout_prepare(certreg_estimator *);
void cr_layout_release(certreg_estimator *);

#endif
