/* The questions of a call, and how long their answers take. */
#include "certify/job.h"
#include "base/sizes.h"
#include "base/structs.h"
#include "certify/answer.h"
#include "question/conditions.h"
#include <math.h>

certreg_status cr_job_question(const cr_work *w, const cr_job *j, size_t index, cr_question *out)
{
    const cr_call *call = j->call;
    *out = (cr_question){.output = 0};
    certreg_status status =
        cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    if (status) return status;
    status = cr_read_question(call->questions, index, call->share, out, w->why);
    if (status) return *out = (cr_question){.output = 0}, status;
    out->at_radius = call->at_radius;
    return cr_sense_check(w->record, out, w->why);
}

/* A question that cannot be answered at that number of samples is reported in its turn. */
static void look_over(const cr_work *w, cr_job *j, const cr_question *q)
{
    if (!j->looks) j->looks = cr_allowed_looks(q);
    const size_t from = cr_conditions_least(w->record, q);
    if (from > j->samples || cr_allowed_now(w->record, q, j->samples, w->why)) return;
    j->any_valid = 1;
    j->all_targets &= q->target > 0;
    if (from < j->from) j->from = from;
    j->hash = cr_closing_hash(j->hash, q);
}

void cr_job_check(const cr_work *w, cr_job *j)
{
    j->all_targets = 1, j->from = SIZE_MAX, j->hash = j->call->count;
    cr_error_clear(&j->wrong);
    for (size_t i = 0; i < j->call->count; i++) {
        cr_question q;
        certreg_certificate c;
        const certreg_status status = cr_job_question(w, j, i, &q);
        cr_answer_blank(w->record, &q, &c);
        cr_answer_status(status, &c);
        cr_struct_write(cr_job_certificate(j, i), j->size, &c, sizeof c);
        if (!status) look_over(w, j, &q);
        else if (!j->wrong.status) j->wrong = *w->why;
    }
    cr_error_clear(w->why);
}

/* ---- the closing computation in time */
uint64_t cr_closing_hash(uint64_t so_far, const cr_question *q)
{
    const uint64_t served = q->served_pairs ? q->served_samples : q->served_samples > 0;
    const uint64_t words[] = {(uint64_t)q->output, (uint64_t)q->statistic, (uint64_t)q->method,
                              (uint64_t)q->center, q->constraints,         q->output_count,
                              q->target > 0,       q->at_radius > 0,       served};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        so_far = (so_far ^ words[i]) * 0x100000001b3u;
    return so_far ? so_far : 1;
}

cr_cost *cr_closing_cost(const cr_work *w, uint64_t asked)
{
    for (size_t i = 0; i < CR_COSTS_KEPT; i++)
        if (w->clock->costs[i].asked == asked) return w->clock->costs + i;
    cr_cost *cost = w->clock->costs + w->clock->cost_next;
    w->clock->cost_next = (w->clock->cost_next + 1) % CR_COSTS_KEPT;
    *cost = (cr_cost){.asked = asked};
    return cost;
}

double cr_closing_start(const cr_work *w, double most)
{
    cr_watch *watch = w->record->watch;
    const double start = cr_watch_now(watch);
    watch->late = 0, watch->fixed = 0;
    w->replay->found.earlier = w->replay->found.count, w->replay->found.reused = 0;
    watch->due = w->clock->deadline > 0 ? fmin(w->clock->deadline, start + most) : 0;
    return start;
}

int cr_closing_end(const cr_work *w, double start, size_t samples)
{
    cr_watch *watch = w->record->watch;
    const double took = cr_watch_now(watch) - start;
    const size_t count = samples ? samples : w->record->present;
    const int late = watch->late;
    watch->due = 0, watch->late = 0;
    w->clock->library_seconds += took;
    if (!w->clock->closing.cost || count < w->clock->closing.from) return late;
    const cr_counted n = {(double)count, (double)w->record->pilot};
    if (late) cr_cost_learn_abandoned(w->clock->closing.cost, n, took);
    else if (samples && !w->replay->found.reused) /* the next input has nothing to reuse */
        cr_cost_learn(w->clock->closing.cost, n, took, watch->fixed);
    return late;
}
