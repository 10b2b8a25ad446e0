/* The driver of a call of certify: parses and validates the questions, samples until the stopping
 * rule, and answers every question. The driver in evaluate.c goes from the record to one
 * certificate. */
#include "certify/certify.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "bounds/bounds.h"
#include "certify/answer_timer.h"
#include "certify/certificate.h"
#include "certify/evaluate.h"
#include "certify/stopping.h"
#include "record/noise_sums.h"
#include <math.h>
#include <stdio.h>

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
static int request_sums(const cr_context *w, const cr_request *r, size_t index)
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
static size_t prefetch_from(const cr_context *w, const cr_request *r, size_t index)
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

certreg_status cr_certify(const cr_context *w, const cr_call *call, int *stop,
                          certreg_certificate *out)
{
    cr_record *record = w->record;
    *stop = CR_STOP_FAILED;
    cr_error_clear(w->why);
    certreg_status status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "certificate", w->why);
    if (status) return status;

    /* 1. Parse and validate the questions: each has a certificate without a claim from here on. */
    cr_request r = {.call = call, .out = out, .size = out->struct_size, .stop = CERTREG_STOP_ALL};
    r.samples = call->total_samples > record->sample_count ? call->total_samples
                                                           : record->sample_count;
    if (call->inverse && !(call->at_radius > 0 && isfinite(call->at_radius)))
        status = cr_error_set(w->why, CERTREG_E_INVALID,
                              "radius is %g; it must be positive and finite", call->at_radius);
    else if (!call->count)
        status = cr_error_set(w->why, CERTREG_E_INVALID, "count is 0; give at least one question");
    else status = cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    if (!status) status = cr_view_require_input(record, w->why);
    if (status) return fail_all(w, &r, status);
    if (call->total_samples && call->total_samples <= record->plan.max_samples)
        cr_record_choose_pilot(record, call->total_samples);
    cr_request_check(w, &r);
    if (call->all_or_none && r.first_invalid.status) {
        *w->why = r.first_invalid;
        return fail_all(w, &r, r.first_invalid.status);
    }

    /* 2. Sample until the stopping rule. */
    status = cr_stopping_sample(w, &r);
    if (status) {
        remember(w, &r);
        return fail_all(w, &r, status);
    }
    *stop = r.stop;

    /* 3. Answer each question from the record. One sweep over the noise may serve several; with a
     * deadline each has its own, since a sweep that is late leaves all of its questions without. */
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
        if (looks_ahead && i == ahead) ahead = prefetch_from(w, &r, i);
        cr_error_clear(w->why);
        status = cr_request_question(w, &r, i, &q);
        if (status) cr_certificate_init(record, &q, &c);
        else status = cr_evaluate_question(w, &q, r.samples, r.stop != CERTREG_STOP_ALL, &e, &c);
        /* A deadline is an outcome, and no failure: other questions may have answers. */
        const int late = status == CERTREG_E_DEADLINE;
        c.stop = late ? CERTREG_STOP_DEADLINE : r.stop;
        cr_certificate_set_status(late ? CERTREG_OK : status, &c);
        cr_certify_keep_first_error(w, c.status, call->count > 1 ? "question" : NULL, i, &first);
        cr_struct_write(cr_request_certificate(&r, i), r.size, &c, sizeof c);
    }
    cr_answer_timer_stop(w, start, record->sample_count);
    r.main_samples_revealed |= e.reported;
    remember(w, &r);
    *w->why = first; /* an abstention leaves no error behind */
    return first.status;
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
