/* A question: parsed from the public structs, then resolved and validated for a model and a
 * plan. */
#include "question/question.h"
#include "base/bytes.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "record/record.h"
#include "statistics/group_sequential.h"
#include "statistics/location.h"
#include "statistics/serving.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ======== Parses the public structs of a question into a cr_given, and computes its digest. No
 * other file follows the pointers of a caller's question. */
static const uint64_t max_guarantees = UINT64_C(1) << 53; /* exact in a double */

/* ---- the optional structs */
static certreg_status read_target(const certreg_target *theirs, cr_given *q, certreg_error *why)
{
    certreg_target t;
    if (!theirs) return CERTREG_OK;
    const certreg_status status =
        cr_struct_read(&t, sizeof t, CR_OLDEST_TARGET, theirs, "question.target", why);
    if (status) return status;
    if (!(t.radius > 0) || !isfinite(t.radius))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.target->radius is %g; it must be positive and finite (no target: NULL)",
            t.radius);
    if (!t.looks && t.look_count)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.target->looks is NULL, but look_count is %u; set both or neither",
            t.look_count);
    if (t.looks && (!t.look_count || t.look_count > CR_LOOKS))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.target->look_count is %u; it must be 1 to %u", t.look_count,
                            CR_LOOKS);
    if (t.growth != 0 && (t.looks || !(t.growth > 1 && t.growth <= 4)))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.target->growth is %g; it must lie in (1, 4] and takes the "
                            "place of looks, so give one of them",
                            t.growth);
    q->target_radius = t.radius;
    q->growth = t.growth;
    q->looks = t.looks;
    q->look_count = t.look_count;
    return CERTREG_OK;
}

static certreg_status read_serving(const certreg_serving *theirs, cr_given *q, certreg_error *why)
{
    certreg_serving s;
    if (!theirs) return CERTREG_OK;
    const certreg_status status =
        cr_struct_read(&s, sizeof s, CR_OLDEST_SERVING, theirs, "question.serving", why);
    if (status) return status;
    if (s.pairs != 0 && s.pairs != 1)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving->pairs is %d; it must be 0, or 1 for pairs of opposite noise",
            (int)s.pairs);
    if (!s.samples)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving->samples is 0; give the number of samples behind a served "
            "value, or leave serving NULL");
    q->serving_samples = s.samples;
    q->serving_failure_rate = s.failure_rate;
    q->serving_trim = s.trim;
    q->serving_core = s.core;
    q->serving_pairs = s.pairs;
    return CERTREG_OK;
}

/* ---- alpha */
static certreg_status divide_alpha(uint64_t share, cr_given *q, certreg_error *why)
{
    if (!(q->alpha > 0 && q->alpha <= 0.5)) {
        cr_error_set(why, CERTREG_E_INVALID, "question.alpha is %g; it must lie in (0, 0.5]",
                     q->alpha);
        if (why) why->value = q->alpha;
        return CERTREG_E_INVALID;
    }
    if (q->bonferroni > max_guarantees / share)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.bonferroni is %llu; with %llu noise levels it must not exceed 2^53",
            (unsigned long long)q->bonferroni, (unsigned long long)share);
    q->alpha /= (double)(q->bonferroni * share);
    if (q->alpha < CR_MIN_ALPHA)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.alpha divided by bonferroni is %g; it must be at least %g",
                            q->alpha, CR_MIN_ALPHA);
    return CERTREG_OK;
}

/* ---- digests */
static uint64_t hash_looks(uint64_t h, const cr_given *q)
{
    h = cr_hash64(h, q->look_count);
    for (size_t i = 0; q->looks && i < q->look_count; i++) h = cr_hash64(h, q->looks[i]);
    if (q->growth != 0) h = cr_hash64(cr_hash64(h, 0x6561726c79), cr_bits_of_double(q->growth));
    return h;
}

/* Digest of all fields, before alpha is divided. A target without looks has a digest of its own.
 * Optional fields enter it only if they are set, so that questions keep their digest when the
 * library gets new fields. */
