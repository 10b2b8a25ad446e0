/* Validates a question for this model and plan: each field, then the fields together. */
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "question/compatibility.h"
#include "record/query_log.h"
#include "statistics/group_sequential.h"
#include "statistics/antithetic.h"
#include <math.h>

static certreg_status wrong(certreg_error *why, const char *sentence)
{
    return cr_error_set(why, CERTREG_E_INVALID, "%s", sentence);
}

/* Reports a number and the rule that it breaks. */
static certreg_status invalid(certreg_error *why, const char *field, double value, const char *rule)
{
    cr_error_set(why, CERTREG_E_INVALID, "question.%s is %g; %s", field, value, rule);
    why->value = value;
    return CERTREG_E_INVALID;
}

/* 1 if every output of the question has a finite range. */
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
    const cr_given *g = &q->given;
    if (g->output != CERTREG_ALL_OUTPUTS &&
        (g->output < 0 || (size_t)g->output >= v->model.outputs)) {
        cr_error_set(why, CERTREG_E_INVALID,
                     "question.output is %d; give an index below model.outputs = %zu, or "
                     "CERTREG_ALL_OUTPUTS",
                     (int)g->output, v->model.outputs);
        why->value = g->output;
        return CERTREG_E_INVALID;
    }
    const size_t first = g->output < 0 ? 0 : (size_t)g->output;
    if (g->output_count > v->model.outputs - first ||
        (g->output == CERTREG_ALL_OUTPUTS && g->output_count))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.output_count is %zu; give at most model.outputs - "
                            "question.output, and 0 with CERTREG_ALL_OUTPUTS",
                            g->output_count);
    if (!cr_statistic_of(g->statistic))
        return invalid(why, "statistic", g->statistic,
                       "give one of CERTREG_STATISTIC_..., the same for all inputs: chosen for "
                       "each, it would be another function at a shifted input");
    if (!cr_method_of(g->method))
        return invalid(why, "method", g->method, "give one of CERTREG_METHOD_...");
    if (!cr_center_of(g->center))
        return invalid(why, "center", g->center, "give one of CERTREG_CENTER_...");
    return cr_constraints_check(g->constraints, "question.constraints", why);
}

static certreg_status check_tolerance(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const int inverse = g->at_radius > 0, quarter = q->statistic->angle == CR_ANGLE_CIRCULAR;
    if (!(g->tolerance > 0 || (inverse && g->tolerance == 0)) || !isfinite(g->tolerance))
        return invalid(why, "tolerance", g->tolerance, "it must be positive and finite");
    if (quarter && g->tolerance > q->period / 4)
        return invalid(why, "tolerance", g->tolerance,
                       "for a mean on the circle it must not exceed a quarter of a "
                       "turn");
    if (q->period > 0 && !(g->tolerance < q->period / 2))
        return invalid(why, "tolerance", g->tolerance, "for an angle it must be below half a turn");
    if (inverse && g->tolerance == 0 && !q->about_output && !q->is_ordered && !has_range(v, q))
        return invalid(why, "tolerance", 0,
                       "give the largest tolerance to try, or declare model.lo and model.hi");
    return CERTREG_OK;
}

static certreg_status check_numbers(const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const int has_width = q->statistic->has_width;
    if (has_width && (!(g->huber_width > 0) || !isfinite(g->huber_width)))
        return invalid(why, "huber_width", g->huber_width,
                       "it must be positive and finite (often half the tolerance)");
    if (g->tolerance > 0 && g->huber_width > 1e6 * g->tolerance)
        return invalid(
            why, "huber_width", g->huber_width,
            "it must not exceed 1e6 tolerances; CERTREG_STATISTIC_MEAN gives nearly the same");
    if (has_width && g->huber_width < 1e-6 * g->tolerance) /* next to which it has no digits */
        return invalid(
            why, "huber_width", g->huber_width,
            "it must be at least 1e-6 tolerances; CERTREG_STATISTIC_MEDIAN gives nearly the same");
    if (!has_width && g->huber_width != 0)
        return invalid(why, "huber_width", g->huber_width,
                       "set it to 0; only CERTREG_STATISTIC_HUBER has a width");
    return CERTREG_OK;
}

