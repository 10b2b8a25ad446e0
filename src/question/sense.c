/* Whether a question makes sense for this model and plan. */
#include "base/sizes.h"
#include "base/structs.h"
#include "question/together.h"
#include "record/asked.h"
#include "statistics/pairs.h"
#include <math.h>

static certreg_status wrong(certreg_error *why, const char *sentence)
{
    return cr_fail(why, CERTREG_E_INVALID, "%s", sentence);
}

/* A number, with the rule that it breaks. */
static certreg_status invalid(certreg_error *why, const char *field, double value, const char *rule)
{
    cr_fail(why, CERTREG_E_INVALID, "question.%s is %g; %s", field, value, rule);
    why->value = value;
    return CERTREG_E_INVALID;
}

/* Whether every output that it is about has a range. */
static int has_range(cr_view *v, const cr_question *q)
{
    int all = 1;
    for (size_t k = q->first; k < q->end; k++)
        all &= isfinite(v->model.lo[k]) && isfinite(v->model.hi[k]);
    return all;
}

/* ---- one field at a time */
static certreg_status check_names(cr_view *v, const cr_question *q, certreg_error *why)
{
    if (q->output != CERTREG_ALL_OUTPUTS &&
        (q->output < 0 || (size_t)q->output >= v->model.outputs)) {
        cr_fail(why, CERTREG_E_INVALID,
                "question.output is %d; give an index below model.outputs = %zu, or "
                "CERTREG_ALL_OUTPUTS",
                (int)q->output, v->model.outputs);
        return why->value = q->output, CERTREG_E_INVALID;
    }
    const size_t first = q->output < 0 ? 0 : (size_t)q->output;
    if (q->output_count > v->model.outputs - first ||
        (q->output == CERTREG_ALL_OUTPUTS && q->output_count))
        return cr_fail(why, CERTREG_E_INVALID,
                       "question.output_count is %zu; give at most model.outputs - "
                       "question.output, and 0 with CERTREG_ALL_OUTPUTS",
                       q->output_count);
    if (!cr_statistic_of(q->statistic))
        return invalid(why, "statistic", q->statistic,
                       "give one of CERTREG_STATISTIC_..., the same for all inputs: chosen for "
                       "each, it would be another function at a shifted input");
    if (!cr_method_of(q->method))
        return invalid(why, "method", q->method, "give one of CERTREG_METHOD_...");
    if (!cr_center_of(q->center))
        return invalid(why, "center", q->center, "give one of CERTREG_CENTER_...");
    return cr_constraints_check(q->constraints, "question.constraints", why);
}

static certreg_status check_tolerance(cr_view *v, const cr_question *q, certreg_error *why)
{
    const int inverse = q->at_radius > 0, quarter = q->statistic_row->angle == CR_ANGLE_ROUND;
    if (!(q->tolerance > 0 || (inverse && q->tolerance == 0)) || !isfinite(q->tolerance))
        return invalid(why, "tolerance", q->tolerance, "it must be positive and finite");
    if (quarter && q->tolerance > q->period / 4)
        return invalid(why, "tolerance", q->tolerance,
                       "for a mean on the circle it must not exceed a quarter of a "
                       "turn");
    if (q->period > 0 && !(q->tolerance < q->period / 2))
        return invalid(why, "tolerance", q->tolerance, "for an angle it must be below half a turn");
    if (inverse && q->tolerance == 0 && !q->about_output && !q->is_ordered && !has_range(v, q))
        return invalid(why, "tolerance", 0,
                       "give the largest tolerance to try, or declare model.lo and model.hi");
    return CERTREG_OK;
}

static certreg_status check_numbers(const cr_question *q, certreg_error *why)
{
    const int has_width = q->statistic_row->has_width;
    if (has_width && (!(q->huber_width > 0) || !isfinite(q->huber_width)))
        return invalid(why, "huber_width", q->huber_width,
                       "it must be positive and finite (often half the tolerance)");
    if (q->tolerance > 0 && q->huber_width > 1e6 * q->tolerance)
        return invalid(
            why, "huber_width", q->huber_width,
            "it must not exceed 1e6 tolerances; CERTREG_STATISTIC_MEAN gives nearly the same");
    if (has_width && q->huber_width < 1e-6 * q->tolerance) /* next to which it has no digits */
        return invalid(
            why, "huber_width", q->huber_width,
            "it must be at least 1e-6 tolerances; CERTREG_STATISTIC_MEDIAN gives nearly the same");
    if (!has_width && q->huber_width != 0)
        return invalid(why, "huber_width", q->huber_width,
                       "set it to 0; only CERTREG_STATISTIC_HUBER has a width");
    return CERTREG_OK;
}

