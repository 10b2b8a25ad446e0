/* Turns a question into conditions "the mean of this score stays above this threshold at every
 * shifted input" (theory 1, 7 and 9), for the samples of a record: the checks of their number, the
 * scores with their thresholds, and the pilot's choice of the conditions that keep an angle near
 * its prediction. A server's failure rate is divided among the conditions here. */
#include "conditions/conditions.h"
#include "base/constants.h"
#include "record/record.h"
#include "statistics/serving.h"
#include "statistics/normal.h"
#include <math.h>
#include <stdio.h>

/* Tests that the circular mean mu of an angle stays within `near` of the prediction (theory 7), in
 * parts of a turn. Outputs at half a turn minus `near` or farther have the least score.
 * - By an arc: sin(near + t) is at least sin(near - arc) for -arc <= t <= 1/2 - 2 near + arc, and
 * at least -1 elsewhere. So the probability p of that arc suffices, which is binomial:
 * p sin(near - arc) - (1 - p) > 0. The arc follows the tolerance between two ends: wide outputs
 * need a wide arc, narrow ones a small threshold.
 * - By sines (max_arc 0): E sin(near + t) > 0 itself, bounded by betting. This requires less, and
 * permits less.
 * The tests are no part of the functional, so the pilot may choose among them. If it is too short
 * or missing, the tolerance alone decides: the choice must not depend on the number of samples,
 * which may depend on the main samples. */
typedef struct angle_test {
    double near, arc_per_tolerance, min_arc, max_arc;
} angle_test;

static const angle_test tests[] = {{80.0 / 360, 1, 25.0 / 360, 45.0 / 360},
                                   {90.0 / 360, 1.2, 0, 45.0 / 360},
                                   {40.0 / 360, 0, 0, 0},
                                   {30.0 / 360, 0, 0, 0},
                                   {25.0 / 360, 0, 0, 0}};
enum { TESTS = sizeof tests / sizeof *tests, ARC_TESTS = 2 };
static const angle_test without_pilot = {85.0 / 360, 2, 10.0 / 360, 40.0 / 360};
static const size_t min_pilot_for_arcs = 3, min_pilot_for_sines = 100;

/* The failure rate beta of a served estimate is divided among the conditions. The pilot chooses the
 * part of each near condition: narrow outputs need little of it, outputs with many outliers more.
 * Each side has half of beta less that part. */
static const double near_parts[] = {0.05, 0.2};
enum { PARTS = sizeof near_parts / sizeof *near_parts };
typedef struct failure_split { /* parts of beta */
    double side, near;
} failure_split;

/* ---- one condition */
/* Returns the largest number of fresh outputs that a trimmed mean may have out of its tolerance.
 * The range does not help if outputs may fail, because a failed output may be given any value. */
static uint64_t max_outliers(cr_view *v, const cr_question *q, const cr_score *score)
{
    const cr_given *g = &q->given;
    const double lo = v->model.lo[g->output], hi = v->model.hi[g->output],
                 farther = fmax(hi - score->prediction, score->prediction - lo);
    const int may_fail = (v->plan.flags & CERTREG_PLAN_COUNT_FAILURES) != 0;
    const double reach = score->period > 0 ? 0.5 * score->period : may_fail ? INFINITY : farther;
    return cr_serving_max_outside(g->serving_samples, g->serving_trim, g->tolerance,
                                  score->tolerance, reach);
}

/* Returns the threshold for the mean of the score at the shifted input. For served values, `beta`
 * is the condition's part of the failure rate. */
static double threshold_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                           double beta)
{
    const cr_question *q = &conditions->question;
    const cr_score *score = &c->score;
    const size_t served = q->given.serving_samples;
    double lo, hi;
    if (!served || score->kind == CR_SCORE_OUTPUT)
        return c->is_binomial ? 2 * score->required_probability - 1 : 0;
    if (score->kind == CR_SCORE_WITHIN)
        return cr_serving_binomial_count(served, max_outliers(v, q, score), beta);
    if (c->is_binomial) return cr_serving_binomial(served, score->required_probability, beta);
    cr_score_range(score, v->model.lo + conditions->score_output,
                   v->model.hi + conditions->score_output, &lo, &hi);
    return cr_serving_bounded(cr_question_served_count(q), lo, hi, beta);
}

