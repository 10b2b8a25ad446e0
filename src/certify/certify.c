/* The pipeline: sample, to the number requested or until every target is settled, then answer every
 * question from the record. */
#include "certify/certify.h"
#include "base/sizes.h"
#include "base/structs.h"
#include "certify/answer.h"
#include "certify/job.h"
#include "question/looks.h"
#include "record/sweep.h"
#include <math.h>
#include <stdio.h>

/* ---- sampling */
static certreg_status stop_of(certreg_status sampled, int *stop)
{
    if (sampled == CERTREG_E_CANCELLED) *stop = CERTREG_STOP_CANCELLED;
    if (sampled == CERTREG_E_DEADLINE) *stop = CERTREG_STOP_DEADLINE;
    return *stop == CERTREG_STOP_ALL ? sampled : CERTREG_OK;
}

enum { OPEN, PROVEN, HOPELESS };

static int state_of(const cr_work *w, cr_job *j, cr_question *q)
{
    certreg_certificate c;
    cr_answer a = {.known = 0};
    if (j->foretold == q->digest) q->found = &j->prediction;
    const certreg_status status = cr_answer_question(w, q, j->samples, 1, &a, &c);
    j->told |= a.told;
    if (a.known) j->foretold = q->digest, j->prediction = a.conditions.prediction;
    if (status == CERTREG_E_DEADLINE) return OPEN;
    if (status) return HOPELESS; /* reported when it is answered for good */
    if (c.radius >= q->target) return PROVEN;
    return a.known && cr_looks_hopeless(w->record, &a.conditions) ? HOPELESS : OPEN;
}

/* Before anything is sampled only failures are missing: what is out of reach now stays so. Main
 * samples that are there already do not count yet, so what is found here reveals nothing about
 * them. (This also makes the tests, which takes longer than evaluating them.) */
static int state_at_first(const cr_work *w, const cr_question *q)
{
    cr_conditions conditions = {.question = *q, .scratch = w->scratch};
    if (cr_conditions_preview(w->record, &conditions, w->why)) return OPEN;
    if (conditions.samples > conditions.main_first) conditions.samples = conditions.main_first;
    return cr_looks_hopeless(w->record, &conditions) ? HOPELESS : OPEN;
}

/* What is spent on the tests before there are samples, and what is left to the answers as long as
 * nobody knows how long they take. */
static double half_the_time(const cr_work *w)
{
    return fmax(0, (w->clock->deadline - cr_watch_now(w->record->watch)) / 2);
}

/* Whether every target is settled, by the record so far or, `at_first`, before there is one. */
static int is_settled(const cr_work *w, cr_job *j, int at_first)
{
    int open = 0, proven = 0;
    const double start = cr_closing_start(w, at_first ? half_the_time(w) : INFINITY);
    for (size_t i = 0; !open && i < j->call->count; i++) {
        cr_question q;
        const int state = cr_job_question(w, j, i, &q) ? HOPELESS
                          : at_first                   ? state_at_first(w, &q)
                                                       : state_of(w, j, &q);
        open = state == OPEN;
        proven |= state == PROVEN;
    }
    open |= cr_closing_end(w, start, 0);
    if (!open) j->stop = proven ? CERTREG_STOP_TARGET : CERTREG_STOP_HOPELESS;
    return !open;
}

/* ---- how far to sample */
/* The number of samples must not depend on the outputs, so this is fixed before there are any
 * (theory 5.1). */
static void suppose_cost(const cr_work *w)
{
    if (w->clock->deadline > 0 && !cr_cost_known(w->clock->closing.cost))
        w->clock->closing.supposed = half_the_time(w);
}

/* The next number of samples at which any question has a look; `most` where there is none
 * before. */
static uint64_t next_look(const cr_work *w, const cr_job *j, uint64_t after, uint64_t most)
{
    uint64_t next = most;
    for (size_t i = 0; i < j->call->count; i++) {
        cr_question q;
        cr_looks looks;
        if (cr_job_question(w, j, i, &q)) continue;
        cr_looks_make(w->record, &q, &looks);
        for (size_t k = 0; k < looks.count; k++)
            if (looks.at[k] > after && looks.at[k] < next) next = looks.at[k];
    }
    return next;
}

