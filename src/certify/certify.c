/* A call of certify: the time of answers, the questions of the call, the stopping rule of
 * sampling, the driver, which samples and answers every question, and, with it, one radius for
 * all outputs. evaluate.c goes from the record to one certificate. */
#include "certify/certify.h"
#include "base/error.h"
#include "base/struct_sizes.h"
#include "bisection/bisection.h"
#include "bounds/bounds.h"
#include "conditions/conditions.h"
#include "record/record.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ======== Measures the time of answers, and stops them at the deadline. The times of the last
 * few sets of questions are kept, so that questions may take turns on an estimator. */
uint64_t cr_answer_timer_key(uint64_t so_far, const cr_question *q)
{
    const cr_given *g = &q->given;
    const uint64_t served = g->serving_pairs ? g->serving_samples : g->serving_samples > 0;
    const uint64_t words[] = {(uint64_t)g->output,      (uint64_t)g->statistic, (uint64_t)g->method,
                              (uint64_t)g->center,      g->constraints,         g->output_count,
                              g->target_radius > 0,     g->at_radius > 0,       served,
                              g->relative_tolerance > 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        so_far = (so_far ^ words[i]) * 0x100000001b3u;
    return so_far ? so_far : 1;
}

/* Returns the cost entry of questions with this key. If there is none, the oldest entry is
 * replaced. */
static cr_answer_cost *cr_answer_timer_cost(const cr_context *w, uint64_t key)
{
    for (size_t i = 0; i < CR_ANSWER_COST_CACHE; i++)
        if (w->clock->costs[i].questions_digest == key) return w->clock->costs + i;
    cr_answer_cost *cost = w->clock->costs + w->clock->next_cost_slot;
    w->clock->next_cost_slot = (w->clock->next_cost_slot + 1) % CR_ANSWER_COST_CACHE;
    *cost = (cr_answer_cost){.questions_digest = key};
    return cost;
}

/* Sets the deadline of the answers: the deadline of the call, or the time after `max_seconds` if it
 * is earlier. Returns the time. */
static double cr_answer_timer_start(const cr_context *w, double max_seconds)
{
    cr_deadline *deadline = w->record->deadline;
    const double start = cr_deadline_now(deadline);
    deadline->expired = 0;
    deadline->constant_seconds = 0;
    deadline->expires_at =
        w->clock->expires_at > 0 ? fmin(w->clock->expires_at, start + max_seconds) : 0;
    return start;
}

/* Ends the answers, adds their time to library_seconds, and updates the cost. `samples` is the
 * number from which all questions were answered; 0 if only some were, so that only a timeout is
 * learned. Returns 1 after a timeout, else 0. */
static int cr_answer_timer_stop(const cr_context *w, double start, size_t samples)
{
    cr_deadline *deadline = w->record->deadline;
    const double took = cr_deadline_now(deadline) - start;
    const size_t count = samples ? samples : w->record->sample_count;
    const int late = deadline->expired;
    deadline->expires_at = 0;
    deadline->expired = 0;
    w->clock->library_seconds += took;
    if (!w->clock->answer_budget.cost || count < w->clock->answer_budget.min_samples) return late;
    const cr_sample_counts n = {(double)count, (double)w->record->pilot};
    if (late) cr_answer_cost_learn_abandoned(w->clock->answer_budget.cost, n, took);
    else if (samples && !w->replay->sums_cache.was_hit) /* the next input has nothing to reuse */
        cr_answer_cost_learn(w->clock->answer_budget.cost, n, took, deadline->constant_seconds);
    return late;
}

/* ======== Parses and validates the questions of a call: one of them, or all, for what they have
 * in common. Every pass over the questions begins here. */
enum { KEPT_QUESTIONS = 8 }; /* room for as many; further ones are parsed again in every pass */

typedef struct cr_request {
    const cr_call *call;
    cr_question kept[KEPT_QUESTIONS];
    int is_kept[KEPT_QUESTIONS];
    certreg_certificate *out;
    uint32_t size;               /* of each certificate */
    certreg_error first_invalid; /* of the first question that is invalid */
    uint64_t looks;              /* digest of the first looks that a question brings; 0: none */
    uint64_t samples; /* the number at which questions are evaluated: present or requested */
    int stop;         /* CERTREG_STOP_..., or CR_STOP_FAILED */
    int main_samples_revealed;   /* a result from main samples was returned, or decided whether to
                                    sample on */
    int count_chosen_by_outputs; /* 1: outputs may have ended the sampling */
    int any_valid;          /* some question has an answer; else there is nothing to sample for */
    int all_targets;        /* each valid question has a target. Only then may their outcome end the
                               sampling: other questions count on all samples. */
    size_t min_samples;     /* the smallest number that answers one of them */
    uint64_t timer_key;     /* cr_answer_timer_key of all questions with an answer */
    uint64_t look_question; /* digest of the question that the last interim look evaluated */
    double look_prediction; /* its prediction */
} cr_request;

/* Sets *out to a question, parsed and validated: once if it is kept. Fails with INVALID or VERSION;
 * *out is all zero if the question cannot be read. */
static certreg_status cr_request_question(const cr_context *w, cr_request *r, size_t index,
                                          cr_question *out)
{
    const cr_call *call = r->call;
    if (index < KEPT_QUESTIONS && r->is_kept[index]) {
        *out = r->kept[index];
        return CERTREG_OK;
    }
    *out = (cr_question){.first_output = 0};
    certreg_status status =
        cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    if (!status)
        status = cr_question_parse(call->questions, index, call->share, &out->given, w->why);
    if (status) return status;
    out->given.at_radius = call->at_radius;
    status = cr_question_validate(w->record, out, w->why);
    if (status || index >= KEPT_QUESTIONS) return status;
    /* Looks, and the numbers of a vector, remain in the caller's memory: a callback may write to
     * them, so that these questions are parsed in every pass. */
    if (out->given.looks || (out->is_vector && out->given.prediction_given)) return CERTREG_OK;
    r->kept[index] = *out;
    r->is_kept[index] = 1;
    return CERTREG_OK;
}

/* Parses and validates every question, writes a certificate without any claim for each, and sets
 * the fields that they have in common. */
static void cr_request_check(const cr_context *w, cr_request *r)
{
    r->all_targets = 1;
    r->min_samples = SIZE_MAX;
    r->timer_key = r->call->count;
    cr_error_clear(&r->first_invalid);
    for (size_t i = 0; i < r->call->count; i++) {
        cr_question q;
        certreg_certificate c;
        const certreg_status status = cr_request_question(w, r, i, &q);
        cr_certificate_init(w->record, &q, &c);
        if (status) cr_certificate_set_status(status, &c);
        cr_struct_write((unsigned char *)r->out + i * r->size, r->size, &c, sizeof c);
        if (status && !r->first_invalid.status) r->first_invalid = *w->why;
        if (status) continue;
        if (!r->looks) r->looks = cr_question_looks_digest(&q);
        const size_t needed = cr_conditions_min_samples(w->record, &q);
        if (needed > r->samples || cr_conditions_check_reuse(w->record, &q, r->samples, w->why))
            continue; /* reported when it is answered */
        r->any_valid = 1;
        r->all_targets &= q.given.target_radius > 0;
        if (needed < r->min_samples) r->min_samples = needed;
        r->timer_key = cr_answer_timer_key(r->timer_key, &q);
    }
    cr_error_clear(w->why);
}

/* ======== The stopping rule: sampling ends at the requested number, or when every target is
 * decided at an interim look; earlier after a cancel, or when the deadline leaves no time for a
 * batch and the answers. */
/* A cancel and a deadline are reasons to stop, and no failures. */
static certreg_status stop_reason(certreg_status sampled, int *stop)
{
    if (sampled == CERTREG_E_CANCELLED) *stop = CERTREG_STOP_CANCELLED;
    if (sampled == CERTREG_E_DEADLINE) *stop = CERTREG_STOP_DEADLINE;
    return *stop == CERTREG_STOP_ALL ? sampled : CERTREG_OK;
}

/* ---- targets */
/* Counts decide a group-sequential test in a fraction of the time of a certificate. */
static int has_counts(const cr_context *w, const cr_question *q, cr_conditions *conditions)
{
    *conditions = (cr_conditions){.question = *q, .scratch = w->scratch};
    return q->is_group_sequential && q->directions == 1 && !q->given.serving_pairs &&
           !q->given.constraints && !cr_conditions_prepare(w->record, conditions, w->why);
}

static enum cr_target_state evaluate_target(const cr_context *w, cr_request *r, cr_question *q)
{
    certreg_certificate c;
    cr_evaluation e = {.has_bounds = 0};
    if (r->look_question == q->given.digest) q->cached_prediction = &r->look_prediction;
    const int counted = has_counts(w, q, &e.conditions);
    const certreg_status status = counted ? CERTREG_OK
                                          : cr_evaluate_question(w, q, r->samples, 1, &e, &c);
    r->main_samples_revealed |= counted || e.reported;
    if (counted || e.has_bounds) {
        r->look_question = q->given.digest;
        r->look_prediction = e.conditions.prediction;
    }
    if (counted) return cr_looks_decide(w->record, &e.conditions, CR_MAX_RADIUS);
    if (status == CERTREG_E_DEADLINE) return CR_TARGET_OPEN;
    if (status) return CR_TARGET_FUTILE; /* reported with the final answer */
    if (c.radius >= q->given.target_radius) return CR_TARGET_PROVEN;
    return e.has_bounds && cr_looks_futile(w->record, &e.conditions) ? CR_TARGET_FUTILE
                                                                     : CR_TARGET_OPEN;
}

/* Without samples there is no failure, so that a target that is out of reach now remains so. Main
 * samples that are present already do not count, and the state reveals nothing about them. (The
 * tests are computed here as well, which takes longer than evaluating them.) */
static enum cr_target_state target_before_sampling(const cr_context *w, const cr_question *q)
{
    cr_conditions conditions = {.question = *q, .scratch = w->scratch};
    if (cr_conditions_prepare_forecast(w->record, &conditions, w->why)) return CR_TARGET_OPEN;
    if (conditions.samples > conditions.first_main_sample)
        conditions.samples = conditions.first_main_sample;
    return cr_looks_futile(w->record, &conditions) ? CR_TARGET_FUTILE : CR_TARGET_OPEN;
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
        const enum cr_target_state state = cr_request_question(w, r, i, &q) ? CR_TARGET_FUTILE
                                           : at_first ? target_before_sampling(w, &q)
                                                      : evaluate_target(w, r, &q);
        open = state == CR_TARGET_OPEN;
        proven |= state == CR_TARGET_PROVEN;
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
static uint64_t next_look(const cr_context *w, cr_request *r, uint64_t after, uint64_t last)
{
    uint64_t next = last;
    cr_deadline *deadline = w->record->deadline;
    deadline->expires_at = w->clock->expires_at; /* may end a search for looks, then sampling too */
    for (size_t i = 0; i < r->call->count; i++) {
        cr_question q;
        cr_looks looks;
        if (cr_request_question(w, r, i, &q)) continue;
        cr_looks_schedule(w->record, w->scratch, &q, &looks);
        for (size_t k = 0; k < looks.count; k++)
            if (looks.samples[k] > after && looks.samples[k] < next) next = looks.samples[k];
    }
    deadline->expires_at = 0;
    deadline->expired = 0;
    return next;
}

/* Decides the targets as far as the record allows. Returns the number of samples at which they are
 * examined next; 0: they are decided, or the record is complete. */
static uint64_t next_goal_of_targets(const cr_context *w, cr_request *r, int at_first)
{
    const size_t samples = r->call->total_samples;
    size_t present; /* samples without a gap: one evaluation decides all looks among them */
    if (at_first && all_targets_decided(w, r, 1)) return 0;
    if (at_first) assume_cost(w); /* after the tests are computed */
    r->count_chosen_by_outputs = 1;
    cr_view_require_contiguous(w->record, &present, NULL);
    if (present > w->record->pilot && all_targets_decided(w, r, 0)) return 0;
    if (present >= samples) return 0;
    return next_look(w, r, present > w->record->pilot ? present : w->record->pilot, samples);
}

static certreg_status sample_until_decided(const cr_context *w, cr_request *r)
{
    int at_first = 1;
    for (uint64_t at; (at = next_goal_of_targets(w, r, at_first)) > 0; at_first = 0) {
        const certreg_status status = stop_reason(
            cr_estimator_sample(w->estimator, 0, (size_t)at, r->samples, r->looks), &r->stop);
        if (status || r->stop != CERTREG_STOP_ALL) return status;
    }
    return CERTREG_OK;
}

/* Finds the cost of the answers. Fails with TOO_MANY if the plan has fewer samples. */
static certreg_status prepare_sampling(const cr_context *w, const cr_request *r)
{
    const size_t samples = r->call->total_samples, max_samples = w->record->plan.max_samples;
    w->clock->answer_budget = (cr_answer_budget){.answers_per_batch = r->all_targets ? 2 : 1,
                                                 .min_samples = r->min_samples};
    if (r->any_valid) w->clock->answer_budget.cost = cr_answer_timer_cost(w, r->timer_key);
    if (!r->any_valid || samples <= max_samples) return CERTREG_OK;
    cr_error_set(w->why, CERTREG_E_TOO_MANY,
                 "total_samples is %zu, more than plan.max_samples = %zu: give fewer, or create "
                 "the estimator with a larger one",
                 samples, max_samples);
    w->why->sample = (int64_t)max_samples;
    return CERTREG_E_TOO_MANY;
}

/* Samples up to the requested number; if every valid question has a target, until each target is
 * proved or out of reach. Ends earlier after a cancel or at the deadline, and at once if no
 * question can be answered. Sets request->stop. Returns failures of sampling. */
static certreg_status cr_stopping_sample(const cr_context *w, cr_request *r)
{
    const certreg_status status = prepare_sampling(w, r);
    if (status || !r->call->total_samples || !r->any_valid)
        return status; /* invalid questions are reported later */
    if (r->all_targets) return sample_until_decided(w, r);
    assume_cost(w);
    return stop_reason(
        cr_estimator_sample(w->estimator, 0, r->call->total_samples, r->samples, r->looks),
        &r->stop);
}

/* The same for samples from elsewhere: returns the number that the record needs next; 0: none. A
 * record without main samples has not been examined. */
static size_t next_goal(const cr_context *w, cr_request *r)
{
    size_t present; /* without a gap */
    cr_view_require_contiguous(w->record, &present, NULL);
    if (!r->any_valid) return 0;
    if (r->all_targets) return (size_t)next_goal_of_targets(w, r, present <= w->record->pilot);
    return present < r->call->total_samples ? r->call->total_samples : 0;
}

/* ======== The driver of a call of certify: parses and validates the questions, samples until
 * the stopping rule, and answers every question. The driver in evaluate.c goes from the record
 * to one certificate. */
void cr_certify_keep_first_error(const cr_context *w, certreg_status status, const char *what,
                                 size_t index, certreg_error *first)
{
    if (first->status || !status) return;
    *first = *w->why;
    if (what)
        snprintf(first->text, sizeof first->text, "%s %zu: %.200s", what, index, w->why->text);
}

static certreg_status fail_all(const cr_context *w, const cr_request *r, certreg_status status)
{
    r->out->struct_size = r->size; /* a callback may have overwritten it */
    cr_certificate_write_empty(w->record, status, r->stop, r->call->count, r->out);
    return status;
}

/* Remembers the numbers of samples at which the record was evaluated (theory 5.2). If the outputs
 * chose the number, only the requested one counts as fixed beforehand. */
static void remember(const cr_context *w, const cr_request *r)
{
    if (r->main_samples_revealed)
        cr_query_log_add(w->record,
                         r->count_chosen_by_outputs ? r->samples : w->record->sample_count,
                         r->samples, r->looks);
}

/* ---- looking ahead: one sweep over the noise for several questions */
/* Requests the noise sums of a question. Returns 0 if they have no room beside the sums that were
 * requested before, else 1. A failure is reported when the question is answered. */
static int request_sums(const cr_context *w, cr_request *r, size_t index)
{
    cr_question q;
    if (cr_request_question(w, r, index, &q) ||
        cr_conditions_check_reuse(w->record, &q, r->samples, w->why))
        return 1;
    cr_conditions conditions = {.question = q, .scratch = w->scratch};
    if (q.uses_order_statistics ||
        !(cr_bounds_constraints(w->record, &q) & CERTREG_CONSTRAINT_GRADIENT))
        return 1;
    if (q.directions > 1) return !cr_noise_sums_pending(w->replay); /* it looks ahead itself */
    return cr_conditions_prepare(w->record, &conditions, w->why) ||
           cr_bounds_prefetch(w->replay, &conditions);
}

/* Computes the noise sums of a question and of the following ones, while the cache has room.
 * Returns the index of the first question that is not included. Answers are the same without it. */
static size_t prefetch_from(const cr_context *w, cr_request *r, size_t index)
{
    size_t i = index + 1;
    if (!request_sums(w, r, index)) {
        cr_noise_sums_clear(w->replay);
        request_sums(w, r, index);
    }
    if (!cr_noise_sums_pending(w->replay)) return i;
    while (i < r->call->count && request_sums(w, r, i)) i++;
    cr_noise_sums_compute(w->replay);
    return i;
}

/* Parses and validates the questions: each has a certificate without a claim from here on. */
static certreg_status begin(const cr_context *w, const cr_call *call, certreg_certificate *out,
                            cr_request *r)
{
    cr_record *record = w->record;
    cr_error_clear(w->why);
    if (!call->count)
        return cr_error_set(w->why, CERTREG_E_INVALID, "count is 0; give at least one question");
    certreg_status status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "certificate", w->why);
    if (status) return status;
    *r = (cr_request){.call = call, .out = out, .size = out->struct_size, .stop = CERTREG_STOP_ALL};
    r->samples = call->total_samples > record->sample_count ? call->total_samples
                                                            : record->sample_count;
    if (call->inverse && !(call->at_radius > 0 && isfinite(call->at_radius)))
        status = cr_error_set(w->why, CERTREG_E_INVALID,
                              "radius is %g; it must be positive and finite", call->at_radius);
    else status = cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    if (!status) status = cr_view_require_input(record, w->why);
    if (status) return fail_all(w, r, status);
    if (call->total_samples && call->total_samples <= record->plan.max_samples)
        cr_record_choose_pilot(record, call->total_samples);
    cr_request_check(w, r);
    if (!call->all_or_none || !r->first_invalid.status) return CERTREG_OK;
    *w->why = r->first_invalid;
    return fail_all(w, r, r->first_invalid.status);
}

/* Answers each question from the record. One sweep over the noise may serve several; with a
 * deadline each has its own, since a sweep that is late leaves all of its questions without. */
static certreg_status answer(const cr_context *w, cr_request *r)
{
    const cr_call *call = r->call;
    const int looks_ahead = call->count > 1 && w->replay->sizes.functions &&
                            !(w->clock->expires_at > 0);
    const double start = cr_answer_timer_start(w, INFINITY);
    cr_evaluation e = {.has_bounds = 0};
    certreg_error first;
    cr_error_clear(&first);
    cr_noise_sums_begin_answers(w->replay);
    for (size_t i = 0, ahead = 0; i < call->count; i++) {
        cr_question q;
        certreg_certificate c;
        if (looks_ahead && i == ahead) ahead = prefetch_from(w, r, i);
        cr_error_clear(w->why);
        certreg_status status = cr_request_question(w, r, i, &q);
        if (status) cr_certificate_init(w->record, &q, &c);
        else status = cr_evaluate_question(w, &q, r->samples, r->stop != CERTREG_STOP_ALL, &e, &c);
        /* A deadline is an outcome, and no failure: other questions may have answers. */
        const int late = status == CERTREG_E_DEADLINE;
        c.stop = late ? CERTREG_STOP_DEADLINE : r->stop;
        cr_certificate_set_status(late ? CERTREG_OK : status, &c);
        if (!c.status && c.outcome == CERTREG_OUTCOME_ABSTAINED) cr_evaluate_reason(w, &e, &c);
        cr_certify_keep_first_error(w, c.status, call->count > 1 ? "question" : NULL, i, &first);
        cr_struct_write((unsigned char *)r->out + i * r->size, r->size, &c, sizeof c);
    }
    cr_answer_timer_stop(w, start, w->record->sample_count);
    r->main_samples_revealed |= e.reported;
    remember(w, r);
    *w->why = first; /* an abstention leaves no error behind */
    return first.status;
}

/* Ends a call whose sampling has this status. */
static certreg_status conclude(const cr_context *w, cr_request *r, certreg_status sampled,
                               int *stop)
{
    if (sampled) {
        remember(w, r);
        return fail_all(w, r, sampled);
    }
    *stop = r->stop;
    return answer(w, r);
}

/* ======== The audit of the samples (theory 15). */
static void read_answer(const certreg_certificate *out, size_t size, size_t i,
                        certreg_certificate *c)
{
    *c = (certreg_certificate){.struct_size = sizeof *c};
    memcpy(c, (const unsigned char *)out + i * size, cr_min_size(size, sizeof *c));
}

int cr_certify_note_claims(const cr_context *w, const cr_call *call, const certreg_certificate *out,
                           size_t size)
{
    cr_audited *audited = &w->record->audited;
    certreg_error why; /* a callback may have overwritten the questions */
    int smaller = 0;
    cr_error_clear(&why);
    if (cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", &why)) return 0;
    for (size_t i = 0; i < call->count; i++) {
        cr_question q = {.first_output = 0};
        certreg_certificate c;
        read_answer(out, size, i, &c);
        if (c.status || c.outcome == CERTREG_OUTCOME_ABSTAINED) continue;
        if (cr_question_parse(call->questions, i, call->share, &q.given, &why)) continue;
        q.given.at_radius = call->at_radius;
        if (cr_question_validate(w->record, &q, &why)) continue;
        const double limit = call->inverse ? 0.5 * (c.output_hi - c.output_lo) : c.tolerance;
        audited->is_relative |= q.given.relative_tolerance > 0;
        for (size_t k = q.first_output; k < q.end_output; k++) {
            smaller |= limit < audited->limit[k];
            audited->limit[k] = fmin(audited->limit[k], limit);
        }
    }
    return smaller;
}

int cr_certify_differs(cr_view *v)
{
    int differs = 0;
    for (size_t k = 0; k < v->model.outputs; k++) differs |= v->audited.change[k] > 0;
    return differs;
}

/* Returns 1 if the audit has to be made, and there is time for its calls. */
static int audit_is_due(const cr_context *w, const cr_request *r)
{
    cr_view *v = w->record;
    const int is_early = r->stop == CERTREG_STOP_DEADLINE || r->stop == CERTREG_STOP_CANCELLED;
    const double calls = 4; /* three, and one more or the answers again */
    if (!v->plan.audit || !v->sample_count) return 0;
    const int smaller = cr_certify_note_claims(w, r->call, r->out, r->size);
    if (smaller && v->model.eval) w->record->audited.samples = 0; /* no audit has judged it */
    if (!v->model.eval || is_early || v->audited.samples >= v->sample_count) return 0;
    return !(w->clock->expires_at > 0) ||
           cr_deadline_now(v->deadline) + calls * w->clock->slowest_batch < w->clock->expires_at;
}

/* Writes how many outputs were asked again into the certificates of a call. */
static void write_asked(const cr_context *w, const cr_request *r)
{
    for (size_t i = 0; i < r->call->count; i++) {
        certreg_certificate c;
        read_answer(r->out, r->size, i, &c);
        cr_certificate_set_asked(w->record, &c);
        cr_struct_write((unsigned char *)r->out + i * r->size, r->size, &c, sizeof c);
    }
}

/* Audits the samples. Sets *again to 1 if the questions have to be answered again, since more
 * outputs count as out. */
static certreg_status audit(const cr_context *w, cr_request *r, certreg_status answered, int *stop,
                            int *again)
{
    const certreg_error why = *w->why;
    const uint64_t before = w->record->audited.samples;
    *again = 0;
    if (!audit_is_due(w, r)) {
        if (before != w->record->audited.samples) write_asked(w, r);
        return answered;
    }
    const certreg_status status = cr_audit_run(w->estimator);
    if (status) {
        *stop = CR_STOP_FAILED;
        fail_all(w, r, status);
        if (w->why->value > 0) w->record->input.is_set = 0; /* refused: there is no second try */
        return status;
    }
    *w->why = why;
    *again = cr_certify_differs(w->record) || r->out->struct_size != r->size; /* by a callback */
    if (!*again) write_asked(w, r);
    return answered;
}

certreg_status cr_certify(const cr_context *w, const cr_call *call, int *stop,
                          certreg_certificate *out)
{
    cr_request r;
    int again = 1;
    *stop = CR_STOP_FAILED;
    certreg_status status = begin(w, call, out, &r);
    if (status) return status;
    status = cr_audit_check(w->estimator);
    if (status) return fail_all(w, &r, status);
    while (again) { /* more outputs out may leave a target open */
        r.stop = CERTREG_STOP_ALL;
        const certreg_status sampled = cr_stopping_sample(w, &r);
        status = conclude(w, &r, sampled, stop);
        if (sampled) return status;
        status = audit(w, &r, status, stop, &again);
    }
    return status;
}

certreg_status cr_certify_step(const cr_context *w, const cr_call *call, certreg_status sampled,
                               size_t *goal, certreg_certificate *out)
{
    cr_request r;
    int stop;
    *goal = 0;
    const certreg_error failure = *w->why; /* of sampling */
    const certreg_status status = begin(w, call, out, &r);
    if (status) return status;
    sampled = stop_reason(sampled, &r.stop);
    if (r.all_targets) { /* earlier steps have looked at the record */
        r.count_chosen_by_outputs = 1;
        r.main_samples_revealed = w->record->sample_count > w->record->pilot;
    }
    if (sampled) *w->why = failure;
    else if (r.stop == CERTREG_STOP_ALL) sampled = prepare_sampling(w, &r);
    if (!sampled && r.stop == CERTREG_STOP_ALL) *goal = next_goal(w, &r);
    return *goal ? CERTREG_OK : conclude(w, &r, sampled, &stop);
}

/* ---- public */
static certreg_status enter_and_certify(certreg_estimator *e, const cr_call *call,
                                        certreg_certificate *out)
{
    int stop;
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (!refused) return cr_estimator_leave(e, cr_certify(&w, call, &stop, out));
    cr_certificate_write_empty(NULL, refused, CERTREG_STOP_ALL, call->count, out);
    return refused;
}

certreg_status certreg_certify(certreg_estimator *e, size_t total_samples,
                               const certreg_question *questions, size_t count,
                               certreg_certificate *out)
{
    const cr_call call = {
        .total_samples = total_samples, .questions = questions, .count = count, .share = 1};
    return enter_and_certify(e, &call, out);
}

certreg_status certreg_output_bounds(certreg_estimator *e, size_t total_samples,
                                     const certreg_question *questions, size_t count, double radius,
                                     certreg_certificate *out)
{
    const cr_call call = {.total_samples = total_samples,
                          .questions = questions,
                          .count = count,
                          .share = 1,
                          .inverse = 1,
                          .at_radius = radius};
    return enter_and_certify(e, &call, out);
}

/* ======== certreg_certify_outputs: one radius for all outputs, from a question about each
 * (theory 5.1: intersection-union). */
/* Returns the number of outputs of question i, alone or as a vector, from *first on. */
static size_t outputs_of(const certreg_question *questions, size_t i, size_t *first)
{
    certreg_question q;
    cr_struct_element(&q, sizeof q, questions, i, "question", NULL);
    *first = q.output < 0 ? 0 : (size_t)q.output;
    if (q.output == CERTREG_ALL_OUTPUTS) return SIZE_MAX;
    if (q.output < 0) return 0;
    return q.output_count ? q.output_count : 1;
}

static double first_output(const void *questions, size_t i)
{
    size_t first;
    outputs_of(questions, i, &first);
    return (double)first;
}

/* Returns the first output that no question is about, or several; `outputs` if there is none. The
 * certificates are memory for it. */
static size_t first_wrong_output(const certreg_question *questions, size_t count, size_t outputs,
                                 certreg_certificate *each, int *several)
{
    const cr_order o = {each, each->struct_size, first_output, questions};
    size_t next = 0, first; /* the outputs before next have one question each */
    cr_order_make(&o, count);
    for (size_t i = 0; i < count; i++) {
        const size_t about = outputs_of(questions, cr_order_at(&o, i), &first);
        if (!about || first >= outputs) continue;
        *several = first < next;
        if (first != next) return *several ? first : next;
        next = about < outputs - next ? next + about : outputs;
    }
    return next;
}

/* One promise is either about the statistics themselves, or about the values that one request
 * serves with one draw of noise for all outputs (theory 7.3). */
static certreg_status check_serving(const cr_context *w, const cr_given *q, const cr_given *first,
                                    size_t i)
{
    if (!q->serving_samples != !first->serving_samples)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].serving is %s, and questions[0].serving is %s: one "
                            "radius is about served values or about T, so set both or neither",
                            i, q->serving_samples ? "set" : "NULL",
                            first->serving_samples ? "set" : "NULL");
    if (q->serving_samples != first->serving_samples || q->serving_pairs != first->serving_pairs)
        return cr_error_set(
            w->why, CERTREG_E_INVALID,
            "questions[%zu].serving has samples %zu and pairs %d, and questions[0].serving %zu and "
            "%d: one radius is about values that one request serves, so give both the same, or "
            "call certreg_certify for each server",
            i, q->serving_samples, q->serving_pairs, first->serving_samples, first->serving_pairs);
    return CERTREG_OK;
}