static certreg_status check_predictions(const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const size_t count = g->prediction_count, needed = q->outputs;
    if (g->prediction_given && count != needed)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.prediction has %zu number%s; this question needs %zu%s",
                            count, count == 1 ? "" : "s", needed,
                            q->is_vector ? ", one per output" : "");
    for (size_t k = 0; k < g->prediction_count; k++)
        if (!isfinite(g->predictions[k]))
            return invalid(why, "prediction", g->predictions[k], "it must be finite");
    return CERTREG_OK;
}

/* ---- numbers of such different magnitudes that a mean cannot be computed from them */
static const double max_size = 1e150; /* sums of squares stay finite */

/* A tolerance of another magnitude than the outputs leaves them no digits. */
static certreg_status check_size(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    double most = 0;
    for (size_t k = q->first; k < q->end; k++)
        most = fmax(most, 1e12 * fmax(fabs(v->model.lo[k]), fabs(v->model.hi[k])));
    if (!(g->tolerance > fmin(most, max_size))) return CERTREG_OK;
    return invalid(why, "tolerance", g->tolerance,
                   "for a mean it must not exceed 1e12 times the ends of the range, "
                   "or 1e150 without one; nothing in the range is so far off");
}

/* Bounds without normality bet on squares of outputs, which must stay finite. */
static certreg_status check_range(cr_view *v, const cr_question *q, size_t k, certreg_error *why)
{
    const double lo = v->model.lo[k], hi = v->model.hi[k];
    if (q->method->normality || hi - lo <= max_size) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "model.lo[%zu] is %g and model.hi[%zu] %g; for a mean they must "
                        "not be more than 1e150 apart: declare the range of float outputs, or use "
                        "CERTREG_METHOD_ASYMPTOTIC",
                        k, lo, k, hi);
}

/* If the prediction is far away, its distances to both ends of the range are the same double, or
 * have no finite squares. */
static certreg_status check_distance(cr_view *v, const cr_question *q, size_t k, certreg_error *why)
{
    const cr_given *g = &q->given;
    const double lo = v->model.lo[k], hi = v->model.hi[k],
                 prediction = g->predictions[k - q->first],
                 far = g->tolerance + fmax(fabs(lo - prediction), fabs(hi - prediction)),
                 most = q->method->normality ? INFINITY : 4 * max_size;
    if (!isfinite(hi - lo) || (far < most && far + 0.25 * (hi - lo) > far)) return CERTREG_OK;
    return invalid(why, "prediction", prediction,
                   "it is too far from the range of the output: next to it a double has no digits "
                   "left for a mean; give one within the range, or near it");
}

static certreg_status check_magnitude(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const int from_prediction = g->prediction_given && !q->about_output;
    if (q->is_bounded) return CERTREG_OK;
    certreg_status status = g->at_radius > 0 ? CERTREG_OK : check_size(v, q, why);
    for (size_t k = q->first; k < q->end && !status; k++) {
        status = check_range(v, q, k, why);
        if (!status && from_prediction) status = check_distance(v, q, k, why);
    }
    return status;
}

/* ---- fields together */
static certreg_status check_vector(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    if (!q->is_vector) return CERTREG_OK;
    for (size_t k = q->first; k < q->end; k++)
        if (v->model.kind[k] != CERTREG_OUTPUT_REAL)
            return cr_error_set(why, CERTREG_E_INVALID,
                                "question.output: output %zu is an angle, and a vector needs every "
                                "model.kind to be CERTREG_OUTPUT_REAL: ask about the angle by a "
                                "question of its own, and combine them by certreg_certify_outputs",
                                k);
    if (!(g->at_radius > 0)) return CERTREG_OK;
    return wrong(why, "question.output: give one question per output: output bounds are about one");
}

