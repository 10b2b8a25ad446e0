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
        if (w->clock->costs[i].asked == key) return w->clock->costs + i;
    cr_answer_cost *cost = w->clock->costs + w->clock->cost_next;
    w->clock->cost_next = (w->clock->cost_next + 1) % CR_ANSWER_COST_CACHE;
    *cost = (cr_answer_cost){.asked = key};
    return cost;
}

double cr_answer_timer_start(const cr_context *w, double max_seconds)
{
    cr_deadline *watch = w->record->watch;
    const double start = cr_deadline_now(watch);
    watch->late = 0;
    watch->fixed = 0;
    watch->due = w->clock->deadline > 0 ? fmin(w->clock->deadline, start + max_seconds) : 0;
    return start;
}

int cr_answer_timer_stop(const cr_context *w, double start, size_t samples)
{
    cr_deadline *watch = w->record->watch;
    const double took = cr_deadline_now(watch) - start;
    const size_t count = samples ? samples : w->record->present;
    const int late = watch->late;
    watch->due = 0;
    watch->late = 0;
    w->clock->library_seconds += took;
    if (!w->clock->closing.cost || count < w->clock->closing.from) return late;
    const cr_sample_counts n = {(double)count, (double)w->record->pilot};
    if (late) cr_answer_cost_learn_abandoned(w->clock->closing.cost, n, took);
    else if (samples && !w->replay->found.reused) /* the next input has nothing to reuse */
        cr_answer_cost_learn(w->clock->closing.cost, n, took, watch->fixed);
    return late;
}
