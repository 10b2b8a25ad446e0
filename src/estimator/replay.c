#include "estimator/replay.h"
#include <string.h>

static certreg_status told(certreg_estimator *e, certreg_status status)
{
    return status ? cr_estimator_backend_failed(e, status, "replay the noise") : CERTREG_OK;
}

certreg_status cr_replay_clear(certreg_estimator *e)
{
    const size_t bytes = e->model.inputs * sizeof *e->at.sums;
    if (cr_estimator_on_device(e)) return told(e, e->backend->ops->fill(e->backend, e->device.sums, bytes, 0));
    memset(e->at.sums, 0, bytes);
    return CERTREG_OK;
}

/* To where the replay runs. */
static certreg_status store_weights(certreg_estimator *e, size_t count)
{
    if (!cr_estimator_on_device(e)) return CERTREG_OK;
    return e->backend->ops->store(e->backend, e->device.weights, e->at.weights, count * sizeof *e->at.weights);
}

/* Lengths, dots and norms of `count` samples, from there. */
static certreg_status fetch_replayed(certreg_estimator *e, size_t count)
{
    e->at.norms = e->at.dots + count; /* as they lie there */
    if (!cr_estimator_on_device(e)) return CERTREG_OK;
    return e->backend->ops->fetch(e->backend, e->at.lengths, e->device.lengths, cr_estimator_replayed(count) * sizeof *e->at.lengths);
}

certreg_status cr_replay_add(certreg_estimator *e, uint64_t first, size_t count)
{
    const int device = cr_estimator_on_device(e);
    const float *weights = device ? e->device.weights : e->at.weights;
    double *sums = device ? e->device.sums : e->at.sums;
    certreg_status status = store_weights(e, count);
    if (!status) status = e->backend->ops->replay(e->backend, &e->noise, first, count, 1, weights, e->plan.capacity, sums);
    return told(e, status);
}

certreg_status cr_replay_aim(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const cr_device_room *at = &e->device;
    if (!cr_estimator_on_device(e)) return told(e, ops->aim(e->backend, e->at.sums, e->at.mask, e->model.inputs, e->at.direction, e->at.lengths));
    return told(e, ops->aim(e->backend, at->sums, at->mask, e->model.inputs, at->direction, at->lengths));
}

certreg_status cr_replay_project(certreg_estimator *e, uint64_t first, size_t count)
{
    const int device = cr_estimator_on_device(e);
    const float *direction = device ? e->device.direction : e->at.direction, *mask = device ? e->device.mask : e->at.mask;
    double *dots = device ? e->device.dots : e->at.dots;
    certreg_status status = e->backend->ops->project(e->backend, &e->noise, first, count, direction, mask, dots, dots + count);
    if (!status) status = fetch_replayed(e, count);
    return told(e, status);
}

certreg_status cr_replay_walk(certreg_estimator *e, uint64_t first, size_t count)
{
    const int device = cr_estimator_on_device(e);
    const float *weights = device ? e->device.weights : e->at.weights, *mask = device ? e->device.mask : e->at.mask;
    double *room = device ? e->device.sums : e->at.sums, *lengths = device ? e->device.lengths : e->at.lengths;
    double *dots = lengths + cr_estimator_replayed(0);
    certreg_status status = store_weights(e, count);
    if (!status)
        status = e->backend->ops->walk(e->backend, &e->noise, first, count, CR_WALK_BLOCKS, weights, mask, room, lengths, dots, dots + count);
    if (!status) status = fetch_replayed(e, count);
    return told(e, status);
}
