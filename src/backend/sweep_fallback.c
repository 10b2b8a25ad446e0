/* The sweep for backends without the op: function by function, by replay, aim, project and gram. */
#include "backend/backend.h"
#include <string.h>

typedef struct turns {
    certreg_backend *backend;
    const cr_noise *noise;
    const cr_sweep *sweep;
    cr_deadline *watch;
} turns;

static certreg_status store_weights(const turns *t, const cr_weighting *f, size_t functions)
{
    certreg_status status = CERTREG_OK;
    for (size_t k = 0; k < functions && !status; k++)
        status = t->backend->ops->store(t->backend, t->sweep->room->weights + k * f->count,
                                        f[k].weights, f->count * sizeof *f->weights);
    return status;
}

static certreg_status clear(const turns *t, size_t rows)
{
    return t->backend->ops->fill(t->backend, t->sweep->room->sums,
                                 rows * t->noise->inputs * sizeof *t->sweep->room->sums, 0);
}

/* ---- products of block sums, for two functions at once if they have the same blocks */
static certreg_status multiply(const turns *t, const cr_weighting *f, size_t k, size_t functions)
{
    const cr_backend_ops *ops = t->backend->ops;
    const cr_sweep_room *room = t->sweep->room;
    const size_t d = t->noise->inputs;
    const certreg_status status =
        ops->gram(t->backend, room->sums + k * d, functions * d, f->blocks, d, room->gram);
    return status ? status
                  : ops->fetch(t->backend, f[k].gram, room->gram,
                               f->blocks * f->blocks * sizeof *room->gram);
}

static certreg_status add_blocks(const turns *t, const cr_weighting *f, size_t functions)
{
    const cr_sweep_room *room = t->sweep->room;
    const cr_weighted all = {.first = f->first,
                             .length = f->count / f->blocks,
                             .blocks = f->blocks,
                             .functions = functions,
                             .weights = room->weights,
                             .stride = f->count};
    certreg_status status = store_weights(t, f, functions);
    if (!status) status = clear(t, f->blocks * functions);
    if (!status)
        status = t->backend->ops->replay(t->backend, t->noise, &all, t->sweep->mask, room->sums,
                                         t->watch);
    for (size_t k = 0; k < functions && !status; k++) status = multiply(t, f, k, functions);
    return status;
}

/* ---- border by border: projects on the sums so far, then adds the next block */
static certreg_status project(const turns *t, const cr_weighting *f, size_t from, size_t to)
{
    const cr_sweep_room *room = t->sweep->room;
    double *dots = room->results + 2 * (f->blocks + 1);
    const cr_projection all = {f->first + from, to - from,   room->direction,
                               t->sweep->mask,  dots + from, dots + f->count + from};
    if (from == to) return CERTREG_OK;
    return t->backend->ops->project(t->backend, t->noise, &all, t->watch);
}

static certreg_status add(const turns *t, const cr_weighting *f, size_t from, size_t to)
{
    const cr_sweep_room *room = t->sweep->room;
    const cr_weighted next = {.first = f->first + from,
                              .length = to - from,
                              .blocks = 1,
                              .functions = 1,
                              .weights = room->weights + from};
    if (from == to) return CERTREG_OK;
    return t->backend->ops->replay(t->backend, t->noise, &next, NULL, room->sums, t->watch);
}

static certreg_status step(const turns *t, const cr_weighting *f, size_t b)
{
    const cr_sweep_room *room = t->sweep->room;
    const size_t from = cr_walk_border(f->count, f->blocks, b),
                 to = b < f->blocks ? cr_walk_border(f->count, f->blocks, b + 1) : from;
    if (cr_deadline_late(t->watch)) return CERTREG_E_DEADLINE;
    certreg_status status = t->backend->ops->aim(t->backend, room->sums, t->sweep->mask,
                                                 t->noise->inputs, room->direction,
                                                 room->results + 2 * b);
    if (!status && !f->whole) status = project(t, f, from, to);
    if (!status && f->whole && b == f->blocks) status = project(t, f, 0, f->count);
    return status ? status : add(t, f, from, to);
}

/* Copies the results, and divides projections by the length of their direction. */
static void read_results(const turns *t, const cr_weighting *f)
{
    const double *lengths = t->sweep->room->fetched, *dots = lengths + 2 * (f->blocks + 1);
    memcpy(t->sweep->norms + (f->first - t->sweep->first), dots + f->count,
           f->count * sizeof *dots);
    for (size_t b = 0; b <= f->blocks; b++) f->lengths[b] = lengths[2 * b];
    for (size_t b = 0; b < f->blocks; b++) {
        const double length = lengths[2 * (f->whole ? f->blocks : b) + 1];
        const size_t end = cr_walk_border(f->count, f->blocks, b + 1);
        for (size_t i = cr_walk_border(f->count, f->blocks, b); i < end; i++)
            f->dots[i] = length > 0 ? dots[i] / length : 0;
    }
}

static certreg_status walk(const turns *t, const cr_weighting *f)
{
    const cr_sweep_room *room = t->sweep->room;
    certreg_status status = store_weights(t, f, 1);
    if (!status) status = clear(t, 1);
    for (size_t b = 0; b <= f->blocks && !status; b++) status = step(t, f, b);
    if (!status)
        status =
            t->backend->ops->fetch(t->backend, room->fetched, room->results,
                                   cr_sweep_results(f->blocks, f->count) * sizeof *room->fetched);
    if (!status) read_results(t, f);
    return status;
}

/* Returns 2 if function `at` and the next one have the same blocks, else 1. */
static size_t together(const cr_sweep *sweep, size_t at)
{
    const cr_weighting *f = sweep->functions + at;
    return at + 1 < sweep->count && f[1].gram && f[1].first == f->first && f[1].count == f->count &&
                   f[1].blocks == f->blocks
               ? 2
               : 1;
}

certreg_status cr_backend_sweep(certreg_backend *backend, const cr_noise *noise,
                                const cr_sweep *sweep, cr_deadline *watch)
{
    const turns t = {backend, noise, sweep, watch};
    certreg_status status = CERTREG_OK;
    if (backend->ops->sweep) return backend->ops->sweep(backend, noise, sweep, watch);
    for (size_t at = 0, step_by; at < sweep->count && !status; at += step_by) {
        const cr_weighting *f = sweep->functions + at;
        step_by = f->gram ? together(sweep, at) : 1;
        status = f->gram ? add_blocks(&t, f, step_by) : walk(&t, f);
    }
    return status;
}
