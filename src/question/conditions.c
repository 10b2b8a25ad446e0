/* From a question to conditions: which scores have to stay positive (theory 1, 7 and 9). */
#include "question/conditions.h"
#include "base/constants.h"
#include "question/directions.h"
#include "question/estimate.h"
#include "question/prediction.h"
#include "statistics/served.h"
#include "statistics/shift.h"
#include <math.h>

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

/* The parts of beta, the probability that a served estimate fails, from which the pilot chooses
 * that of either near condition: narrow outputs can do with little, and outputs with many outliers
 * want more. */
static const double near_parts[] = {0.05, 0.2};
enum { PARTS = sizeof near_parts / sizeof *near_parts };
typedef struct division { /* of beta: the part of either side, and of either near condition */
    double side, near;
} division;

static division division_of(double near)
{
    return (division){0.5 - near, near};
}

/* ---- conditions */
static enum cr_score_kind kind_of(const cr_question *q)
{
    return q->about_output ? CR_SCORE_OUTPUT : q->statistic_row->score;
}

/* How many of the fresh outputs of a trimmed mean may be out. One that fails may be given any
 * value, so the range is no help then. */
static uint64_t may_be_out(cr_view *v, const cr_question *q, const cr_score *score)
{
    const double lo = v->model.lo[q->output], hi = v->model.hi[q->output],
                 farther = fmax(hi - score->prediction, score->prediction - lo);
    const int may_fail = (v->plan.flags & CERTREG_PLAN_COUNT_FAILURES) != 0;
    const double reach = score->period > 0 ? 0.5 * score->period : may_fail ? INFINITY : farther;
    return cr_served_out(q->served_samples, q->served_trim, q->tolerance, score->tolerance, reach);
}

/* What the mean of the score has to stay above at the shifted input: 0, or what N' fresh samples
 * need. */
static double threshold_of(cr_view *v, const cr_conditions *conditions, const cr_score *score,
                           double beta)
{
    const cr_question *q = &conditions->question;
    const int32_t k = conditions->output;
    const double share = score->kind == CR_SCORE_ARC ? score->needed : 0.5;
    if (!q->served_samples || score->kind == CR_SCORE_OUTPUT) return 2 * share - 1;
    if (score->kind == CR_SCORE_WITHIN)
        return cr_served_misses(q->served_samples, may_be_out(v, q, score), beta);
    if (cr_score_nature(score->kind).two_valued)
        return cr_served_binomial(q->served_samples, share, beta);
    double least, greatest;
    cr_score_range(score, v->model.lo + k, v->model.hi + k, &least, &greatest);
    return cr_served_bounded(cr_question_served_count(q), least, greatest, beta);
}

/* Of a score with two values: how many may be -1. */
static cr_pairs pairs_of(cr_view *v, const cr_question *q, const cr_score *score, double beta)
{
    const uint64_t n = q->served_samples;
    const double share = score->kind == CR_SCORE_ARC ? score->needed : 0.5;
    if (!q->served_pairs || !cr_score_nature(score->kind).two_valued) return (cr_pairs){0};
    const uint64_t out = score->kind == CR_SCORE_WITHIN ? may_be_out(v, q, score) + 1
                                                        : n - cr_served_share(n, share);
    return out > n ? (cr_pairs){0} : (cr_pairs){.samples = n, .out = out, .rate = beta};
}

/* Of what is served beta is the part of this condition. */
static void add(cr_view *v, cr_conditions *conditions, const cr_score *score, int near, double beta)
{
    conditions->each[conditions->count++] =
        (cr_condition){.score = *score,
                       .near = near,
                       .exact = cr_score_nature(score->kind).two_valued,
                       .threshold = threshold_of(v, conditions, score, beta),
                       .pairs = pairs_of(v, &conditions->question, score, beta)};
}

/* "mu stays near the prediction" on one side; mu exists then, since the resultant has a positive
 * component. */
