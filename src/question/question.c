/* Whether a question makes sense for this model and plan. */
#include "question/question.h"
#include "base/sizes.h"
#include "base/structs.h"
#include <math.h>

static certreg_status refused(certreg_estimator *e, const char *field, const char *remedy)
{
    return cr_fail(&e->error, CERTREG_E_INVALID, "question.%s: %s", field, remedy);
}

static certreg_status wrong(certreg_estimator *e, const char *sentence)
{
    return cr_fail(&e->error, CERTREG_E_INVALID, "%s", sentence);
}

/* Of every output that it is about. */
static int has_range(const certreg_estimator *e, const cr_question *q)
{
    const size_t first = cr_question_first(q), end = first + cr_question_outputs(e, q);
    int all = 1;
    for (size_t k = first; k < end; k++)
        all &= isfinite(e->model.lo[k]) && isfinite(e->model.hi[k]);
    return all;
}

/* ---- one field at a time */
static certreg_status check_tolerance(certreg_estimator *e, const cr_question *q)
{
    const double period = cr_question_period(e, q);
    const int inverse = q->at_radius > 0;
    if (!(q->tolerance > 0 || (inverse && q->tolerance == 0)) || !isfinite(q->tolerance))
        return cr_question_invalid(e, "tolerance", q->tolerance, "it must be positive and finite");
    if (q->statistic == CERTREG_STATISTIC_CIRCULAR_MEAN && q->tolerance > period / 4)
        return cr_question_invalid(
            e, "tolerance", q->tolerance,
            "for CERTREG_STATISTIC_CIRCULAR_MEAN it must not exceed a quarter of a turn");
    if (period > 0 && q->statistic != CERTREG_STATISTIC_MEAN && !(q->tolerance < period / 2))
        return cr_question_invalid(e, "tolerance", q->tolerance,
                                   "for an angle it must be below half a turn");
    if (inverse && q->tolerance == 0 && q->statistic != CERTREG_STATISTIC_MEAN &&
        !cr_question_orders(e, q) && !has_range(e, q))
        return cr_question_invalid(
            e, "tolerance", 0,
            "give the largest tolerance to try, or declare model.lo and model.hi");
    return CERTREG_OK;
}

static certreg_status check_numbers(certreg_estimator *e, const cr_question *q)
{
    const int huber = q->statistic == CERTREG_STATISTIC_HUBER;
    if (huber && (!(q->huber_width > 0) || !isfinite(q->huber_width)))
        return cr_question_invalid(e, "huber_width", q->huber_width,
                                   "it must be positive and finite (often half the tolerance)");
    if (q->tolerance > 0 && q->huber_width > 1e6 * q->tolerance)
        return cr_question_invalid(
            e, "huber_width", q->huber_width,
            "it must not exceed 1e6 tolerances; CERTREG_STATISTIC_MEAN gives nearly the same");
    if (!huber && q->huber_width != 0)
        return cr_question_invalid(e, "huber_width", q->huber_width,
                                   "set it to 0; only CERTREG_STATISTIC_HUBER has a width");
    return CERTREG_OK;
}

static certreg_status check_predictions(certreg_estimator *e, const cr_question *q)
{
    const size_t count = q->prediction_count, needed = cr_question_outputs(e, q);
    if (q->prediction_given && count != needed)
        return cr_fail(&e->error, CERTREG_E_INVALID,
                       "question.prediction has %zu number%s; this question needs %zu%s", count,
                       count == 1 ? "" : "s", needed,
                       cr_question_is_vector(q) ? ", one per output" : "");
    for (size_t k = 0; k < q->prediction_count; k++)
        if (!isfinite(q->predictions[k]))
            return cr_question_invalid(e, "prediction", q->predictions[k], "it must be finite");
    return CERTREG_OK;
}