/* *first is question 0, from the first call on. */
static certreg_status check_one(const cr_context *w, const certreg_question *questions, size_t i,
                                cr_given *first)
{
    cr_given q;
    const certreg_status status = cr_question_parse(questions, i, 1, &q, w->why);
    if (status) return status;
    if (i == 0) *first = q;
    if (q.bonferroni > 1)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].bonferroni must be 0 or 1: a radius for all outputs "
                            "needs no division of alpha",
                            i);
    if (q.center == CERTREG_CENTER_SAMPLE_MEDIAN)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].center is CERTREG_CENTER_SAMPLE_MEDIAN, and its radius "
                            "is not proved; use CERTREG_CENTER_PREDICTION",
                            i);
    if (q.faults != first->faults)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].faults is %llu, and questions[0].faults %llu: one "
                            "radius is about as many wrong features, so give both the same",
                            i, (unsigned long long)q.faults, (unsigned long long)first->faults);
    return check_serving(w, &q, first, i);
}

/* Checks the questions together; the call validates each of them. */
static certreg_status check_outputs(const cr_context *w, const certreg_question *questions,
                                    size_t count, certreg_certificate *each)
{
    cr_given first;
    int several = 0;
    certreg_status status = cr_struct_check(questions, CR_OLDEST_QUESTION, "question", w->why);
    for (size_t i = 0; i < count && !status; i++) status = check_one(w, questions, i, &first);
    if (status) return status;
    const size_t outputs = w->record->model.outputs,
                 k = first_wrong_output(questions, count, outputs, each, &several);
    if (k == outputs) return CERTREG_OK;
    return cr_error_set(w->why, CERTREG_E_INVALID,
                        "give one question for each output, alone or within a vector: output %zu "
                        "has %s",
                        k, several ? "several" : "none");
}

