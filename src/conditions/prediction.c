#include "conditions/prediction.h"
#include "conditions/vector_directions.h"
#include "statistics/location.h"
#include "statistics/pilot_prediction.h"
#include "record/query_log.h"
#include <math.h>

/* ---- a number */
double cr_prediction_into_turn(cr_view *v, const cr_question *q, double value)
{
    const double period = q->period;
    if (!(period > 0) || isnan(value)) return value;
    const double lo = v->model.lo[q->given.output], t = fmod(value - lo, period);
    const double wrapped = lo + (t < 0 ? t + period : t);
    return wrapped < v->model.hi[q->given.output] ? wrapped : lo;
}

double cr_prediction_of_record(cr_view *v, const cr_question *q, size_t first, size_t count,
                               double about)
{
    const double period = q->period;
    cr_values values = {.y = cr_view_output_ptr(v, first, q->given.output),
                        .count = count,
                        .step = v->model.outputs,
                        .period = period,
                        .watch = v->watch};
    const double origin = values.origin = !(period > 0)  ? 0
                                          : isnan(about) ? cr_location_circular_mean(&values)
                                                         : about;
    return cr_prediction_into_turn(v, q, origin + q->statistic->estimate(q, &values));
}

/* Output bounds have one for all tolerances. */
static int balances(const cr_question *q)
{
    return q->statistic->prediction == CR_PREDICT_BALANCED && !q->method->published &&
           !(q->given.at_radius > 0);
}

/* The mean's certificate is best about the mean; the median's and Huber's about the point that
 * balances both tails. Nothing but the pilot may be used, not even the number of samples, which may
 * depend on them. */
static double choose_number(cr_view *v, const cr_question *q)
{
    const size_t pilot = v->pilot;
    const double noise_free = (double)cr_view_value(v, 0, (size_t)q->given.output);
    if (q->statistic->prediction == CR_PREDICT_NOISE_FREE)
        return cr_prediction_into_turn(v, q, noise_free);
    if (balances(q)) {
        const cr_values noisy = {.y = v->values + v->model.outputs + q->given.output,
                                 .count = pilot - 1,
                                 .step = v->model.outputs,
                                 .period = q->period};
        return cr_prediction_into_turn(v, q,
                                       cr_pilot_prediction(&noisy, q->given.tolerance,
                                                           (size_t)cr_query_log_max_samples(v),
                                                           noise_free));
    }
    const double theta = cr_prediction_of_record(v, q, 1, pilot - 1, NAN);
    return isnan(theta) ? noise_free : theta;
}

/* ---- a vector */
enum { MOST_CENTERS = 1024 }; /* noisy samples of the pilot, to bound the time */

/* From sample a to sample b; NaN or infinite where an output failed or they are too far apart. */
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

/* The median distance of a sample from samples 1 .. count; `least` if it is no less. */
static double median_distance(cr_view *v, size_t sample, size_t count, double least)
{
    float distances[MOST_CENTERS];
    const cr_values values = {.y = distances, .count = count, .step = 1};
    const size_t rank = (count - 1) / 2;
    size_t nearer = 0;
    for (size_t i = 0; i < count; i++) {
        distances[i] = distance(v, sample, 1 + i);
        nearer += (double)distances[i] < least;
    }
    return nearer > rank ? cr_location_order(&values, rank) : least;
}

/* The noisy sample of the pilot with the least median distance from the others; without one that
 * is near half of them, the output without noise. It serves as the center of a ball with half of
 * the pilot, of at most twice the least radius. */
static size_t choose_center(cr_view *v)
{
    const size_t noisy = v->pilot - 1, count = noisy < MOST_CENTERS ? noisy : MOST_CENTERS;
    double least = INFINITY;
    size_t best = 0;
    for (size_t i = 1; i <= count && !cr_deadline_late(v->watch); i++) {
        const double median = median_distance(v, i, count, least);
        if (median < least) least = median, best = i;
    }
    return best;
}

/* Each output's own, at what is left to it of the tolerance. */
static double choose_of_output(cr_view *v, const cr_conditions *c, size_t k)
{
    cr_question of_output = cr_question_of_output(v, &c->question, k);
    of_output.given.tolerance = cr_directions_tolerance(c, k);
    return choose_number(v, &of_output);
}

static int choose_vector(cr_view *v, const cr_conditions *c)
{
    const cr_question *q = &c->question;
    double *center = c->scratch->center;
    const int is_ball = q->statistic->prediction == CR_PREDICT_CENTER;
    const size_t sample = is_ball && !q->given.prediction_given ? choose_center(v) : 0;
    int known = 1;
    for (size_t k = q->first; k < q->end; k++) {
        center[k] = q->given.prediction_given ? q->given.predictions[k - q->first]
                    : is_ball                 ? (double)cr_view_value(v, sample, k)
                                              : choose_of_output(v, c, k);
        known &= isfinite(center[k]) != 0;
    }
    return known;
}

/* Its time does not grow with the number of samples. The spread of discrete outputs may say little
 * of how far they go: then the pilot shows more of them out than with equal shares. */
static int find_vector(cr_view *v, const cr_conditions *c)
{
    const cr_question *q = &c->question;
    const double start = cr_deadline_now(v->watch);
    if (q->has_directions) cr_directions_share_by_spread(v, c);
    int known = choose_vector(v, c);
    if (q->is_counted && known && q->directions > 1) {
        const size_t by_spread = cr_directions_misses(v, c);
        cr_directions_share_equally(c);
        known = choose_vector(v, c);
        if (by_spread < cr_directions_misses(v, c)) {
            cr_directions_share_by_spread(v, c);
            known = choose_vector(v, c);
        }
    }
    v->watch->fixed += cr_deadline_now(v->watch) - start;
    return known;
}

/* ---- either */
int cr_prediction_find(cr_view *v, cr_conditions *c)
{
    const cr_question *q = &c->question;
    c->prediction = NAN;
    if (q->is_vector) return find_vector(v, c);
    c->prediction = q->given.prediction_given ? cr_prediction_into_turn(v, q, q->given.prediction)
                    : q->found                ? *q->found
                                              : choose_number(v, q);
    return !isnan(c->prediction);
}

static certreg_status check_pilot(cr_view *v, certreg_error *why)
{
    size_t length; /* of the samples without a gap */
    cr_view_require_contiguous(v, &length, NULL);
    if (length >= v->pilot) return cr_view_require_in_range(v, why);
    return cr_error_set(
        why, CERTREG_E_WRONG_STATE,
        "sample %zu of the pilot's %zu samples is missing: sample or import the pilot "
        "first, or give question.prediction",
        length, v->pilot);
}

certreg_status cr_prediction_tell(cr_view *v, cr_conditions *c, double *out, certreg_error *why)
{
    const cr_question *q = &c->question;
    if (q->by_estimate)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.center is %d; only CERTREG_CENTER_PREDICTION has a prediction",
            (int)q->given.center);
    const certreg_status status = q->given.prediction_given ? CERTREG_OK : check_pilot(v, why);
    if (status) return status;
    const int known = cr_prediction_find(v, c);
    const double *const vector = c->scratch->center + q->first;
    for (size_t k = 0; k < q->outputs; k++)
        out[k] = !known ? NAN : q->is_vector ? vector[k] : c->prediction;
    return CERTREG_OK;
}