/* ---- fields together */
static certreg_status check_statistic(certreg_estimator *e, const cr_question *q)
{
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    const int mean = q->statistic == CERTREG_STATISTIC_MEAN,
              true_mean = q->center == CERTREG_CENTER_TRUE_MEAN;
    if (true_mean && !mean)
        return refused(e, "center",
                       "use CERTREG_STATISTIC_MEAN: CERTREG_CENTER_TRUE_MEAN is for the mean only");
    if (true_mean && q->at_radius > 0)
        return refused(e, "center",
                       "use CERTREG_CENTER_PREDICTION: output bounds are not about the true "
                       "mean");
    if (q->method == CERTREG_METHOD_PAPER && (!mean || !true_mean))
        return refused(e, "method",
                       "use CERTREG_STATISTIC_MEAN and CERTREG_CENTER_TRUE_MEAN: "
                       "CERTREG_METHOD_PAPER supports nothing else");
    if (q->statistic == CERTREG_STATISTIC_CIRCULAR_MEAN && !cr_question_is_angle(e, q))
        return refused(e, "statistic",
                       "declare the output an angle in model.kind: "
                       "CERTREG_STATISTIC_CIRCULAR_MEAN needs one");
    if (cr_question_is_median(q) && q->constraints && (q->constraints & both) != both)
        return refused(e, "constraints",
                       "name CERTREG_CONSTRAINT_MEAN and _RANGE, or use "
                       "0: CERTREG_STATISTIC_MEDIAN needs both");
    if (mean && cr_question_without_normality(q) && !has_range(e, q))
        return refused(e, "method",
                       "declare model.lo and model.hi, or use CERTREG_METHOD_ASYMPTOTIC: "
                       "CERTREG_STATISTIC_MEAN with CERTREG_METHOD_FINITE or _ANYTIME needs the "
                       "range of every output");
    return CERTREG_OK;
}

/* What published certificates have not. */
static certreg_status check_baseline(certreg_estimator *e, const cr_question *q)
{
    const int trimmed = q->statistic == CERTREG_STATISTIC_TRIMMED_MEAN,
              ball = q->statistic == CERTREG_STATISTIC_BALL_CENTER,
              as_coded = q->center == CERTREG_CENTER_SAMPLE_MEDIAN;
    if (as_coded && q->method != CERTREG_METHOD_BASELINE)
        return refused(e, "center",
                       "use CERTREG_METHOD_BASELINE: CERTREG_CENTER_SAMPLE_MEDIAN is for median "
                       "smoothing only");
    if (q->method != CERTREG_METHOD_BASELINE)
        return !trimmed && !ball ? CERTREG_OK
                                 : cr_fail(&e->error, CERTREG_E_INVALID,
                                           "%s needs question.method = CERTREG_METHOD_BASELINE",
                                           trimmed ? "CERTREG_STATISTIC_TRIMMED_MEAN"
                                                   : "CERTREG_STATISTIC_BALL_CENTER");
    if (!trimmed && !ball && q->statistic != CERTREG_STATISTIC_MEDIAN)
        return wrong(e, "CERTREG_METHOD_BASELINE needs question.statistic = "
                        "CERTREG_STATISTIC_MEDIAN, _TRIMMED_MEAN or _BALL_CENTER");
    if (q->center == CERTREG_CENTER_TRUE_MEAN ||
        (as_coded && q->statistic != CERTREG_STATISTIC_MEDIAN))
        return wrong(e, "CERTREG_METHOD_BASELINE needs question.center = "
                        "CERTREG_CENTER_PREDICTION; its median may have "
                        "CERTREG_CENTER_SAMPLE_MEDIAN");
    if (as_coded && q->prediction_given)
        return wrong(e, "CERTREG_CENTER_SAMPLE_MEDIAN is the median of the samples; set "
                        "question.prediction to NULL");
    if (q->constraints)
        return wrong(e, "CERTREG_METHOD_BASELINE uses no constraints; set question.constraints "
                        "to 0");
    if (q->target > 0)
        return wrong(e, "CERTREG_METHOD_BASELINE has no target radius; set question.target to "
                        "NULL");
    if (q->at_radius > 0)
        return wrong(e, "CERTREG_METHOD_BASELINE has no output bounds; set question.method to "
                        "another one, or use certreg_certify");
    if (ball && q->output != CERTREG_ALL_OUTPUTS)
        return wrong(e, "CERTREG_STATISTIC_BALL_CENTER needs question.output = "
                        "CERTREG_ALL_OUTPUTS");
    if (!ball && cr_question_is_vector(q))
        return wrong(e, "question.output is CERTREG_ALL_OUTPUTS, or output_count is above 1; with "
                        "CERTREG_METHOD_BASELINE only CERTREG_STATISTIC_BALL_CENTER is about a "
                        "vector, so give an index");
    return CERTREG_OK;
}

