/* Whether a question makes sense for this model and plan; defaults. */
#include "base/structs.h"
#include "estimator/inquiry.h"
#include <math.h>
#include <string.h>

enum { OLDEST_QUESTION = sizeof(certreg_question) };

int cr_inquiry_is_angle(const certreg_estimator *e, const certreg_question *q)
{
    return q->output >= 0 && e->at.kind[q->output] != CERTREG_REAL;
}

double cr_inquiry_period(const certreg_estimator *e, const certreg_question *q)
{
    return cr_inquiry_is_angle(e, q) ? e->at.hi[q->output] - e->at.lo[q->output] : 0;
}

int cr_inquiry_orders(const certreg_estimator *e, const certreg_question *q)
{
    return q->promise == CERTREG_PROMISE_REACH && q->score == CERTREG_SCORE_MEDIAN && q->interval == CERTREG_INTERVAL_FINITE &&
           !cr_inquiry_is_angle(e, q);
}

int cr_inquiry_about_output(const certreg_question *q)
{
    return q->promise == CERTREG_PROMISE_TRUE_MEAN || (q->promise == CERTREG_PROMISE_REACH && q->score == CERTREG_SCORE_MEAN);
}

uint32_t cr_inquiry_family(const certreg_question *q)
{
    return q->family && q->score == CERTREG_SCORE_MEDIAN ? q->family | CERTREG_VARIANCE : q->family;
}

int cr_inquiry_is_closed(const certreg_question *q)
{
    return q->wanted > 0 && q->interval == CERTREG_INTERVAL_FINITE;
}

static certreg_status invalid(certreg_estimator *e, const char *field, double value, const char *rule)
{
    cr_fail(&e->error, CERTREG_INVALID, "question.%s is %g; %s", field, value, rule);
    e->error.value = value;
    return CERTREG_INVALID;
}

static int has_range(const certreg_estimator *e, int32_t output)
{
    return isfinite(e->at.lo[output]) && isfinite(e->at.hi[output]);
}

int cr_inquiry_without_normality(const certreg_question *q)
{
    return q->interval == CERTREG_INTERVAL_FINITE || q->interval == CERTREG_INTERVAL_ANYTIME;
}

/* ---- one field at a time -------------------------------------------------------------------------------------------------------- */
static certreg_status check_enums(certreg_estimator *e, const certreg_question *q)
{
    if (q->output != CERTREG_OUTPUT_NORM && (q->output < 0 || (size_t)q->output >= e->model.outputs))
        return invalid(e, "output", q->output, "the model has no such output");
    if (q->score < CERTREG_SCORE_MEDIAN || q->score > CERTREG_SCORE_CIRCULAR_MEAN) return invalid(e, "score", q->score, "no such score");
    if (q->interval < 0 || q->interval > CERTREG_INTERVAL_ANYTIME) return invalid(e, "interval", q->interval, "no such interval");
    if (q->promise < 0 || q->promise > CERTREG_PROMISE_REACH) return invalid(e, "promise", q->promise, "no such promise");
    const uint32_t known = CERTREG_MEAN | CERTREG_VARIANCE | CERTREG_GRADIENT | CERTREG_RANGE | CERTREG_SECOND_ORDER | CERTREG_MOMENT;
    if (q->family & ~known) return invalid(e, "family", q->family, "it names facts that this version does not have");
    return CERTREG_OK;
}

static certreg_status check_tolerance(certreg_estimator *e, const certreg_question *q)
{
    const double period = cr_inquiry_period(e, q);
    const int reach = q->promise == CERTREG_PROMISE_REACH;
    if (!(q->tolerance > 0 || (reach && q->tolerance == 0)) || !isfinite(q->tolerance))
        return invalid(e, "tolerance", q->tolerance, "it must be positive and finite");
    if (q->score == CERTREG_SCORE_CIRCULAR_MEAN && q->tolerance > period / 4)
        return invalid(e, "tolerance", q->tolerance, "a circular mean is certified up to a quarter of a turn");
    if (period > 0 && q->score != CERTREG_SCORE_MEAN && !(q->tolerance < period / 2))
        return invalid(e, "tolerance", q->tolerance, "for an angle it must be below half a turn");
    if (reach && q->tolerance == 0 && q->score != CERTREG_SCORE_MEAN && !cr_inquiry_orders(e, q) && q->output >= 0 && !has_range(e, q->output))
        return invalid(e, "tolerance", 0, "without a declared range, REACH needs the largest tolerance to try");
    return CERTREG_OK;
}