static certreg_status sample_until_settled(const cr_work *w, cr_job *j, size_t samples)
{
    size_t known; /* samples without a gap: one evaluation settles all looks among them */
    if (is_settled(w, j, 1)) return CERTREG_OK;
    suppose_cost(w); /* now that the tests are made */
    j->by_outputs = 1;
    cr_view_length(w->record, &known, NULL);
    if (known > w->record->pilot && is_settled(w, j, 0)) return CERTREG_OK;
    for (uint64_t at = known; at < samples;) {
        at = next_look(w, j, at > w->record->pilot ? at : w->record->pilot, samples);
        const certreg_status status = stop_of(
            cr_estimator_sample(w->estimator, 0, (size_t)at, j->samples, j->looks), &j->stop);
        if (status || j->stop != CERTREG_STOP_ALL) return status;
        if (is_settled(w, j, 0)) return CERTREG_OK;
    }
    return CERTREG_OK;
}

static certreg_status check_total(const cr_work *w, size_t samples)
{
    const size_t most = w->record->plan.max_samples;
    if (samples <= most) return CERTREG_OK;
    cr_fail(w->why, CERTREG_E_TOO_MANY,
            "total_samples is %zu, more than plan.max_samples = %zu: ask for fewer, or create the "
            "estimator with a larger one",
            samples, most);
    return w->why->sample = (int64_t)most, CERTREG_E_TOO_MANY;
}

static certreg_status settle(const cr_work *w, cr_job *j)
{
    const size_t samples = j->call->total_samples;
    w->clock->closing = (cr_closing){.times = j->all_targets ? 2 : 1, .from = j->from};
    if (j->any_valid) w->clock->closing.cost = cr_closing_cost(w, j->hash);
    if (!samples || !j->any_valid)
        return CERTREG_OK; /* wrong questions are reported in their turn */
    const certreg_status status = check_total(w, samples);
    if (status) return status;
    if (j->all_targets) return sample_until_settled(w, j, samples);
    suppose_cost(w);
    return stop_of(cr_estimator_sample(w->estimator, 0, samples, j->samples, j->looks), &j->stop);
}

/* ---- all questions */
void cr_certify_nothing(cr_view *v, certreg_status status, int stop, size_t count,
                        certreg_certificate *out)
{
    certreg_certificate nothing;
    if (cr_struct_check(out, CR_OLDEST_CERTIFICATE, "certificate", NULL)) return;
    const uint32_t size = out->struct_size;
    cr_answer_blank(v, NULL, &nothing);
    cr_answer_status(status, &nothing);
    nothing.stop = stop;
    for (size_t i = 0; i < count; i++)
        cr_struct_write((unsigned char *)out + i * size, size, &nothing, sizeof nothing);
}

void cr_certify_keep_first(const cr_work *w, certreg_status status, const char *what, size_t index,
                           certreg_error *first)
{
    if (first->status || !status) return;
    *first = *w->why;
    if (what)
        snprintf(first->text, sizeof first->text, "%s %zu: %.200s", what, index, w->why->text);
}

/* CERTREG_OK also where it was given up: the questions before it keep their answers. */
static certreg_status answer(const cr_work *w, cr_job *j, size_t index, cr_answer *a,
                             certreg_certificate *c)
{
    cr_question q;
    cr_error_clear(w->why);
    certreg_status status = cr_job_question(w, j, index, &q);
    if (status) cr_answer_blank(w->record, &q, c);
    else status = cr_answer_question(w, &q, j->samples, j->stop != CERTREG_STOP_ALL, a, c);
    const int late = status == CERTREG_E_DEADLINE;
    c->stop = late ? CERTREG_STOP_DEADLINE : j->stop;
    cr_answer_status(late ? CERTREG_OK : status, c);
    return c->status;
}

static int want(const cr_work *w, const cr_job *j, size_t index)
{
    cr_question q;
    if (cr_job_question(w, j, index, &q) || cr_allowed_now(w->record, &q, j->samples, w->why))
        return 1; /* refused in its turn */
    return cr_answer_want(w, &q);
}

/* One sweep serves this question and those after it, as far as there is room: up to the one that is
 * returned. Where something goes wrong the answers say so. */
