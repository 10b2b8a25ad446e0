/* Entering, leaving and error reporting for every backend. */
#include "backend/backend.h"

certreg_status cr_backend_enter(certreg_backend *backend, certreg_error *why)
{
    if (!cr_backend_is_device(backend)) return CERTREG_OK;
    const certreg_status status = cr_call_guard_enter(&backend->guard, why);
    if (status != CERTREG_E_BUSY) return status;
    return cr_error_set(why, status, "the backend is busy with a call of another estimator");
}

void cr_backend_leave(certreg_backend *backend)
{
    if (cr_backend_is_device(backend)) cr_call_guard_leave(&backend->guard, CERTREG_OK);
}

certreg_status cr_backend_failed(certreg_backend *backend, certreg_status status, const char *what,
                                 certreg_error *why)
{
    const char *text = NULL;
    const int32_t code = backend->ops->last_code(backend, &text);
    cr_error_set(why, status, "the backend failed to %s%s%.150s", what, text ? ": " : "",
                 text ? text : "");
    why->code = code;
    return status;
}

certreg_status cr_backend_read(certreg_backend *backend, const float **numbers, float *host,
                               size_t count, const char *what, certreg_error *why)
{
    int is_device = 0;
    if (!cr_backend_is_device(backend) || !*numbers || !count) return CERTREG_OK;
    certreg_status status = backend->ops->locate(backend, *numbers, &is_device);
    if (status == CERTREG_E_INVALID)
        return cr_error_set(why, status, "%s is memory of another device than %d", what,
                            (int)backend->ops->device);
    if (!status && is_device)
        status = backend->ops->fetch(backend, host, *numbers, count * sizeof *host);
    if (is_device) *numbers = host;
    return status ? cr_backend_failed(backend, status, "read the caller's numbers", why)
                  : CERTREG_OK;
}

certreg_status cr_backend_join(certreg_backend *backend)
{
    return backend->ops->join ? backend->ops->join(backend) : CERTREG_OK;
}
