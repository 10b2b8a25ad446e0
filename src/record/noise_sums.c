/* The noise of a record again: replays of it, and sums weighted by scores, which are kept. */
#include "base/arena.h"
#include "record/record.h"
#include <math.h>
#include <string.h>

/* ======== Replays on a backend: data go to its memory and come back, and its failures become
 * errors. */
#define CR_SWEEP_FUNCTIONS 24u /* that are kept at a time (record.h) */

/* Called between two steps. */
static inline certreg_status cr_replay_check_deadline(const cr_replay *r)
{
    return cr_deadline_expired(r->view->deadline) ? CERTREG_E_DEADLINE : CERTREG_OK;
}

static certreg_status report_failure(cr_replay *r, certreg_status status)
{
    if (!status || status == CERTREG_E_DEADLINE) return status;
    return cr_backend_failed(r->backend, status, "replay the noise", r->why);
}

certreg_status cr_replay_clear(cr_replay *r)
{
    const size_t bytes = CR_REPLAY_FUNCTIONS * r->view->model.inputs * sizeof *r->device.sums;
    return report_failure(r, r->backend->ops->fill(r->backend, r->device.sums, bytes, 0));
}

static certreg_status store_weights(const cr_replay *r, size_t count, size_t functions)
{
    certreg_status status = CERTREG_OK;
    for (size_t f = 0, offset = 0; f < functions && !status;
         f++, offset += r->view->plan.max_samples)
        status = r->backend->ops->store(r->backend, r->device.weights + offset,
                                        r->host.weights + offset, count * sizeof *r->host.weights);
    return status;
}

certreg_status cr_replay_add(cr_replay *r, uint64_t first, size_t count, size_t functions)
{
    const cr_weighted_blocks block = {.first = first,
                                      .block_samples = count,
                                      .blocks = 1,
                                      .functions = functions,
                                      .weights = r->device.weights,
                                      .stride = r->view->plan.max_samples};
    certreg_status status = store_weights(r, count, functions);
    if (!status)
        status = r->backend->ops->replay(r->backend, &r->view->input.noise, &block, NULL,
                                         r->device.sums, r->view->deadline);
    return report_failure(r, status);
}

certreg_status cr_replay_sums(cr_replay *r, size_t functions, double *sums)
{
    return report_failure(r,
                          r->backend->ops->fetch(r->backend, sums, r->device.sums,
                                                 functions * r->view->model.inputs * sizeof *sums));
}

certreg_status cr_replay_set_direction(cr_replay *r, const float *direction)
{
    return report_failure(r, r->backend->ops->store(r->backend, r->device.direction, direction,
                                                    r->view->model.inputs * sizeof *direction));
}

certreg_status cr_replay_project(cr_replay *r, uint64_t first, size_t count)
{
    double *dots = r->device.dots;
    const cr_projection projection = {.first = first,
                                      .count = count,
                                      .directions = r->device.direction,
                                      .mask = r->device.mask,
                                      .dots = dots,
                                      .squared_norms = dots + count};
    certreg_status status =
        r->backend->ops->project(r->backend, &r->view->input.noise, &projection, r->view->deadline);
    if (!status)
        status = r->backend->ops->fetch(r->backend, r->host.dots, dots, 2 * count * sizeof *dots);
    return report_failure(r, status);
}

/* ======== The functions that a sweep serves: equal ones are found, capacities are checked,
 * weights and results are scaled. In one place, so that a result is never taken for another
 * function's. */
/* Capacities in samples, as multiples of max_samples: WEIGHTS_PER_SAMPLE for all functions and one
 * candidate, DOTS_PER_SAMPLE for functions without products. Enough for about a dozen questions. */
enum {
    WEIGHTS_PER_SAMPLE = 15,
    DOTS_PER_SAMPLE = 8,
    MAX_GRAMS = 8,
    MIN_GRAMS = 2,
    DEFAULT_BLOCKS = 64
};