static uint64_t digest_of(const cr_given *q)
{
    const int32_t words[] = {
        q->output,           q->statistic,    q->method, q->center, (int32_t)q->constraints,
        q->prediction_given, q->looks != NULL};
    const double numbers[] = {q->tolerance,  q->alpha,         q->huber_width,
                              q->prediction, q->target_radius, q->serving_failure_rate};
    uint64_t h = CR_HASH_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) h = cr_hash32(h, (uint32_t)words[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        h = cr_hash64(h, cr_bits_of_double(numbers[i] + 0.0)); /* -0 is 0 */
    h = hash_looks(cr_hash64(cr_hash64(h, q->bonferroni), q->serving_samples), q);
    for (size_t i = 1; i < q->prediction_count; i++)
        h = cr_hash64(h, cr_bits_of_double(q->predictions[i] + 0.0));
    if (q->prediction_count > 1) h = cr_hash64(h, q->prediction_count);
    if (q->output_count > 1) h = cr_hash64(cr_hash64(h, 0x67726f7570), q->output_count);
    if (q->serving_pairs) h = cr_hash64(h, CR_HASH_ANTITHETIC);
    if (q->serving_trim != 0 || q->serving_core != 0)
        h = cr_hash64(cr_hash64(h, cr_bits_of_double(q->serving_trim)),
                      cr_bits_of_double(q->serving_core));
    if (q->relative_tolerance != 0)
        h = cr_hash64(cr_hash64(h, 0x70657263656e74), cr_bits_of_double(q->relative_tolerance));
    if (q->faults) h = cr_hash64(cr_hash64(h, 0x6661756c7473), q->faults);
    h = cr_hash_end(h);
    return h ? h : 1;
}

uint64_t cr_question_looks_digest(const cr_question *q)
{
    if (!q->is_group_sequential || (!q->given.looks && q->given.growth == 0)) return 0;
    const uint64_t h = cr_hash_end(hash_looks(CR_HASH_START, &q->given));
    return h ? h : 1;
}

/* ---- a question */
certreg_status cr_question_parse(const certreg_question *questions, size_t index, uint64_t share,
                                 cr_given *out, certreg_error *why)
{
    certreg_question theirs;
    memset(out, 0, sizeof *out);
    certreg_status status =
        cr_struct_element(&theirs, sizeof theirs, questions, index, "question", why);
    if (status) return status;
    *out = (cr_given){.output = theirs.output,
                      .statistic = theirs.statistic,
                      .method = theirs.method,
                      .center = theirs.center,
                      .constraints = theirs.constraints,
                      .tolerance = theirs.tolerance,
                      .relative_tolerance = theirs.relative_tolerance,
                      .huber_width = theirs.huber_width,
                      .faults = theirs.faults,
                      .output_count = theirs.output_count,
                      .alpha = theirs.alpha == 0 ? 0.05 : theirs.alpha,
                      .bonferroni = theirs.bonferroni ? theirs.bonferroni : 1};
    if (!theirs.prediction && theirs.prediction_count)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.prediction is NULL, but prediction_count is %zu; set both or "
                            "neither",
                            theirs.prediction_count);
    if (theirs.prediction) {
        out->prediction_given = 1;
        out->prediction = *theirs.prediction;
        out->predictions = theirs.prediction;
        out->prediction_count = theirs.prediction_count ? theirs.prediction_count : 1;
    }
    status = read_target(theirs.target, out, why);
    if (!status) status = read_serving(theirs.serving, out, why);
    if (status) return status;
    out->digest = digest_of(out);
    return divide_alpha(share, out, why);
}

certreg_status certreg_question_digest(const certreg_question *question, certreg_error *why,
                                       uint64_t *digest)
{
    cr_given q = {0};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    certreg_status status = digest
                                ? cr_struct_check(question, CR_OLDEST_QUESTION, "question", &error)
                                : cr_error_set(&error, CERTREG_E_INVALID, "digest is NULL");
    if (!status) status = cr_question_parse(question, 0, 1, &q, &error);
    cr_environment_leave(&callers);
    if (digest) *digest = status ? 0 : q.digest;
    cr_error_copy_out(why, &error);
    return status;
}

