/* What a record says of a question without a certificate: its prediction, its estimate, and a
 * forecast. */
#include "base/sizes.h"
#include "base/structs.h"
#include "estimator/work.h"
#include "question/estimate.h"
#include "question/forecast.h"
#include "question/prediction.h"
#include <math.h>

static certreg_status predict(const cr_work *w, const certreg_question *question, double *out)
{
    cr_conditions c = {.scratch = w->scratch};
    if (!out) return cr_fail(w->why, CERTREG_E_INVALID, "out is NULL");
    const certreg_status status = cr_sense_take(w->record, question, &c.question, w->why);
    return status ? status : cr_prediction_tell(w->record, &c, out, w->why);
}

certreg_status certreg_estimator_prediction(certreg_estimator *e, const certreg_question *question,
                                            double *out)
{
    cr_work w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    return refused ? refused : cr_estimator_leave(e, predict(&w, question, out));
}

static certreg_status estimate(const cr_work *w, const certreg_question *question, double *out)
{
    cr_conditions c = {.scratch = w->scratch};
    if (!out) return cr_fail(w->why, CERTREG_E_INVALID, "out is NULL");
    certreg_status status = cr_sense_take_for_estimate(w->record, question, &c.question, w->why);
    if (!status) status = cr_estimate_tell(w->record, &c, out, w->why);
    if (!status) cr_asked_remember_now(w->record, cr_allowed_looks(&c.question));
    return status;
}

certreg_status certreg_estimator_estimate(certreg_estimator *e, const certreg_question *question,
                                          double *out)
{
    cr_work w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    return refused ? refused : cr_estimator_leave(e, estimate(&w, question, out));
}

static certreg_status forecast(const cr_work *w, const certreg_question *question,
                               certreg_forecast *found)
{
    cr_conditions c = {.scratch = w->scratch};
    certreg_status status = cr_sense_take(w->record, question, &c.question, w->why);
    if (!status) status = cr_forecast_tell(w->record, &c, found, w->why);
    if (!status) cr_asked_remember_now(w->record, cr_allowed_looks(&c.question));
    return status;
}

certreg_status certreg_estimator_forecast(certreg_estimator *e, const certreg_question *question,
                                          certreg_forecast *out)
{
    certreg_forecast found = {.struct_size = sizeof found, .expected_samples = INFINITY};
    cr_work w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    certreg_error *error = refused ? NULL : w.why;
    const certreg_status sized = cr_struct_check(out, CR_OLDEST_FORECAST, "forecast", error);
    certreg_status status = refused ? refused : sized;
    if (!status) status = forecast(&w, question, &found);
    if (!sized) cr_struct_write(out, out->struct_size, &found, sizeof found);
    return refused ? status : cr_estimator_leave(e, status);
}
