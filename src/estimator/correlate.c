#include "estimator/correlate.h"
#include "estimator/replay.h"
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

static certreg_status sum_blocks(certreg_estimator *e, const cr_samples *each,
                                 const cr_block_sums *sums)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t stride = e->plan.max_samples, count = sums->length * e->plan.blocks;
    certreg_status status = CERTREG_OK;
    for (size_t f = 0; f < sums->functions && !status; f++) {
        weigh(each + f, sums->unit[f], count, e->here.weights + f * stride);
        status = ops->store(e->backend, e->there.weights + f * stride, e->here.weights + f * stride,
                            count * sizeof(float));
    }
    if (status) return status;
    const double start = cr_estimator_now(e);
    status = ops->fill(e->backend, e->there.sums,
                       e->plan.blocks * sums->functions * e->model.inputs * sizeof(double), 0);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    if (status) return status;
    const cr_weighted all = {.first = each->first,
                             .length = sums->length,
                             .blocks = e->plan.blocks,
                             .functions = sums->functions,
                             .weights = e->there.weights,
                             .stride = stride};
    return ops->replay(e->backend, &e->input.noise, &all, e->there.mask, e->there.sums,
                       e->clock.watch);
}

certreg_status cr_correlate_blocks(certreg_estimator *e, const cr_samples *each, size_t functions,
                                   cr_block_sums *sums)
{
    *sums = (cr_block_sums){.functions = functions, .length = each->count / e->plan.blocks};
    if (!sums->length)
        return cr_fail(
            &e->error, CERTREG_E_WRONG_STATE,
            "%zu samples after the pilot are fewer than plan.blocks = %zu: the gradient needs more",
            each->count, e->plan.blocks);
    for (size_t f = 0; f < functions; f++) sums->unit[f] = unit_of(each + f);
    if (cr_watch_late(e->clock.watch)) return CERTREG_E_DEADLINE;
    const certreg_status status = sum_blocks(e, each, sums);
    if (!status || status == CERTREG_E_DEADLINE) return status;
    return cr_backend_failed(e->backend, status, "replay the noise", &e->error);
}

static certreg_status multiply(certreg_estimator *e, const cr_block_sums *sums, size_t f)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t d = e->model.inputs, blocks = e->plan.blocks;
    certreg_status status =
        ops->gram(e->backend, e->there.sums + f * d, sums->functions * d, blocks, d, e->there.gram);
    if (!status)
        status = ops->fetch(e->backend, e->here.gram, e->there.gram,
                            blocks * blocks * sizeof *e->here.gram);
    return status ? cr_backend_failed(e->backend, status, "correlate blocks", &e->error) : status;
}

certreg_status cr_correlate_gram(certreg_estimator *e, const cr_block_sums *sums, size_t f)
{
    const size_t blocks = e->plan.blocks;
    const double scale = sums->unit[f] / (double)sums->length, start = cr_estimator_now(e);
    double *gram = e->here.gram;
    certreg_status status = cr_estimator_in_time(e);
    if (!status) status = multiply(e, sums, f);
    for (size_t p = 0; p < blocks && !status; p++)
        for (size_t q = p; q < blocks; q++)
            gram[q * blocks + p] = gram[p * blocks + q] *= scale * scale;
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    return status;
}

certreg_status cr_correlate_paper(certreg_estimator *e, size_t output, size_t first, size_t count,
                                  cr_paper *paper)
{
    const cr_score identity = {.kind = CR_SCORE_OUTPUT};
    const cr_samples s = cr_record_samples(e, &identity, (int32_t)output, first, count, 0);
    const double unit = unit_of(&s);
    certreg_status status = cr_replay_clear(e);
    cr_paper_start(paper, 0, count);
    weigh(&s, unit, count, e->here.weights);
    if (!status) status = cr_replay_add(e, first, count, 1);
    if (!status) status = cr_replay_aim(e);
    if (!status) status = cr_replay_project(e, first, count);
    if (status) return status;
    cr_paper_start(paper, e->here.lengths[0] * unit, count);
    cr_paper_add(paper, s.y + first * s.step, s.step, count, e->here.dots,
                 cr_replay_norms(e, count));
    return CERTREG_OK;
}
