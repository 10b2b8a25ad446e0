#include "estimator/replay.h"
#include <string.h>

static certreg_status told(certreg_estimator *e, certreg_status status)
{
    if (status == CERTREG_E_DEADLINE) return status;
    return status ? cr_estimator_backend_failed(e, status, "replay the noise") : CERTREG_OK;
}

/* How many of the samples that are left make the next step: a device takes all at once. The others
 * are multiples of CR_REPLAY_CHUNK, so that bits do not depend on them. */
static size_t next_step(const certreg_estimator *e, size_t left)
{
    return cr_estimator_on_device(e) || left < CR_REPLAY_STEP ? left : CR_REPLAY_STEP;
}

certreg_status cr_replay_clear(certreg_estimator *e)
{
    const size_t bytes = e->model.inputs * sizeof *e->at.sums;
    if (cr_estimator_on_device(e))
        return told(e, e->backend->ops->fill(e->backend, e->device.sums, bytes, 0));
    memset(e->at.sums, 0, bytes);
    return CERTREG_OK;
}

/* To where the replay runs. */
static certreg_status store_weights(certreg_estimator *e, size_t count)
{
    if (!cr_estimator_on_device(e)) return CERTREG_OK;
    return e->backend->ops->store(e->backend, e->device.weights, e->at.weights,
                                  count * sizeof *e->at.weights);
}

/* Lengths, dots and norms of `count` samples, from there. */
static certreg_status fetch_replayed(certreg_estimator *e, size_t count)
{
    e->at.norms = e->at.dots + count; /* as they lie there */
    if (!cr_estimator_on_device(e)) return CERTREG_OK;
    return e->backend->ops->fetch(e->backend, e->at.lengths, e->device.lengths,
                                  cr_estimator_replayed(count) * sizeof *e->at.lengths);
}

certreg_status cr_replay_add(certreg_estimator *e, uint64_t first, size_t count)
{
    const int device = cr_estimator_on_device(e);
    const float *weights = device ? e->device.weights : e->at.weights;
    double *sums = device ? e->device.sums : e->at.sums;
    certreg_status status = store_weights(e, count);
    for (size_t done = 0, n; done < count && !status; done += n) {
        n = next_step(e, count - done);
        status = cr_estimator_in_time(e);
        if (!status)
            status = e->backend->ops->replay(e->backend, &e->input.noise, first + done, n, 1,
                                             weights + done, e->plan.max_samples, sums);
    }
    return told(e, status);
}

certreg_status cr_replay_aim(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const cr_device_room *at = &e->device;
    const double start = cr_estimator_now(e);
    const certreg_status status =
        cr_estimator_on_device(e)
            ? ops->aim(e->backend, at->sums, at->mask, e->model.inputs, at->direction, at->lengths)
            : ops->aim(e->backend, e->at.sums, e->input.mask, e->model.inputs, e->at.direction,
                       e->at.lengths);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    return told(e, status);
}

certreg_status cr_replay_project(certreg_estimator *e, uint64_t first, size_t count)
{
    const int device = cr_estimator_on_device(e);
    const float *direction = device ? e->device.direction : e->at.direction,
                *mask = device ? e->device.mask : e->input.mask;
    double *dots = device ? e->device.dots : e->at.dots, *norms = dots + count;
    certreg_status status = CERTREG_OK;
    for (size_t done = 0, n; done < count && !status; done += n) {
        n = next_step(e, count - done);
        status = cr_estimator_in_time(e);
        if (!status)
            status = e->backend->ops->project(e->backend, &e->input.noise, first + done, n,
                                              direction, mask, dots + done, norms + done);
    }
    if (!status) status = fetch_replayed(e, count);
    return told(e, status);
}

certreg_status cr_replay_walk(certreg_estimator *e, uint64_t first, size_t count)
{
    const int device = cr_estimator_on_device(e);
    const float *weights = device ? e->device.weights : e->at.weights,
                *mask = device ? e->device.mask : e->input.mask;
    double *room = device ? e->device.sums : e->at.sums,
           *lengths = device ? e->device.lengths : e->at.lengths;
    double *dots = lengths + cr_estimator_replayed(0);
    certreg_status status = store_weights(e, count);
    if (!status)
        status = e->backend->ops->walk(e->backend, &e->input.noise, first, count, CR_WALK_BLOCKS,
                                       weights, mask, room, lengths, dots, dots + count,
                                       e->clock.watch);
    if (!status) status = fetch_replayed(e, count);
    return told(e, status);
}
