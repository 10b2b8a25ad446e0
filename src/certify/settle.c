#include "certify/settle.h"
#include "certify/answer.h"
#include "certify/closing.h"
#include "question/looks.h"
#include <math.h>

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

certreg_status cr_settle(const cr_work *w, cr_job *j)
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
