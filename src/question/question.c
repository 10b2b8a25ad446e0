/* Whether a question makes sense for this model and plan; defaults. */
#include "base/structs.h"
#include "question/looks.h"
#include "question/question.h"
#include <math.h>
#include <string.h>

enum { OLDEST_QUESTION = sizeof(certreg_question) };

int cr_question_is_angle(const certreg_estimator *e, const certreg_question *q)
{
    return q->output >= 0 && e->model.kind[q->output] != CERTREG_OUTPUT_REAL;
}

double cr_question_period(const certreg_estimator *e, const certreg_question *q)
{
    return cr_question_is_angle(e, q) ? e->model.hi[q->output] - e->model.lo[q->output] : 0;
}

int cr_question_orders(const certreg_estimator *e, const certreg_question *q)
{
    return q->center == CERTREG_CENTER_REACH && q->statistic == CERTREG_STATISTIC_MEDIAN &&
           q->method == CERTREG_METHOD_FINITE && !cr_question_is_angle(e, q);
}

int cr_question_about_output(const certreg_question *q)
{
    return q->center == CERTREG_CENTER_TRUE_MEAN ||
           (q->center == CERTREG_CENTER_REACH && q->statistic == CERTREG_STATISTIC_MEAN);
}

uint32_t cr_question_constraints(const certreg_question *q)
{
    return q->constraints && q->statistic == CERTREG_STATISTIC_MEDIAN
               ? q->constraints | CERTREG_CONSTRAINT_VARIANCE
               : q->constraints;
}

int cr_question_is_closed(const certreg_question *q)
{
    return q->wanted > 0 && q->method == CERTREG_METHOD_FINITE;
}

static certreg_status invalid(certreg_estimator *e, const char *field, double value,
                              const char *rule)
{
    cr_fail(&e->error, CERTREG_E_INVALID, "question.%s is %g; %s", field, value, rule);
    e->error.value = value;
    return CERTREG_E_INVALID;
}

static int has_range(const certreg_estimator *e, int32_t output)
{
    return isfinite(e->model.lo[output]) && isfinite(e->model.hi[output]);
}

int cr_question_without_normality(const certreg_question *q)
{
    return q->method == CERTREG_METHOD_FINITE || q->method == CERTREG_METHOD_ANYTIME;
}

/* ---- one field at a time */
static certreg_status check_enums(certreg_estimator *e, const certreg_question *q)
{
    if (q->output != CERTREG_ALL_OUTPUTS &&
        (q->output < 0 || (size_t)q->output >= e->model.outputs))
        return invalid(e, "output", q->output, "the model has no such output");
    if (q->statistic < CERTREG_STATISTIC_MEDIAN || q->statistic > CERTREG_STATISTIC_CIRCULAR_MEAN)
        return invalid(e, "statistic", q->statistic, "no such score");
    if (q->method < 0 || q->method > CERTREG_METHOD_ANYTIME)
        return invalid(e, "method", q->method, "no such interval");
    if (q->center < 0 || q->center > CERTREG_CENTER_REACH)
        return invalid(e, "center", q->center, "no such promise");
    const uint32_t known = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                           CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_RANGE |
                           CERTREG_CONSTRAINT_SECOND_ORDER | CERTREG_CONSTRAINT_MOMENT;
    if (q->constraints & ~known)
        return invalid(e, "constraints", q->constraints,
                       "it names constraints that this version does not have");
    return CERTREG_OK;
}

static certreg_status check_tolerance(certreg_estimator *e, const certreg_question *q)
{
    const double period = cr_question_period(e, q);
    const int reach = q->center == CERTREG_CENTER_REACH;
    if (!(q->tolerance > 0 || (reach && q->tolerance == 0)) || !isfinite(q->tolerance))
        return invalid(e, "tolerance", q->tolerance, "it must be positive and finite");
    if (q->statistic == CERTREG_STATISTIC_CIRCULAR_MEAN && q->tolerance > period / 4)
        return invalid(e, "tolerance", q->tolerance,
                       "a circular mean is certified up to a quarter of a turn");
    if (period > 0 && q->statistic != CERTREG_STATISTIC_MEAN && !(q->tolerance < period / 2))
        return invalid(e, "tolerance", q->tolerance, "for an angle it must be below half a turn");
    if (reach && q->tolerance == 0 && q->statistic != CERTREG_STATISTIC_MEAN &&
        !cr_question_orders(e, q) && q->output >= 0 && !has_range(e, q->output))
        return invalid(e, "tolerance", 0,
                       "without a declared range, REACH needs the largest tolerance to try");
    return CERTREG_OK;
}

