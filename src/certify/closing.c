#include "certify/closing.h"
#include <math.h>

uint64_t cr_closing_hash(uint64_t so_far, const cr_question *q)
{
    const uint64_t words[] = {(uint64_t)q->output, (uint64_t)q->statistic, (uint64_t)q->method,
                              (uint64_t)q->center, q->constraints,         q->output_count,
                              q->target > 0,       q->at_radius > 0,       q->served_samples > 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        so_far = (so_far ^ words[i]) * 0x100000001b3u;
    return so_far ? so_far : 1;
}

cr_cost *cr_closing_cost(certreg_estimator *e, uint64_t asked)
{
    for (size_t i = 0; i < CR_COSTS_KEPT; i++)
        if (e->clock.costs[i].asked == asked) return e->clock.costs + i;
    cr_cost *cost = e->clock.costs + e->clock.cost_next;
    e->clock.cost_next = (e->clock.cost_next + 1) % CR_COSTS_KEPT;
    *cost = (cr_cost){.asked = asked};
    return cost;
}

double cr_closing_start(certreg_estimator *e, double most)
{
    cr_watch *w = e->clock.watch;
    const double start = cr_watch_now(w);
    w->late = 0, w->fixed = 0;
    w->due = e->clock.deadline > 0 ? fmin(e->clock.deadline, start + most) : 0;
    return start;
}

int cr_closing_end(certreg_estimator *e, double start, size_t samples)
{
    cr_watch *w = e->clock.watch;
    const double took = cr_watch_now(w) - start;
    const size_t count = samples ? samples : e->record.present;
    const int late = w->late;
    w->due = 0, w->late = 0;
    e->clock.library_seconds += took;
    if (!e->clock.closing.cost || count < e->clock.closing.from) return late;
    if (late) cr_cost_learn_abandoned(e->clock.closing.cost, (double)count, took);
    else if (samples) cr_cost_learn(e->clock.closing.cost, (double)count, took, w->fixed);
    return late;
}
