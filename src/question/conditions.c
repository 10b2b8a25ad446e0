/* From a question to conditions: the prediction, and which scores have to stay positive (theory 1
 * and 7). */
#include "question/conditions.h"
#include "base/constants.h"
#include "question/question.h"
#include "statistics/normal.h"
#include "statistics/location.h"
#include "statistics/prediction.h"
#include "statistics/served.h"
#include <math.h>
#include <string.h>

/* Constants of the proof for angles (theory 7), as parts of a turn. The circular mean mu is shown
 * to stay within `near` of the prediction; outputs at half a turn minus `near` or farther count as
 * the least score. There are two ways to show it.
 * - By an arc: sin(near + t) is at least sin(near - arc) for -arc <= t <= 1/2 - 2 near + arc, and
 * at least -1 elsewhere, so that the probability of that arc suffices, a binomial matter: p
 * sin(near - arc) - (1 - p) > 0. The arc follows the tolerance between two ends: wide outputs want
 * a wide one, narrow ones a small threshold.
 * - By sines (greatest 0): E sin(near + t) > 0 itself, bounded by betting. That asks for less, and
 * so for less room. None of this is part of the functional, so the pilot may choose. Where it is
 * too short, or where there is none, the tolerance alone decides: the choice must not follow the
 * number of samples, which may depend on them. */
static const struct cut {
    double near, per_tolerance, least, greatest;
} cuts[] = {{80.0 / 360, 1, 25.0 / 360, 45.0 / 360},
            {90.0 / 360, 1.2, 0, 45.0 / 360},
            {40.0 / 360, 0, 0, 0},
            {30.0 / 360, 0, 0, 0},
            {25.0 / 360, 0, 0, 0}};
enum { CUTS = sizeof cuts / sizeof *cuts, ARCS = 2 };
static const struct cut without_pilot = {85.0 / 360, 2, 10.0 / 360, 40.0 / 360};
static const size_t choosy_pilot = 3, knowing_pilot = 100; /* least outputs to choose between arcs
                                                              by, and sines too */

/* ---- the prediction */
/* Into [lo, hi) of an angle's unit. */
static double into_turn(const certreg_estimator *e, const cr_question *q, double value)
{
    const double period = cr_question_period(e, q);
    if (!(period > 0) || isnan(value) || q->statistic == CERTREG_STATISTIC_MEAN) return value;
    const double lo = e->model.lo[q->output], t = fmod(value - lo, period);
    const double wrapped = lo + (t < 0 ? t + period : t);
    return wrapped < e->model.hi[q->output] ? wrapped : lo;
}

/* Location of count recorded samples from `first` on: what the score of this question estimates. */
static double location(const certreg_estimator *e, const cr_question *q, size_t first, size_t count)
{
    const size_t step = e->model.outputs;
    const float *y = e->record.values + first * step + q->output;
    const double period = q->statistic == CERTREG_STATISTIC_MEAN ? 0 : cr_question_period(e, q);
    cr_values values = {
        .y = y, .count = count, .step = step, .period = period, .watch = e->clock.watch};
    const double origin = values.origin = period > 0 ? cr_location_direction(&values) : 0;
    if (q->statistic == CERTREG_STATISTIC_CIRCULAR_MEAN) return into_turn(e, q, origin);
    if (q->statistic == CERTREG_STATISTIC_MEAN) return cr_location_mean(&values);
    const double t = q->statistic == CERTREG_STATISTIC_HUBER
                         ? cr_location_huber(&values, q->huber_width)
                         : cr_location_median(&values);
    return into_turn(e, q, origin + t);
}

/* The mean's certificate is best about the mean; the median's and Huber's about the point that
 * balances both tails. Nothing but the pilot may be used, not even the number of samples, which may
 * depend on them. */
