#include "conditions/estimate.h"
#include "conditions/prediction.h"
#include "statistics/location.h"
#include <math.h>
#include <string.h>

double cr_estimate_number(cr_view *v, const cr_question *q, size_t samples, double prediction)
{
    const size_t noisy = cr_view_first_noisy(v);
    if (q->is_vector) return NAN;
    const double about = q->method->published ? prediction : NAN;
    const double found =
        samples > noisy ? cr_prediction_of_record(v, q, noisy, samples - noisy, about) : NAN;
    const int known = !isnan(found) && !v->watch->late;
    return known                       ? found
           : q->given.prediction_given ? cr_prediction_into_turn(v, q, q->given.prediction)
                                       : NAN;
}

/* ---- a vector */
/* Adds the median along a direction, times its weight: of a single output the statistic itself. */
static void add_direction(cr_view *v, const cr_question *q, const cr_direction *d, size_t samples,
                          double *out)
{
    const size_t noisy = cr_view_first_noisy(v), first = q->first + d->first;
    const cr_values values = {.y = cr_view_output_ptr(v, noisy, (int32_t)first),
                              .count = samples - noisy,
                              .step = v->model.outputs,
                              .along = d->along,
                              .outputs = d->outputs};
    const double median = d->weight * cr_location_median(&values);
    for (size_t k = 0; k < d->outputs; k++) out[d->first + k] += d->along[k] * median;
}

static void estimate_outputs(cr_view *v, const cr_question *q, size_t samples, double *out)
{
    const int projected = q->statistic->net == CR_NET_PROJECTIONS;
    const size_t outputs = q->outputs, noisy = cr_view_first_noisy(v),
                 directions = cr_direction_net_size(CR_NET_PROJECTIONS, outputs);
    for (size_t k = 0; k < outputs; k++) {
        const cr_question of_output = cr_question_of_output(v, q, q->first + k);
        out[k] = samples <= noisy ? NAN
                 : projected      ? 0
                             : cr_prediction_of_record(v, &of_output, noisy, samples - noisy, NAN);
    }
    for (size_t i = 0; projected && samples > noisy && i < directions; i++) {
        const cr_direction d = cr_direction_net_direction(CR_NET_PROJECTIONS, outputs, i);
        add_direction(v, q, &d, samples, out);
    }
}

/* As for a number: the given prediction where the outputs give none. `out` may be the array of that
 * prediction, so it is written last. */
static void estimate_vector(cr_view *v, const cr_conditions *c, double *out)
{
    const cr_question *q = &c->question;
    double *found = c->scratch->center;
    int known = 1;
    estimate_outputs(v, q, c->samples, found);
    for (size_t k = 0; k < q->outputs; k++) known &= !isnan(found[k]);
    if (!known && q->given.prediction_given)
        memcpy(found, q->given.predictions, q->outputs * sizeof *found);
    memcpy(out, found, q->outputs * sizeof *out);
}

/* ---- either */
static certreg_status check(const cr_question *q, certreg_error *why)
{
    if (q->statistic->estimate) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "CERTREG_STATISTIC_BALL_CENTER has no estimate here; take the output whose "
                        "median distance from the others is least");
}

/* A promise about so many fresh samples says nothing of any other number. */
static certreg_status check_served(cr_view *v, const cr_question *q, size_t samples,
                                   certreg_error *why)
{
    const size_t noisy = cr_view_first_noisy(v), fresh = samples > noisy ? samples - noisy : 0;
    if (!q->given.served_samples || fresh == q->given.served_samples) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_WRONG_STATE,
        "the record has %zu noisy samples, and question.serving->samples is %zu: take "
        "as many, with plan.pilot = SIZE_MAX (otherwise sample 0 has no noise), or set "
        "question.serving to NULL",
        fresh, q->given.served_samples);
}

certreg_status cr_estimate_tell(cr_view *v, cr_conditions *c, double *out, certreg_error *why)
{
    const cr_question *q = &c->question;
    certreg_status status = check(q, why);
    if (!status) status = cr_view_require_contiguous(v, &c->samples, why);
    if (!status) status = cr_view_require_in_range(v, why);
    if (!status) status = check_served(v, q, c->samples, why);
    if (status) return status;
    const int about = q->method->published && !q->by_estimate;
    c->prediction = NAN;
    if (q->is_vector) {
        estimate_vector(v, c, out);
        return CERTREG_OK;
    }
    if (about && (q->given.prediction_given || (v->pilot && c->samples >= v->pilot)))
        cr_prediction_find(v, c);
    *out = cr_estimate_number(v, q, c->samples, c->prediction);
    return CERTREG_OK;
}
