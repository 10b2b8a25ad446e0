/* From a question to conditions: validation, the prediction, and which scores have to stay positive (theory 1 and 7). */
#include "estimator/inquiry.h"
#include "base/structs.h"
#include "estimator/location.h"
#include "estimator/psi.h"
#include <math.h>
#include <string.h>

enum { OLDEST_QUESTION = sizeof(certreg_question) };

/* Constants of the proof for angles (theory 7), as parts of a turn. The circular mean mu is shown to stay within `near` of the
 * prediction; outputs at half a turn minus `near` or farther count as the least score. Since sin(near + t) is at least
 * sin(near - arc) for -arc <= t <= 1/2 - 2 near + arc, and at least -1 elsewhere, "mu stays near" follows from the probability of
 * that arc alone, a binomial matter: p sin(near - arc) - (1 - p) > 0. The arc follows the tolerance between two ends: wide outputs
 * want a wide one, narrow ones a small threshold. Neither constant is part of the functional. */
static const double near_part = 80.0 / 360, least_arc = 25.0 / 360, greatest_arc = 45.0 / 360, full_turn = 6.283185307179586476925;

static int is_angle(const certreg_estimator *e, const certreg_question *q)
{
    return e->at.kind[q->output] != CERTREG_REAL;
}

static double period_of(const certreg_estimator *e, const certreg_question *q)
{
    return is_angle(e, q) ? e->at.hi[q->output] - e->at.lo[q->output] : 0;
}

/* ---- validation ----------------------------------------------------------------------------------------------------------------- */
static certreg_status invalid(certreg_estimator *e, const char *field, double value, const char *rule)
{
    cr_fail(&e->error, CERTREG_INVALID, "question.%s is %g; %s", field, value, rule);
    e->error.value = value;
    return CERTREG_INVALID;
}

static certreg_status check_enums(certreg_estimator *e, const certreg_question *q)
{
    if (q->output == -1) return invalid(e, "output", -1, "the norm of a vector is not available in this version");
    if (q->output < 0 || (size_t)q->output >= e->model.outputs) return invalid(e, "output", q->output, "the model has no such output");
    if (q->score < CERTREG_SCORE_MEDIAN || q->score > CERTREG_SCORE_CIRCULAR_MEAN) return invalid(e, "score", q->score, "no such score");
    if (q->interval == CERTREG_INTERVAL_ANYTIME) return invalid(e, "interval", q->interval, "time-uniform intervals are not available in this version");
    if (q->interval < 0 || q->interval > CERTREG_INTERVAL_ANYTIME) return invalid(e, "interval", q->interval, "no such interval");
    if (q->promise == CERTREG_PROMISE_REACH) return invalid(e, "promise", q->promise, "the reach at a radius is not available in this version");
    if (q->promise < 0 || q->promise > CERTREG_PROMISE_REACH) return invalid(e, "promise", q->promise, "no such promise");
    const uint32_t known = CERTREG_MEAN | CERTREG_VARIANCE | CERTREG_GRADIENT | CERTREG_RANGE;
    if (q->family & ~known) return invalid(e, "family", q->family, "it names facts that this version does not have");
    return CERTREG_OK;
}

static certreg_status check_later(certreg_estimator *e, const certreg_question *q)
{
    if (q->wanted != 0) return invalid(e, "wanted", q->wanted, "sequential tests are not available in this version; use 0");
    if (q->at_radius != 0) return invalid(e, "at_radius", q->at_radius, "the reach at a radius is not available in this version; use 0");
    if (q->served_samples) return invalid(e, "served_samples", (double)q->served_samples, "deployment promises are not available in this version; use 0");
    if (q->served_beta != 0) return invalid(e, "served_beta", q->served_beta, "deployment promises are not available in this version; use 0");
    return CERTREG_OK;
}

static certreg_status check_combination(certreg_estimator *e, const certreg_question *q)
{
    const int mean = q->score == CERTREG_SCORE_MEAN, median = q->score == CERTREG_SCORE_MEDIAN;
    if (q->promise == CERTREG_PROMISE_TRUE_MEAN && !mean) return invalid(e, "promise", q->promise, "the true value can be promised for the mean only");
    if (q->interval == CERTREG_INTERVAL_FINITE && !median)
        return invalid(e, "score", q->score, "finite-sample intervals exist for the median only in this version; choose CERTREG_INTERVAL_ASYMPTOTIC");
    if (q->interval == CERTREG_INTERVAL_PAPER && (!mean || q->promise != CERTREG_PROMISE_TRUE_MEAN))
        return invalid(e, "interval", q->interval, "the paper's intervals belong to the mean and to CERTREG_PROMISE_TRUE_MEAN");
    if (q->score == CERTREG_SCORE_CIRCULAR_MEAN && !is_angle(e, q)) return invalid(e, "score", q->score, "the circular mean needs an output that is an angle");
    if (median && q->family && (!(q->family & CERTREG_MEAN) || !(q->family & CERTREG_RANGE)))
        return invalid(e, "family", q->family, "the median is certified by its mean score and range: include both, or use 0");
    return CERTREG_OK;
}

