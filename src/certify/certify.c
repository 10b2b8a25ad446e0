/* The pipeline: sample, then answer every question from the record. */
#include "base/structs.h"
#include "estimator/inquiry.h"
#include "estimator/score.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OLDEST_CERTIFICATE = sizeof(certreg_certificate), OLDEST_QUESTION = sizeof(certreg_question) };

typedef struct answer { /* bounds of the question before, which questions that differ in family or tolerance may share */
    certreg_question question;
    cr_inquiry inquiry;
    certreg_bounds bounds[CR_CONDITIONS];
    int known, abstained;
} answer;

/* ---- one question --------------------------------------------------------------------------------------------------------------- */
/* The bounds of f itself depend on neither family nor tolerance, as long as both need the same facts. */
static int same_bounds(const certreg_estimator *e, const answer *before, const certreg_question *q)
{
    if (!before->known || q->promise != CERTREG_PROMISE_TRUE_MEAN) return 0;
    if (q->interval != CERTREG_INTERVAL_PAPER && cr_bounds_facts(e, &before->question) != cr_bounds_facts(e, q)) return 0;
    certreg_question alike = before->question;
    alike.family = q->family;
    alike.tolerance = q->tolerance;
    return memcmp(&alike, q, sizeof alike) == 0;
}

static certreg_status find_bounds(certreg_estimator *e, const cr_inquiry *read, answer *a)
{
    const int same = same_bounds(e, a, &read->question);
    a->known = 0;
    a->inquiry = *read;
    certreg_status status = cr_inquiry_prepare(e, &a->inquiry);
    if (!status && !same) status = cr_bounds_find(e, &a->inquiry, a->bounds, &a->abstained);
    a->question = read->question;
    a->known = !status;
    return status;
}

static certreg_status solve(certreg_bisection *bisection, const answer *a, certreg_radius *radius)
{
    const certreg_question *q = &a->inquiry.question;
    if (q->promise == CERTREG_PROMISE_TRUE_MEAN)
        return certreg_bisection_within(bisection, a->bounds, q->family, q->tolerance, radius);
    double threshold[CR_CONDITIONS];
    for (int i = 0; i < a->inquiry.conditions; i++) threshold[i] = a->inquiry.condition[i].threshold;
    return certreg_bisection_above(bisection, a->bounds, threshold, (size_t)a->inquiry.conditions, q->family, radius);
}

/* ---- the certificate ------------------------------------------------------------------------------------------------------------ */
static void describe(const certreg_estimator *e, const certreg_question *q, certreg_certificate *c)
{
    c->reach_lo = -INFINITY, c->reach_hi = INFINITY;
    c->prediction = c->estimate = NAN;
    c->output = q->output, c->score = q->score, c->interval = q->interval, c->promise = q->promise;
    c->family = q->family;
    c->tolerance = q->tolerance, c->huber_width = q->huber_width, c->alpha = q->alpha, c->sigma = e->sigma;
    c->seed = e->noise.seed, c->stream = e->noise.stream;
    c->samples = e->present, c->pilot = e->plan.pilot, c->batch = e->model.batch;
}

static void fill(const certreg_estimator *e, const answer *a, const certreg_radius *radius, certreg_certificate *c)
{
    const int within = a->inquiry.question.promise == CERTREG_PROMISE_TRUE_MEAN;
    const size_t ruling = within ? 0 : radius->binding;
    const certreg_bounds *b = a->bounds + ruling;
    c->outcome = radius->outcome;
    c->radius = radius->radius;
    c->prediction = a->inquiry.prediction, c->estimate = a->inquiry.estimate;
    c->samples = a->inquiry.samples;
    c->side = within ? (uint32_t)radius->binding : a->inquiry.condition[ruling].score.side > 0 ? 0 : 1;
    c->family = cr_bounds_facts(e, &a->inquiry.question) & b->facts;
    if (b->facts & CERTREG_MEAN) c->mean_lo = b->mean_lo, c->mean_hi = b->mean_hi;
    if (b->facts & CERTREG_VARIANCE) c->variance_hi = b->variance_hi;
    if (b->facts & CERTREG_GRADIENT) c->gradient_lo = b->gradient_lo, c->gradient_hi = b->gradient_hi;
}

/* Too few samples after an early stop, or an empty box of estimates, prove nothing: that is an outcome, not a failure. */
static int is_abstention(certreg_status status, int stop)
{
    return status == CERTREG_INFEASIBLE || (stop != CERTREG_STOP_ALL && status == CERTREG_WRONG_STATE);
}

static certreg_status answer_one(certreg_estimator *e, certreg_bisection *bisection, const certreg_question *theirs, int stop, answer *a,
                                 certreg_certificate *c)
{
    cr_inquiry read;
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_status status = cr_inquiry_read(e, theirs, &read);
    if (!status) describe(e, &read.question, c);
    if (status) return status;
    status = find_bounds(e, &read, a);
    if (status) {
        c->samples = e->present;
        return is_abstention(status, stop) ? CERTREG_OK : status;
    }
    if (!a->abstained) status = solve(bisection, a, &radius);
    if (status && !is_abstention(status, stop)) {
        cr_fail(&e->error, status, "%s", certreg_bisection_error(bisection)->text);
        radius = (certreg_radius){.struct_size = sizeof radius};
    }
    fill(e, a, &radius, c);
    return is_abstention(status, stop) ? CERTREG_OK : status;
}

