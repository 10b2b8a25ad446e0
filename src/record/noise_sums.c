/* The functions that a sweep serves: equal ones are found, room is checked, weights and results are
 * scaled. One file, so that a result is never taken for another function's. */
#include "record/noise_sums.h"
#include "base/arena.h"
#include <math.h>
#include <string.h>

/* Room in samples, as multiples of max_samples: WEIGHED for all functions and one candidate,
 * PROJECTED for functions without products. Enough for about a dozen questions. */
enum { WEIGHED = 15, PROJECTED = 8, GRAMS = 8, LEAST_GRAMS = 2, USUAL_BLOCKS = 64 };

/* Large plans keep fewer products. */
static size_t grams_of(size_t blocks)
{
    const size_t fit = GRAMS * USUAL_BLOCKS * USUAL_BLOCKS / blocks / blocks;
    return fit < LEAST_GRAMS ? LEAST_GRAMS : fit < GRAMS ? fit : GRAMS;
}

cr_sweep_sizes cr_sweep_sizes_of(const certreg_model *model, const certreg_plan *plan)
{
    if (plan->blocks < CR_WALK_BLOCKS) return (cr_sweep_sizes){.inputs = model->inputs};
    return (cr_sweep_sizes){.inputs = model->inputs,
                            .span = plan->max_samples,
                            .functions = CR_SWEEP_FUNCTIONS,
                            .grams = grams_of(plan->blocks),
                            .blocks = plan->blocks,
                            .weighed = cr_arena_product(WEIGHED, plan->max_samples),
                            .projected = cr_arena_product(PROJECTED, plan->max_samples)};
}

/* ---- requests */
/* The power of two at or above the greatest weight. */
static double unit_of(const cr_samples *s)
{
    double greatest = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++)
        greatest = fmax(greatest, fabs(cr_samples_at(s, i)));
    int exponent = 0;
    if (isfinite(greatest)) frexp(greatest, &exponent);
    return ldexp(1, exponent);
}

static int is_opposite(const cr_weighting *a, const cr_weighting *b)
{
    size_t i = 0;
    while (i < a->count && a->weights[i] == -b->weights[i]) i++;
    return i == a->count;
}

/* The two sides of a mean have opposite weights and the same products. */
static int is_same(const cr_weighting *a, const cr_weighting *b)
{
    return a->first == b->first && a->count == b->count && a->blocks == b->blocks &&
           a->whole == b->whole && !a->gram == !b->gram &&
           (!memcmp(a->weights, b->weights, a->count * sizeof *a->weights) ||
            (a->gram && is_opposite(a, b)));
}

static int is_of(const cr_noise_sums *found, const cr_noise *noise)
{
    const cr_noise *n = &found->noise;
    return n->seed == noise->seed && n->noise_id == noise->noise_id && n->level == noise->level &&
           n->inputs == noise->inputs && n->clean_first == noise->clean_first;
}

static int has_room(const cr_replay *r, const cr_weighting *f)
{
    const cr_noise_sums *found = &r->found;
    const cr_sweep_sizes *most = &r->sizes;
    return found->count < most->functions &&
           f->count <= most->weighed - most->span - found->weighed &&
           (f->gram ? found->grams < most->grams : f->count <= most->projected - found->projected);
}

/* Writes the weights of the next function behind all earlier ones. They are multiples of a unit, so
 * that float neither overflows nor loses them. */
static cr_weighting next_of(const cr_replay *r, const cr_samples *s, enum cr_wanted wanted,
                            size_t blocks, double unit)
{
    const cr_noise_sums *found = &r->found;
    const int gram = wanted == CR_SUMS_GRAM;
    float *weights = found->weights + found->weighed;
    for (size_t i = 0; cr_samples_has(s, i); i++) weights[i] = (float)(cr_samples_at(s, i) / unit);
    return (cr_weighting){
        .first = s->first,
        .count = s->count,
        .blocks = blocks,
        .whole = wanted == CR_SUMS_TOTAL,
        .weights = weights,
        .gram = gram ? found->products + found->grams * r->sizes.blocks * r->sizes.blocks : NULL,
        .lengths = gram ? NULL : found->lengths + found->count * (CR_WALK_BLOCKS + 1),
        .dots = gram ? NULL : found->dots + found->projected};
}