static certreg_status check_numbers(certreg_estimator *e, const certreg_question *q)
{
    const double period = period_of(e, q);
    if (!(q->tolerance > 0) || !isfinite(q->tolerance)) return invalid(e, "tolerance", q->tolerance, "it must be positive and finite");
    if (q->score == CERTREG_SCORE_CIRCULAR_MEAN && q->tolerance > period / 4)
        return invalid(e, "tolerance", q->tolerance, "a circular mean is certified up to a quarter of a turn");
    if (period > 0 && q->score != CERTREG_SCORE_MEAN && !(q->tolerance < period / 2))
        return invalid(e, "tolerance", q->tolerance, "for an angle it must be below half a turn");
    if (q->score == CERTREG_SCORE_HUBER && (!(q->huber_width > 0) || !isfinite(q->huber_width)))
        return invalid(e, "huber_width", q->huber_width, "it must be positive and finite (often half the tolerance)");
    if (q->huber_width > 1e6 * q->tolerance) return invalid(e, "huber_width", q->huber_width, "so wide a score is the mean: use CERTREG_SCORE_MEAN");
    if (q->score != CERTREG_SCORE_HUBER && q->huber_width != 0) return invalid(e, "huber_width", q->huber_width, "it belongs to CERTREG_SCORE_HUBER; use 0");
    if (!(q->alpha > 0 && q->alpha <= 0.5)) return invalid(e, "alpha", q->alpha, "it must lie in (0, 0.5]");
    if (q->prediction_given != 0 && q->prediction_given != 1) return invalid(e, "prediction_given", q->prediction_given, "it must be 0 or 1");
    if (q->prediction_given && !isfinite(q->prediction)) return invalid(e, "prediction", q->prediction, "it must be finite");
    return CERTREG_OK;
}

static certreg_status check_plan_allows(certreg_estimator *e, const certreg_question *q)
{
    if (!cr_estimator_has_gradient(e) && (q->interval == CERTREG_INTERVAL_PAPER ||
                                          (q->family & CERTREG_GRADIENT && q->interval != CERTREG_INTERVAL_FINITE)))
        return invalid(e, "interval", q->interval, "it needs the gradient, which plan.facts left out");
    if (!q->prediction_given && q->promise == CERTREG_PROMISE_PREDICTION && !e->plan.pilot)
        return invalid(e, "prediction_given", 0, "the plan has no pilot to choose a prediction from, so one must be given");
    return CERTREG_OK;
}

certreg_status cr_inquiry_read(certreg_estimator *e, const certreg_question *theirs, cr_inquiry *out)
{
    memset(out, 0, sizeof *out);
    certreg_question *q = &out->question;
    certreg_status status = cr_struct_read(q, sizeof *q, OLDEST_QUESTION, theirs, "question", &e->error);
    if (status) return status;
    if (q->alpha == 0) q->alpha = 0.05;
    if (!q->joint) q->joint = 1;
    if (!(status = check_enums(e, q)) && !(status = check_later(e, q)) && !(status = check_combination(e, q)) &&
        !(status = check_numbers(e, q)))
        status = check_plan_allows(e, q);
    q->alpha /= q->joint;
    if (!status && q->alpha < 1e-300) return invalid(e, "alpha", q->alpha, "divided by joint it must be at least 1e-300");
    return status;
}

/* ---- the prediction ------------------------------------------------------------------------------------------------------------- */
/* Into [lo, hi) of an angle's unit. */
static double into_turn(const certreg_estimator *e, const certreg_question *q, double value)
{
    const double period = period_of(e, q);
    if (!(period > 0) || isnan(value) || q->score == CERTREG_SCORE_MEAN) return value;
    const double lo = e->at.lo[q->output], t = fmod(value - lo, period);
    const double wrapped = lo + (t < 0 ? t + period : t);
    return wrapped < e->at.hi[q->output] ? wrapped : lo;
}

/* Location of count recorded samples from `first` on: what the score of this question estimates. */
static double location(const certreg_estimator *e, const certreg_question *q, size_t first, size_t count)
{
    const size_t step = e->model.outputs;
    const float *y = e->at.record + first * step + q->output;
    const double period = q->score == CERTREG_SCORE_MEAN ? 0 : period_of(e, q);
    const double origin = period > 0 ? cr_location_circular_mean(y, count, step, period) : 0;
    if (q->score == CERTREG_SCORE_CIRCULAR_MEAN) return into_turn(e, q, origin);
    const cr_values values = {.y = y, .count = count, .step = step, .origin = origin, .period = period};
    if (q->score == CERTREG_SCORE_MEAN) return cr_location_mean(&values);
    const double t = q->score == CERTREG_SCORE_HUBER ? cr_location_huber(&values, q->huber_width) : cr_location_median(&values);
    return into_turn(e, q, origin + t);
}