/* ======== Validates a question for this model and plan: its output; statistic, method and
 * center, with their rows; then the numbers, a target, and serving. A failure names a field and
 * the remedy. */
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
    for (size_t k = q->first_output; k < q->end_output; k++)
        if (!isfinite(v->model.lo[k]) || !isfinite(v->model.hi[k])) return 0;
    return 1;
}

/* ---- what the question is about */
static certreg_status check_output(cr_view *v, const cr_given *g, certreg_error *why)
{
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
    return CERTREG_OK;
}

void cr_question_resolve(cr_view *v, cr_question *q)
{
    const cr_given *g = &q->given;
    const cr_statistic *s = q->statistic = cr_statistic_of(g->statistic);
    const cr_method *m = q->method = cr_method_of(g->method);
    const cr_center *c = q->center = cr_center_of(g->center);
    const int inverse = g->at_radius > 0;
    if (!s || !m || !c) return;
    const cr_score_traits score = cr_score_traits_of(s->score);
    q->first_output = g->output < 0 ? 0 : (size_t)g->output;
    q->outputs = g->output < 0 ? v->model.outputs : g->output_count ? g->output_count : 1;
    q->end_output = q->first_output + q->outputs;
    q->is_vector = g->output < 0 || g->output_count > 1;
    q->is_angle = !q->is_vector && v->model.kind[q->first_output] != CERTREG_OUTPUT_REAL;
    q->has_directions = q->is_vector && !(s->row.supports & CR_SUPPORTS_ALL);
    q->directions = q->has_directions ? cr_direction_net_size(s->net, q->outputs) : 1;
    q->period = q->is_angle && s->angle != CR_ANGLE_AS_NUMBER
                    ? v->model.hi[q->first_output] - v->model.lo[q->first_output]
                    : 0;
    /* Half a step by the float, one more at the end that follows hi, the rest for doubles. */
    q->angle_rounding = q->period > 0 ? 2 * cr_location_float_step(v->model.lo[q->first_output],
                                                                   v->model.hi[q->first_output])
                                      : 0;
    q->is_binomial = score.two_valued;
    q->has_exact_ends = score.two_valued && score.sides && !(q->period > 0);
    q->is_bounded = score.bounded;
    q->is_group_sequential = g->target_radius > 0 && m->row.supports & CR_SUPPORTS_GROUP_TEST;
    q->uses_order_statistics = inverse && s->bounds == CR_BOUNDS_BY_ORDER &&
                               m->has_order_statistics && !q->is_angle;
    q->bounds_output = c->bounds_output || (inverse && s->bounds == CR_BOUNDS_OF_MEAN);
    q->about_estimate = q->bounds_output || q->uses_order_statistics || c->about_estimate;
    q->solver_constraints = g->constraints;
    if (g->constraints && q->is_binomial) q->solver_constraints |= CERTREG_CONSTRAINT_VARIANCE;
}

cr_question cr_question_of_output(cr_view *v, const cr_question *q, size_t k)
{
    cr_question one = *q;
    one.given.output = (int32_t)k;
    one.given.output_count = 0;
    cr_question_resolve(v, &one);
    return one;
}

static certreg_status check_rows(const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    if (!q->statistic)
        return invalid(why, "statistic", g->statistic,
                       "give one of CERTREG_STATISTIC_..., the same for all inputs: a choice "
                       "for each input would make it another function at a shifted input");
    if (!q->method) return invalid(why, "method", g->method, "give one of CERTREG_METHOD_...");
    if (!q->center) return invalid(why, "center", g->center, "give one of CERTREG_CENTER_...");
    if (g->constraints & CERTREG_CONSTRAINT_MOMENT)
        return wrong(why, "question.constraints: leave out CERTREG_CONSTRAINT_MOMENT, which only "
                          "certificates and bounds have");
    return cr_constraints_check(g->constraints, "question.constraints", why);
}