static size_t look_ahead(const cr_work *w, const cr_job *j, size_t index)
{
    size_t i = index + 1;
    if (!want(w, j, index)) {
        cr_sweep_forget(w->replay);
        want(w, j, index);
    }
    if (!cr_sweep_pending(w->replay)) return i;
    while (i < j->call->count && want(w, j, i)) i++;
    cr_sweep_run(w->replay);
    return i;
}

/* A sweep that is late leaves none of its questions an answer: with a deadline each has its own. */
static int may_look_ahead(const cr_work *w, const cr_job *j)
{
    return j->call->count > 1 && w->replay->sizes.functions && !(w->clock->deadline > 0);
}

static certreg_status answer_all(const cr_work *w, cr_job *j)
{
    certreg_error first;
    cr_error_clear(&first);
    cr_answer a = {.known = 0};
    for (size_t i = 0, ahead = 0; i < j->call->count; i++) {
        certreg_certificate c;
        if (may_look_ahead(w, j) && i == ahead) ahead = look_ahead(w, j, i);
        const certreg_status status = answer(w, j, i, &a, &c);
        cr_certify_keep_first(w, status, j->call->count > 1 ? "question" : NULL, i, &first);
        cr_struct_write(cr_job_certificate(j, i), j->size, &c, sizeof c);
    }
    j->told |= a.told;
    *w->why = first; /* an abstention leaves no error behind */
    return first.status;
}

/* ---- the call */
static certreg_status fail_all(const cr_work *w, cr_job *j, certreg_status status)
{
    j->out->struct_size = j->size; /* whatever a callback wrote there */
    cr_certify_nothing(w->record, status, j->stop, j->call->count, j->out);
    j->stop = CR_STOP_FAILED;
    return status;
}

static certreg_status sample_and_answer(const cr_work *w, cr_job *j)
{
    certreg_status status = settle(w, j);
    if (status) return fail_all(w, j, status);
    cr_error_clear(w->why);
    const double start = cr_closing_start(w, INFINITY);
    status = answer_all(w, j);
    cr_closing_end(w, start, w->record->present);
    return status;
}

static certreg_status prepare(const cr_work *w, const cr_call *call)
{
    if (call->inverse && !(call->at_radius > 0 && isfinite(call->at_radius)))
        return cr_fail(w->why, CERTREG_E_INVALID, "radius is %g; it must be positive and finite",
                       call->at_radius);
    if (!call->count)
        return cr_fail(w->why, CERTREG_E_INVALID, "count is 0; give at least one question");
    const certreg_status status =
        cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    return status ? status : cr_view_begun(w->record, w->why);
}

/* If the outputs chose the number of samples, only the requested number counts as fixed
 * beforehand. */
static void remember(const cr_work *w, const cr_job *j)
{
    if (j->told)
        cr_asked_remember(w->record, j->by_outputs ? j->samples : w->record->present, j->samples,
                          j->looks);
}

certreg_status cr_certify(const cr_work *w, const cr_call *call, int *stop,
                          certreg_certificate *out)
{
    *stop = CR_STOP_FAILED;
    cr_error_clear(w->why);
    certreg_status status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "certificate", w->why);
    if (status) return status;
    cr_job j = {.call = call, .out = out, .stop = CERTREG_STOP_ALL};
    j.size = out->struct_size;
    j.samples = call->total_samples > w->record->present ? call->total_samples : w->record->present;
    status = prepare(w, call);
    if (status) return fail_all(w, &j, status);
    if (call->total_samples && call->total_samples <= w->record->plan.max_samples)
        cr_record_expect(w->record, call->total_samples);
    cr_job_check(w, &j);
    if (call->together && j.wrong.status) {
        *w->why = j.wrong;
        return fail_all(w, &j, j.wrong.status);
    }
    status = sample_and_answer(w, &j);
    remember(w, &j);
    *stop = j.stop;
    return status;
}

/* ---- public */
static certreg_status enter_and_certify(certreg_estimator *e, const cr_call *call,
                                        certreg_certificate *out)
{
    int stop;
    cr_work w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (!refused) return cr_estimator_leave(e, cr_certify(&w, call, &stop, out));
    cr_certify_nothing(NULL, refused, CERTREG_STOP_ALL, call->count, out);
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
