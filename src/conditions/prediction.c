/* The prediction of a question, chosen by the pilot, and its estimate, from all noisy samples: for
 * a number, and for the outputs of a vector. */
#include "conditions/conditions.h"
#include "record/record.h"
#include "statistics/location.h"
#include <math.h>
#include <string.h>

/* ---- locations */
/* Wraps an angle into [lo, hi) of its output. The mean takes angles as numbers. */
static double wrap(cr_view *v, const cr_question *q, double value)
{
    if (!(q->period > 0) || isnan(value)) return value;
    const double lo = v->model.lo[q->given.output], hi = v->model.hi[q->given.output],
                 wrapped = cr_location_into_turn(value, lo, hi);
    return wrapped < hi ? wrapped : lo;
}

/* Returns the statistic of `count` recorded samples from `first` on. A circle is cut opposite
 * `about`, or, if that is NaN, opposite the circular mean of these samples. */
static double location_of(cr_view *v, const cr_question *q, size_t first, size_t count,
                          double about)
{
    cr_values values = {.y = cr_view_output_ptr(v, first, q->given.output),
                        .count = count,
                        .stride = v->model.outputs,
                        .period = q->period,
                        .deadline = v->deadline};
    if (q->period > 0) values.origin = isnan(about) ? cr_location_circular_mean(&values) : about;
    return wrap(v, q, values.origin + q->statistic->estimate(q, &values));
}

/* ---- the prediction of a number */
/* Returns the statistic of the noisy samples of the pilot, or else f(z). */
static double statistic_of_pilot(cr_view *v, const cr_question *q)
{
    const double theta = location_of(v, q, 1, v->pilot - 1, NAN);
    return isnan(theta) ? (double)cr_view_value(v, 0, (size_t)q->given.output) : theta;
}

/* Returns the point that balances both tails. */
static double balance_of_pilot(cr_view *v, const cr_question *q, double noise_free)
{
    const cr_values values = {.y = cr_view_output_ptr(v, 1, q->given.output),
                              .count = v->pilot - 1,
                              .stride = v->model.outputs,
                              .period = q->period,
                              .deadline = v->deadline};
    return wrap(v, q,
                cr_pilot_prediction(&values, q->given.tolerance,
                                    (size_t)cr_query_log_max_samples(v), noise_free));
}

/* The mean's certificate is best about the mean; the median's and Huber's about the point that
 * balances both tails. Output bounds have one prediction for all tolerances. Only the pilot may be
 * used, not even the number of samples, which may depend on the outputs. After the deadline it is
 * NaN. */
static double choose_number(cr_view *v, const cr_question *q)
{
    const double noise_free = (double)cr_view_value(v, 0, (size_t)q->given.output);
    const int balances = q->statistic->prediction == CR_PREDICT_BALANCED && !q->method->published &&
                         !(q->given.at_radius > 0);
    if (q->statistic->prediction == CR_PREDICT_NOISE_FREE) return wrap(v, q, noise_free);
    const double found = balances ? balance_of_pilot(v, q, noise_free) : statistic_of_pilot(v, q);
    return v->deadline->expired ? NAN : found;
}

/* ---- the prediction of a vector */
enum { MAX_CENTERS = 1024 }; /* noisy samples of the pilot, to bound the time */

/* Distance of samples a and b; NaN or infinite if an output failed or they are too far apart. */
static float distance(cr_view *v, size_t a, size_t b)
{
    const float *from = cr_view_output_ptr(v, a, 0), *to = cr_view_output_ptr(v, b, 0);
    double sum = 0;
    for (size_t k = 0; k < v->model.outputs; k++) {
        const double gap = (double)from[k] - (double)to[k];
        sum += gap * gap;
    }
    return (float)sqrt(sum);
}

/* Median distance of a sample from samples 1 .. count; `least` if it is no less. */
static double median_distance(cr_view *v, size_t sample, size_t count, double least)
{
    float distances[MAX_CENTERS];
    const cr_values values = {.y = distances, .count = count, .stride = 1};
    const size_t rank = (count - 1) / 2;
    size_t nearer = 0;
    for (size_t i = 0; i < count; i++) {
        distances[i] = distance(v, sample, 1 + i);
        nearer += (double)distances[i] < least;
    }
    return nearer > rank ? cr_location_order(&values, rank) : least;
}

/* Returns the noisy sample of the pilot with the least median distance to the noisy samples; 0, the
 * sample without noise, if none is near half of them. It is the center of a ball that has half of
 * the pilot and at most twice the least radius. */
