#include "estimator/replay.h"

static certreg_status report(certreg_estimator *e, certreg_status status)
{
    if (!status || status == CERTREG_E_DEADLINE) return status;
    return cr_backend_failed(e->backend, status, "replay the noise", &e->error);
}

/* How many of the samples that are left make the next step: bits do not depend on it. */
static size_t next_step(const certreg_estimator *e, size_t left)
{
    const size_t most = e->backend->ops->replay_step;
    return left < most ? left : most;
}

certreg_status cr_replay_clear(certreg_estimator *e)
{
    const size_t bytes = CR_REPLAY_FUNCTIONS * e->model.inputs * sizeof *e->there.sums;
    return report(e, e->backend->ops->fill(e->backend, e->there.sums, bytes, 0));
}

static certreg_status store_weights(const certreg_estimator *e, size_t count, size_t functions)
{
    certreg_status status = CERTREG_OK;
    for (size_t f = 0, at = 0; f < functions && !status; f++, at += e->plan.max_samples)
        status = e->backend->ops->store(e->backend, e->there.weights + at, e->here.weights + at,
                                        count * sizeof *e->here.weights);
    return status;
}

/* Lengths, dots and norms of `count` samples. */
static certreg_status fetch_replayed(const certreg_estimator *e, size_t count)
{
    return e->backend->ops->fetch(e->backend, e->here.lengths, e->there.lengths,
                                  cr_estimator_replayed(count) * sizeof *e->here.lengths);
}

certreg_status cr_replay_add(certreg_estimator *e, uint64_t first, size_t count, size_t functions)
{
    certreg_status status = store_weights(e, count, functions);
    for (size_t done = 0, n; done < count && !status; done += n) {
        n = next_step(e, count - done);
        const cr_weighted next = {.first = first + done,
                                  .length = n,
                                  .blocks = 1,
                                  .functions = functions,
                                  .weights = e->there.weights + done,
                                  .stride = e->plan.max_samples};
        status = e->backend->ops->replay(e->backend, &e->input.noise, &next, NULL, e->there.sums,
                                         e->clock.watch);
    }
    return report(e, status);
}

certreg_status cr_replay_sums(certreg_estimator *e, size_t functions, double *sums)
{
    return report(e, e->backend->ops->fetch(e->backend, sums, e->there.sums,
                                            functions * e->model.inputs * sizeof *sums));
}

certreg_status cr_replay_aim_at(certreg_estimator *e, const float *direction)
{
    return report(e, e->backend->ops->store(e->backend, e->there.direction, direction,
                                            e->model.inputs * sizeof *direction));
}

certreg_status cr_replay_aim(certreg_estimator *e)
{
    const cr_there *at = &e->there;
    const double start = cr_estimator_now(e);
    const certreg_status status = e->backend->ops->aim(e->backend, at->sums, at->mask,
                                                       e->model.inputs, at->direction, at->lengths);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    return report(e, status);
}

certreg_status cr_replay_project(certreg_estimator *e, uint64_t first, size_t count)
{
    double *dots = e->there.dots, *norms = dots + count;
    certreg_status status = CERTREG_OK;
    for (size_t done = 0, n; done < count && !status; done += n) {
        n = next_step(e, count - done);
        status = cr_estimator_in_time(e);
        if (!status)
            status = e->backend->ops->project(e->backend, &e->input.noise, first + done, n,
                                              e->there.direction, e->there.mask, dots + done,
                                              norms + done);
    }
    if (!status) status = fetch_replayed(e, count);
    return report(e, status);
}

certreg_status cr_replay_walk(certreg_estimator *e, uint64_t first, size_t count)
{
    const cr_there *at = &e->there;
    const cr_walk walk = {.first = first,
                          .count = count,
                          .blocks = CR_WALK_BLOCKS,
                          .weights = at->weights,
                          .mask = at->mask,
                          .room = at->sums,
                          .lengths = at->lengths,
                          .dots = at->dots,
                          .norms = at->dots + count};
    certreg_status status = store_weights(e, count, 1);
    if (!status) status = cr_backend_walk(e->backend, &e->input.noise, &walk, e->clock.watch);
    if (!status) status = fetch_replayed(e, count);
    return report(e, status);
}