/* The order of methods by what their bounds assume. */
static int weakness(int32_t method)
{
    const cr_method *m = cr_method_of(method);
    return 2 * m->normality - m->is_anytime;
}

/* The model fixes which output leaves its tolerance first as the shift grows. The least radius is
 * too large only if that output's own bound failed, which has the probability that its own method
 * states. If one promise is about a true mean, certreg_move_certificate has to refuse the
 * combination. */
static void combine(const certreg_certificate *each, size_t count, certreg_certificate *combined)
{
    double alpha = 0, change = 0, band = 0, missed = 0;
    int32_t center = CERTREG_CENTER_PREDICTION, method = CERTREG_METHOD_ANYTIME;
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < count; i++) {
        certreg_certificate c;
        cr_struct_element(&c, sizeof c, each, i, "certificate", NULL);
        if (i == 0 || c.radius < combined->radius) *combined = c;
        if (!status) status = c.status;
        alpha = fmax(alpha, c.alpha);
        change = fmax(change, c.audit_change);
        band = fmax(band, c.audit_band);
        if (c.served_failure_rate > 0)
            missed = missed > 0 ? nextafter(missed + c.served_failure_rate, 1)
                                : c.served_failure_rate;
        if (c.center != CERTREG_CENTER_PREDICTION) center = c.center;
        if (weakness(c.method) > weakness(method)) method = c.method;
    }
    for (size_t k = 0; k < CR_FAULTS; k++) /* others need the thresholds of all outputs */
        combined->fault_radius[k] =
            k == combined->faults && combined->fault_radius[k] > 0 ? combined->radius : 0;
    combined->counted = combined->counted_out = 0; /* of one output */
    combined->counted_required = 0;
    combined->alpha = alpha;
    combined->audit_change = change;
    combined->audit_band = band;
    combined->served_failure_rate = missed;
    combined->center = center;
    if (weakness(method) > weakness(combined->method)) combined->method = method;
    cr_certificate_set_status(status, combined);
}

