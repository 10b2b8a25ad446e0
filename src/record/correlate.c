#include "record/correlate.h"
#include "record/replay.h"
#include <math.h>

/* The power of two at or above the greatest weight. */
static double unit_of(const cr_samples *s)
{
    double greatest = 0;
    for (size_t i = 0; i < s->count && !cr_watch_ends(s->watch, i); i++)
        greatest = fmax(greatest, fabs(cr_samples_at(s, i)));
    int exponent = 0;
    if (isfinite(greatest)) frexp(greatest, &exponent);
    return ldexp(1, exponent);
}

static void weigh(const cr_samples *s, double unit, size_t count, float *weights)
{
    for (size_t i = 0; i < count; i++) weights[i] = (float)(cr_samples_at(s, i) / unit);
}

static certreg_status sum_blocks(cr_replay *r, const cr_samples *each, const cr_block_sums *sums)
{
    const cr_backend_ops *ops = r->backend->ops;
    const size_t stride = r->view->plan.max_samples, count = sums->length * r->view->plan.blocks;
    certreg_status status = CERTREG_OK;
    for (size_t f = 0; f < sums->functions && !status; f++) {
        weigh(each + f, sums->unit[f], count, r->host.weights + f * stride);
        status = ops->store(r->backend, r->device.weights + f * stride,
                            r->host.weights + f * stride, count * sizeof(float));
    }
    if (status) return status;
    const double start = cr_watch_now(r->view->watch);
    status = ops->fill(
        r->backend, r->device.sums,
        r->view->plan.blocks * sums->functions * r->view->model.inputs * sizeof(double), 0);
    r->view->watch->fixed += cr_watch_now(r->view->watch) - start;
    if (status) return status;
    const cr_weighted all = {.first = each->first,
                             .length = sums->length,
                             .blocks = r->view->plan.blocks,
                             .functions = sums->functions,
                             .weights = r->device.weights,
                             .stride = stride};
    return ops->replay(r->backend, &r->view->input.noise, &all, r->device.mask, r->device.sums,
                       r->view->watch);
}

certreg_status cr_correlate_blocks(cr_replay *r, const cr_samples *each, size_t functions,
                                   cr_block_sums *sums)
{
    *sums = (cr_block_sums){.functions = functions, .length = each->count / r->view->plan.blocks};
    if (!sums->length)
        return cr_fail(
            r->why, CERTREG_E_WRONG_STATE,
            "%zu samples after the pilot are fewer than plan.blocks = %zu: the gradient needs more",
            each->count, r->view->plan.blocks);
    for (size_t f = 0; f < functions; f++) sums->unit[f] = unit_of(each + f);
    if (cr_watch_late(r->view->watch)) return CERTREG_E_DEADLINE;
    const certreg_status status = sum_blocks(r, each, sums);
    if (!status || status == CERTREG_E_DEADLINE) return status;
    return cr_backend_failed(r->backend, status, "replay the noise", r->why);
}

static certreg_status multiply(cr_replay *r, const cr_block_sums *sums, size_t f)
{
    const cr_backend_ops *ops = r->backend->ops;
    const size_t d = r->view->model.inputs, blocks = r->view->plan.blocks;
    certreg_status status = ops->gram(r->backend, r->device.sums + f * d, sums->functions * d,
                                      blocks, d, r->device.gram);
    if (!status)
        status = ops->fetch(r->backend, r->host.gram, r->device.gram,
                            blocks * blocks * sizeof *r->host.gram);
    return status ? cr_backend_failed(r->backend, status, "correlate blocks", r->why) : status;
}

certreg_status cr_correlate_gram(cr_replay *r, const cr_block_sums *sums, size_t f)
{
    const size_t blocks = r->view->plan.blocks;
    const double scale = sums->unit[f] / (double)sums->length, start = cr_watch_now(r->view->watch);
    double *gram = r->host.gram;
    certreg_status status = cr_replay_in_time(r);
    if (!status) status = multiply(r, sums, f);
    for (size_t p = 0; p < blocks && !status; p++)
        for (size_t q = p; q < blocks; q++)
            gram[q * blocks + p] = gram[p * blocks + q] *= scale * scale;
    r->view->watch->fixed += cr_watch_now(r->view->watch) - start;
    return status;
}

certreg_status cr_correlate_paper(cr_replay *r, size_t output, size_t first, size_t count,
                                  cr_paper *paper)
{
    const cr_score identity = {.kind = CR_SCORE_OUTPUT};
    const cr_samples s = cr_view_samples(r->view, &identity, (int32_t)output, first, count, 0);
    const double unit = unit_of(&s);
    certreg_status status = cr_replay_clear(r);
    cr_paper_start(paper, 0, count);
    weigh(&s, unit, count, r->host.weights);
    if (!status) status = cr_replay_add(r, first, count, 1);
    if (!status) status = cr_replay_aim(r);
    if (!status) status = cr_replay_project(r, first, count);
    if (status) return status;
    cr_paper_start(paper, r->host.lengths[0] * unit, count);
    cr_paper_add(paper, s.y + first * s.step, s.step, count, r->host.dots,
                 cr_replay_norms(r, count));
    return CERTREG_OK;
}
