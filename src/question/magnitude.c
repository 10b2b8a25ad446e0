/* Numbers of such different magnitudes that a mean cannot be computed from them. */
#include "question/question.h"
#include "question/rows.h"
#include <math.h>

static const double greatest = 1e150; /* has a square, with room for sums */

/* Next to a tolerance of another magnitude the digits of the outputs are lost. */
static certreg_status check_tolerance(certreg_estimator *e, const cr_question *q)
{
    const size_t first = cr_question_first(q), end = first + cr_question_outputs(e, q);
    double most = 0;
    for (size_t k = first; k < end; k++)
        most = fmax(most, 1e12 * fmax(fabs(e->model.lo[k]), fabs(e->model.hi[k])));
    if (!(q->tolerance > fmin(most, greatest))) return CERTREG_OK;
    return cr_question_invalid(e, "tolerance", q->tolerance,
                               "for a mean it must not exceed 1e12 times the ends of the range, "
                               "or 1e150 without one; nothing in the range is so far off");
}

/* Bounds without normality bet on squares of what is in the range. */
static certreg_status check_range(certreg_estimator *e, const cr_question *q, size_t k)
{
    const double lo = e->model.lo[k], hi = e->model.hi[k];
    if (cr_method_of(q->method)->normality || hi - lo <= greatest) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_E_INVALID,
                   "model.lo[%zu] is %g and model.hi[%zu] %g; for a mean they must "
                   "not be more than 1e150 apart: declare the range of float outputs, or use "
                   "CERTREG_METHOD_ASYMPTOTIC",
                   k, lo, k, hi);
}

/* Seen from a prediction far away both ends of the range are the same number, or their distances
 * have no squares. */
static certreg_status check_prediction(certreg_estimator *e, const cr_question *q, size_t k)
{
    const double lo = e->model.lo[k], hi = e->model.hi[k],
                 prediction = q->predictions[k - cr_question_first(q)],
                 far = q->tolerance + fmax(fabs(lo - prediction), fabs(hi - prediction)),
                 most = cr_method_of(q->method)->normality ? INFINITY : 4 * greatest;
    if (!isfinite(hi - lo) || (far < most && far + 0.25 * (hi - lo) > far)) return CERTREG_OK;
    return cr_question_invalid(
        e, "prediction", prediction,
        "it is too far from the range of the output: next to it a double has no digits "
        "left for a mean; give one within the range, or near it");
}

certreg_status cr_question_check_magnitude(certreg_estimator *e, const cr_question *q)
{
    const size_t first = cr_question_first(q), end = first + cr_question_outputs(e, q);
    const int from_prediction = q->prediction_given && !cr_question_about_output(q);
    if (cr_score_kind_is_bounded(cr_statistic_of(q->statistic)->score)) return CERTREG_OK;
    certreg_status status = q->at_radius > 0 ? CERTREG_OK : check_tolerance(e, q);
    for (size_t k = first; k < end && !status; k++) {
        status = check_range(e, q, k);
        if (!status && from_prediction) status = check_prediction(e, q, k);
    }
    return status;
}