/* Large plans keep fewer products. */
static size_t gram_capacity(size_t blocks)
{
    const size_t count = MAX_GRAMS * DEFAULT_BLOCKS * DEFAULT_BLOCKS / blocks / blocks;
    return count < MIN_GRAMS ? MIN_GRAMS : count < MAX_GRAMS ? count : MAX_GRAMS;
}

cr_sweep_sizes cr_noise_sums_sizes(const certreg_model *model, const certreg_plan *plan)
{
    if (plan->blocks < CR_CUMULATIVE_BLOCKS) return (cr_sweep_sizes){.inputs = model->inputs};
    return (cr_sweep_sizes){.inputs = model->inputs,
                            .sample_span = plan->max_samples,
                            .functions = CR_SWEEP_FUNCTIONS,
                            .grams = gram_capacity(plan->blocks),
                            .blocks = plan->blocks,
                            .weights = cr_arena_product(WEIGHTS_PER_SAMPLE, plan->max_samples),
                            .dots = cr_arena_product(DOTS_PER_SAMPLE, plan->max_samples)};
}

/* ---- requests */
/* The power of two at or above the largest weight. */
static double weight_unit(const cr_samples *s)
{
    double max = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++) max = fmax(max, fabs(cr_samples_at(s, i)));
    int exponent = 0;
    if (isfinite(max)) frexp(max, &exponent);
    return ldexp(1, exponent);
}

static int is_opposite(const cr_sweep_function *a, const cr_sweep_function *b)
{
    size_t i = 0;
    while (i < a->count && a->weights[i] == -b->weights[i]) i++;
    return i == a->count;
}

/* The two sides of a mean have opposite weights and the same products. */
static int is_same(const cr_sweep_function *a, const cr_sweep_function *b)
{
    return a->first == b->first && a->count == b->count && a->blocks == b->blocks &&
           a->is_total == b->is_total && !a->gram == !b->gram &&
           (!memcmp(a->weights, b->weights, a->count * sizeof *a->weights) ||
            (a->gram && is_opposite(a, b)));
}

static int is_for_noise(const cr_noise_sums *cache, const cr_noise *noise)
{
    const cr_noise *n = &cache->noise;
    return n->seed == noise->seed && n->noise_id == noise->noise_id && n->level == noise->level &&
           n->inputs == noise->inputs && n->clean_first == noise->clean_first;
}

static int has_capacity(const cr_replay *r, const cr_sweep_function *f)
{
    const cr_noise_sums *cache = &r->sums_cache;
    const cr_sweep_sizes *sizes = &r->sizes;
    return cache->count < sizes->functions &&
           f->count <= sizes->weights - sizes->sample_span - cache->weights_used &&
           (f->gram ? cache->grams_used < sizes->grams
                    : f->count <= sizes->dots - cache->dots_used);
}

/* Writes the weights of the next function behind all earlier ones. They are multiples of a unit, so
 * that float neither overflows nor loses them. */
static cr_sweep_function next_function(const cr_replay *r, const cr_samples *s,
                                       enum cr_sum_kind kind, size_t blocks, double unit)
{
    const cr_noise_sums *cache = &r->sums_cache;
    const int gram = kind == CR_SUMS_GRAM;
    float *weights = cache->weights + cache->weights_used;
    for (size_t i = 0; cr_samples_has(s, i); i++) weights[i] = (float)(cr_samples_at(s, i) / unit);
    return (cr_sweep_function){
        .first = s->first,
        .count = s->count,
        .blocks = blocks,
        .is_total = kind == CR_SUMS_TOTAL,
        .weights = weights,
        .gram = gram ? cache->products + cache->grams_used * r->sizes.blocks * r->sizes.blocks
                     : NULL,
        .norms = gram ? NULL : cache->norms + cache->count * (CR_CUMULATIVE_BLOCKS + 1),
        .dots = gram ? NULL : cache->dots + cache->dots_used};
}

