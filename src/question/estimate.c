#include "question/estimate.h"
#include "question/prediction.h"
#include "question/rows.h"
#include "statistics/location.h"
#include <math.h>
#include <string.h>

double cr_estimate_number(const certreg_estimator *e, const cr_question *q, size_t samples,
                          double prediction)
{
    const size_t noisy = cr_record_noisy(e);
    if (cr_question_is_vector(q)) return NAN;
    const double about = cr_method_of(q->method)->published ? prediction : NAN;
    const double found =
        samples > noisy ? cr_prediction_of_record(e, q, noisy, samples - noisy, about) : NAN;
    const int known = !isnan(found) && !e->clock.watch->late;
    return known ? found : q->prediction_given ? cr_prediction_into_turn(e, q, q->prediction) : NAN;
}

/* ---- a vector */
/* Adds the median along a direction, times its weight: of a single output the statistic itself. */
static void add_direction(const certreg_estimator *e, const cr_question *q, const cr_direction *d,
                          size_t samples, double *out)
{
    const size_t noisy = cr_record_noisy(e), first = cr_question_first(q) + d->first;
    const cr_values values = {.y = cr_record_at(e, noisy, (int32_t)first),
                              .count = samples - noisy,
                              .step = e->model.outputs,
                              .along = d->along,
                              .outputs = d->outputs};
    const double median = d->weight * cr_location_median(&values);
    for (size_t k = 0; k < d->outputs; k++) out[d->first + k] += d->along[k] * median;
}

static void estimate_outputs(const certreg_estimator *e, const cr_question *q, size_t samples,
                             double *out)
{
    const int projected = cr_question_net(q) == CR_NET_PROJECTIONS;
    const size_t outputs = cr_question_outputs(e, q), noisy = cr_record_noisy(e),
                 directions = cr_net_size(CR_NET_PROJECTIONS, outputs);
    for (size_t k = 0; k < outputs; k++) {
        cr_question of_output = *q;
        of_output.output = (int32_t)(cr_question_first(q) + k), of_output.output_count = 0;
        out[k] = samples <= noisy ? NAN
                 : projected      ? 0
                             : cr_prediction_of_record(e, &of_output, noisy, samples - noisy, NAN);
    }
    for (size_t i = 0; projected && samples > noisy && i < directions; i++) {
        const cr_direction d = cr_net_direction(CR_NET_PROJECTIONS, outputs, i);
        add_direction(e, q, &d, samples, out);
    }
}

/* As for a number: the given prediction where the outputs give none. `out` may be the array of that
 * prediction, so it is written last. */
static void estimate_vector(certreg_estimator *e, const cr_question *q, size_t samples, double *out)
{
    double *found = e->here.center;
    const size_t outputs = cr_question_outputs(e, q);
    int known = 1;
    estimate_outputs(e, q, samples, found);
    for (size_t k = 0; k < outputs; k++) known &= !isnan(found[k]);
    if (!known && q->prediction_given) memcpy(found, q->predictions, outputs * sizeof *found);
    memcpy(out, found, outputs * sizeof *out);
}

/* ---- public */
static certreg_status check(certreg_estimator *e, const cr_question *q)
{
    if (cr_statistic_of(q->statistic)->estimate) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_E_INVALID,
                   "CERTREG_STATISTIC_BALL_CENTER has no estimate here; take the output whose "
                   "median distance from the others is least");
}

/* A promise about so many fresh samples says nothing of any other number. */
static certreg_status check_served(certreg_estimator *e, const cr_question *q, size_t samples)
{
    const size_t noisy = cr_record_noisy(e), fresh = samples > noisy ? samples - noisy : 0;
    if (!q->served_samples || fresh == q->served_samples) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                   "the record has %zu noisy samples, and question.serving->samples is %zu: take "
                   "as many, with plan.pilot = SIZE_MAX (otherwise sample 0 has no noise), or set "
                   "question.serving to NULL",
                   fresh, q->served_samples);
}

static certreg_status tell(certreg_estimator *e, const certreg_question *question, double *out)
{
    cr_question q;
    size_t samples = 0;
    if (!out) return cr_fail(&e->error, CERTREG_E_INVALID, "out is NULL");
    certreg_status status = cr_estimator_ready(e);
    if (!status) status = cr_question_take_for_estimate(e, question, &q);
    if (!status) status = check(e, &q);
    if (!status) status = cr_record_length(e, &samples, &e->error);
    if (!status) status = cr_record_in_range(e);
    if (!status) status = check_served(e, &q, samples);
    if (status) return status;
    double prediction = NAN;
    const int about = cr_method_of(q.method)->published && !cr_question_by_estimate(e, &q);
    if (cr_question_is_vector(&q)) estimate_vector(e, &q, samples, out);
    else {
        if (about && (q.prediction_given || (e->record.pilot && samples >= e->record.pilot)))
            cr_prediction_find(e, &q, &prediction);
        *out = cr_estimate_number(e, &q, samples, prediction);
    }
    cr_asked_remember(e, samples, samples, cr_question_looks(&q));
    return CERTREG_OK;
}

certreg_status certreg_estimator_estimate(certreg_estimator *e, const certreg_question *question,
                                          double *out)
{
    const certreg_status refused = cr_estimator_enter(e);
    return refused ? refused : cr_estimator_leave(e, tell(e, question, out));
}
