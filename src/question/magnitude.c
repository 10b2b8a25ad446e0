/* Numbers of such different magnitudes that a mean cannot be computed from them. */
#include "question/question.h"
#include "question/rows.h"
#include <math.h>

static const double greatest = 1e150; /* has a square, with room for sums */

/* Next to a tolerance of another magnitude the digits of the outputs are lost. */
static certreg_status check_tolerance(cr_view *v, const cr_question *q, certreg_error *why)
{
    const size_t first = q->first, end = first + q->outputs;
    double most = 0;
    for (size_t k = first; k < end; k++)
        most = fmax(most, 1e12 * fmax(fabs(v->model.lo[k]), fabs(v->model.hi[k])));
    if (!(q->tolerance > fmin(most, greatest))) return CERTREG_OK;
    return cr_question_invalid(why, "tolerance", q->tolerance,
                               "for a mean it must not exceed 1e12 times the ends of the range, "
                               "or 1e150 without one; nothing in the range is so far off");
}

/* Bounds without normality bet on squares of what is in the range. */
static certreg_status check_range(cr_view *v, const cr_question *q, size_t k, certreg_error *why)
{
    const double lo = v->model.lo[k], hi = v->model.hi[k];
    if (q->method_row->normality || hi - lo <= greatest) return CERTREG_OK;
    return cr_fail(why, CERTREG_E_INVALID,
                   "model.lo[%zu] is %g and model.hi[%zu] %g; for a mean they must "
                   "not be more than 1e150 apart: declare the range of float outputs, or use "
                   "CERTREG_METHOD_ASYMPTOTIC",
                   k, lo, k, hi);
}

/* Seen from a prediction far away both ends of the range are the same number, or their distances
 * have no squares. */
static certreg_status check_prediction(cr_view *v, const cr_question *q, size_t k,
                                       certreg_error *why)
{
    const double lo = v->model.lo[k], hi = v->model.hi[k],
                 prediction = q->predictions[k - q->first],
                 far = q->tolerance + fmax(fabs(lo - prediction), fabs(hi - prediction)),
                 most = q->method_row->normality ? INFINITY : 4 * greatest;
    if (!isfinite(hi - lo) || (far < most && far + 0.25 * (hi - lo) > far)) return CERTREG_OK;
    return cr_question_invalid(
        why, "prediction", prediction,
        "it is too far from the range of the output: next to it a double has no digits "
        "left for a mean; give one within the range, or near it");
}

certreg_status cr_magnitude_check(cr_view *v, const cr_question *q, certreg_error *why)
{
    const size_t first = q->first, end = first + q->outputs;
    const int from_prediction = q->prediction_given && !q->about_output;
    if (q->is_bounded) return CERTREG_OK;
    certreg_status status = q->at_radius > 0 ? CERTREG_OK : check_tolerance(v, q, why);
    for (size_t k = first; k < end && !status; k++) {
        status = check_range(v, q, k, why);
        if (!status && from_prediction) status = check_prediction(v, q, k, why);
    }
    return status;
}