const cr_sweep_function *cr_noise_sums_request(cr_replay *r, const cr_samples *s,
                                               enum cr_sum_kind kind, size_t blocks)
{
    cr_noise_sums *cache = &r->sums_cache;
    if (!is_for_noise(cache, &r->view->input.noise)) cr_noise_sums_clear(r);
    const double unit = weight_unit(s);
    const cr_sweep_function next = next_function(r, s, kind, blocks, unit);
    for (size_t i = 0; i < cache->count; i++)
        if (cache->units[i] == unit && is_same(cache->functions + i, &next)) {
            cache->was_hit |= i < cache->count_before_answers;
            return cache->functions + i;
        }
    if (!has_capacity(r, &next)) return NULL;
    cache->functions[cache->count] = next;
    cache->units[cache->count] = unit;
    cache->weights_used += next.count;
    if (next.gram) cache->grams_used++;
    else cache->dots_used += next.count;
    return cache->functions + cache->count++;
}

void cr_noise_sums_begin_answers(cr_replay *r)
{
    r->sums_cache.count_before_answers = r->sums_cache.count;
    r->sums_cache.was_hit = 0;
}

void cr_noise_sums_clear(cr_replay *r)
{
    cr_noise_sums *cache = &r->sums_cache;
    cache->count = cache->computed_count = cache->count_before_answers = cache->grams_used =
        cache->weights_used = cache->dots_used = 0;
    cache->noise = r->view->input.noise;
}

int cr_noise_sums_pending(const cr_replay *r)
{
    return r->sums_cache.computed_count < r->sums_cache.count;
}

/* ---- the sweep */
static cr_sweep pending_sweep(const cr_replay *r)
{
    const cr_noise_sums *cache = &r->sums_cache;
    cr_sweep sweep = {.functions = cache->functions + cache->computed_count,
                      .count = cache->count - cache->computed_count,
                      .mask = r->device.mask,
                      .sizes = &r->sizes,
                      .buffers = &r->device.sweep,
                      .first = UINT64_MAX};
    for (size_t i = 0; i < sweep.count; i++)
        if (sweep.functions[i].first < sweep.first) sweep.first = sweep.functions[i].first;
    sweep.squared_norms = cache->squared_norms + sweep.first;
    return sweep;
}

/* Turns sums of weights into sums of scores, and products of sums into products of means. */
static void rescale(const cr_sweep_function *f, double unit)
{
    const size_t length = f->count / f->blocks;
    const double scale = unit / (double)length;
    for (size_t b = 0; !f->gram && b <= f->blocks; b++) f->norms[b] *= unit;
    for (size_t p = 0; f->gram && p < f->blocks; p++)
        for (size_t q = p; q < f->blocks; q++)
            f->gram[q * f->blocks + p] = f->gram[p * f->blocks + q] *= scale * scale;
}

certreg_status cr_noise_sums_compute(cr_replay *r)
{
    cr_noise_sums *cache = &r->sums_cache;
    certreg_status status = cr_replay_check_deadline(r);
    if (!status && cr_noise_sums_pending(r)) {
        const cr_sweep sweep = pending_sweep(r);
        status = cr_backend_sweep(r->backend, &r->view->input.noise, &sweep, r->view->deadline);
    }
    for (; !status && cache->computed_count < cache->count; cache->computed_count++)
        rescale(cache->functions + cache->computed_count, cache->units[cache->computed_count]);
    if (!status) return CERTREG_OK;
    cr_noise_sums_clear(r);
    return status == CERTREG_E_DEADLINE
               ? status
               : cr_backend_failed(r->backend, status, "replay the noise", r->why);
}

certreg_status cr_noise_sums_get(cr_replay *r, const cr_samples *s, enum cr_sum_kind kind,
                                 size_t blocks, const cr_sweep_function **out)
{
    *out = cr_noise_sums_request(r, s, kind, blocks);
    if (!*out) {
        cr_noise_sums_clear(r);
        *out = cr_noise_sums_request(r, s, kind, blocks);
    }
    return cr_noise_sums_compute(r);
}

const double *cr_noise_sums_squared_norms(const cr_replay *r, const cr_sweep_function *f)
{
    return r->sums_cache.squared_norms + f->first;
}