/* Two-valued scores need mean and range; scores without a bound need the range of the outputs. */
static certreg_status check_scores(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    const cr_statistic *s = q->statistic;
    if (q->is_counted && g->constraints && (g->constraints & both) != both)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.constraints: name CERTREG_CONSTRAINT_MEAN and _RANGE, or use 0: "
            "CERTREG_STATISTIC_%s needs both",
            s->row.name);
    if (!q->is_bounded && !q->method->normality && !has_range(v, q))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.method: declare model.lo and model.hi, or use "
            "CERTREG_METHOD_ASYMPTOTIC: CERTREG_STATISTIC_%s with CERTREG_METHOD_%s "
            "needs the range of every output",
            s->row.name, q->method->row.name);
    return CERTREG_OK;
}

static uint32_t required_of(const cr_question *q)
{
    const cr_given *g = &q->given;
    const int all = g->output < 0 && q->statistic->row.supports & CR_SUPPORTS_ALL;
    const uint32_t about = all            ? CR_SUPPORTS_ALL
                           : q->is_vector ? CR_SUPPORTS_VECTOR
                           : q->is_angle  ? CR_SUPPORTS_ANGLE
                                          : CR_SUPPORTS_NUMBER;
    const uint32_t serving = q->method->published ? CR_SUPPORTS_PUBLISHED_SERVING
                                                  : CR_SUPPORTS_SERVING;
    return about | (g->served_samples ? serving : 0) |
           (g->at_radius > 0 ? CR_SUPPORTS_OUTPUT_BOUNDS : 0);
}

/* Statistic, method and center: with each other, and with the outputs. */
static certreg_status check_combination(const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    certreg_status status = cr_compatibility_check_values(q, why);
    if (!status) status = cr_compatibility_check(q, required_of(q), why);
    if (status || !q->center->every_sample || !g->prediction_given) return status;
    return wrong(why, "CERTREG_CENTER_SAMPLE_MEDIAN is the median of the samples; set "
                      "question.prediction to NULL");
}

static certreg_status check_looks(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    for (size_t i = 0; i < g->look_count; i++) {
        const uint64_t before = i ? g->looks[i - 1] : v->pilot, at = g->looks[i];
        if (at <= before)
            return cr_error_set(why, CERTREG_E_INVALID,
                                "question.target->looks[%zu] is %llu; it must exceed the %s, %llu",
                                i, (unsigned long long)at, i ? "look before it" : "pilot",
                                (unsigned long long)before);
        if (at > v->plan.max_samples)
            return cr_error_set(why, CERTREG_E_INVALID,
                                "question.target->looks[%zu] is %llu; it must not exceed "
                                "plan.max_samples = %zu",
                                i, (unsigned long long)at, v->plan.max_samples);
    }
    return CERTREG_OK;
}

static certreg_status check_target(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    if (!(g->target > 0)) return CERTREG_OK;
    if (g->at_radius > 0)
        return wrong(why, "output bounds have no target radius; set question.target to NULL");
    const certreg_status status =
        cr_compatibility_check(q, q->is_group ? CR_SUPPORTS_GROUP_TEST : CR_SUPPORTS_TARGET, why);
    if (status) return status;
    if (q->is_group && (v->plan.max_samples > CR_GROUP_MAX_SAMPLES ||
                        cr_query_log_max_samples(v) > CR_GROUP_MAX_SAMPLES))
        return wrong(why, "question.target with CERTREG_METHOD_FINITE needs plan.max_samples below "
                          "2^31; otherwise use CERTREG_METHOD_ANYTIME");
    return check_looks(v, q, why);
}

static const size_t max_served = 1000000000; /* exact binomial tails of more take long */

static certreg_status check_serving(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    if (!g->served_samples) return CERTREG_OK;
    if (g->served_samples > max_served)
        return invalid(why, "serving->samples", (double)g->served_samples,
                       "it must not exceed 1e9");
    if (g->served_pairs && (g->served_samples < CR_ANTITHETIC_MIN_SAMPLES ||
                            g->served_samples > CR_ANTITHETIC_MAX_SAMPLES))
        return invalid(why, "serving->samples", (double)g->served_samples,
                       "from pairs it must be 11 to 10,001");
    if (!(g->served_rate > 0 && g->served_rate <= 0.5))
        return invalid(why, "serving->failure_rate", g->served_rate, "it must lie in (0, 0.5]");
    if (!q->is_bounded && !has_range(v, q))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving with CERTREG_STATISTIC_%s needs the range of the output; "
            "declare model.lo and model.hi",
            q->statistic->row.name);
    return CERTREG_OK;
}

