#include "question/prediction.h"
#include "question/directions.h"
#include "question/rows.h"
#include "statistics/location.h"
#include "statistics/prediction.h"
#include <math.h>

/* ---- a number */
double cr_prediction_into_turn(const certreg_estimator *e, const cr_question *q, double value)
{
    const double period = cr_question_period(e, q);
    if (!(period > 0) || isnan(value)) return value;
    const double lo = e->model.lo[q->output], t = fmod(value - lo, period);
    const double wrapped = lo + (t < 0 ? t + period : t);
    return wrapped < e->model.hi[q->output] ? wrapped : lo;
}

double cr_prediction_of_record(const certreg_estimator *e, const cr_question *q, size_t first,
                               size_t count, double about)
{
    const double period = cr_question_period(e, q);
    cr_values values = {.y = cr_record_at(e, first, q->output),
                        .count = count,
                        .step = e->model.outputs,
                        .period = period,
                        .watch = e->clock.watch};
    const double origin = values.origin = !(period > 0)  ? 0
                                          : isnan(about) ? cr_location_direction(&values)
                                                         : about;
    return cr_prediction_into_turn(e, q,
                                   origin + cr_statistic_of(q->statistic)->estimate(q, &values));
}

/* Output bounds have one for all tolerances. */
static int balances(const cr_question *q)
{
    return cr_statistic_of(q->statistic)->choice == CR_CHOICE_BALANCED &&
           !cr_method_of(q->method)->published && !(q->at_radius > 0);
}

/* The mean's certificate is best about the mean; the median's and Huber's about the point that
 * balances both tails. Nothing but the pilot may be used, not even the number of samples, which may
 * depend on them. */
static double choose_number(const certreg_estimator *e, const cr_question *q)
{
    const size_t pilot = e->record.pilot;
    const double noise_free = (double)cr_record_value(e, 0, (size_t)q->output);
    if (cr_statistic_of(q->statistic)->choice == CR_CHOICE_NOISE_FREE)
        return cr_prediction_into_turn(e, q, noise_free);
    if (balances(q)) {
        const size_t step = e->model.outputs;
        return cr_prediction_into_turn(e, q,
                                       cr_prediction_choose(e->record.values + step + q->output,
                                                            pilot - 1, step, q->tolerance,
                                                            (size_t)cr_asked_max_samples(e),
                                                            noise_free, cr_question_period(e, q)));
    }
    const double theta = cr_prediction_of_record(e, q, 1, pilot - 1, NAN);
    return isnan(theta) ? noise_free : theta;
}

/* ---- a vector */
enum { MOST_CENTERS = 1024 }; /* noisy samples of the pilot, to bound the time */

/* From sample a to sample b; NaN or infinite where an output failed or they are too far apart. */
static float distance(const certreg_estimator *e, size_t a, size_t b)
{
    const float *from = cr_record_at(e, a, 0), *to = cr_record_at(e, b, 0);
    double sum = 0;
    for (size_t k = 0; k < e->model.outputs; k++) {
        const double gap = (double)from[k] - (double)to[k];
        sum += gap * gap;
    }
    return (float)sqrt(sum);
}

/* The median distance of a sample from samples 1 .. count; `least` if it is no less. */
static double median_distance(const certreg_estimator *e, size_t sample, size_t count, double least)
{
    float distances[MOST_CENTERS];
    const cr_values values = {.y = distances, .count = count, .step = 1};
    const size_t rank = (count - 1) / 2;
    size_t nearer = 0;
    for (size_t i = 0; i < count; i++) {
        distances[i] = distance(e, sample, 1 + i);
        nearer += (double)distances[i] < least;
    }
    return nearer > rank ? cr_location_order(&values, rank) : least;
}

/* The noisy sample of the pilot with the least median distance from the others; without one that
 * is near half of them, the output without noise. It serves as the center of a ball with half of
 * the pilot, of at most twice the least radius. */