/* Statistic, method and center: with each other, and with the outputs. */
static certreg_status check_combination(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    uint32_t required = q->is_angle ? CR_SUPPORTS_ANGLE : CR_SUPPORTS_NUMBER;
    if (q->is_vector) required = CR_SUPPORTS_VECTOR;
    if (g->output < 0 && q->statistic->row.supports & CR_SUPPORTS_ALL) required = CR_SUPPORTS_ALL;
    if (g->serving_samples)
        required |= q->method->published ? CR_SUPPORTS_PUBLISHED_SERVING : CR_SUPPORTS_SERVING;
    if (g->at_radius > 0) required |= CR_SUPPORTS_OUTPUT_BOUNDS;
    if (g->relative_tolerance != 0) required |= CR_SUPPORTS_RELATIVE;
    if (g->huber_width != 0) required |= CR_SUPPORTS_WIDTH;
    if (g->faults) required |= CR_SUPPORTS_FAULTS;
    if (g->serving_trim != 0 || g->serving_core != 0) required |= CR_SUPPORTS_TRIM;
    if (v->plan.flags & CERTREG_PLAN_EPISODE) {
        required |= CR_SUPPORTS_EPISODE;
        if (g->constraints & CERTREG_CONSTRAINT_GRADIENT)
            return wrong(why, "question.constraints: leave out CERTREG_CONSTRAINT_GRADIENT, which "
                              "proves nothing about an episode (CERTREG_PLAN_EPISODE)");
    }
    const certreg_status status = cr_compatibility_check(q, required, why);
    if (status || !q->center->includes_pilot || !g->prediction_given) return status;
    return wrong(why, "CERTREG_CENTER_SAMPLE_MEDIAN is the median of the samples; set "
                      "question.prediction to NULL");
}

static certreg_status check_vector(cr_view *v, const cr_question *q, certreg_error *why)
{
    if (!q->is_vector) return CERTREG_OK;
    for (size_t k = q->first_output; k < q->end_output; k++)
        if (v->model.kind[k] != CERTREG_OUTPUT_REAL)
            return cr_error_set(why, CERTREG_E_INVALID,
                                "question.output: output %zu is an angle, and a vector needs every "
                                "model.kind to be CERTREG_OUTPUT_REAL: give the angle a "
                                "question of its own, and combine them by certreg_certify_outputs",
                                k);
    if (!(q->given.at_radius > 0)) return CERTREG_OK;
    return wrong(why, "question.output: give one question per output: output bounds are about one");
}

/* Two-valued scores need mean and range; scores without a bound need the range of the outputs. The
 * paper's families are compared by name, so M is not left out silently. */
static certreg_status check_scores(cr_view *v, const cr_question *q, certreg_error *why)
{
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE,
                   named = q->given.constraints;
    const cr_statistic *s = q->statistic;
    if (q->is_binomial && named && (named & both) != both)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.constraints: name CERTREG_CONSTRAINT_MEAN and _RANGE, or use 0: "
            "CERTREG_STATISTIC_%s needs both",
            s->row.name);
    if (!q->is_bounded && !q->method->normality && !has_range(v, q))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.method: declare model.lo and model.hi, or use CERTREG_METHOD_ASYMPTOTIC: "
            "CERTREG_STATISTIC_%s with CERTREG_METHOD_%s needs the range of every output",
            s->row.name, q->method->row.name);
    if (q->method->normality > 1 && named & CERTREG_CONSTRAINT_RANGE && !has_range(v, q))
        return wrong(why, "question.constraints: declare model.lo and model.hi, or leave out "
                          "CERTREG_CONSTRAINT_RANGE: the paper's families with M need the range");
    return CERTREG_OK;
}

/* ---- numbers */
double cr_question_relative_tolerance(const cr_question *q, const double *prediction)
{
    double norm = fabs(*prediction), square = 0;
    for (size_t k = 0; k < q->outputs; k++) square += prediction[k] * prediction[k];
    if (q->outputs > 1) /* squares below 1e-300 have no digits */
        norm = square < 1e-280 ? 0 : sqrt(square) * (1 - ((double)q->outputs + 2) * DBL_EPSILON);
    norm *= q->given.relative_tolerance;
    return isfinite(norm) ? nextafter(norm, 0) : norm;
}

