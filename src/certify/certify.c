/* The pipeline: sample, then answer every question from the record. */
#include "certify/certify.h"
#include "base/sizes.h"
#include "base/structs.h"
#include "certify/answer.h"
#include "certify/closing.h"
#include "certify/settle.h"
#include "record/sweep.h"
#include <math.h>
#include <stdio.h>

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
    certreg_status status = cr_settle(w, j);
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