static double choose_prediction(const certreg_estimator *e, const cr_question *q)
{
    const size_t pilot = e->record.pilot;
    const double noise_free = (double)cr_record_value(e, 0, (size_t)q->output);
    const int balances = q->statistic == CERTREG_STATISTIC_MEDIAN ||
                         q->statistic == CERTREG_STATISTIC_HUBER;
    if (balances && !(q->at_radius > 0)) { /* output bounds have one for all tolerances */
        const size_t step = e->model.outputs;
        return into_turn(e, q,
                         cr_prediction_choose(e->record.values + step + q->output, pilot - 1, step,
                                              q->tolerance, (size_t)cr_asked_max_samples(e),
                                              noise_free, cr_question_period(e, q)));
    }
    const double theta = location(e, q, 1, pilot - 1);
    return isnan(theta) ? noise_free : theta;
}

/* ---- conditions */
/* The share of beta, the probability that a served estimate fails, that goes to the two near
 * conditions of an angle. */
static const double guard_share = 0.1;

static int32_t kind_of(const cr_question *q)
{
    if (cr_question_about_output(q)) return CR_SCORE_OUTPUT;
    switch (q->statistic) {
    case CERTREG_STATISTIC_MEAN: return CR_SCORE_LINEAR;
    case CERTREG_STATISTIC_HUBER: return CR_SCORE_HUBER;
    case CERTREG_STATISTIC_CIRCULAR_MEAN: return CR_SCORE_SINE;
    default: return CR_SCORE_SIGN;
    }
}

/* The mean of the score has to stay above 0 at the shifted input, or above what N' fresh samples
 * need. */
static void add(const certreg_estimator *e, cr_conditions *conditions, const cr_score *score,
                int guard, double beta)
{
    const cr_question *q = &conditions->question;
    cr_condition *c = &conditions->each[conditions->count++];
    *c = (cr_condition){.score = *score,
                        .guard = guard,
                        .exact = score->kind == CR_SCORE_SIGN || score->kind == CR_SCORE_ARC};
    const double share = score->kind == CR_SCORE_ARC ? score->needed : 0.5;
    c->threshold = 2 * share - 1;
    if (!q->served_samples || score->kind == CR_SCORE_OUTPUT) return;
    double least, greatest;
    cr_score_range(score, e->model.lo[q->output], e->model.hi[q->output], &least, &greatest);
    c->threshold = c->exact ? cr_served_binomial(q->served_samples, share, beta)
                            : cr_served_bounded(q->served_samples, least, greatest, beta);
}

/* "mu stays near the prediction" on one side; mu exists then, since the resultant has a positive
 * component. */
static cr_score guard_of(cr_score score, const struct cut *cut)
{
    if (!(cut->greatest > 0)) {
        score.kind = CR_SCORE_SINE;
        score.tolerance = cut->near * score.period;
        return score;
    }
    const double arc =
        fmax(cut->least, fmin(cut->per_tolerance * score.tolerance / score.period, cut->greatest));
    const double sine = sin((cut->near - arc) * CR_TWO_PI);
    score.kind = CR_SCORE_ARC;
    score.arc = arc * score.period;
    score.cut = (0.5 - 2 * cut->near + arc) * score.period;
    score.needed = 1 / (1 + sine);
    return score;
}

static int is_line_of_circle(const certreg_estimator *e, const cr_question *q)
{
    return cr_question_is_angle(e, q) &&
           (q->statistic == CERTREG_STATISTIC_MEDIAN || q->statistic == CERTREG_STATISTIC_HUBER);
}