/* Sets the tolerance from a given prediction. The pilot's comes later. */
static certreg_status resolve_relative(cr_question *q, certreg_error *why)
{
    cr_given *g = &q->given;
    const char *rule = NULL;
    if (g->relative_tolerance == 0) return CERTREG_OK;
    if (!(g->relative_tolerance > 0 && g->relative_tolerance <= 1000))
        rule = "it must lie in (0, 1000], 0.1 for 10%";
    else if (g->tolerance != 0) rule = "set question.tolerance to 0, or give no relative one";
    else if (q->is_angle) rule = "give question.tolerance for an angle, which has no percentage";
    else if (g->at_radius > 0) rule = "give question.tolerance for output bounds";
    else if (g->target_radius > 0)
        rule = "give question.tolerance as a number for a target, tested before the pilot";
    if (rule) return invalid(why, "relative_tolerance", g->relative_tolerance, rule);
    g->tolerance = g->prediction_given ? cr_question_relative_tolerance(q, g->predictions) : NAN;
    if (g->tolerance > 0 || !g->prediction_given) return CERTREG_OK;
    return wrong(why, "question.prediction is 0 or nearly 0, and so is every part of it: give "
                      "question.tolerance instead of relative_tolerance");
}

static certreg_status check_tolerance(cr_view *v, const cr_question *q, certreg_error *why)
{
    const double tolerance = q->given.tolerance;
    const int inverse = q->given.at_radius > 0, quarter = q->statistic->angle == CR_ANGLE_CIRCULAR;
    const char *rule = NULL;
    if (isnan(tolerance) && q->given.relative_tolerance > 0) return CERTREG_OK;
    if (!(tolerance > 0 || (inverse && tolerance == 0)) || !isfinite(tolerance))
        rule = "it must be positive and finite";
    else if (quarter && tolerance > q->period / 4)
        rule = "for a mean on the circle it must not exceed a quarter of a turn";
    else if (q->period > 0 && !(tolerance < q->period / 2))
        rule = "for an angle it must be below half a turn (pi in radians, 180 in degrees)";
    else if (inverse && tolerance == 0 && !q->bounds_output && !q->uses_order_statistics &&
             !has_range(v, q))
        rule = "give the largest tolerance to try, or declare model.lo and model.hi";
    return rule ? invalid(why, "tolerance", tolerance, rule) : CERTREG_OK;
}

static certreg_status check_width(const cr_question *q, certreg_error *why)
{
    const double width = q->given.huber_width, tolerance = q->given.tolerance;
    const char *rule = NULL;
    if (!(q->statistic->row.supports & CR_SUPPORTS_WIDTH)) return CERTREG_OK;
    if (!(width > 0) || !isfinite(width))
        rule = "it must be positive and finite (often half the tolerance)";
    else if (tolerance > 0 && width > 1e6 * tolerance)
        rule = "it must not exceed 1e6 tolerances; CERTREG_STATISTIC_MEAN gives nearly the same";
    else if (width < 1e-6 * tolerance) /* it has no digits beside the tolerance */
        rule = "it must be at least 1e-6 tolerances; CERTREG_STATISTIC_MEDIAN gives nearly the "
               "same";
    return rule ? invalid(why, "huber_width", width, rule) : CERTREG_OK;
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
    for (size_t k = 0; k < count; k++)
        if (!isfinite(g->predictions[k]))
            return invalid(why, "prediction", g->predictions[k], "it must be finite");
    return CERTREG_OK;
}

/* ---- magnitudes that leave a double the digits of a mean */
static const double max_size = 1e150; /* sums of squares stay finite */

