/* Measures the time of answers, and stops them at the deadline. The times of the last few sets of
 * questions are kept, so that questions may take turns on an estimator. */
#include "certify/answer_timer.h"
#include <math.h>

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

cr_answer_cost *cr_answer_timer_cost(const cr_context *w, uint64_t key)
{
    for (size_t i = 0; i < CR_ANSWER_COST_CACHE; i++)
        if (w->clock->costs[i].questions_digest == key) return w->clock->costs + i;
    cr_answer_cost *cost = w->clock->costs + w->clock->next_cost_slot;
    w->clock->next_cost_slot = (w->clock->next_cost_slot + 1) % CR_ANSWER_COST_CACHE;
    *cost = (cr_answer_cost){.questions_digest = key};
    return cost;
}

double cr_answer_timer_start(const cr_context *w, double max_seconds)
{
    cr_deadline *deadline = w->record->deadline;
    const double start = cr_deadline_now(deadline);
    deadline->expired = 0;
    deadline->constant_seconds = 0;
    deadline->expires_at =
        w->clock->expires_at > 0 ? fmin(w->clock->expires_at, start + max_seconds) : 0;
    return start;
}

int cr_answer_timer_stop(const cr_context *w, double start, size_t samples)
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
