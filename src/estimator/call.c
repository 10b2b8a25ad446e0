/* What every call on an estimator begins and ends with, and what other threads may request. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include <float.h>
#include <math.h>

certreg_status cr_estimator_enter(certreg_estimator *e)
{
    if (!e) return CERTREG_E_INVALID;
    certreg_status status = cr_busy_enter(&e->busy, &e->error);
    if (status) return status;
    status = cr_backend_enter(e->backend, &e->error);
    return status ? cr_busy_leave(&e->busy, status) : CERTREG_OK;
}

certreg_status cr_estimator_leave(certreg_estimator *e, certreg_status status)
{
    cr_backend_leave(e->backend);
    return cr_busy_leave(&e->busy, status);
}

certreg_status cr_estimator_ready(certreg_estimator *e)
{
    if (!e->input.begun)
        return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                       "certreg_estimator_begin has not been called");
    return CERTREG_OK;
}

/* ---- requests from other threads */
certreg_status certreg_estimator_set_deadline(certreg_estimator *e, double seconds)
{
    const certreg_status status = cr_estimator_enter(e);
    if (status) return status;
    if (isnan(seconds))
        return cr_estimator_leave(e,
                                  cr_fail(&e->error, CERTREG_E_INVALID,
                                          "seconds is NaN; give a number, or 0 for no deadline"));
    /* Below 0 it is over. */
    e->clock.deadline = seconds == 0 ? 0 : fmax(cr_estimator_now(e) + seconds, DBL_MIN);
    return cr_estimator_leave(e, CERTREG_OK);
}

void certreg_estimator_cancel(certreg_estimator *e)
{
    if (e) atomic_store(&e->cancel, 1);
}

const certreg_error *certreg_estimator_error(const certreg_estimator *e)
{
    return e ? cr_busy_error(&e->busy, &e->error) : NULL;
}