/* Adds a condition. Antithetic pairs require fewer than `out` outputs of -1 among the served. */
static void add(cr_view *v, cr_conditions *conditions, const cr_score *score, int near, double beta)
{
    const cr_question *q = &conditions->question;
    const uint64_t served = q->given.serving_samples;
    cr_condition *c = conditions->each + conditions->count++;
    *c = (cr_condition){
        .score = *score, .near = near, .is_binomial = cr_score_traits_of(score->kind).two_valued};
    c->threshold = threshold_of(v, conditions, c, beta);
    if (!q->given.serving_pairs || !c->is_binomial) return;
    const uint64_t out = score->kind == CR_SCORE_WITHIN
                             ? max_outliers(v, q, score) + 1
                             : served - cr_serving_count(served, score->required_probability);
    if (out <= served)
        c->pairs = (cr_antithetic){.samples = served, .min_outside = out, .failure_rate = beta};
}

/* ---- all conditions of a question */
/* Returns the score of "the circular mean stays near the prediction" on the side of `about`. A
 * circular mean exists then, because the resultant has a positive component. */
static cr_score near_score(const cr_score *about, const angle_test *test)
{
    cr_score score = *about;
    if (!(test->max_arc > 0)) {
        score.kind = CR_SCORE_SINE;
        score.tolerance = test->near * score.period;
        return score;
    }
    const double wanted = test->arc_per_tolerance * score.tolerance / score.period,
                 arc = fmax(test->min_arc, fmin(wanted, test->max_arc));
    score.kind = CR_SCORE_ARC;
    score.arc = arc * score.period;
    score.branch_cut = (0.5 - 2 * test->near + arc) * score.period;
    score.required_probability = 1 / (1 + sin((test->near - arc) * CR_TWO_PI));
    return score;
}

/* Returns the score of the question's own conditions, of no side yet. A core is nearer than the
 * tolerance. */
static cr_score own_score(cr_view *v, cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const cr_statistic *of = q->statistic;
    cr_score s = {.kind = q->bounds_output ? CR_SCORE_OUTPUT : of->score,
                  .side = 1,
                  .prediction = conditions->prediction,
                  .tolerance = of->tolerance_divisor > 1
                                   ? nextafter(q->given.tolerance / of->tolerance_divisor, 0)
                               : q->given.serving_core > 0 ? q->given.serving_core
                                                           : q->given.tolerance,
                  .width = q->given.huber_width,
                  .required_probability = of->level,
                  .period = q->period,
                  .rounding = q->angle_rounding};
    if (s.kind == CR_SCORE_BALL) {
        s.center = conditions->scratch->vector_prediction;
        s.outputs = v->model.outputs;
    }
    conditions->score_output =
        q->has_directions ? cr_directions_project_score(v, conditions, conditions->direction, &s)
                          : q->given.output;
    return s;
}

/* Sets one condition for both sides; or one for each side, then the near conditions. The lower side
 * holds if more than 1 - level of the outputs are above its end, the upper side if more than level
 * are below. `test`: of an angle that is certified on the line; NULL: no near conditions. */
static void set_conditions_with(cr_view *v, cr_conditions *conditions, const angle_test *test,
                                failure_split part)
{
    const cr_question *q = &conditions->question;
    const int quarter = test && test->max_arc > 0 && test->near == 90.0 / 360;
    const double rate = q->given.serving_failure_rate / (double)q->directions,
                 level = q->statistic->level;
    cr_score s = own_score(v, conditions);
    conditions->count = 0;
    if (!cr_score_traits_of(s.kind).sides) {
        add(v, conditions, &s, 0, q->given.serving_failure_rate);
        return;
    }
    s.branch_cut = (0.5 - (test ? test->near : 0)) * s.period;
    for (s.side = -1; s.side <= 1; s.side += 2) {
        s.required_probability = s.side > 0 ? 1 - level : level;
        add(v, conditions, &s, 0, part.side * rate);
    }
    for (s.side = -1; test && s.side <= 1; s.side += 2) {
        const cr_score near = near_score(&s, test);
        /* At a quarter of a turn both arcs are the same one, and fail together. */
        add(v, conditions, &near, 1, part.near * rate * (quarter ? 2 : 1));
    }
}

int32_t cr_conditions_side(const cr_condition *c)
{
    if (c->score.kind == CR_SCORE_OUTPUT) return CERTREG_SIDE_LOWER;
    if (c->near) return c->score.side > 0 ? CERTREG_SIDE_NEAR_LOWER : CERTREG_SIDE_NEAR_UPPER;
    return c->score.side > 0 ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER;
}

/* Returns the number of tests that the pilot may choose from. Sines are excluded for tests of
 * failures, which have many looks, for output bounds, which have many tolerances, and for wrong
 * features, which need counts. */
static int tests_for(cr_view *v, const cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE,
                   family = q->solver_constraints;
    const int moments = !family || (family & both) == both;
    return moments && conditions->first_main_sample >= min_pilot_for_sines &&
                   !q->method->is_anytime && !(q->given.target_radius > 0) &&
                   !(q->given.at_radius > 0) && !cr_question_allows_faults(v, q)
               ? TESTS
               : ARC_TESTS;
}