static size_t choose_center(const certreg_estimator *e)
{
    const size_t noisy = e->record.pilot - 1, count = noisy < MOST_CENTERS ? noisy : MOST_CENTERS;
    double least = INFINITY;
    size_t best = 0;
    for (size_t i = 1; i <= count && !cr_watch_late(e->clock.watch); i++) {
        const double median = median_distance(e, i, count, least);
        if (median < least) least = median, best = i;
    }
    return best;
}

/* Each output's own, at what is left to it of the tolerance. */
static double choose_of_output(const certreg_estimator *e, const cr_question *q, size_t k)
{
    cr_question of_output = *q;
    of_output.output = (int32_t)k, of_output.output_count = 0;
    of_output.tolerance = cr_directions_tolerance(e, q, k);
    return choose_number(e, &of_output);
}

static int choose_vector(certreg_estimator *e, const cr_question *q)
{
    const int is_ball = cr_statistic_of(q->statistic)->choice == CR_CHOICE_CENTER;
    const size_t sample = is_ball && !q->prediction_given ? choose_center(e) : 0,
                 first = cr_question_first(q), end = first + cr_question_outputs(e, q);
    int known = 1;
    for (size_t k = first; k < end; k++) {
        e->here.center[k] = q->prediction_given ? q->predictions[k - first]
                            : is_ball           ? (double)cr_record_value(e, sample, k)
                                                : choose_of_output(e, q, k);
        known &= isfinite(e->here.center[k]) != 0;
    }
    return known;
}

/* Its time does not grow with the number of samples. The spread of discrete outputs may say little
 * of how far they go: then the pilot shows more of them out than with equal shares. */
static int find_vector(certreg_estimator *e, const cr_question *q)
{
    const double start = cr_estimator_now(e);
    if (cr_question_has_directions(q)) cr_directions_share_by_spread(e, q);
    int known = choose_vector(e, q);
    if (cr_question_counts(q) && known && cr_directions_count(e, q) > 1) {
        const size_t by_spread = cr_directions_misses(e, q);
        cr_directions_share_equally(e, q);
        known = choose_vector(e, q);
        if (by_spread < cr_directions_misses(e, q)) {
            cr_directions_share_by_spread(e, q);
            known = choose_vector(e, q);
        }
    }
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    return known;
}

/* ---- either */
int cr_prediction_find(certreg_estimator *e, const cr_question *q, double *prediction)
{
    *prediction = NAN;
    if (cr_question_is_vector(q)) return find_vector(e, q);
    *prediction = q->prediction_given ? cr_prediction_into_turn(e, q, q->prediction)
                                      : choose_number(e, q);
    return !isnan(*prediction);
}

static certreg_status check_pilot(certreg_estimator *e)
{
    size_t length; /* of the samples without a gap */
    cr_record_length(e, &length, NULL);
    if (length >= e->record.pilot) return cr_record_in_range(e);
    return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                   "sample %zu of the pilot's %zu samples is missing: sample or import the pilot "
                   "first, or give question.prediction",
                   length, e->record.pilot);
}

static certreg_status tell(certreg_estimator *e, const certreg_question *question, double *out)
{
    cr_question q;
    double prediction;
    if (!out) return cr_fail(&e->error, CERTREG_E_INVALID, "out is NULL");
    certreg_status status = cr_estimator_ready(e);
    if (!status) status = cr_question_take(e, question, &q);
    if (!status && cr_question_by_estimate(e, &q))
        status = cr_fail(&e->error, CERTREG_E_INVALID,
                         "question.center is %d; only CERTREG_CENTER_PREDICTION has a prediction",
                         (int)q.center);
    if (!status && !q.prediction_given) status = check_pilot(e);
    if (status) return status;
    const int is_vector = cr_question_is_vector(&q);
    const int known = cr_prediction_find(e, &q, &prediction);
    const double *const vector = e->here.center + cr_question_first(&q);
    for (size_t k = 0; k < cr_question_outputs(e, &q); k++)
        out[k] = !known ? NAN : is_vector ? vector[k] : prediction;
    return CERTREG_OK;
}

certreg_status certreg_estimator_prediction(certreg_estimator *e, const certreg_question *question,
                                            double *out)
{
    const certreg_status refused = cr_estimator_enter(e);
    return refused ? refused : cr_estimator_leave(e, tell(e, question, out));
}