static certreg_status check_predictions(const cr_question *q, certreg_error *why)
{
    const size_t count = q->prediction_count, needed = q->outputs;
    if (q->prediction_given && count != needed)
        return cr_fail(why, CERTREG_E_INVALID,
                       "question.prediction has %zu number%s; this question needs %zu%s", count,
                       count == 1 ? "" : "s", needed, q->is_vector ? ", one per output" : "");
    for (size_t k = 0; k < q->prediction_count; k++)
        if (!isfinite(q->predictions[k]))
            return invalid(why, "prediction", q->predictions[k], "it must be finite");
    return CERTREG_OK;
}

/* ---- numbers of such different magnitudes that a mean cannot be computed from them */
static const double greatest = 1e150; /* has a square, with room for sums */

/* Next to a tolerance of another magnitude the digits of the outputs are lost. */
static certreg_status check_size(cr_view *v, const cr_question *q, certreg_error *why)
{
    double most = 0;
    for (size_t k = q->first; k < q->end; k++)
        most = fmax(most, 1e12 * fmax(fabs(v->model.lo[k]), fabs(v->model.hi[k])));
    if (!(q->tolerance > fmin(most, greatest))) return CERTREG_OK;
    return invalid(why, "tolerance", q->tolerance,
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
static certreg_status check_distance(cr_view *v, const cr_question *q, size_t k, certreg_error *why)
{
    const double lo = v->model.lo[k], hi = v->model.hi[k],
                 prediction = q->predictions[k - q->first],
                 far = q->tolerance + fmax(fabs(lo - prediction), fabs(hi - prediction)),
                 most = q->method_row->normality ? INFINITY : 4 * greatest;
    if (!isfinite(hi - lo) || (far < most && far + 0.25 * (hi - lo) > far)) return CERTREG_OK;
    return invalid(why, "prediction", prediction,
                   "it is too far from the range of the output: next to it a double has no digits "
                   "left for a mean; give one within the range, or near it");
}

static certreg_status check_magnitude(cr_view *v, const cr_question *q, certreg_error *why)
{
    const int from_prediction = q->prediction_given && !q->about_output;
    if (q->is_bounded) return CERTREG_OK;
    certreg_status status = q->at_radius > 0 ? CERTREG_OK : check_size(v, q, why);
    for (size_t k = q->first; k < q->end && !status; k++) {
        status = check_range(v, q, k, why);
        if (!status && from_prediction) status = check_distance(v, q, k, why);
    }
    return status;
}

/* ---- fields together */
static certreg_status check_vector(cr_view *v, const cr_question *q, certreg_error *why)
{
    if (!q->is_vector) return CERTREG_OK;
    for (size_t k = q->first; k < q->end; k++)
        if (v->model.kind[k] != CERTREG_OUTPUT_REAL)
            return cr_fail(why, CERTREG_E_INVALID,
                           "question.output: output %zu is an angle, and a vector needs every "
                           "model.kind to be CERTREG_OUTPUT_REAL: ask about the angle by a "
                           "question of its own, and combine them by certreg_certify_outputs",
                           k);
    if (!(q->at_radius > 0)) return CERTREG_OK;
    return wrong(why, "question.output: give one question per output: output bounds are about one");
}

/* Scores of two values are certified from their mean and range. */
static certreg_status check_scores(cr_view *v, const cr_question *q, certreg_error *why)
{
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    const cr_statistic *s = q->statistic_row;
    if (q->is_counted && q->constraints && (q->constraints & both) != both)
        return cr_fail(why, CERTREG_E_INVALID,
                       "question.constraints: name CERTREG_CONSTRAINT_MEAN and _RANGE, or use 0: "
                       "CERTREG_STATISTIC_%s needs both",
                       s->row.name);
    if (!q->is_bounded && !q->method_row->normality && !has_range(v, q))
        return cr_fail(why, CERTREG_E_INVALID,
                       "question.method: declare model.lo and model.hi, or use "
                       "CERTREG_METHOD_ASYMPTOTIC: CERTREG_STATISTIC_%s with CERTREG_METHOD_%s "
                       "needs the range of every output",
                       s->row.name, q->method_row->row.name);
    return CERTREG_OK;
}

static uint32_t asked_of(const cr_question *q)
{
    const int all = q->output < 0 && q->statistic_row->row.offers & CR_OFFERS_ALL;
    const uint32_t about = all            ? CR_OFFERS_ALL
                           : q->is_vector ? CR_OFFERS_VECTOR
                           : q->is_angle  ? CR_OFFERS_ANGLE
                                          : CR_OFFERS_NUMBER;
    const uint32_t serving = q->method_row->published ? CR_OFFERS_PUBLISHED_SERVING
                                                      : CR_OFFERS_SERVING;
    return about | (q->served_samples ? serving : 0) |
           (q->at_radius > 0 ? CR_OFFERS_OUTPUT_BOUNDS : 0);
}

/* Statistic, method and center with each other, and with what they are about. */
static certreg_status check_together(const cr_question *q, certreg_error *why)
{
    certreg_status status = cr_together_check_pairs(q, why);
    if (!status) status = cr_together_check(q, asked_of(q), why);
    if (status || !q->center_row->every_sample || !q->prediction_given) return status;
    return wrong(why, "CERTREG_CENTER_SAMPLE_MEDIAN is the median of the samples; set "
                      "question.prediction to NULL");
}

static certreg_status check_looks(cr_view *v, const cr_question *q, certreg_error *why)
{
    for (size_t i = 0; i < q->look_count; i++) {
        const uint64_t before = i ? q->looks[i - 1] : v->pilot, at = q->looks[i];
        if (at <= before)
            return cr_fail(why, CERTREG_E_INVALID,
                           "question.target->looks[%zu] is %llu; it must exceed the %s, %llu", i,
                           (unsigned long long)at, i ? "look before it" : "pilot",
                           (unsigned long long)before);
        if (at > v->plan.max_samples)
            return cr_fail(why, CERTREG_E_INVALID,
                           "question.target->looks[%zu] is %llu; it must not exceed "
                           "plan.max_samples = %zu",
                           i, (unsigned long long)at, v->plan.max_samples);
    }
    return CERTREG_OK;
}

static certreg_status check_target(cr_view *v, const cr_question *q, certreg_error *why)
{
    if (!(q->target > 0)) return CERTREG_OK;
    if (q->at_radius > 0)
        return wrong(why, "output bounds have no target radius; set question.target to NULL");
    const certreg_status status =
        cr_together_check(q, q->is_group ? CR_OFFERS_GROUP_TEST : CR_OFFERS_TARGET, why);
    if (status) return status;
    if (q->is_group &&
        (v->plan.max_samples > CR_GROUP_MOST || cr_asked_max_samples(v) > CR_GROUP_MOST))
        return wrong(why, "question.target with CERTREG_METHOD_FINITE needs plan.max_samples below "
                          "2^31; otherwise use CERTREG_METHOD_ANYTIME");
    return check_looks(v, q, why);
}

static const size_t most_served = 1000000000; /* beyond, exact binomial tails take long */

static certreg_status check_serving(cr_view *v, const cr_question *q, certreg_error *why)
{
    if (!q->served_samples) return CERTREG_OK;
    if (q->served_samples > most_served)
        return invalid(why, "serving->samples", (double)q->served_samples,
                       "it must not exceed 1e9");
    if (q->served_pairs &&
        (q->served_samples < CR_PAIRS_LEAST || q->served_samples > CR_PAIRS_MOST))
        return invalid(why, "serving->samples", (double)q->served_samples,
                       "from pairs it must be 11 to 10,001");
    if (!(q->served_rate > 0 && q->served_rate <= 0.5))
        return invalid(why, "serving->failure_rate", q->served_rate, "it must lie in (0, 0.5]");
    if (!q->is_bounded && !has_range(v, q))
        return cr_fail(why, CERTREG_E_INVALID,
                       "question.serving with CERTREG_STATISTIC_%s needs the range of the output; "
                       "declare model.lo and model.hi",
                       q->statistic_row->row.name);
    return CERTREG_OK;
}

static certreg_status check_trim(cr_view *v, const cr_question *q, certreg_error *why)
{
    const int trimmed = q->statistic_row->trims;
    if (trimmed && !q->served_samples)
        return wrong(why, "question.serving: CERTREG_STATISTIC_TRIMMED_MEAN needs its samples and "
                          "failure_rate");
    if (!trimmed && (q->served_trim != 0 || q->served_core != 0))
        return wrong(why,
                     "only CERTREG_STATISTIC_TRIMMED_MEAN has question.serving->trim and core; "
                     "set both to 0");
    if (!(q->served_trim >= 0 && q->served_trim < 0.5))
        return invalid(why, "serving->trim", q->served_trim, "it must lie in [0, 0.5)");
    if (!(q->served_core >= 0 && q->served_core <= q->tolerance))
        return invalid(why, "serving->core", q->served_core,
                       "it must lie in (0, tolerance], or be 0 for the tolerance");
    if (q->served_core > 0 && q->served_core < q->tolerance && !has_range(v, q))
        return cr_fail(why, CERTREG_E_INVALID,
                       "question.serving->core is %g, but model.lo or model.hi is infinite; a core "
                       "below the tolerance helps only with a declared range",
                       q->served_core);
    return CERTREG_OK;
}

static certreg_status check_prediction(cr_view *v, const cr_question *q, certreg_error *why)
{
    if (q->by_estimate || q->prediction_given || v->pilot) return CERTREG_OK;
    return wrong(why,
                 "question.prediction is NULL and there is no pilot to choose it; give one, set "
                 "plan.pilot, or take more samples");
}

/* ---- all of it */
/* What the question is about, and not how it is certified. */
static certreg_status check_subject(cr_view *v, cr_question *q, certreg_error *why)
{
    certreg_status status = check_names(v, q, why);
    if (status) return status;
    cr_question_resolve(v, q);
    status = check_together(q, why);
    if (!status) status = check_vector(v, q, why);
    if (!status) status = check_scores(v, q, why);
    if (!status) status = check_tolerance(v, q, why);
    if (!status) status = check_numbers(q, why);
    if (!status) status = check_predictions(q, why);
    if (!status) status = check_magnitude(v, q, why);
    if (!status) status = check_serving(v, q, why);
    return status ? status : check_trim(v, q, why);
}

/* A server is of the one kind or of the other. */
static certreg_status check_server(cr_view *v, const cr_question *q, certreg_error *why)
{
    const int pairs = cr_view_pairs(v);
    if (pairs == q->served_pairs) return CERTREG_OK;
    return wrong(why, pairs ? "plan.flags has CERTREG_PLAN_PAIRS, and question.serving->pairs is "
                              "not 1: certify the question with pairs, or serve without the flag"
                            : "question.serving->pairs is 1: give the server's estimator "
                              "CERTREG_PLAN_PAIRS in plan.flags");
}

certreg_status cr_sense_check(cr_view *v, cr_question *q, certreg_error *why)
{
    certreg_status status = cr_view_independent(v, why);
    if (!status) status = check_subject(v, q, why);
    if (!status) status = check_target(v, q, why);
    if (!status) status = cr_together_check_constraints(q, v->plan.constraints, why);
    return status ? status : check_prediction(v, q, why);
}

/* A single question about the input that was begun. */
static certreg_status read(cr_view *v, const certreg_question *theirs, cr_question *out,
                           certreg_error *why)
{
    certreg_status status = cr_view_begun(v, why);
    if (!status) status = cr_struct_check(theirs, CR_OLDEST_QUESTION, "question", why);
    return status ? status : cr_read_question(theirs, 0, 1, out, why);
}

certreg_status cr_sense_take(cr_view *v, const certreg_question *theirs, cr_question *out,
                             certreg_error *why)
{
    const certreg_status status = read(v, theirs, out, why);
    return status ? status : cr_sense_check(v, out, why);
}

certreg_status cr_sense_take_for_estimate(cr_view *v, const certreg_question *theirs,
                                          cr_question *out, certreg_error *why)
{
    certreg_status status = read(v, theirs, out, why);
    if (!status) status = check_server(v, out, why);
    return status ? status : check_subject(v, out, why);
}