/* Both sides, then both near conditions. */
static void set_conditions_for(const certreg_estimator *e, cr_conditions *conditions,
                               const struct cut *cut)
{
    const cr_question *q = &conditions->question;
    cr_score s = {.kind = kind_of(q),
                  .side = 1,
                  .prediction = conditions->prediction,
                  .tolerance = q->tolerance,
                  .width = q->huber_width};
    conditions->count = 0;
    if (s.kind == CR_SCORE_OUTPUT) {
        add(e, conditions, &s, 0, 0);
        return;
    }
    const int line_of_circle = is_line_of_circle(e, q);
    if (q->statistic != CERTREG_STATISTIC_MEAN) s.period = cr_question_period(e, q);
    s.cut = line_of_circle ? (0.5 - cut->near) * s.period : s.period;
    const double beta = 0.5 * q->served_rate, of_guard = line_of_circle ? guard_share * beta : 0;
    for (s.side = -1; s.side <= 1; s.side += 2) add(e, conditions, &s, 0, beta - of_guard);
    for (s.side = -1; line_of_circle && s.side <= 1; s.side += 2) {
        const cr_score guard = guard_of(s, cut);
        add(e, conditions, &guard, 1, of_guard);
    }
}

int32_t cr_condition_side(const cr_condition *c)
{
    if (c->score.kind == CR_SCORE_OUTPUT) return CERTREG_SIDE_LOWER;
    return c->score.side > 0 ? (c->guard ? CERTREG_SIDE_NEAR_LOWER : CERTREG_SIDE_LOWER)
                             : (c->guard ? CERTREG_SIDE_NEAR_UPPER : CERTREG_SIDE_UPPER);
}

/* Radii in units of sigma if the pilot were the truth: by the failures of a score with two values,
 * as if Huber's had two as well, and by mean and variance of a sine. */
static double pilot_radius_of(const certreg_estimator *e, const cr_conditions *conditions,
                              const cr_condition *c)
{
    const size_t first = cr_record_noisy(e);
    const cr_samples s = cr_record_samples(e, &c->score, (size_t)conditions->question.output, first,
                                           conditions->main_first - first, 0);
    const double count = (double)s.count;
    double failures = 0.5, sum = 0, square = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) {
        const double u = cr_samples_at(&s, i);
        failures += u < 0;
        sum += u;
        square += u * u;
    }
    const double room = sum / count - c->threshold,
                 variance = fmax(0, square - sum * sum / count) / count;
    if (c->score.kind == CR_SCORE_SINE) return room > 0 ? sqrt(log1p(room * room / variance)) : 0;
    return cr_normal_quantile_sf(failures / (count + 1)) +
           cr_normal_quantile_sf(0.5 * (1 + c->threshold));
}

static double pilot_radius(const certreg_estimator *e, const cr_conditions *conditions)
{
    double least = INFINITY;
    for (int i = 0; i < conditions->count; i++)
        least = fmin(least, pilot_radius_of(e, conditions, conditions->each + i));
    return least;
}

/* How many of the cuts the pilot may choose from. Sines are not for tests of failures, which have
 * many looks, nor for output bounds, which have many tolerances. */
static int cuts_for(const cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE,
                   family = cr_question_constraints(q);
    const int moments = !family || (family & both) == both;
    return moments && conditions->main_first >= knowing_pilot &&
                   q->method != CERTREG_METHOD_ANYTIME && !(q->target > 0) && !(q->at_radius > 0)
               ? CUTS
               : ARCS;
}

/* For a forecast before the pilot is complete: the arc that asks for the smallest share of the
 * outputs. What it cannot prove, no choice of the pilot will. (Targets have no sines.) */
static const struct cut *least_demanding(const certreg_estimator *e, const cr_question *q)
{
    const cr_score score = {.tolerance = q->tolerance, .period = cr_question_period(e, q)};
    const struct cut *least = cuts;
    for (int i = 1; i < ARCS; i++)
        if (guard_of(score, cuts + i).needed < guard_of(score, least).needed) least = cuts + i;
    return least;
}

static const struct cut *best_for_pilot(const certreg_estimator *e, cr_conditions *conditions)
{
    const struct cut *best = cuts;
    const int count = cuts_for(conditions);
    double greatest = -INFINITY;
    for (int i = 0; i < count; i++) {
        set_conditions_for(e, conditions, cuts + i);
        const double radius = pilot_radius(e, conditions);
        if (radius > greatest) greatest = radius, best = cuts + i;
    }
    return best;
}

