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
    if (!e->clock.closing.cost || count < e->clock.closing.from) return late;
    if (late) cr_cost_learn_abandoned(e->clock.closing.cost, (double)count, took);
    else if (samples) cr_cost_learn(e->clock.closing.cost, (double)count, took, w->fixed);
    return late;
}

/* ---- made-up outputs */
/* The nearest float within the range, which may have no other in it. */
static float into_range(double value, double lo, double hi)
{
    const float near = (float)fmin(fmax(value, lo), hi);
    if ((double)near < lo) return nextafterf(near, INFINITY);
    return (double)near > hi ? nextafterf(near, -INFINITY) : near;
}

/* Spread evenly within the tolerance of a prediction, and not alike for any two outputs. */
static void make_up(certreg_estimator *e, size_t output, double prediction, double tolerance,
                    size_t samples)
{
    static const double golden = 0.618033988749894848;
    const double lo = e->model.lo[output], hi = e->model.hi[output],
                 middle = fmin(fmax(prediction, lo), hi), step = golden * (double)(output + 1);
    for (size_t i = 0; i < samples; i++) {
        const double turns = (double)i * step, place = 2 * (turns - floor(turns)) - 1;
        e->record.values[i * e->model.outputs + output] =
            into_range(middle + place * tolerance, lo, hi);
    }
}

void cr_closing_make_up(certreg_estimator *e, size_t samples)
{
    for (size_t k = 0; k < e->model.outputs; k++) make_up(e, k, 0, 1, samples);
    e->record.present = samples;
}

/* All outputs of a vector together stay well within its tolerance. */
void cr_closing_make_up_for(certreg_estimator *e, const cr_question *q, size_t samples)
{
    const size_t first = cr_question_first(q), outputs = cr_question_outputs(e, q);
    const double part = outputs > 1 ? 0.25 / sqrt((double)outputs) : 1;
    for (size_t i = 0; i < outputs; i++) {
        const size_t k = first + i;
        const double lo = e->model.lo[k], span = e->model.hi[k] - lo,
                     half = isfinite(span) ? span / 2 : 1,
                     given = outputs > 1 && q->predictions ? q->predictions[i] : q->prediction;
        const double prediction = q->prediction_given ? given : isfinite(span) ? lo + half : 0;
        make_up(e, k, prediction, part * (q->tolerance > 0 ? q->tolerance : half), samples);
    }
}
