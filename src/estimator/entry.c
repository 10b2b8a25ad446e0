/* Entering and leaving calls on an estimator, and the calls that neither sample nor evaluate: a
 * record as bytes, a deadline, a cancel, the last error. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include <float.h>
#include <math.h>

cr_context cr_estimator_context(certreg_estimator *e)
{
    return (cr_context){.estimator = e,
                        .record = &e->record,
                        .replay = &e->replay,
                        .scratch = &e->scratch,
                        .clock = &e->clock,
                        .why = &e->error};
}

certreg_status cr_estimator_enter(certreg_estimator *e, cr_context *context)
{
    if (!e) return CERTREG_E_INVALID;
    certreg_status status = cr_call_guard_enter(&e->guard, &e->error);
    if (status) return status;
    status = cr_backend_enter(e->backend, &e->error);
    if (context) *context = cr_estimator_context(e);
    return status ? cr_call_guard_leave(&e->guard, status) : CERTREG_OK;
}

certreg_status cr_estimator_leave(certreg_estimator *e, certreg_status status)
{
    cr_backend_leave(e->backend);
    return cr_call_guard_leave(&e->guard, status);
}

certreg_status cr_estimator_lock(certreg_estimator *e)
{
    return cr_call_guard_enter(&e->guard, &e->error);
}

certreg_status cr_estimator_unlock(certreg_estimator *e, certreg_status status)
{
    return cr_call_guard_leave(&e->guard, status);
}

int cr_estimator_cancelled(certreg_estimator *e)
{
    return atomic_exchange(&e->cancel, 0);
}

/* ---- a record as bytes */
certreg_status certreg_estimator_export(certreg_estimator *e, void *buffer, size_t *bytes)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status
                  : cr_estimator_leave(e, cr_record_export(&e->record, buffer, bytes, &e->error));
}

certreg_status certreg_estimator_import(certreg_estimator *e, const void *buffer, size_t bytes)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status
                  : cr_estimator_leave(e, cr_record_import(&e->record, buffer, bytes, &e->error));
}

/* ---- requests from other threads */
certreg_status certreg_estimator_set_deadline(certreg_estimator *e, double seconds)
{
    certreg_status status = cr_estimator_enter(e, NULL);
    if (status) return status;
    if (isnan(seconds))
        status = cr_error_set(&e->error, CERTREG_E_INVALID,
                              "seconds is NaN; give a number, or INFINITY for no deadline");
    else if (isinf(seconds) && seconds > 0) e->clock.expires_at = 0;
    else /* DBL_MIN has passed already, by every clock */
        e->clock.expires_at = seconds > 0 ? cr_estimator_now(e) + seconds : DBL_MIN;
    return cr_estimator_leave(e, status);
}

void certreg_estimator_cancel(certreg_estimator *e)
{
    if (e && cr_handle_is_own(e)) atomic_store(&e->cancel, 1);
}

const certreg_error *certreg_estimator_error(const certreg_estimator *e)
{
    return e ? cr_call_guard_error(&e->guard, &e->error) : NULL;
}