static certreg_status check_trim(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const int trimmed = q->statistic->trims;
    if (trimmed && !g->served_samples)
        return wrong(why, "question.serving: CERTREG_STATISTIC_TRIMMED_MEAN needs its samples and "
                          "failure_rate");
    if (!trimmed && (g->served_trim != 0 || g->served_core != 0))
        return wrong(why,
                     "only CERTREG_STATISTIC_TRIMMED_MEAN has question.serving->trim and core; "
                     "set both to 0");
    if (!(g->served_trim >= 0 && g->served_trim < 0.5))
        return invalid(why, "serving->trim", g->served_trim, "it must lie in [0, 0.5)");
    if (!(g->served_core >= 0 && g->served_core <= g->tolerance))
        return invalid(why, "serving->core", g->served_core,
                       "it must lie in (0, tolerance], or be 0 for the tolerance");
    if (g->served_core > 0 && g->served_core < g->tolerance && !has_range(v, q))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving->core is %g, but model.lo or model.hi is infinite; a core "
            "below the tolerance helps only with a declared range",
            g->served_core);
    return CERTREG_OK;
}

static certreg_status check_prediction(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    if (q->by_estimate || g->prediction_given || v->pilot) return CERTREG_OK;
    return wrong(why,
                 "question.prediction is NULL and there is no pilot to choose it; give one, set "
                 "plan.pilot, or take more samples");
}

/* ---- all of it */
/* Checks the functional and its outputs, but not how it is certified. */
static certreg_status check_subject(cr_view *v, cr_question *q, certreg_error *why)
{
    certreg_status status = check_names(v, q, why);
    if (status) return status;
    cr_question_resolve(v, q);
    status = check_combination(q, why);
    if (!status) status = check_vector(v, q, why);
    if (!status) status = check_scores(v, q, why);
    if (!status) status = check_tolerance(v, q, why);
    if (!status) status = check_numbers(q, why);
    if (!status) status = check_predictions(q, why);
    if (!status) status = check_magnitude(v, q, why);
    if (!status) status = check_serving(v, q, why);
    return status ? status : check_trim(v, q, why);
}

/* The server draws pairs if and only if the question is about pairs. */
static certreg_status check_server(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const int pairs = cr_view_pairs(v);
    if (pairs == g->served_pairs) return CERTREG_OK;
    return wrong(why, pairs ? "plan.flags has CERTREG_PLAN_PAIRS, and question.serving->pairs is "
                              "not 1: certify the question with pairs, or serve without the flag"
                            : "question.serving->pairs is 1: give the server's estimator "
                              "CERTREG_PLAN_PAIRS in plan.flags");
}

certreg_status cr_question_validate(cr_view *v, cr_question *q, certreg_error *why)
{
    certreg_status status = cr_view_require_independent(v, why);
    if (!status) status = check_subject(v, q, why);
    if (!status) status = check_target(v, q, why);
    if (!status) status = cr_compatibility_check_constraints(q, v->plan.constraints, why);
    return status ? status : check_prediction(v, q, why);
}

/* Parses a single question about the input that was begun. */
static certreg_status parse(cr_view *v, const certreg_question *theirs, cr_question *out,
                            certreg_error *why)
{
    *out = (cr_question){.first = 0};
    certreg_status status = cr_view_require_input(v, why);
    if (!status) status = cr_struct_check(theirs, CR_OLDEST_QUESTION, "question", why);
    return status ? status : cr_question_parse(theirs, 0, 1, &out->given, why);
}

certreg_status cr_question_load(cr_view *v, const certreg_question *theirs, cr_question *out,
                                certreg_error *why)
{
    const certreg_status status = parse(v, theirs, out, why);
    return status ? status : cr_question_validate(v, out, why);
}

certreg_status cr_question_load_for_estimate(cr_view *v, const certreg_question *theirs,
                                             cr_question *out, certreg_error *why)
{
    certreg_status status = parse(v, theirs, out, why);
    if (!status) status = check_server(v, out, why);
    return status ? status : check_subject(v, out, why);
}