static certreg_status check_numbers(certreg_estimator *e, const certreg_question *q)
{
    if (q->score == CERTREG_SCORE_HUBER && (!(q->huber_width > 0) || !isfinite(q->huber_width)))
        return invalid(e, "huber_width", q->huber_width, "it must be positive and finite (often half the tolerance)");
    if (q->tolerance > 0 && q->huber_width > 1e6 * q->tolerance)
        return invalid(e, "huber_width", q->huber_width, "so wide a score is the mean: use CERTREG_SCORE_MEAN");
    if (q->score != CERTREG_SCORE_HUBER && q->huber_width != 0) return invalid(e, "huber_width", q->huber_width, "it belongs to CERTREG_SCORE_HUBER; use 0");
    if (!(q->alpha > 0 && q->alpha <= 0.5)) return invalid(e, "alpha", q->alpha, "it must lie in (0, 0.5], and not below 1e-300 after division by joint");
    if (q->prediction_given != 0 && q->prediction_given != 1) return invalid(e, "prediction_given", q->prediction_given, "it must be 0 or 1");
    if (q->prediction_given && !isfinite(q->prediction)) return invalid(e, "prediction", q->prediction, "it must be finite");
    if (!q->prediction_given && q->prediction != 0) return invalid(e, "prediction", q->prediction, "it counts only with prediction_given");
    return CERTREG_OK;
}

/* ---- fields together ------------------------------------------------------------------------------------------------------------ */
static certreg_status check_score(certreg_estimator *e, const certreg_question *q)
{
    const int mean = q->score == CERTREG_SCORE_MEAN, median = q->score == CERTREG_SCORE_MEDIAN;
    if (q->promise == CERTREG_PROMISE_TRUE_MEAN && !mean) return invalid(e, "promise", q->promise, "the true value can be promised for the mean only");
    if (q->interval == CERTREG_INTERVAL_PAPER && (!mean || q->promise != CERTREG_PROMISE_TRUE_MEAN))
        return invalid(e, "interval", q->interval, "the paper's intervals belong to the mean and to CERTREG_PROMISE_TRUE_MEAN");
    if (q->score == CERTREG_SCORE_CIRCULAR_MEAN && !cr_inquiry_is_angle(e, q)) return invalid(e, "score", q->score, "the circular mean needs an output that is an angle");
    if (median && q->family && (!(q->family & CERTREG_MEAN) || !(q->family & CERTREG_RANGE)))
        return invalid(e, "family", q->family, "the median is certified by its mean score and range: include both, or use 0");
    if (mean && cr_inquiry_without_normality(q) && q->output >= 0 && !has_range(e, q->output))
        return invalid(e, "interval", q->interval, "bounds of a mean without normality need the range of the output: declare model.lo and model.hi");
    return CERTREG_OK;
}

static certreg_status check_norm(certreg_estimator *e, const certreg_question *q)
{
    if (q->output != CERTREG_OUTPUT_NORM) return CERTREG_OK;
    if (cr_inquiry_without_normality(q) && q->family & CERTREG_GRADIENT)
        return invalid(e, "family", q->family, "without normality a norm is certified by its variance alone: CERTREG_FAMILY_C, or 0");
    if (q->score != CERTREG_SCORE_MEAN || q->promise != CERTREG_PROMISE_TRUE_MEAN)
        return invalid(e, "output", q->output, "the norm of all outputs goes with CERTREG_SCORE_MEAN and CERTREG_PROMISE_TRUE_MEAN");
    if (q->interval == CERTREG_INTERVAL_PAPER) return invalid(e, "interval", q->interval, "the paper's intervals are those of one output");
    if (q->family & ~(uint32_t)CERTREG_FAMILY_CG) return invalid(e, "family", q->family, "a norm is certified by variance and gradient: CERTREG_FAMILY_C, _CG, or 0");
    for (size_t k = 0; k < e->model.outputs; k++) {
        if (e->at.kind[k] != CERTREG_REAL) return invalid(e, "output", q->output, "the norm of all outputs needs them to be REAL, not angles");
        if (cr_inquiry_without_normality(q) && !has_range(e, (int32_t)k))
            return invalid(e, "interval", q->interval, "bounds without normality need the range of every output: declare model.lo and model.hi");
    }
    return CERTREG_OK;
}