/* Writes certificates without any claim. The record may be NULL. */
static certreg_status refuse(cr_view *v, certreg_status status, size_t count,
                             certreg_certificate *each, certreg_certificate *combined)
{
    cr_certificate_write_empty(v, status, CERTREG_STOP_ALL, count, each);
    cr_certificate_write_empty(v, status, CERTREG_STOP_ALL, 1, combined);
    return status;
}

static certreg_status certify_outputs(const cr_context *w, const cr_call *call,
                                      certreg_certificate *each, certreg_certificate *combined)
{
    certreg_certificate least = {.struct_size = sizeof least};
    int stop;
    certreg_status status = cr_struct_check(combined, CR_OLDEST_CERTIFICATE, "combined", w->why);
    if (!status) status = cr_struct_check(each, CR_OLDEST_CERTIFICATE, "each", w->why);
    if (!status) status = check_outputs(w, call->questions, call->count, each);
    if (status) return refuse(w->record, status, call->count, each, combined);
    const uint32_t size = combined->struct_size; /* before callbacks run */
    status = cr_certify(w, call, &stop, each);
    combine(each, call->count, &least);
    cr_struct_write(combined, size, &least, sizeof least);
    return status;
}

certreg_status certreg_certify_outputs(certreg_estimator *e, size_t total_samples,
                                       const certreg_question *questions, size_t count,
                                       certreg_certificate *each, certreg_certificate *combined)
{
    const cr_call call = {.total_samples = total_samples,
                          .questions = questions,
                          .count = count,
                          .share = 1,
                          .all_or_none = 1};
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (refused) return refuse(NULL, refused, count, each, combined);
    return cr_estimator_leave(e, certify_outputs(&w, &call, each, combined));
}