static certreg_status check_looks(certreg_estimator *e, const cr_question *q)
{
    for (size_t i = 0; i < q->look_count; i++) {
        const uint64_t before = i ? q->looks[i - 1] : e->record.pilot, at = q->looks[i];
        if (at <= before)
            return cr_fail(&e->error, CERTREG_E_INVALID,
                           "question.target->looks[%zu] is %llu; it must exceed the %s, %llu", i,
                           (unsigned long long)at, i ? "look before it" : "pilot",
                           (unsigned long long)before);
        if (at > e->plan.max_samples)
            return cr_fail(&e->error, CERTREG_E_INVALID,
                           "question.target->looks[%zu] is %llu; it must not exceed "
                           "plan.max_samples = %zu",
                           i, (unsigned long long)at, e->plan.max_samples);
    }
    return CERTREG_OK;
}

static certreg_status check_target(certreg_estimator *e, const cr_question *q)
{
    if (!(q->target > 0)) return CERTREG_OK;
    if (q->at_radius > 0)
        return wrong(e, "output bounds have no target radius; set question.target to NULL");
    if (q->method != CERTREG_METHOD_ANYTIME &&
        (q->method != CERTREG_METHOD_FINITE || !cr_question_is_median(q)))
        return wrong(e, "question.target needs CERTREG_METHOD_ANYTIME, or "
                        "CERTREG_STATISTIC_MEDIAN with CERTREG_METHOD_FINITE");
    if (cr_question_is_closed(q) &&
        (e->plan.max_samples > CR_CLOSED_MOST || cr_asked_max_samples(e) > CR_CLOSED_MOST))
        return wrong(e, "question.target with CERTREG_METHOD_FINITE needs plan.max_samples below "
                        "2^31; otherwise use CERTREG_METHOD_ANYTIME");
    return check_looks(e, q);
}

static const size_t most_served = 1000000000; /* beyond, exact binomial tails take long */

static certreg_status check_serving(certreg_estimator *e, const cr_question *q)
{
    if (!q->served_samples) return CERTREG_OK;
    if (q->served_samples > most_served)
        return cr_question_invalid(e, "serving->samples", (double)q->served_samples,
                                   "it must not exceed 1e9");
    if (!(q->served_rate > 0 && q->served_rate <= 0.5))
        return cr_question_invalid(e, "serving->failure_rate", q->served_rate,
                                   "it must lie in (0, 0.5]");
    if (q->center == CERTREG_CENTER_TRUE_MEAN)
        return wrong(e, "question.serving is about a prediction; set question.center to "
                        "CERTREG_CENTER_PREDICTION");
    if (q->statistic == CERTREG_STATISTIC_MEAN && !has_range(e, q))
        return wrong(e, "question.serving with CERTREG_STATISTIC_MEAN needs the range of the "
                        "output; declare model.lo and model.hi");
    if (q->statistic == CERTREG_STATISTIC_MEDIAN && q->method == CERTREG_METHOD_BASELINE)
        return wrong(e, "CERTREG_METHOD_BASELINE is about the median itself; set question.serving "
                        "to NULL, or use CERTREG_METHOD_FINITE");
    return CERTREG_OK;
}

static certreg_status check_trim(certreg_estimator *e, const cr_question *q)
{
    const int trimmed = q->statistic == CERTREG_STATISTIC_TRIMMED_MEAN;
    if (trimmed && !q->served_samples)
        return wrong(e, "question.serving is NULL; CERTREG_STATISTIC_TRIMMED_MEAN needs its "
                        "samples and failure_rate");
    if (!trimmed && (q->served_trim != 0 || q->served_core != 0))
        return wrong(e, "only CERTREG_STATISTIC_TRIMMED_MEAN has question.serving->trim and core; "
                        "set both to 0");
    if (!(q->served_trim >= 0 && q->served_trim < 0.5))
        return cr_question_invalid(e, "serving->trim", q->served_trim, "it must lie in [0, 0.5)");
    if (!(q->served_core >= 0 && q->served_core <= q->tolerance))
        return cr_question_invalid(e, "serving->core", q->served_core,
                                   "it must lie in (0, tolerance], or be 0 for the tolerance");
    if (q->served_core > 0 && q->served_core < q->tolerance && !has_range(e, q))
        return cr_fail(&e->error, CERTREG_E_INVALID,
                       "question.serving->core is %g, but model.lo or model.hi is infinite; a core "
                       "below the tolerance helps only with a declared range",
                       q->served_core);
    return CERTREG_OK;
}