static certreg_status check_wanted(certreg_estimator *e, const certreg_question *q)
{
    if (!(q->wanted >= 0) || !isfinite(q->wanted)) return invalid(e, "wanted", q->wanted, "it must be a radius, or 0");
    if (q->wanted == 0) {
        if (q->looks || q->look_count) return invalid(e, "look_count", (double)q->look_count, "looks go with `wanted`");
        return CERTREG_OK;
    }
    if (q->promise == CERTREG_PROMISE_REACH) return invalid(e, "wanted", q->wanted, "it goes with promises about a radius");
    if (q->interval != CERTREG_INTERVAL_ANYTIME && (q->interval != CERTREG_INTERVAL_FINITE || q->score != CERTREG_SCORE_MEDIAN))
        return invalid(e, "wanted", q->wanted, "sampling may stop by its outcome with CERTREG_INTERVAL_ANYTIME, or with FINITE for the median");
    return cr_looks_check(e, q);
}

static const size_t most_served = 1000000000; /* beyond, exact binomial tails take long */

static certreg_status check_served(certreg_estimator *e, const certreg_question *q)
{
    if (!q->served_samples) return q->served_beta == 0 ? CERTREG_OK : invalid(e, "served_beta", q->served_beta, "it goes with served_samples");
    if (q->served_samples > most_served) return invalid(e, "served_samples", (double)q->served_samples, "it must not exceed a thousand million");
    if (!(q->served_beta > 0 && q->served_beta <= 0.5)) return invalid(e, "served_beta", q->served_beta, "it must lie in (0, 0.5]");
    if (q->promise == CERTREG_PROMISE_TRUE_MEAN) return invalid(e, "served_samples", (double)q->served_samples, "what is served is promised about the prediction, not about the true mean");
    if (q->score == CERTREG_SCORE_MEAN && !has_range(e, q->output))
        return invalid(e, "served_samples", (double)q->served_samples, "a served mean can be promised only with a declared range of the output");
    return CERTREG_OK;
}

static certreg_status check_reach(certreg_estimator *e, const certreg_question *q)
{
    if (q->promise != CERTREG_PROMISE_REACH) return q->at_radius == 0 ? CERTREG_OK : invalid(e, "at_radius", q->at_radius, "it goes with CERTREG_PROMISE_REACH");
    if (!(q->at_radius > 0) || !isfinite(q->at_radius)) return invalid(e, "at_radius", q->at_radius, "REACH needs the radius, positive and finite");
    return CERTREG_OK;
}

/* Facts that are named must be there; those that are not named are used where the plan and the interval have them. */
static certreg_status check_plan_allows(certreg_estimator *e, const certreg_question *q)
{
    if (q->family & CERTREG_GRADIENT && (q->interval == CERTREG_INTERVAL_ANYTIME || cr_inquiry_is_closed(q)))
        return invalid(e, "family", q->family, "neither time-uniform intervals nor wanted radii have a gradient");
    if (!cr_estimator_has_gradient(e) && (q->interval == CERTREG_INTERVAL_PAPER || q->family & CERTREG_GRADIENT))
        return invalid(e, "interval", q->interval, "it needs the gradient, which plan.facts left out");
    if (q->family & CERTREG_SECOND_ORDER && (q->interval != CERTREG_INTERVAL_ASYMPTOTIC || !(e->plan.facts & CERTREG_SECOND_ORDER)))
        return invalid(e, "family", q->family, "the second order needs CERTREG_INTERVAL_ASYMPTOTIC and CERTREG_SECOND_ORDER in plan.facts");
    if (!q->prediction_given && q->promise != CERTREG_PROMISE_TRUE_MEAN && !e->plan.pilot && !cr_inquiry_orders(e, q) &&
        !(q->promise == CERTREG_PROMISE_REACH && q->score == CERTREG_SCORE_MEAN))
        return invalid(e, "prediction_given", 0, "the plan has no pilot to choose a prediction from, so one must be given");
    return CERTREG_OK;
}

certreg_status cr_inquiry_read(certreg_estimator *e, const certreg_question *theirs, cr_inquiry *out)
{
    static certreg_status (*const checks[])(certreg_estimator *, const certreg_question *) = {
        check_enums, check_score, check_norm, check_tolerance, check_numbers, check_wanted, check_served, check_reach, check_plan_allows};
    memset(out, 0, sizeof *out);
    certreg_question *q = &out->question;
    certreg_status status = cr_struct_read(q, sizeof *q, OLDEST_QUESTION, theirs, "question", &e->error);
    if (status) return status;
    if (q->alpha == 0) q->alpha = 0.05;
    if (!q->joint) q->joint = 1;
    for (size_t i = 0; !status && i < sizeof checks / sizeof *checks; i++) status = checks[i](e, q);
    q->alpha /= q->joint;
    if (!status && q->alpha < 1e-300) return invalid(e, "alpha", q->alpha, "divided by joint it must be at least 1e-300");
    return status;
}
