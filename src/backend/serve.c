/* What every call on a backend has in common, whatever it computes on. */
#include "backend/backend.h"

certreg_status cr_backend_enter(certreg_backend *backend, certreg_error *why)
{
    if (!cr_backend_is_device(backend)) return CERTREG_OK;
    const certreg_status status = cr_busy_enter(&backend->busy, why);
    if (status != CERTREG_E_BUSY) return status;
    return cr_fail(why, status, "the backend is busy with a call of another estimator");
}

void cr_backend_leave(certreg_backend *backend)
{
    if (cr_backend_is_device(backend)) cr_busy_leave(&backend->busy, CERTREG_OK);
}

certreg_status cr_backend_failed(certreg_backend *backend, certreg_status status, const char *what,
                                 certreg_error *why)
{
    const char *text = NULL;
    const int32_t code = backend->ops->last_code(backend, &text);
    cr_fail(why, status, "the backend failed to %s%s%.150s", what, text ? ": " : "",
            text ? text : "");
    why->model_code = code;
    return status;
}

certreg_status cr_backend_join(certreg_backend *backend)
{
    return backend->ops->join ? backend->ops->join(backend) : CERTREG_OK;
}

/* The samples from one border to the next are projected on the direction at the first, and then
 * added to the sums, which are at the beginning of the room, before the direction. */
static certreg_status step(certreg_backend *backend, const cr_noise *noise, const cr_walk *w,
                           size_t border, cr_watch *watch)
{
    const cr_backend_ops *ops = backend->ops;
    const size_t from = cr_walk_border(w->count, w->blocks, border),
                 to = border < w->blocks ? cr_walk_border(w->count, w->blocks, border + 1) : from;
    const cr_weighted next = {.first = w->first + from,
                              .length = to - from,
                              .blocks = 1,
                              .functions = 1,
                              .weights = w->weights + from};
    float *direction = (float *)(w->room + noise->inputs);
    certreg_status status =
        ops->aim(backend, w->room, w->mask, noise->inputs, direction, w->lengths + 2 * border);
    if (!status && next.length)
        status = ops->project(backend, noise, next.first, next.length, direction, w->mask,
                              w->dots + from, w->norms + from, watch);
    return status || !next.length ? status
                                  : ops->replay(backend, noise, &next, NULL, w->room, watch);
}

certreg_status cr_backend_walk(certreg_backend *backend, const cr_noise *noise, const cr_walk *w,
                               cr_watch *watch)
{
    const cr_backend_ops *ops = backend->ops;
    if (ops->walk) return ops->walk(backend, noise, w, watch);
    certreg_status status = ops->fill(backend, w->room, noise->inputs * sizeof *w->room, 0);
    for (size_t b = 0; b <= w->blocks && !status; b++)
        status = cr_watch_late(watch) ? CERTREG_E_DEADLINE : step(backend, noise, w, b, watch);
    return status;
}