/* Returns the arc that needs the least probability, for a forecast before the pilot is complete. If
 * it cannot prove the target, no arc that the pilot could choose can. (Targets have no sines.) */
static const angle_test *least_demanding(const cr_question *q)
{
    const cr_score score = {.tolerance = q->given.tolerance, .period = q->period};
    const angle_test *least = tests;
    for (int i = 1; i < ARC_TESTS; i++)
        if (near_score(&score, tests + i).required_probability <
            near_score(&score, least).required_probability)
            least = tests + i;
    return least;
}

/* ---- the pilot's choice */
/* Returns the radius of a condition, in units of sigma, as if the pilot were the truth: from mean
 * and variance of a sine, and from the failures of any other score, as if it had two values. */
static double radius_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const size_t first = cr_view_first_noisy(v);
    const cr_samples s = cr_view_samples(v, &c->score, conditions->score_output, first,
                                         conditions->first_main_sample - first, 0);
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

/* Returns the test with the largest radius, and its parts of the failure rate. */
static const angle_test *best_for_pilot(cr_view *v, cr_conditions *conditions, failure_split *part)
{
    const angle_test *best = tests;
    const int count = tests_for(v, conditions),
              parts = conditions->question.given.serving_samples ? PARTS : 1;
    double greatest = -INFINITY;
    for (int i = 0; i < count * parts; i++) {
        const double near = near_parts[i / count];
        const failure_split now = {0.5 - near, near};
        double radius = INFINITY;
        set_conditions_with(v, conditions, tests + i % count, now);
        for (int j = 0; j < conditions->count; j++)
            radius = fmin(radius, radius_of(v, conditions, conditions->each + j));
        if (!(radius > greatest)) continue;
        greatest = radius;
        best = tests + i % count;
        *part = now;
    }
    return best;
}

/* ---- the audit */
/* The factor makes up for picks that miss the largest difference, and a server differs too. */
static const double band_factor = 4, served_factor = 2;

double cr_conditions_audit_change(cr_view *v, const cr_question *q)
{
    double sum = 0;
    if (!v->audited.outputs) return 0;
    if (!q->is_vector) return v->audited.change[q->first_output];
    for (size_t k = q->first_output; k < q->end_output; k++)
        sum += v->audited.change[k] * v->audited.change[k];
    return sqrt(sum) * (1 + 0x1p-50); /* rounded up */
}

double cr_conditions_band(cr_view *v, const cr_question *q)
{
    return band_factor * (q->given.serving_samples ? served_factor : 1) *
           cr_conditions_audit_change(v, q);
}

/* Prediction, arcs and parts are chosen without it. */
static void set_band(cr_view *v, cr_conditions *conditions)
{
    const double band = cr_conditions_band(v, &conditions->question);
    for (int i = 0; i < conditions->count; i++)
        if (conditions->each[i].is_binomial) conditions->each[i].score.band = band;
}

static void choose_conditions(cr_view *v, cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const angle_test *test = &without_pilot;
    failure_split part = {0.5 - near_parts[0], near_parts[0]};
    if (!q->is_angle || q->method->published || q->statistic->angle != CR_ANGLE_UNROLLED) {
        set_conditions_with(v, conditions, NULL, (failure_split){0.5, 0});
        return;
    }
    if (conditions->first_main_sample >= min_pilot_for_arcs) {
        if (conditions->samples >= conditions->first_main_sample)
            test = best_for_pilot(v, conditions, &part);
        else { /* a forecast, which must not be too low: each condition has the greatest part that
                  any split gives it */
            test = least_demanding(q);
            part.near = near_parts[PARTS - 1];
        }
    }
    set_conditions_with(v, conditions, test, part);
}

static void set_conditions(cr_view *v, cr_conditions *conditions)
{
    choose_conditions(v, conditions);
    set_band(v, conditions);
}

void cr_conditions_set_tolerance(cr_view *v, cr_conditions *conditions, double tolerance)
{
    conditions->question.given.tolerance = tolerance;
    set_conditions(v, conditions);
}

void cr_conditions_select_direction(cr_view *v, cr_conditions *conditions, size_t direction)
{
    if (direction == conditions->direction) return;
    conditions->direction = direction;
    set_conditions(v, conditions);
}

/* ---- the number of samples */
size_t cr_conditions_min_samples(cr_view *v, const cr_question *q)
{
    return v->pilot + (q->method->normality ? v->plan.blocks : 1);
}