static certreg_status check_numbers(certreg_estimator *e, const certreg_question *q)
{
    if (q->statistic == CERTREG_STATISTIC_HUBER &&
        (!(q->huber_width > 0) || !isfinite(q->huber_width)))
        return invalid(e, "huber_width", q->huber_width,
                       "it must be positive and finite (often half the tolerance)");
    if (q->tolerance > 0 && q->huber_width > 1e6 * q->tolerance)
        return invalid(e, "huber_width", q->huber_width,
                       "so wide a score is the mean: use CERTREG_STATISTIC_MEAN");
    if (q->statistic != CERTREG_STATISTIC_HUBER && q->huber_width != 0)
        return invalid(e, "huber_width", q->huber_width,
                       "it belongs to CERTREG_STATISTIC_HUBER; use 0");
    if (!(q->alpha > 0 && q->alpha <= 0.5))
        return invalid(e, "alpha", q->alpha,
                       "it must lie in (0, 0.5], and not below 1e-300 after division by joint");
    if (q->prediction_given != 0 && q->prediction_given != 1)
        return invalid(e, "prediction_given", q->prediction_given, "it must be 0 or 1");
    if (q->prediction_given && !isfinite(q->prediction))
        return invalid(e, "prediction", q->prediction, "it must be finite");
    if (!q->prediction_given && q->prediction != 0)
        return invalid(e, "prediction", q->prediction, "it counts only with prediction_given");
    return CERTREG_OK;
}

/* ---- fields together */
static certreg_status check_score(certreg_estimator *e, const certreg_question *q)
{
    const int mean = q->statistic == CERTREG_STATISTIC_MEAN,
              median = q->statistic == CERTREG_STATISTIC_MEDIAN;
    if (q->center == CERTREG_CENTER_TRUE_MEAN && !mean)
        return invalid(e, "center", q->center, "the true value can be promised for the mean only");
    if (q->method == CERTREG_METHOD_PAPER && (!mean || q->center != CERTREG_CENTER_TRUE_MEAN))
        return invalid(e, "method", q->method,
                       "the paper's intervals belong to the mean and to CERTREG_CENTER_TRUE_MEAN");
    if (q->statistic == CERTREG_STATISTIC_CIRCULAR_MEAN && !cr_question_is_angle(e, q))
        return invalid(e, "statistic", q->statistic,
                       "the circular mean needs an output that is an angle");
    if (median && q->constraints &&
        (!(q->constraints & CERTREG_CONSTRAINT_MEAN) ||
         !(q->constraints & CERTREG_CONSTRAINT_RANGE)))
        return invalid(
            e, "constraints", q->constraints,
            "the median is certified by its mean score and range: include both, or use 0");
    if (mean && cr_question_without_normality(q) && q->output >= 0 && !has_range(e, q->output))
        return invalid(e, "method", q->method,
                       "bounds of a mean without normality need the range of the output: declare "
                       "model.lo and model.hi");
    return CERTREG_OK;
}

static certreg_status check_norm(certreg_estimator *e, const certreg_question *q)
{
    if (q->output != CERTREG_ALL_OUTPUTS) return CERTREG_OK;
    if (cr_question_without_normality(q) && q->constraints & CERTREG_CONSTRAINT_GRADIENT)
        return invalid(e, "constraints", q->constraints,
                       "without normality a norm is certified by its variance alone: "
                       "CERTREG_CONSTRAINTS_C, or 0");
    if (q->statistic != CERTREG_STATISTIC_MEAN || q->center != CERTREG_CENTER_TRUE_MEAN)
        return invalid(e, "output", q->output,
                       "the norm of all outputs goes with CERTREG_STATISTIC_MEAN and "
                       "CERTREG_CENTER_TRUE_MEAN");
    if (q->method == CERTREG_METHOD_PAPER)
        return invalid(e, "method", q->method, "the paper's intervals are those of one output");
    if (q->constraints & ~(uint32_t)CERTREG_CONSTRAINTS_CG)
        return invalid(
            e, "constraints", q->constraints,
            "a norm is certified by variance and gradient: CERTREG_CONSTRAINTS_C, _CG, or 0");
    for (size_t k = 0; k < e->model.outputs; k++) {
        if (e->model.kind[k] != CERTREG_OUTPUT_REAL)
            return invalid(e, "output", q->output,
                           "the norm of all outputs needs them to be REAL, not angles");
        if (cr_question_without_normality(q) && !has_range(e, (int32_t)k))
            return invalid(e, "method", q->method,
                           "bounds without normality need the range of every output: declare "
                           "model.lo and model.hi");
    }
    return CERTREG_OK;
}

