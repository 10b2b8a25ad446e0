/* What an estimator tells without a certificate: bounds, forecast, prediction, estimate, and
 * facts. */
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "bounds/bounds.h"
#include "certify/certify.h"
#include "conditions/conditions.h"
#include "estimator/context.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <math.h>

/* ======== certreg_estimator_bounds: the bounds behind one side of a question, for the solver. */
/* Returns the condition of a side; -1: there is none. A single condition is about both sides. */
static int index_of_side(const cr_conditions *conditions, int32_t side)
{
    for (int i = 0; i < conditions->count; i++)
        if (cr_conditions_side(conditions->each + i) == side ||
            (conditions->count == 1 && side == CERTREG_SIDE_UPPER))
            return i;
    return -1;
}

/* Subtracts from a counted score the mean that it has to exceed, so that every side needs a
 * positive mean. */
static void subtract_threshold(const cr_score *score, certreg_bounds *b)
{
    const double threshold =
        cr_score_traits_of(score->kind).two_valued ? 2 * score->required_probability - 1 : 0;
    if (threshold == 0) return;
    b->mean_lo = nextafter(b->mean_lo - threshold, -INFINITY);
    b->mean_hi = nextafter(b->mean_hi - threshold, INFINITY);
    b->range_lo = nextafter(b->range_lo - threshold, -INFINITY);
    b->range_hi = nextafter(b->range_hi - threshold, INFINITY);
}

/* The bounds of a vector are the bounds along the direction that limits its radius. */
static certreg_status find_bounds(const cr_context *w, const certreg_question *question,
                                  int32_t side, cr_evaluation *e, int *index)
{
    cr_conditions *conditions = &e->conditions;
    certreg_certificate c;
    cr_question q;
    certreg_status status = cr_question_load(w->record, question, &q, w->why);
    if (status) return status;
    conditions->question = q;
    status = cr_conditions_prepare(w->record, conditions, w->why);
    if (status) return status;
    *index = index_of_side(conditions, side);
    if (*index < 0)
        return cr_error_set(
            w->why, CERTREG_E_INVALID,
            "side is %d, and this question has no such side; give CERTREG_SIDE_LOWER or "
            "_UPPER (or, for the median or Huber location of an angle, "
            "CERTREG_SIDE_NEAR_LOWER or _NEAR_UPPER)",
            (int)side);
    if (q.directions > 1) {
        status = cr_evaluate_question(w, &q, w->record->sample_count, 0, e, &c);
        cr_conditions_select_direction(w->record, conditions, e->proven.direction);
    }
    if (!status) cr_bound_selection_choose(w, conditions);
    if (!status) status = cr_bounds_compute(w->replay, conditions, e->bounds, &e->abstained);
    if (!status) cr_query_log_add_current(w->record, cr_question_looks_digest(&q));
    return status;
}

static certreg_status bounds_of_side(const cr_context *w, const certreg_question *question,
                                     int32_t side, certreg_bounds *out)
{
    cr_evaluation e = {.conditions = {.scratch = w->scratch}};
    int index = 0;
    certreg_status status = cr_struct_check(out, CR_OLDEST_BOUNDS, "bounds", w->why);
    if (status) return status;
    status = find_bounds(w, question, side, &e, &index);
    certreg_bounds found = cr_bounds_init(w->record, &e.conditions);
    if (!status && !e.abstained) {
        found = e.bounds[index].moments;
        subtract_threshold(&e.conditions.each[index].score, &found);
    }
    cr_struct_write(out, out->struct_size, &found, sizeof found);
    return status;
}

certreg_status certreg_estimator_bounds(certreg_estimator *e, const certreg_question *question,
                                        int32_t side, certreg_bounds *out)
{
    const certreg_bounds nothing = {.struct_size = sizeof nothing}; /* no constraints, no claim */
    cr_context w;
    const certreg_status status = cr_estimator_enter(e, &w);
    if (!status) return cr_estimator_leave(e, bounds_of_side(&w, question, side, out));
    cr_struct_write_empty(out, CR_OLDEST_BOUNDS, &nothing, sizeof nothing);
    return status;
}

