/* All memory of an estimator: one function lays it out, to count and to carve. */
#ifndef CR_ESTIMATOR_MEMORY_LAYOUT_H
#define CR_ESTIMATOR_MEMORY_LAYOUT_H
#include "base/arena.h"
#include "estimator/estimator.h"

typedef struct cr_declared_outputs { /* outputs each: the arrays of the model, to be filled */
    int32_t *kind;
    double *lo, *hi; /* declared range; a full turn for angles */
} cr_declared_outputs;

/* Lays out the arrays for model, plan, columns and backend of an estimator. Takes nothing from
 * `device` if the backend uses the host's memory. */
cr_declared_outputs cr_layout(certreg_estimator *, cr_arena *host, cr_arena *device);
/* An empty arena for memory of a device. */
cr_arena cr_layout_device(void *memory);
/* Takes memory of a device; none if the backend uses the host's. */
certreg_status cr_layout_alloc_device(certreg_estimator *, size_t bytes);
/* Copies to the device what all inputs share, after the layout. NO_MEMORY, DEVICE_FAILED. */
certreg_status cr_layout_prepare(certreg_estimator *);
/* Frees memory of a device. */
void cr_layout_release(certreg_estimator *);

#endif