static certreg_status check_wanted(certreg_estimator *e, const certreg_question *q)
{
    if (!(q->wanted >= 0) || !isfinite(q->wanted))
        return invalid(e, "wanted", q->wanted, "it must be a radius, or 0");
    if (q->wanted == 0) {
        if (q->looks || q->look_count)
            return invalid(e, "look_count", (double)q->look_count, "looks go with `wanted`");
        return CERTREG_OK;
    }
    if (q->center == CERTREG_CENTER_REACH)
        return invalid(e, "wanted", q->wanted, "it goes with promises about a radius");
    if (q->method != CERTREG_METHOD_ANYTIME &&
        (q->method != CERTREG_METHOD_FINITE || q->statistic != CERTREG_STATISTIC_MEDIAN))
        return invalid(e, "wanted", q->wanted,
                       "sampling may stop by its outcome with CERTREG_METHOD_ANYTIME, or with "
                       "FINITE for the median");
    return cr_looks_check(e, q);
}

static const size_t most_served = 1000000000; /* beyond, exact binomial tails take long */

static certreg_status check_served(certreg_estimator *e, const certreg_question *q)
{
    if (!q->served_samples)
        return q->served_beta == 0
                   ? CERTREG_OK
                   : invalid(e, "served_beta", q->served_beta, "it goes with served_samples");
    if (q->served_samples > most_served)
        return invalid(e, "served_samples", (double)q->served_samples,
                       "it must not exceed a thousand million");
    if (!(q->served_beta > 0 && q->served_beta <= 0.5))
        return invalid(e, "served_beta", q->served_beta, "it must lie in (0, 0.5]");
    if (q->center == CERTREG_CENTER_TRUE_MEAN)
        return invalid(e, "served_samples", (double)q->served_samples,
                       "what is served is promised about the prediction, not about the true mean");
    if (q->statistic == CERTREG_STATISTIC_MEAN && !has_range(e, q->output))
        return invalid(e, "served_samples", (double)q->served_samples,
                       "a served mean can be promised only with a declared range of the output");
    return CERTREG_OK;
}

static certreg_status check_reach(certreg_estimator *e, const certreg_question *q)
{
    if (q->center != CERTREG_CENTER_REACH)
        return q->at_radius == 0
                   ? CERTREG_OK
                   : invalid(e, "at_radius", q->at_radius, "it goes with CERTREG_CENTER_REACH");
    if (!(q->at_radius > 0) || !isfinite(q->at_radius))
        return invalid(e, "at_radius", q->at_radius, "REACH needs the radius, positive and finite");
    return CERTREG_OK;
}

/* Constraints that are named must be there; those that are not named are used where the plan and
 * the interval have them. */
static certreg_status check_plan_allows(certreg_estimator *e, const certreg_question *q)
{
    if (q->constraints & CERTREG_CONSTRAINT_GRADIENT &&
        (q->method == CERTREG_METHOD_ANYTIME || cr_question_is_closed(q)))
        return invalid(e, "constraints", q->constraints,
                       "neither time-uniform intervals nor wanted radii have a gradient");
    if (!cr_estimator_has_gradient(e) &&
        (q->method == CERTREG_METHOD_PAPER || q->constraints & CERTREG_CONSTRAINT_GRADIENT))
        return invalid(e, "method", q->method,
                       "it needs the gradient, which plan.constraints left out");
    if (q->constraints & CERTREG_CONSTRAINT_SECOND_ORDER &&
        (q->method != CERTREG_METHOD_ASYMPTOTIC ||
         !(e->plan.constraints & CERTREG_CONSTRAINT_SECOND_ORDER)))
        return invalid(e, "constraints", q->constraints,
                       "the second order needs CERTREG_METHOD_ASYMPTOTIC and "
                       "CERTREG_CONSTRAINT_SECOND_ORDER in plan.constraints");
    if (!q->prediction_given && q->center != CERTREG_CENTER_TRUE_MEAN && !e->plan.pilot &&
        !cr_question_orders(e, q) &&
        !(q->center == CERTREG_CENTER_REACH && q->statistic == CERTREG_STATISTIC_MEAN))
        return invalid(e, "prediction_given", 0,
                       "the plan has no pilot to choose a prediction from, so one must be given");
    return CERTREG_OK;
}

certreg_status cr_question_read(certreg_estimator *e, const certreg_question *theirs,
                                cr_conditions *out)
{
    static certreg_status (*const checks[])(certreg_estimator *, const certreg_question *) = {
        check_enums,  check_score,  check_norm,  check_tolerance,  check_numbers,
        check_wanted, check_served, check_reach, check_plan_allows};
    memset(out, 0, sizeof *out);
    certreg_question *q = &out->question;
    certreg_status status =
        cr_struct_read(q, sizeof *q, OLDEST_QUESTION, theirs, "question", &e->error);
    if (status) return status;
    if (q->alpha == 0) q->alpha = 0.05;
    if (!q->bonferroni) q->bonferroni = 1;
    for (size_t i = 0; !status && i < sizeof checks / sizeof *checks; i++) status = checks[i](e, q);
    q->alpha /= q->bonferroni;
    if (!status && q->alpha < 1e-300)
        return invalid(e, "alpha", q->alpha, "divided by joint it must be at least 1e-300");
    return status;
}