/* ======== Queries of a record without a certificate: the forecast, the prediction and the
 * estimate of a question, and the facts of the run. */
/* ---- the forecast of the samples that a target radius takes, without a guarantee */
static uint64_t failures_of(cr_view *v, double rate, uint64_t samples)
{
    return (uint64_t)ceil(rate * (double)(samples - v->pilot) - 1e-9);
}

/* Returns the first look at which the test is passed if this share of the main samples fails; 0:
 * none. With the anytime method, certify answers at the end as well. */
static uint64_t first_passed(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                             double rate)
{
    const uint64_t end = v->plan.max_samples;
    cr_looks looks;
    cr_looks_schedule(v, conditions->scratch, &conditions->question, &looks);
    for (size_t j = 0; j < looks.count; j++)
        if (cr_looks_passed(v, conditions, c, looks.samples[j],
                            failures_of(v, rate, looks.samples[j])))
            return looks.samples[j];
    return !conditions->question.is_group_sequential &&
                   cr_looks_passed(v, conditions, c, end, failures_of(v, rate, end))
               ? end
               : 0;
}

/* Returns the least number of samples at which the test is passed without any failure; 0: none. */
static uint64_t least_passed(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    uint64_t low = v->pilot, high = v->plan.max_samples;
    if (conditions->question.is_group_sequential) return first_passed(v, conditions, c, 0);
    if (!cr_looks_passed(v, conditions, c, high, 0)) return 0;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (cr_looks_passed(v, conditions, c, middle, 0)) high = middle;
        else low = middle;
    }
    return high;
}

/* Returns the rate of failures among the noisy samples, with half a failure added, so that the
 * forecast for a record without failures is not without failures. NAN: nothing is known yet. */
static double failure_rate(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const size_t first = cr_view_first_noisy(v),
                 count = conditions->samples > first ? conditions->samples - first : 0;
    const cr_samples s = cr_view_samples(v, &c->score, conditions->score_output, first, count, 0);
    if (!count || (!conditions->question.given.prediction_given && conditions->samples < v->pilot))
        return NAN;
    return ((double)cr_samples_count_negative(&s) + 0.5) / ((double)count + 1);
}

/* The numbers of samples that all conditions need; none and infinity if one cannot be proved. */
static void fill(cr_view *v, cr_conditions *conditions, certreg_forecast *f)
{
    f->least_samples = 0;
    f->expected_samples = 0;
    for (size_t i = 0; i < conditions->question.directions; i++) {
        cr_conditions_select_direction(v, conditions, i);
        for (int j = 0; j < conditions->count; j++) {
            const cr_condition *c = conditions->each + j;
            const uint64_t least = least_passed(v, conditions, c);
            if (!least) {
                f->least_samples = 0;
                f->expected_samples = INFINITY;
                return;
            }
            const double rate = failure_rate(v, conditions, c);
            const uint64_t expected = isnan(rate) ? 0 : first_passed(v, conditions, c, rate);
            if (least > f->least_samples) f->least_samples = least;
            f->expected_samples = fmax(f->expected_samples, expected ? (double)expected : INFINITY);
        }
    }
}

static certreg_status forecast(const cr_context *w, const certreg_question *question,
                               certreg_forecast *found)
{
    cr_conditions c = {.scratch = w->scratch};
    const cr_question *q = &c.question;
    certreg_status status = cr_question_load(w->record, question, &c.question, w->why);
    if (!status && (!q->is_binomial || !(q->given.target_radius > 0)))
        status =
            cr_error_set(w->why, CERTREG_E_INVALID,
                         "set question.target and CERTREG_STATISTIC_MEDIAN: only a target radius "
                         "of the median can be forecast");
    if (!status) status = cr_conditions_prepare_forecast(w->record, &c, w->why);
    if (status) return status;
    fill(w->record, &c, found);
    cr_query_log_add_current(w->record, cr_question_looks_digest(q));
    return CERTREG_OK;
}