const cr_weighting *cr_noise_sums_request(cr_replay *r, const cr_samples *s, enum cr_wanted wanted,
                                          size_t blocks)
{
    cr_noise_sums *found = &r->found;
    if (!is_of(found, &r->view->input.noise)) cr_noise_sums_clear(r);
    const double unit = unit_of(s);
    const cr_weighting next = next_of(r, s, wanted, blocks, unit);
    for (size_t i = 0; i < found->count; i++)
        if (found->units[i] == unit && is_same(found->functions + i, &next)) {
            found->reused |= i < found->earlier;
            return found->functions + i;
        }
    if (!has_room(r, &next)) return NULL;
    found->functions[found->count] = next;
    found->units[found->count] = unit;
    found->weighed += next.count;
    if (next.gram) found->grams++;
    else found->projected += next.count;
    return found->functions + found->count++;
}

void cr_sweep_new_answers(cr_replay *r)
{
    r->found.earlier = r->found.count;
    r->found.reused = 0;
}

void cr_noise_sums_clear(cr_replay *r)
{
    cr_noise_sums *found = &r->found;
    found->count = found->swept = found->earlier = found->grams = found->weighed =
        found->projected = 0;
    found->noise = r->view->input.noise;
}

int cr_noise_sums_pending(const cr_replay *r)
{
    return r->found.swept < r->found.count;
}

/* ---- the sweep */
static cr_sweep sweep_of(const cr_replay *r)
{
    const cr_noise_sums *found = &r->found;
    cr_sweep sweep = {.functions = found->functions + found->swept,
                      .count = found->count - found->swept,
                      .mask = r->device.mask,
                      .sizes = &r->sizes,
                      .room = &r->device.sweep,
                      .first = UINT64_MAX};
    for (size_t i = 0; i < sweep.count; i++)
        if (sweep.functions[i].first < sweep.first) sweep.first = sweep.functions[i].first;
    sweep.norms = found->norms + sweep.first;
    return sweep;
}

/* Turns sums of weights into sums of scores, and products of sums into products of means. */
static void rescale(const cr_weighting *f, double unit)
{
    const size_t length = f->count / f->blocks;
    const double scale = unit / (double)length;
    for (size_t b = 0; !f->gram && b <= f->blocks; b++) f->lengths[b] *= unit;
    for (size_t p = 0; f->gram && p < f->blocks; p++)
        for (size_t q = p; q < f->blocks; q++)
            f->gram[q * f->blocks + p] = f->gram[p * f->blocks + q] *= scale * scale;
}

certreg_status cr_noise_sums_compute(cr_replay *r)
{
    cr_noise_sums *found = &r->found;
    certreg_status status = cr_replay_in_time(r);
    if (!status && cr_noise_sums_pending(r)) {
        const cr_sweep sweep = sweep_of(r);
        status = cr_backend_sweep(r->backend, &r->view->input.noise, &sweep, r->view->watch);
    }
    for (; !status && found->swept < found->count; found->swept++)
        rescale(found->functions + found->swept, found->units[found->swept]);
    if (!status) return CERTREG_OK;
    cr_noise_sums_clear(r);
    return status == CERTREG_E_DEADLINE
               ? status
               : cr_backend_failed(r->backend, status, "replay the noise", r->why);
}

certreg_status cr_noise_sums_get(cr_replay *r, const cr_samples *s, enum cr_wanted wanted,
                                 size_t blocks, const cr_weighting **out)
{
    *out = cr_noise_sums_request(r, s, wanted, blocks);
    if (!*out) {
        cr_noise_sums_clear(r);
        *out = cr_noise_sums_request(r, s, wanted, blocks);
    }
    return cr_noise_sums_compute(r);
}

const double *cr_sweep_norms(const cr_replay *r, const cr_weighting *f)
{
    return r->found.norms + f->first;
}
