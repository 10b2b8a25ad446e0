/* Replays on a backend: data go to its memory and come back, and its failures become errors. */
#include "record/noise_replay.h"

static certreg_status report_failure(cr_replay *r, certreg_status status)
{
    if (!status || status == CERTREG_E_DEADLINE) return status;
    return cr_backend_failed(r->backend, status, "replay the noise", r->why);
}

certreg_status cr_replay_clear(cr_replay *r)
{
    const size_t bytes = CR_REPLAY_FUNCTIONS * r->view->model.inputs * sizeof *r->device.sums;
    return report_failure(r, r->backend->ops->fill(r->backend, r->device.sums, bytes, 0));
}

static certreg_status store_weights(const cr_replay *r, size_t count, size_t functions)
{
    certreg_status status = CERTREG_OK;
    for (size_t f = 0, offset = 0; f < functions && !status;
         f++, offset += r->view->plan.max_samples)
        status = r->backend->ops->store(r->backend, r->device.weights + offset,
                                        r->host.weights + offset, count * sizeof *r->host.weights);
    return status;
}

certreg_status cr_replay_add(cr_replay *r, uint64_t first, size_t count, size_t functions)
{
    const cr_weighted_blocks block = {.first = first,
                                      .block_samples = count,
                                      .blocks = 1,
                                      .functions = functions,
                                      .weights = r->device.weights,
                                      .stride = r->view->plan.max_samples};
    certreg_status status = store_weights(r, count, functions);
    if (!status)
        status = r->backend->ops->replay(r->backend, &r->view->input.noise, &block, NULL,
                                         r->device.sums, r->view->deadline);
    return report_failure(r, status);
}

certreg_status cr_replay_sums(cr_replay *r, size_t functions, double *sums)
{
    return report_failure(r,
                          r->backend->ops->fetch(r->backend, sums, r->device.sums,
                                                 functions * r->view->model.inputs * sizeof *sums));
}

certreg_status cr_replay_set_direction(cr_replay *r, const float *direction)
{
    return report_failure(r, r->backend->ops->store(r->backend, r->device.direction, direction,
                                                    r->view->model.inputs * sizeof *direction));
}

certreg_status cr_replay_project(cr_replay *r, uint64_t first, size_t count)
{
    double *dots = r->device.dots;
    const cr_projection projection = {.first = first,
                                      .count = count,
                                      .directions = r->device.direction,
                                      .mask = r->device.mask,
                                      .dots = dots,
                                      .squared_norms = dots + count};
    certreg_status status =
        r->backend->ops->project(r->backend, &r->view->input.noise, &projection, r->view->deadline);
    if (!status)
        status = r->backend->ops->fetch(r->backend, r->host.dots, dots, 2 * count * sizeof *dots);
    return report_failure(r, status);
}