static cr_score guard_of(const cr_score *about, const struct cut *cut)
{
    cr_score score = *about;
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

/* At a quarter of a turn both arcs are the same one, and fail together. */
static int arcs_agree(const struct cut *cut)
{
    return cut->greatest > 0 && cut->near == 90.0 / 360;
}

static int is_line_of_circle(const cr_question *q)
{
    return q->is_angle && !q->method_row->published && q->statistic_row->angle == CR_ANGLE_CUT;
}

/* A core is nearer than the tolerance. */
static double tolerance_of(const cr_question *q)
{
    const double wider = q->statistic_row->wider;
    if (wider > 1) return nextafter(q->tolerance / wider, 0);
    return q->served_core > 0 ? q->served_core : q->tolerance;
}

/* One condition for both sides; else both sides, then both near conditions. */
static void set_conditions_for(cr_view *v, cr_conditions *conditions, const struct cut *cut,
                               division part)
{
    const cr_question *q = &conditions->question;
    cr_score s = {.kind = kind_of(q),
                  .side = 1,
                  .prediction = conditions->prediction,
                  .tolerance = tolerance_of(q),
                  .width = q->huber_width};
    const int line_of_circle = is_line_of_circle(q);
    conditions->count = 0;
    s.period = q->period;
    if (s.kind == CR_SCORE_BALL)
        s.center = conditions->scratch->center, s.outputs = v->model.outputs;
    conditions->output = q->output;
    if (q->has_directions)
        conditions->output = cr_directions_aim(v, conditions, conditions->direction, &s);
    if (!cr_score_nature(s.kind).sides) {
        add(v, conditions, &s, 0, q->served_rate);
        return;
    }
    s.cut = line_of_circle ? (0.5 - cut->near) * s.period : s.period;
    const double rate = q->served_rate / (double)conditions->question.directions,
                 of_side = part.side * rate, of_near = part.near * rate * (arcs_agree(cut) ? 2 : 1);
    for (s.side = -1; s.side <= 1; s.side += 2) add(v, conditions, &s, 0, of_side);
    for (s.side = -1; line_of_circle && s.side <= 1; s.side += 2) {
        const cr_score guard = guard_of(&s, cut);
        add(v, conditions, &guard, 1, of_near);
    }
}

int32_t cr_conditions_side(const cr_condition *c)
{
    if (c->score.kind == CR_SCORE_OUTPUT) return CERTREG_SIDE_LOWER;
    return c->score.side > 0 ? (c->near ? CERTREG_SIDE_NEAR_LOWER : CERTREG_SIDE_LOWER)
                             : (c->near ? CERTREG_SIDE_NEAR_UPPER : CERTREG_SIDE_UPPER);
}

/* How many of the cuts the pilot may choose from. Sines are not for tests of failures, which have
 * many looks, nor for output bounds, which have many tolerances. */
static int cuts_for(const cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE,
                   family = q->solver_constraints;
    const int moments = !family || (family & both) == both;
    return moments && conditions->main_first >= knowing_pilot && !q->method_row->any_number &&
                   !(q->target > 0) && !(q->at_radius > 0)
               ? CUTS
               : ARCS;
}

/* For a forecast before the pilot is complete: the arc that asks for the smallest share of the
 * outputs. What it cannot prove, no choice of the pilot will. (Targets have no sines.) */
static const struct cut *least_demanding(const cr_question *q)
{
    const cr_score score = {.tolerance = q->tolerance, .period = q->period};
    const struct cut *least = cuts;
    for (int i = 1; i < ARCS; i++)
        if (guard_of(&score, cuts + i).needed < guard_of(&score, least).needed) least = cuts + i;
    return least;
}

/* ---- by the pilot */
/* In units of sigma, by the failures of a score with two values, as if Huber's had two as well, and
 * by mean and variance of a sine. */
static double radius_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const size_t first = cr_view_noisy(v);
    const cr_samples s =
        cr_view_samples(v, &c->score, conditions->output, first, conditions->main_first - first, 0);
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
    if (c->score.kind == CR_SCORE_SINE)
        return room > 0 ? cr_shift_radius_of_mean(room, variance) : 0;
    return cr_shift_radius(failures / (count + 1), 0.5 * (1 - c->threshold));
}

/* In units of sigma, if the pilot were the truth. */
static double pilot_radius(cr_view *v, const cr_conditions *conditions)
{
    double least = INFINITY;
    for (int i = 0; i < conditions->count; i++)
        least = fmin(least, radius_of(v, conditions, conditions->each + i));
    return least;
}

static const struct cut *best_for_pilot(cr_view *v, cr_conditions *conditions, division *part)
{
    const struct cut *best = cuts;
    const int count = cuts_for(conditions), parts = conditions->question.served_samples ? PARTS : 1;
    double greatest = -INFINITY;
    for (int i = 0; i < count * parts; i++) {
        const division now = division_of(near_parts[i / count]);
        set_conditions_for(v, conditions, cuts + i % count, now);
        const double radius = pilot_radius(v, conditions);
        if (radius > greatest) greatest = radius, best = cuts + i % count, *part = now;
    }
    return best;
}