/* Names the number of samples at which the question is allowed, if it can still be reached, and the
 * method without that limit, if the statistic has it. */
static certreg_status refuse_number(cr_view *v, const cr_question *q, uint64_t samples,
                                    certreg_error *why)
{
    const char *anytime = q->statistic->methods & CR_ONE_OF(CERTREG_METHOD_ANYTIME)
                              ? "use CERTREG_METHOD_ANYTIME (without the gradient), or "
                              : "";
    char remedies[128];
    const int reachable = samples < v->query_log.planned_samples &&
                          v->query_log.planned_samples <= v->plan.max_samples;
    if (reachable)
        snprintf(remedies, sizeof remedies, "take %llu samples, %s",
                 (unsigned long long)v->query_log.planned_samples, anytime);
    return cr_query_log_refuse(v, reachable ? remedies : anytime, samples, why);
}

certreg_status cr_conditions_check_reuse(cr_view *v, const cr_question *q, uint64_t samples,
                                         certreg_error *why)
{
    const cr_query_log *log = &v->query_log;
    if (cr_view_require_in_range(v, why)) return CERTREG_E_OUT_OF_RANGE;
    if (!log->max_samples || q->method->is_anytime) return CERTREG_OK;
    if (!q->is_group_sequential)
        return cr_query_log_allows(v, samples) ? CERTREG_OK : refuse_number(v, q, samples, why);
    const uint64_t looks = cr_question_looks_digest(q);
    if (!looks || looks == log->looks_digest) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_WRONG_STATE,
        "leave question.target->looks NULL and growth 0, give those of the first question, or use "
        "CERTREG_METHOD_ANYTIME: these looks were not fixed before the record was first evaluated");
}

/* ---- conditions of a record */
static int any_failed(cr_view *v, const cr_question *q, size_t samples)
{
    for (size_t i = 0; i < samples; i++)
        for (size_t k = q->first_output; k < q->end_output; k++)
            if (isnan(cr_view_value(v, i, k))) return 1;
    return 0;
}

certreg_status cr_conditions_prepare(cr_view *v, cr_conditions *conditions, certreg_error *why)
{
    const cr_question *q = &conditions->question;
    const size_t least = cr_conditions_min_samples(v, q);
    certreg_status status = cr_view_require_contiguous(v, &conditions->samples, why);
    /* Median smoothing as its authors coded it has no pilot: all noisy samples enter the bounds. */
    conditions->first_main_sample = q->center->includes_pilot ? cr_view_first_noisy(v) : v->pilot;
    if (!status && conditions->samples < least)
        status = cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "this question needs at least %zu samples, %zu of them the pilot's: take more "
            "(total_samples of certify), or set a smaller plan.pilot",
            least, v->pilot);
    if (!status) status = cr_conditions_check_reuse(v, q, conditions->samples, why);

    conditions->prediction = NAN;
    if (q->has_directions && q->about_estimate) cr_directions_share_by_spread(v, conditions);
    /* The caller's prediction is reported even if nothing can be certified. */
    conditions->has_prediction = !q->about_estimate && (!status || q->given.prediction_given) &&
                                 cr_prediction_choose(v, conditions) &&
                                 (q->given.tolerance > 0 || q->given.at_radius > 0);
    conditions->estimate = conditions->prediction;
    if (!q->cached_prediction || q->about_estimate) /* interim looks do not report it */
        conditions->estimate =
            cr_prediction_estimate(v, q, conditions->samples, conditions->prediction);
    if (status) return status;
    conditions->any_output_failed = any_failed(v, q, conditions->samples);
    if (q->about_estimate) {
        conditions->prediction = conditions->estimate;
        conditions->has_prediction = q->is_vector || !isnan(conditions->estimate);
    }
    set_conditions(v, conditions);
    return v->deadline->expired ? CERTREG_E_DEADLINE : CERTREG_OK;
}

certreg_status cr_conditions_prepare_forecast(cr_view *v, cr_conditions *conditions,
                                              certreg_error *why)
{
    const cr_question *q = &conditions->question;
    const certreg_status status = cr_view_require_contiguous(v, &conditions->samples, why);
    if (status) return status;
    conditions->first_main_sample = v->pilot;
    const int complete = v->pilot > 0 && conditions->samples >= v->pilot;
    conditions->prediction = 0;
    for (size_t k = 0; k < v->model.outputs; k++) conditions->scratch->vector_prediction[k] = 0;
    if (q->given.prediction_given || complete)
        conditions->has_prediction = cr_prediction_choose(v, conditions);
    else if (q->has_directions) cr_directions_share_by_spread(v, conditions);
    set_conditions(v, conditions);
    return CERTREG_OK;
}