/* A tolerance of another magnitude than the outputs leaves them no digits. */
static certreg_status check_size(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    double limit = 0;
    for (size_t k = q->first_output; k < q->end_output; k++)
        limit = fmax(limit, 1e12 * fmax(fabs(v->model.lo[k]), fabs(v->model.hi[k])));
    if (!(g->tolerance > fmin(limit, max_size))) return CERTREG_OK;
    return invalid(why, "tolerance", g->tolerance,
                   "for a mean it must not exceed 1e12 times the ends of the range, "
                   "or 1e150 without one; no output is that far away");
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
                 prediction = g->predictions[k - q->first_output],
                 far = g->tolerance + fmax(fabs(lo - prediction), fabs(hi - prediction)),
                 limit = q->method->normality ? INFINITY : 4 * max_size;
    if (!isfinite(hi - lo) || (far < limit && far + 0.25 * (hi - lo) > far)) return CERTREG_OK;
    return invalid(why, "prediction", prediction,
                   "it is so far from the range of the output that a double cannot resolve a mean; "
                   "give a number in the range or near it");
}

static certreg_status check_magnitude(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const int from_prediction = g->prediction_given && !q->bounds_output;
    if (q->is_bounded) return CERTREG_OK;
    certreg_status status = g->at_radius > 0 ? CERTREG_OK : check_size(v, q, why);
    for (size_t k = q->first_output; k < q->end_output && !status; k++) {
        status = check_range(v, q, k, why);
        if (!status && from_prediction) status = check_distance(v, q, k, why);
    }
    return status;
}

/* ---- features with arbitrary values, a target, and serving */
int cr_question_allows_faults(cr_view *v, const cr_question *q)
{
    const cr_given *g = &q->given;
    return v->unseen &&
           q->statistic->row.supports & q->method->row.supports & q->center->row.supports &
               CR_SUPPORTS_FAULTS &&
           !(g->at_radius > 0) && !(g->constraints & CERTREG_CONSTRAINT_GRADIENT);
}

static certreg_status check_faults(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    const char *rule = NULL;
    if (!g->faults) return CERTREG_OK;
    if (!v->unseen) rule = "it needs model.masks, by which wrong features are hidden";
    else if (g->faults >= CR_FAULTS) rule = "it must be at most 7";
    else if (g->target_radius > 0 || g->at_radius > 0)
        rule = "with a target, and for output bounds, it must be 0";
    else if (!cr_question_allows_faults(v, q)) rule = "leave out CERTREG_CONSTRAINT_GRADIENT";
    else if (!(v->unseen[g->faults] > 0.5))
        rule = "a sample that shows none of them must have a probability above 1/2: hide more, or "
               "give fewer";
    return rule ? invalid(why, "faults", (double)g->faults, rule) : CERTREG_OK;
}