/* ---- with the plan */
/* Mean, variance and range cost nothing: every plan has them. The paper's intervals have a gradient
 * by default. */
static uint32_t costly_constraints(const cr_question *q)
{
    const uint32_t costly = CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_SECOND_ORDER;
    if (q->method == CERTREG_METHOD_PAPER && !q->constraints) return CERTREG_CONSTRAINT_GRADIENT;
    return q->constraints & costly;
}

static certreg_status check_constraints(certreg_estimator *e, const cr_question *q)
{
    const uint32_t lacking = costly_constraints(q) & ~e->plan.constraints;
    if (q->constraints & CERTREG_CONSTRAINT_GRADIENT &&
        (q->method == CERTREG_METHOD_ANYTIME || cr_question_is_closed(q)))
        return refused(e, "constraints",
                       "leave CERTREG_CONSTRAINT_GRADIENT out: neither "
                       "CERTREG_METHOD_ANYTIME nor a target uses the gradient");
    if (q->constraints & CERTREG_CONSTRAINT_SECOND_ORDER && q->method != CERTREG_METHOD_ASYMPTOTIC)
        return refused(e, "constraints",
                       "use CERTREG_METHOD_ASYMPTOTIC, or leave "
                       "CERTREG_CONSTRAINT_SECOND_ORDER out: no other method uses it");
    if (lacking & CERTREG_CONSTRAINT_GRADIENT && !q->constraints)
        return refused(e, "method",
                       "add CERTREG_CONSTRAINT_GRADIENT to plan.constraints, or set "
                       "question.constraints to CERTREG_CONSTRAINTS_ECM or _C: "
                       "CERTREG_METHOD_PAPER uses the gradient by default");
    if (lacking)
        return refused(e, "constraints",
                       lacking & CERTREG_CONSTRAINT_GRADIENT
                           ? "add CERTREG_CONSTRAINT_GRADIENT to plan.constraints: "
                             "the question names it, and the plan lacks it"
                           : "add CERTREG_CONSTRAINT_SECOND_ORDER to plan.constraints: "
                             "the question names it, and the plan lacks it");
    return CERTREG_OK;
}

static certreg_status check_prediction(certreg_estimator *e, const cr_question *q)
{
    if (cr_question_by_estimate(e, q) || q->prediction_given || e->record.pilot) return CERTREG_OK;
    return wrong(e, "question.prediction is NULL and there is no pilot to choose it; give one, set "
                    "plan.pilot, or take more samples");
}

/* ---- all of it */
/* What the question is about, and not how it is certified. */
static certreg_status check_subject(certreg_estimator *e, const cr_question *q)
{
    typedef certreg_status check(certreg_estimator *, const cr_question *);
    static check *const checks[] = {cr_question_check_enums,
                                    check_baseline,
                                    cr_question_check_vector,
                                    check_statistic,
                                    check_tolerance,
                                    check_numbers,
                                    check_predictions,
                                    cr_question_check_magnitude,
                                    check_serving,
                                    check_trim};
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; !status && i < sizeof checks / sizeof *checks; i++) status = checks[i](e, q);
    return status;
}

certreg_status cr_question_check(certreg_estimator *e, const cr_question *q)
{
    certreg_status status = check_subject(e, q);
    if (!status) status = check_target(e, q);
    if (!status) status = check_constraints(e, q);
    return status ? status : check_prediction(e, q);
}

certreg_status cr_question_take(certreg_estimator *e, const certreg_question *theirs,
                                cr_question *out)
{
    certreg_status status = cr_struct_check(theirs, CR_OLDEST_QUESTION, "question", &e->error);
    if (!status) status = cr_question_read(theirs, 0, 1, out, &e->error);
    return status ? status : cr_question_check(e, out);
}

certreg_status cr_question_take_for_estimate(certreg_estimator *e, const certreg_question *theirs,
                                             cr_question *out)
{
    certreg_status status = cr_struct_check(theirs, CR_OLDEST_QUESTION, "question", &e->error);
    if (!status) status = cr_question_read(theirs, 0, 1, out, &e->error);
    return status ? status : check_subject(e, out);
}