static size_t choose_center(cr_view *v)
{
    const size_t noisy = v->pilot - 1, count = noisy < MAX_CENTERS ? noisy : MAX_CENTERS;
    double least = INFINITY;
    size_t best = 0;
    for (size_t i = 1; i <= count && !cr_deadline_expired(v->deadline); i++) {
        const double median = median_distance(v, i, count, least);
        if (!(median < least)) continue;
        least = median;
        best = i;
    }
    return best;
}

/* Chooses each output by itself, for its part of the tolerance. Returns 0 if one has none. */
static int choose_outputs(cr_view *v, const cr_conditions *c)
{
    const cr_question *q = &c->question;
    double *center = c->scratch->vector_prediction;
    const int given = q->given.prediction_given,
              is_ball = q->statistic->prediction == CR_PREDICT_CENTER;
    const size_t sample = is_ball && !given ? choose_center(v) : 0;
    int known = 1;
    for (size_t k = q->first_output; k < q->end_output; k++) {
        if (given) center[k] = q->given.predictions[k - q->first_output];
        else if (is_ball) center[k] = (double)cr_view_value(v, sample, k);
        else {
            cr_question of_output = cr_question_of_output(v, q, k);
            of_output.given.tolerance = cr_directions_tolerance(c, k);
            center[k] = choose_number(v, &of_output);
        }
        known &= isfinite(center[k]) != 0;
    }
    return known;
}

/* The spread of discrete outputs may be far less than their distances. If the pilot then has more
 * outputs out of the tolerance than with equal shares, the shares are equal. The time does not grow
 * with the number of samples. */
static int choose_vector(cr_view *v, const cr_conditions *c)
{
    const cr_question *q = &c->question;
    const double start = cr_deadline_now(v->deadline);
    if (q->has_directions) cr_directions_share_by_spread(v, c);
    int known = choose_outputs(v, c);
    if (q->is_binomial && known && q->directions > 1) {
        const size_t by_spread = cr_directions_misses(v, c);
        cr_directions_share_equally(c);
        known = choose_outputs(v, c);
        if (by_spread < cr_directions_misses(v, c)) {
            cr_directions_share_by_spread(v, c);
            known = choose_outputs(v, c);
        }
    }
    v->deadline->constant_seconds += cr_deadline_now(v->deadline) - start;
    return known;
}

/* ---- the prediction */
static int choose(cr_view *v, cr_conditions *c)
{
    const cr_question *q = &c->question;
    c->prediction = NAN;
    if (q->is_vector) return choose_vector(v, c);
    if (q->given.prediction_given) c->prediction = wrap(v, q, q->given.prediction);
    else c->prediction = q->cached_prediction ? *q->cached_prediction : choose_number(v, q);
    return !isnan(c->prediction);
}

/* A tolerance relative to the prediction, which depends on the tolerance: a part of the pilot's
 * statistic chooses the prediction, and a part of the prediction is the tolerance (theory 1.10). */
int cr_prediction_choose(cr_view *v, cr_conditions *c)
{
    const cr_question *q = &c->question;
    double *center = c->scratch->vector_prediction + q->first_output;
    if (!(q->given.relative_tolerance > 0) || q->given.prediction_given) return choose(v, c);
    for (size_t k = 0; k < q->outputs; k++) {
        const cr_question of_output = cr_question_of_output(v, q, q->first_output + k);
        center[k] = statistic_of_pilot(v, &of_output);
    }
    c->question.given.tolerance = cr_question_relative_tolerance(q, center);
    const int known = choose(v, c);
    c->question.given.tolerance =
        cr_question_relative_tolerance(q, q->is_vector ? center : &c->prediction);
    return known;
}

static certreg_status check_pilot(cr_view *v, certreg_error *why)
{
    size_t length; /* samples without a gap */
    cr_view_require_contiguous(v, &length, NULL);
    if (length >= v->pilot) return cr_view_require_in_range(v, why);
    return cr_error_set(
        why, CERTREG_E_WRONG_STATE,
        "sample %zu of the pilot's %zu samples is missing: sample or import the pilot "
        "first, or give question.prediction",
        length, v->pilot);
}

certreg_status cr_prediction_report(cr_view *v, cr_conditions *c, double *out, certreg_error *why)
{
    const cr_question *q = &c->question;
    if (q->about_estimate)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.center is %d; only CERTREG_CENTER_PREDICTION has a prediction",
            (int)q->given.center);
    const certreg_status status = q->given.prediction_given ? CERTREG_OK : check_pilot(v, why);
    if (status) return status;
    const int known = cr_prediction_choose(v, c);
    const double *found = q->is_vector ? c->scratch->vector_prediction + q->first_output
                                       : &c->prediction;
    for (size_t k = 0; k < q->outputs; k++) out[k] = known ? found[k] : NAN;
    return CERTREG_OK;
}