static certreg_status check_target(cr_view *v, const cr_question *q, certreg_error *why)
{
    const cr_given *g = &q->given;
    if (!(g->target_radius > 0)) return CERTREG_OK;
    if (g->at_radius > 0)
        return wrong(why, "output bounds have no target radius; set question.target to NULL");
    const certreg_status status = cr_compatibility_check(
        q, q->is_group_sequential ? CR_SUPPORTS_GROUP_TEST : CR_SUPPORTS_TARGET, why);
    if (status) return status;
    if (q->is_group_sequential && (v->plan.max_samples > CR_GROUP_MAX_SAMPLES ||
                                   cr_query_log_max_samples(v) > CR_GROUP_MAX_SAMPLES))
        return wrong(why, "question.target with CERTREG_METHOD_FINITE needs plan.max_samples below "
                          "2^31; otherwise use CERTREG_METHOD_ANYTIME");
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

static const size_t max_served = 1000000000; /* exact binomial tails of more take long */

static certreg_status check_serving(cr_view *v, const cr_question *q, certreg_error *why)
{
    const size_t samples = q->given.serving_samples;
    const double rate = q->given.serving_failure_rate;
    if (!samples) return CERTREG_OK;
    if (v->plan.flags & CERTREG_PLAN_EPISODE && samples > 1 &&
        (q->given.serving_pairs || q->is_angle || q->is_vector))
        return wrong(why, "question.serving: several episodes (CERTREG_PLAN_EPISODE) are served "
                          "with failure_rate/2 for each of two sides: ask about one number that is "
                          "no angle, without pairs, or serve one episode");
    if (samples > max_served)
        return invalid(why, "serving->samples", (double)samples, "it must not exceed 1e9");
    if (q->given.serving_pairs &&
        (samples < CR_ANTITHETIC_MIN_SAMPLES || samples > CR_ANTITHETIC_MAX_SAMPLES))
        return invalid(why, "serving->samples", (double)samples,
                       "from pairs it must be 11 to 10,001");
    if (!(rate > 0 && rate <= 0.5))
        return invalid(why, "serving->failure_rate", rate, "it must lie in (0, 0.5]");
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
    if (!(q->statistic->row.supports & CR_SUPPORTS_TRIM)) return CERTREG_OK;
    if (!g->serving_samples)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving: CERTREG_STATISTIC_%s needs its samples and failure_rate",
            q->statistic->row.name);
    if (!(g->serving_trim >= 0 && g->serving_trim < 0.5))
        return invalid(why, "serving->trim", g->serving_trim, "it must lie in [0, 0.5)");
    if (!(g->serving_core >= 0) || g->serving_core > g->tolerance)
        return invalid(why, "serving->core", g->serving_core,
                       "it must lie in (0, tolerance], or be 0 for the tolerance");
    if (g->serving_core > 0 && g->serving_core < g->tolerance && !has_range(v, q))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving->core is %g, but model.lo or model.hi is infinite; a core "
            "below the tolerance helps only with a declared range",
            g->serving_core);
    return CERTREG_OK;
}

/* ---- all of it */
/* Checks the functional and its outputs, but not how it is certified. */
static certreg_status check_subject(cr_view *v, cr_question *q, certreg_error *why)
{
    certreg_status status = check_output(v, &q->given, why);
    if (status) return status;
    cr_question_resolve(v, q);
    status = check_rows(q, why);
    if (!status) status = check_combination(v, q, why);
    if (!status) status = check_vector(v, q, why);
    if (!status) status = check_scores(v, q, why);
    if (!status) status = check_predictions(q, why);
    if (!status) status = resolve_relative(q, why);
    if (!status) status = check_tolerance(v, q, why);
    if (!status) status = check_width(q, why);
    if (!status) status = check_magnitude(v, q, why);
    if (!status) status = check_faults(v, q, why);
    if (!status) status = check_serving(v, q, why);
    return status ? status : check_trim(v, q, why);
}

certreg_status cr_question_validate(cr_view *v, cr_question *q, certreg_error *why)
{
    certreg_status status = cr_view_require_certifying(v, why);
    if (!status) status = check_subject(v, q, why);
    if (!status) status = check_target(v, q, why);
    if (!status) status = cr_compatibility_check_constraints(q, v->plan.constraints, why);
    if (status || q->about_estimate || q->given.prediction_given || v->pilot) return status;
    return wrong(why,
                 "question.prediction is NULL and there is no pilot to choose it; give one, set "
                 "plan.pilot, or take more samples");
}

/* Parses a single question about the input that was begun. */
static certreg_status parse(cr_view *v, const certreg_question *theirs, cr_question *out,
                            certreg_error *why)
{
    *out = (cr_question){.first_output = 0};
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

/* The server draws pairs if and only if the question is about pairs. */
certreg_status cr_question_load_for_estimate(cr_view *v, const certreg_question *theirs,
                                             cr_question *out, certreg_error *why)
{
    const int pairs = cr_view_is_antithetic(v);
    const certreg_status status = parse(v, theirs, out, why);
    if (status) return status;
    if (pairs == out->given.serving_pairs) return check_subject(v, out, why);
    return wrong(why, pairs ? "plan.flags has CERTREG_PLAN_PAIRS, and question.serving->pairs is "
                              "not 1: certify the question with pairs, or serve without the flag"
                            : "question.serving->pairs is 1: give the server's estimator "
                              "CERTREG_PLAN_PAIRS in plan.flags");
}