static void set_conditions(cr_view *v, cr_conditions *conditions)
{
    const int angle = is_line_of_circle(&conditions->question);
    const struct cut *cut = &without_pilot;
    division part = division_of(angle ? near_parts[0] : 0);
    if (angle && conditions->main_first >= choosy_pilot) {
        if (conditions->samples >= conditions->main_first) {
            cut = best_for_pilot(v, conditions, &part);
        } else { /* a forecast, which must not be too low: the most that any division gives each */
            cut = least_demanding(&conditions->question);
            part.near = near_parts[PARTS - 1];
        }
    }
    set_conditions_for(v, conditions, cut, part);
}

/* The same question at another tolerance; everything else stays, the prediction too. */
void cr_conditions_set_tolerance(cr_view *v, cr_conditions *conditions, double tolerance)
{
    conditions->question.tolerance = tolerance;
    set_conditions(v, conditions);
}

void cr_conditions_turn(cr_view *v, cr_conditions *conditions, size_t direction)
{
    if (direction == conditions->direction) return;
    conditions->direction = direction;
    set_conditions(v, conditions);
}

size_t cr_conditions_least(cr_view *v, const cr_question *q)
{
    return v->pilot + (q->method_row->normality ? v->plan.blocks : 1);
}

static certreg_status check_samples(cr_view *v, cr_conditions *conditions, certreg_error *why)
{
    const certreg_status status = cr_view_length(v, &conditions->samples, why);
    if (status) return status;
    /* Median smoothing as its authors coded it has no pilot: all noisy samples enter the bounds. */
    conditions->main_first = conditions->question.center_row->every_sample ? cr_view_noisy(v)
                                                                           : v->pilot;
    const size_t least = cr_conditions_least(v, &conditions->question);
    if (conditions->samples >= least)
        return cr_allowed_now(v, &conditions->question, conditions->samples, why);
    return cr_fail(why, CERTREG_E_WRONG_STATE,
                   "this question needs at least %zu samples, %zu of them the pilot's: take more "
                   "(total_samples of certify), or set a smaller plan.pilot",
                   least, v->pilot);
}

static int any_failed(cr_view *v, const cr_question *q, size_t samples)
{
    for (size_t i = 0; i < samples; i++)
        for (size_t k = q->first; k < q->end; k++)
            if (isnan(cr_view_value(v, i, k))) return 1;
    return 0;
}

certreg_status cr_conditions_prepare(cr_view *v, cr_conditions *conditions, certreg_error *why)
{
    const cr_question *q = &conditions->question;
    const certreg_status status = check_samples(v, conditions, why);
    conditions->prediction = NAN;
    if (q->has_directions && q->by_estimate) cr_directions_share_by_spread(v, conditions);
    /* The given one is told also where nothing can be certified. */
    conditions->known = !q->by_estimate && (!status || q->prediction_given) &&
                        cr_prediction_find(v, conditions);
    conditions->estimate = conditions->prediction;
    if (!q->found || q->by_estimate) /* no interim look tells it */
        conditions->estimate =
            cr_estimate_number(v, q, conditions->samples, conditions->prediction);
    if (status) return status;
    conditions->failures = any_failed(v, q, conditions->samples);
    if (q->by_estimate) {
        conditions->prediction = conditions->estimate;
        conditions->known = q->is_vector || !isnan(conditions->estimate);
    }
    set_conditions(v, conditions);
    return v->watch->late ? CERTREG_E_DEADLINE : CERTREG_OK;
}

certreg_status cr_conditions_preview(cr_view *v, cr_conditions *conditions, certreg_error *why)
{
    const cr_question *q = &conditions->question;
    const certreg_status status = cr_view_length(v, &conditions->samples, why);
    if (status) return status;
    conditions->main_first = v->pilot;
    const int complete = v->pilot > 0 && conditions->samples >= v->pilot;
    conditions->prediction = 0;
    for (size_t k = 0; k < v->model.outputs; k++) conditions->scratch->center[k] = 0;
    if (q->prediction_given || complete) conditions->known = cr_prediction_find(v, conditions);
    else if (q->has_directions) cr_directions_share_by_spread(v, conditions);
    set_conditions(v, conditions);
    return CERTREG_OK;
}