/* ---- the estimate */
double cr_prediction_estimate(cr_view *v, const cr_question *q, size_t samples, double prediction)
{
    const size_t noisy = cr_view_first_noisy(v);
    double found = NAN;
    if (q->is_vector) return NAN;
    if (samples > noisy)
        found = location_of(v, q, noisy, samples - noisy, q->method->published ? prediction : NAN);
    if (!isnan(found) && !v->deadline->expired) return found;
    return q->given.prediction_given ? wrap(v, q, q->given.prediction) : NAN;
}

/* A projection median is the sum of the medians along its directions, each times its direction and
 * weight. Any other statistic of a vector is computed for each output. */
void cr_prediction_estimate_outputs(cr_view *v, const cr_question *q, size_t samples, double *out)
{
    const size_t noisy = cr_view_first_noisy(v), count = samples > noisy ? samples - noisy : 0;
    const int projected = count && q->statistic->net == CR_NET_PROJECTIONS;
    for (size_t k = 0; k < q->outputs; k++) {
        const cr_question of_output = cr_question_of_output(v, q, q->first_output + k);
        out[k] = projected ? 0 : count ? location_of(v, &of_output, noisy, count, NAN) : NAN;
    }
    for (size_t i = 0; projected && i < q->directions; i++) {
        const cr_direction d = cr_direction_net_direction(CR_NET_PROJECTIONS, q->outputs, i);
        const cr_values values = {
            .y = cr_view_output_ptr(v, noisy, (int32_t)(q->first_output + d.first)),
            .count = count,
            .stride = v->model.outputs,
            .unit_vector = d.unit_vector,
            .outputs = d.outputs};
        const double median = d.weight * cr_location_median(&values);
        for (size_t k = 0; k < d.outputs; k++) out[d.first + k] += d.unit_vector[k] * median;
    }
}

/* `out` may be the array of the given prediction, so it is written last. */
static void estimate_vector(cr_view *v, const cr_conditions *c, double *out)
{
    const cr_question *q = &c->question;
    double *found = c->scratch->vector_prediction;
    int known = 1;
    cr_prediction_estimate_outputs(v, q, c->samples, found);
    for (size_t k = 0; k < q->outputs; k++) known &= !isnan(found[k]);
    if (!known && q->given.prediction_given)
        memcpy(found, q->given.predictions, q->outputs * sizeof *found);
    memcpy(out, found, q->outputs * sizeof *out);
}

/* A promise about a number of fresh samples does not hold for any other number. */
static certreg_status check_estimate(cr_view *v, cr_conditions *c, certreg_error *why)
{
    const cr_question *q = &c->question;
    const size_t noisy = cr_view_first_noisy(v), served = q->given.serving_samples;
    if (!q->statistic->estimate)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "CERTREG_STATISTIC_%s has no estimate here; take the output with "
                            "the least median distance to all outputs",
                            q->statistic->row.name);
    certreg_status status = cr_view_require_contiguous(v, &c->samples, why);
    if (!status) status = cr_view_require_in_range(v, why);
    const size_t fresh = c->samples > noisy ? c->samples - noisy : 0;
    if (status || !served || fresh == served) return status;
    return cr_error_set(
        why, CERTREG_E_WRONG_STATE,
        "the record has %zu noisy samples, and question.serving->samples is %zu: take "
        "that number, with plan.pilot = SIZE_MAX (otherwise sample 0 has no noise), or "
        "set question.serving to NULL",
        fresh, served);
}

certreg_status cr_prediction_report_estimate(cr_view *v, cr_conditions *c, double *out,
                                             certreg_error *why)
{
    const cr_question *q = &c->question;
    const certreg_status status = check_estimate(v, c, why);
    if (status) return status;
    c->prediction = NAN;
    if (q->is_vector) {
        estimate_vector(v, c, out);
        return CERTREG_OK;
    }
    const int has_prediction = q->given.prediction_given || (v->pilot && c->samples >= v->pilot);
    if (q->method->published && !q->about_estimate && has_prediction) cr_prediction_choose(v, c);
    *out = cr_prediction_estimate(v, q, c->samples, c->prediction);
    return CERTREG_OK;
}