/* ---- all questions -------------------------------------------------------------------------------------------------------------- */
static certreg_status stop_of(certreg_status sampled, int *stop)
{
    *stop = CERTREG_STOP_ALL;
    if (sampled == CERTREG_CANCELLED) *stop = CERTREG_STOP_CANCELLED;
    if (sampled == CERTREG_DEADLINE) *stop = CERTREG_STOP_DEADLINE;
    return *stop == CERTREG_STOP_ALL ? sampled : CERTREG_OK;
}

static void blank_certificate(const certreg_estimator *e, certreg_certificate *c)
{
    memset(c, 0, sizeof *c);
    c->struct_size = sizeof *c;
    describe(e, &(certreg_question){0}, c);
}

static void write_all(void *out, size_t count, const certreg_certificate *c)
{
    const uint32_t size = ((certreg_certificate *)out)->struct_size;
    for (size_t i = 0; i < count; i++) cr_struct_write((unsigned char *)out + i * size, size, c, sizeof *c);
}

/* Failures of a question are told with its number; the first one is what certify returns. */
static void keep_first(certreg_estimator *e, certreg_status status, size_t index, size_t count, certreg_error *first)
{
    if (first->status || !status) return;
    *first = e->error;
    if (count > 1) snprintf(first->text, sizeof first->text, "question %zu: %.200s", index, e->error.text);
}

static certreg_status answer_all(certreg_estimator *e, certreg_bisection *bisection, const certreg_question *questions, size_t count,
                                 int stop, void *out)
{
    const uint32_t size = ((certreg_certificate *)out)->struct_size;
    certreg_error first;
    cr_error_clear(&first);
    answer a = {.known = 0};
    for (size_t i = 0; i < count; i++) {
        certreg_certificate c;
        blank_certificate(e, &c);
        const double start = cr_estimator_now();
        certreg_question q;
        c.status = cr_struct_element(&q, sizeof q, questions, i, "question", &e->error);
        if (!c.status) c.status = answer_one(e, bisection, &q, stop, &a, &c);
        c.stop = stop;
        e->library_seconds += cr_estimator_now() - start;
        c.model_seconds = e->model_seconds, c.library_seconds = e->library_seconds;
        keep_first(e, c.status, i, count, &first);
        cr_struct_write((unsigned char *)out + i * size, size, &c, sizeof c);
    }
    e->error = first; /* an abstention leaves no error behind */
    return first.status;
}

static certreg_status no_solver(certreg_estimator *e, certreg_status status, int stop, size_t count, certreg_certificate *out)
{
    certreg_certificate nothing;
    blank_certificate(e, &nothing);
    nothing.status = status;
    nothing.stop = stop;
    write_all(out, count, &nothing);
    return cr_fail(&e->error, status, "no memory for a temporary solver");
}

static certreg_status with_solver(certreg_estimator *e, certreg_bisection *bisection, const certreg_question *questions, size_t count,
                                  int stop, certreg_certificate *out)
{
    if (bisection) return answer_all(e, bisection, questions, count, stop, out);
    certreg_solver *solver = NULL;
    certreg_status status = certreg_solver_create(NULL, 0, &solver);
    if (!status) status = certreg_bisection_create(solver, NULL, 0, &bisection);
    status = status ? no_solver(e, status, stop, count, out) : answer_all(e, bisection, questions, count, stop, out);
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    return status;
}

/* The questions one by one, before the model is called: if none can be answered there is nothing to sample for. */
static int any_valid(certreg_estimator *e, const certreg_question *questions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        certreg_question q;
        cr_inquiry read;
        if (!cr_struct_element(&q, sizeof q, questions, i, "question", &e->error) && !cr_inquiry_read(e, &q, &read))
            return 1;
    }
    return 0;
}

static certreg_status prepare(certreg_estimator *e, size_t samples, const certreg_question *questions, size_t count, int *stop)
{
    if (!count) return cr_fail(&e->error, CERTREG_INVALID, "count is 0: no question was asked");
    certreg_status status = cr_struct_check(questions, OLDEST_QUESTION, "question", &e->error);
    if (!status) status = cr_estimator_ready(e);
    *stop = CERTREG_STOP_ALL;
    if (status || !samples || !any_valid(e, questions, count)) return status; /* each bad question is told when its turn comes */
    return stop_of(certreg_estimator_sample(e, 0, samples), stop);
}

certreg_status certreg_certify(certreg_estimator *e, certreg_bisection *bisection, size_t samples, const certreg_question *questions,
                               size_t count, certreg_certificate *out)
{
    if (!e) return CERTREG_INVALID;
    cr_error_clear(&e->error);
    certreg_status status = cr_struct_check(out, OLDEST_CERTIFICATE, "certificate", &e->error);
    if (status) return status;
    int stop;
    certreg_certificate nothing;
    blank_certificate(e, &nothing);
    nothing.status = prepare(e, samples, questions, count, &stop);
    if (nothing.status) {
        write_all(out, count, &nothing);
        return nothing.status;
    }
    cr_error_clear(&e->error);
    const double start = cr_estimator_now();
    status = with_solver(e, bisection, questions, count, stop, out);
    e->closing_seconds = cr_estimator_now() - start;
    return status;
}