static void set_conditions(const certreg_estimator *e, cr_conditions *conditions)
{
    const struct cut *cut = &without_pilot;
    if (is_line_of_circle(e, &conditions->question) && conditions->main_first >= choosy_pilot)
        cut = conditions->samples < conditions->main_first
                  ? least_demanding(e, &conditions->question)
                  : best_for_pilot(e, conditions);
    set_conditions_for(e, conditions, cut);
}

/* The same question at another tolerance; everything else stays, the prediction too. */
void cr_conditions_set_tolerance(const certreg_estimator *e, cr_conditions *conditions,
                                 double tolerance)
{
    conditions->question.tolerance = tolerance;
    set_conditions(e, conditions);
}

size_t cr_conditions_least(const certreg_estimator *e, const cr_question *q)
{
    return e->record.pilot + (cr_question_without_normality(q) ? 1 : e->plan.blocks);
}

static certreg_status check_samples(certreg_estimator *e, cr_conditions *conditions)
{
    const certreg_status status = cr_record_length(e, &conditions->samples, &e->error);
    if (status) return status;
    conditions->main_first = e->record.pilot;
    const size_t least = cr_conditions_least(e, &conditions->question);
    if (conditions->samples >= least)
        return cr_question_allowed(e, &conditions->question, conditions->samples);
    return cr_fail(
        &e->error, CERTREG_E_WRONG_STATE,
        "this question needs at least %zu samples, %zu of them the pilot's, and the record has "
        "%zu: take more (total_samples of certify), or set a smaller plan.pilot",
        least, e->record.pilot, conditions->samples);
}

/* Also for a record that is too short to certify anything, since a control loop continues with it;
 * the given prediction where the outputs give no number. */
static double estimate_of(const certreg_estimator *e, const cr_question *q, size_t samples)
{
    const size_t noisy = cr_record_noisy(e);
    if (q->output < 0) return NAN;
    const double found = samples > noisy ? location(e, q, noisy, samples - noisy) : NAN;
    const int known = !isnan(found) && !e->clock.watch->late;
    return known ? found : q->prediction_given ? into_turn(e, q, q->prediction) : NAN;
}

static int any_failed(const certreg_estimator *e, const cr_question *q, size_t samples)
{
    const size_t first = q->output < 0 ? 0 : (size_t)q->output,
                 end = q->output < 0 ? e->model.outputs : first + 1;
    for (size_t i = 0; i < samples; i++)
        for (size_t k = first; k < end; k++)
            if (isnan(cr_record_value(e, i, k))) return 1;
    return 0;
}

certreg_status cr_conditions_prepare(certreg_estimator *e, cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const certreg_status status = check_samples(e, conditions);
    const int given = q->prediction_given && !cr_question_about_output(q) &&
                      !cr_question_orders(e, q);
    conditions->estimate = estimate_of(e, q, conditions->samples);
    conditions->prediction = given ? into_turn(e, q, q->prediction) : NAN;
    if (status) return status;
    conditions->failures = any_failed(e, q, conditions->samples);
    if (cr_question_about_output(q) || cr_question_orders(e, q))
        conditions->prediction = conditions->estimate;
    else if (!given) conditions->prediction = choose_prediction(e, q);
    set_conditions(e, conditions);
    return e->clock.watch->late ? CERTREG_E_DEADLINE : CERTREG_OK;
}

certreg_status cr_conditions_preview(certreg_estimator *e, cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const certreg_status status = cr_record_length(e, &conditions->samples, &e->error);
    if (status) return status;
    conditions->main_first = e->record.pilot;
    const int complete = e->record.pilot > 0 && conditions->samples >= e->record.pilot;
    conditions->prediction = q->prediction_given ? into_turn(e, q, q->prediction)
                             : complete          ? choose_prediction(e, q)
                                                 : 0;
    set_conditions(e, conditions);
    return CERTREG_OK;
}
