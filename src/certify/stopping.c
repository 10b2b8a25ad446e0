/* The stopping rule: sampling ends at the requested number, or when every target is decided at an
 * interim look; earlier after a cancel, or when the deadline leaves no time for a batch and the
 * answers. */
#include "certify/stopping.h"
#include "certify/answer_timer.h"
#include "certify/evaluate.h"
#include "conditions/interim_looks.h"
#include "record/noise_sums.h"
#include <math.h>

/* A cancel and a deadline are reasons to stop, and no failures. */
static certreg_status stop_reason(certreg_status sampled, int *stop)
{
    if (sampled == CERTREG_E_CANCELLED) *stop = CERTREG_STOP_CANCELLED;
    if (sampled == CERTREG_E_DEADLINE) *stop = CERTREG_STOP_DEADLINE;
    return *stop == CERTREG_STOP_ALL ? sampled : CERTREG_OK;
}

/* ---- targets */
enum target_state { OPEN, PROVEN, FUTILE };

static enum target_state evaluate_target(const cr_context *w, cr_request *r, cr_question *q)
{
    certreg_certificate c;
    cr_evaluation e = {.has_bounds = 0};
    if (r->look_question == q->given.digest) q->cached_prediction = &r->look_prediction;
    const certreg_status status = cr_evaluate_question(w, q, r->samples, 1, &e, &c);
    r->main_samples_revealed |= e.reported;
    if (e.has_bounds) {
        r->look_question = q->given.digest;
        r->look_prediction = e.conditions.prediction;
    }
    if (status == CERTREG_E_DEADLINE) return OPEN;
    if (status) return FUTILE; /* reported with the final answer */
    if (c.radius >= q->given.target_radius) return PROVEN;
    return e.has_bounds && cr_looks_futile(w->record, &e.conditions) ? FUTILE : OPEN;
}

/* Without samples there is no failure, so that a target that is out of reach now remains so. Main
 * samples that are present already do not count, and the state reveals nothing about them. (The
 * tests are computed here as well, which takes longer than evaluating them.) */
static enum target_state target_before_sampling(const cr_context *w, const cr_question *q)
{
    cr_conditions conditions = {.question = *q, .scratch = w->scratch};
    if (cr_conditions_prepare_forecast(w->record, &conditions, w->why)) return OPEN;
    if (conditions.samples > conditions.first_main_sample)
        conditions.samples = conditions.first_main_sample;
    return cr_looks_futile(w->record, &conditions) ? FUTILE : OPEN;
}

/* Half of the remaining time: one half is for computing the tests, one for the answers while their
 * cost is unknown. */
static double half_the_time(const cr_context *w)
{
    return fmax(0, (w->clock->expires_at - cr_deadline_now(w->record->deadline)) / 2);
}

/* Returns 1, with the reason to stop, if every target is decided: by the record so far, or
 * `at_first`, without it. */
static int all_targets_decided(const cr_context *w, cr_request *r, int at_first)
{
    int open = 0, proven = 0;
    const double start = cr_answer_timer_start(w, at_first ? half_the_time(w) : INFINITY);
    cr_noise_sums_begin_answers(w->replay);
    for (size_t i = 0; !open && i < r->call->count; i++) {
        cr_question q;
        const enum target_state state = cr_request_question(w, r, i, &q) ? FUTILE
                                        : at_first ? target_before_sampling(w, &q)
                                                   : evaluate_target(w, r, &q);
        open = state == OPEN;
        proven |= state == PROVEN;
    }
    open |= cr_answer_timer_stop(w, start, 0);
    if (!open) r->stop = proven ? CERTREG_STOP_TARGET : CERTREG_STOP_HOPELESS;
    return !open;
}

/* ---- the number of samples */
/* Reserves time for the answers if their cost is unknown. The number of samples must not depend on
 * the outputs, so this is fixed before there are any (theory 5.1). */
static void assume_cost(const cr_context *w)
{
    if (w->clock->expires_at > 0 && !cr_answer_cost_known(w->clock->answer_budget.cost))
        w->clock->answer_budget.assumed_seconds = half_the_time(w);
}

/* Returns the next number of samples at which some question has a look, at most `last`. */
static uint64_t next_look(const cr_context *w, const cr_request *r, uint64_t after, uint64_t last)
{
    uint64_t next = last;
    for (size_t i = 0; i < r->call->count; i++) {
        cr_question q;
        cr_looks looks;
        if (cr_request_question(w, r, i, &q)) continue;
        cr_looks_schedule(w->record, &q, &looks);
        for (size_t k = 0; k < looks.count; k++)
            if (looks.samples[k] > after && looks.samples[k] < next) next = looks.samples[k];
    }
    return next;
}

static certreg_status sample_until_decided(const cr_context *w, cr_request *r, size_t samples)
{
    size_t present; /* samples without a gap: one evaluation decides all looks among them */
    if (all_targets_decided(w, r, 1)) return CERTREG_OK;
    assume_cost(w); /* after the tests are computed */
    r->count_chosen_by_outputs = 1;
    cr_view_require_contiguous(w->record, &present, NULL);
    if (present > w->record->pilot && all_targets_decided(w, r, 0)) return CERTREG_OK;
    for (uint64_t at = present; at < samples;) {
        at = next_look(w, r, at > w->record->pilot ? at : w->record->pilot, samples);
        const certreg_status status = stop_reason(
            cr_estimator_sample(w->estimator, 0, (size_t)at, r->samples, r->looks), &r->stop);
        if (status || r->stop != CERTREG_STOP_ALL) return status;
        if (all_targets_decided(w, r, 0)) return CERTREG_OK;
    }
    return CERTREG_OK;
}

certreg_status cr_stopping_sample(const cr_context *w, cr_request *r)
{
    const size_t samples = r->call->total_samples, max_samples = w->record->plan.max_samples;
    w->clock->answer_budget = (cr_answer_budget){.answers_per_batch = r->all_targets ? 2 : 1,
                                                 .min_samples = r->min_samples};
    if (r->any_valid) w->clock->answer_budget.cost = cr_answer_timer_cost(w, r->timer_key);
    if (!samples || !r->any_valid) return CERTREG_OK; /* invalid questions are reported later */
    if (samples > max_samples) {
        cr_error_set(
            w->why, CERTREG_E_TOO_MANY,
            "total_samples is %zu, more than plan.max_samples = %zu: give fewer, or create "
            "the estimator with a larger one",
            samples, max_samples);
        w->why->sample = (int64_t)max_samples;
        return CERTREG_E_TOO_MANY;
    }
    if (r->all_targets) return sample_until_decided(w, r, samples);
    assume_cost(w);
    return stop_reason(cr_estimator_sample(w->estimator, 0, samples, r->samples, r->looks),
                       &r->stop);
}