/* The mean's certificate is best about the mean; the median's and Huber's about the point that balances both tails. */
static double choose_prediction(const certreg_estimator *e, const cr_inquiry *inquiry)
{
    const certreg_question *q = &inquiry->question;
    const size_t pilot = e->plan.pilot;
    const double noise_free = (double)cr_record_value(e, 0, (size_t)q->output);
    if (q->score == CERTREG_SCORE_MEDIAN || q->score == CERTREG_SCORE_HUBER) {
        const size_t step = e->model.outputs;
        return into_turn(e, q, cr_psi_choose(e->at.record + step + q->output, pilot - 1, step, q->tolerance, inquiry->samples,
                                             noise_free, period_of(e, q)));
    }
    const double theta = location(e, q, 1, pilot - 1);
    return isnan(theta) ? noise_free : theta;
}

/* ---- conditions ----------------------------------------------------------------------------------------------------------------- */
static void add(cr_inquiry *inquiry, cr_score score, int exact, double threshold)
{
    inquiry->condition[inquiry->conditions++] = (cr_condition){.score = score, .threshold = threshold, .exact = exact};
}

static int32_t kind_of(const certreg_question *q)
{
    if (q->promise == CERTREG_PROMISE_TRUE_MEAN) return CR_SCORE_OUTPUT;
    switch (q->score) {
    case CERTREG_SCORE_MEAN: return CR_SCORE_LINEAR;
    case CERTREG_SCORE_HUBER: return CR_SCORE_HUBER;
    case CERTREG_SCORE_CIRCULAR_MEAN: return CR_SCORE_SINE;
    default: return CR_SCORE_SIGN;
    }
}

/* "mu stays near the prediction" on one side; mu exists then, since the resultant has a positive component. */
static void add_arc(cr_inquiry *inquiry, cr_score score)
{
    const double arc = fmax(least_arc, fmin(score.tolerance / score.period, greatest_arc)), sine = sin((near_part - arc) * full_turn);
    score.kind = CR_SCORE_ARC;
    score.arc = arc * score.period;
    score.cut = (0.5 - 2 * near_part + arc) * score.period;
    add(inquiry, score, 1, (1 - sine) / (1 + sine));
}

static void set_conditions(const certreg_estimator *e, cr_inquiry *inquiry)
{
    const certreg_question *q = &inquiry->question;
    cr_score s = {.kind = kind_of(q), .side = 1, .prediction = inquiry->prediction, .tolerance = q->tolerance, .width = q->huber_width};
    inquiry->conditions = 0;
    if (s.kind == CR_SCORE_OUTPUT) {
        add(inquiry, s, 0, 0);
        return;
    }
    const int line_of_circle = is_angle(e, q) && q->score != CERTREG_SCORE_MEAN && q->score != CERTREG_SCORE_CIRCULAR_MEAN;
    if (q->score != CERTREG_SCORE_MEAN) s.period = period_of(e, q);
    s.cut = line_of_circle ? (0.5 - near_part) * s.period : s.period;
    for (s.side = -1; s.side <= 1; s.side += 2) add(inquiry, s, s.kind == CR_SCORE_SIGN, 0);
    for (s.side = -1; line_of_circle && s.side <= 1; s.side += 2) add_arc(inquiry, s);
}

static certreg_status check_samples(certreg_estimator *e, cr_inquiry *inquiry)
{
    const certreg_status status = cr_record_length(e, &inquiry->samples);
    if (status) return status;
    inquiry->main_first = e->plan.pilot;
    const size_t least = inquiry->question.interval == CERTREG_INTERVAL_FINITE ? 1 : e->plan.blocks;
    if (inquiry->samples >= inquiry->main_first + least) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_WRONG_STATE, "the record has %zu samples; beside the pilot of %zu this interval needs at least %zu",
                   inquiry->samples, e->plan.pilot, least);
}

certreg_status cr_inquiry_prepare(certreg_estimator *e, cr_inquiry *inquiry)
{
    const certreg_question *q = &inquiry->question;
    const certreg_status status = check_samples(e, inquiry);
    if (status) return status;
    const size_t noisy = e->noise.centre != 0;
    inquiry->failures = 0;
    for (size_t i = 0; i < inquiry->samples; i++) inquiry->failures |= isnan(cr_record_value(e, i, (size_t)q->output));
    inquiry->estimate = location(e, q, noisy, inquiry->samples - noisy);
    if (q->promise == CERTREG_PROMISE_TRUE_MEAN) inquiry->prediction = inquiry->estimate;
    else if (q->prediction_given) inquiry->prediction = into_turn(e, q, q->prediction);
    else inquiry->prediction = choose_prediction(e, inquiry);
    set_conditions(e, inquiry);
    return CERTREG_OK;
}
