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

certreg_status cr_replay_add(certreg_estimator *e, uint64_t first, size_t count)
{
    if (cr_watch_late(e->at.watch)) return CERTREG_DEADLINE;
    const cr_backend_ops *ops = e->backend->ops;
    if (!cr_estimator_on_device(e)) return told(e, ops->replay(e->backend, &e->noise, first, count, 1, e->at.weights, e->tile, e->at.sums));
    certreg_status status = ops->store(e->backend, e->device.weights, e->at.weights, count * sizeof *e->at.weights);
    if (!status) status = ops->replay(e->backend, &e->noise, first, count, 1, e->device.weights, e->tile, e->device.sums);
    return told(e, status);
}

certreg_status cr_replay_aim(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const cr_device_room *at = &e->device;
    const double start = cr_estimator_now(e);
    const certreg_status status =
        cr_estimator_on_device(e) ? ops->aim(e->backend, at->sums, at->mask, e->model.inputs, at->direction, at->lengths)
                                  : ops->aim(e->backend, e->at.sums, e->at.mask, e->model.inputs, e->at.direction, e->at.lengths);
    e->at.watch->fixed += cr_estimator_now(e) - start;
    return told(e, status);
}

certreg_status cr_replay_project(certreg_estimator *e, uint64_t first, size_t count)
{
    if (cr_watch_late(e->at.watch)) return CERTREG_DEADLINE;
    const cr_backend_ops *ops = e->backend->ops;
    const cr_device_room *at = &e->device;
    if (!cr_estimator_on_device(e))
        return told(e, ops->project(e->backend, &e->noise, first, count, e->at.direction, e->at.mask, e->at.dots, e->at.norms));
    e->at.norms = e->at.dots + count; /* as they lie there */
    certreg_status status = ops->project(e->backend, &e->noise, first, count, at->direction, at->mask, at->dots, at->dots + count);
    if (!status) status = ops->fetch(e->backend, e->at.lengths, at->lengths, (2 + 2 * count) * sizeof *at->lengths);
    return told(e, status);
}
