#include "estimator/correlate.h"
#include "estimator/device.h"
#include "statistics/gradient.h"
#include "estimator/replay.h"
#include <math.h>
#include <string.h>

static size_t block_length(const certreg_estimator *e, size_t count)
{
    return count / e->plan.blocks;
}

/* The power of two at or above the greatest weight of function f. */
static double unit_of(const certreg_estimator *e, const cr_correlate_job *s, size_t f)
{
    double greatest = 0;
    for (size_t i = s->first; i < s->first + s->count && !cr_watch_ends(e->clock.watch, i); i++)
        greatest = fmax(
            greatest,
            fabs(cr_score_value(s->score[f], cr_record_value(e, i, s->output)) - s->center[f]));
    int exponent = 0;
    if (isfinite(greatest)) frexp(greatest, &exponent);
    return ldexp(1, exponent);
}

void cr_correlate_weights(certreg_estimator *e, const cr_correlate_job *s, size_t first,
                          size_t count)
{
    for (size_t f = 0; f < s->functions; f++)
        for (size_t i = 0; i < count; i++)
            e->at.weights[f * e->plan.max_samples + i] =
                (float)((cr_score_value(s->score[f], cr_record_value(e, first + i, s->output)) -
                         s->center[f]) /
                        s->unit[f]);
}

certreg_status cr_correlate_blocks(certreg_estimator *e, cr_correlate_job *s)
{
    const size_t length = block_length(e, s->count), d = e->model.inputs;
    if (!length)
        return cr_fail(
            &e->error, CERTREG_E_WRONG_STATE,
            "%zu samples beside the pilot do not fill the %zu blocks of the gradient interval",
            s->count, e->plan.blocks);
    for (size_t f = 0; f < s->functions; f++) s->unit[f] = unit_of(e, s, f);
    if (cr_watch_late(e->clock.watch)) return CERTREG_E_DEADLINE;
    if (cr_estimator_on_device(e)) return cr_device_blocks(e, s);
    const double start = cr_estimator_now(e);
    memset(e->at.sums, 0, s->functions * e->plan.blocks * d * sizeof *e->at.sums);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    cr_correlate_weights(e, s, s->first, e->plan.blocks * length);
    certreg_status status = CERTREG_OK;
    for (size_t b = 0; b < e->plan.blocks && !status; b++) {
        if (cr_watch_late(e->clock.watch)) return CERTREG_E_DEADLINE;
        status = e->backend->ops->replay(e->backend, &e->input.noise, s->first + b * length, length,
                                         s->functions, e->at.weights + b * length,
                                         e->plan.max_samples, e->at.sums + b * s->functions * d);
    }
    return status ? cr_estimator_backend_failed(e, status, "replay the noise") : CERTREG_OK;
}

certreg_status cr_correlate_gram(certreg_estimator *e, const cr_correlate_job *s, size_t f)
{
    const size_t d = e->model.inputs;
    const double scale = s->unit[f] / (double)block_length(e, s->count),
                 start = cr_estimator_now(e);
    certreg_status status = cr_estimator_in_time(e);
    if (!status && cr_estimator_on_device(e)) status = cr_device_gram(e, s, f, scale);
    else if (!status)
        cr_gradient_gram(e->at.sums + f * d, s->functions * d, e->plan.blocks, d, e->input.mask,
                         scale, e->at.gram);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    return status;
}

certreg_status cr_correlate_paper(certreg_estimator *e, size_t output, size_t first, size_t count,
                                  cr_paper *paper)
{
    const cr_score identity = {.kind = CR_SCORE_OUTPUT};
    cr_correlate_job whole = {.score = {&identity, NULL},
                              .functions = 1,
                              .output = output,
                              .first = first,
                              .count = count};
    whole.unit[0] = unit_of(e, &whole, 0);
    certreg_status status = cr_replay_clear(e);
    cr_paper_start(paper, 0, count);
    cr_correlate_weights(e, &whole, first, count);
    if (!status) status = cr_replay_add(e, first, count);
    if (!status) status = cr_replay_aim(e);
    if (!status) status = cr_replay_project(e, first, count);
    if (status) return status;
    cr_paper_start(paper, e->at.lengths[0] * whole.unit[0], count);
    cr_paper_add(paper, e->record.values + first * e->model.outputs + output, e->model.outputs,
                 count, e->at.dots, e->at.norms);
    return CERTREG_OK;
}