certreg_status certreg_estimator_forecast(certreg_estimator *e, const certreg_question *question,
                                          certreg_forecast *out)
{
    certreg_forecast found = {.struct_size = sizeof found, .expected_samples = INFINITY};
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    certreg_error *error = refused ? NULL : w.why;
    const certreg_status sized = cr_struct_check(out, CR_OLDEST_FORECAST, "forecast", error);
    certreg_status status = refused ? refused : sized;
    if (!status) status = forecast(&w, question, &found);
    if (!sized) cr_struct_write(out, out->struct_size, &found, sizeof found);
    return refused ? status : cr_estimator_leave(e, status);
}

/* ---- prediction and estimate */
static certreg_status locate(const cr_context *w, const certreg_question *question, int estimate,
                             double *out)
{
    cr_conditions c = {.scratch = w->scratch};
    if (!out) return cr_error_set(w->why, CERTREG_E_INVALID, "out is NULL");
    certreg_status status =
        estimate ? cr_question_load_for_estimate(w->record, question, &c.question, w->why)
                 : cr_question_load(w->record, question, &c.question, w->why);
    if (status) return status;
    if (!estimate) return cr_prediction_report(w->record, &c, out, w->why);
    status = cr_prediction_report_estimate(w->record, &c, out, w->why);
    if (!status) cr_query_log_add_current(w->record, cr_question_looks_digest(&c.question));
    return status;
}

certreg_status certreg_estimator_prediction(certreg_estimator *e, const certreg_question *question,
                                            double *out)
{
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    return refused ? refused : cr_estimator_leave(e, locate(&w, question, 0, out));
}

certreg_status certreg_estimator_estimate(certreg_estimator *e, const certreg_question *question,
                                          double *out)
{
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    return refused ? refused : cr_estimator_leave(e, locate(&w, question, 1, out));
}

/* ======== certreg_count_level: the level of a count, for a bound of the population. Noise
 * deviations are floats, so that a radius may be longer in their units. */
double certreg_count_level(uint64_t counted, double required, double radius, uint64_t most_out)
{
    fenv_t callers;
    if (most_out >= counted || !(required > 0 && required < 1) || !(radius > 0)) return 1;
    cr_environment_enter(&callers);
    const double out = cr_shift_min_probability(1 - required, radius * (1 + 0x1p-23));
    const double level =
        fmin(1, cr_binomial_cdf(most_out, counted, out) * (1 + CR_ROUNDING_MARGIN));
    cr_environment_leave(&callers);
    return level;
}

/* ---- the run: facts that all certificates of one input share */
static certreg_status run_of(const cr_context *w, certreg_run *out)
{
    certreg_run run = {.struct_size = sizeof run};
    certreg_status status = cr_struct_check(out, CR_OLDEST_RUN, "run", w->why);
    if (status) return status;
    status = cr_view_require_input(w->record, w->why);
    if (!status) {
        run.seed = w->record->input.noise.seed;
        run.noise_id = w->record->input.noise.noise_id;
        run.level = w->record->input.noise.level;
        run.samples = w->record->sample_count;
        run.pilot = w->record->pilot;
        run.batch = w->record->model.batch;
        run.sigma = w->record->input.sigma;
        run.model_seconds = w->clock->model_seconds;
        run.library_seconds = w->clock->library_seconds;
    }
    cr_struct_write(out, out->struct_size, &run, sizeof run);
    return status;
}

certreg_status certreg_estimator_info(certreg_estimator *e, certreg_run *out)
{
    const certreg_run nothing = {.struct_size = sizeof nothing};
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (!refused) return cr_estimator_leave(e, run_of(&w, out));
    cr_struct_write_empty(out, CR_OLDEST_RUN, &nothing, sizeof nothing);
    return refused;
}
