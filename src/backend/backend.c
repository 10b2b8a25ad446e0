/* What every backend shares: entering, leaving and errors; and the sweep that is made of other
 * operations. */
#include "backend/backend.h"
#include <string.h>

/* ======== Entering, leaving and error reporting for every backend. */
certreg_status cr_backend_enter(certreg_backend *backend, certreg_error *why)
{
    if (!cr_backend_is_device(backend)) return CERTREG_OK;
    const certreg_status status = cr_call_guard_enter(&backend->guard, why);
    if (status != CERTREG_E_BUSY) return status;
    return cr_error_set(why, status, "the backend is busy with a call of another estimator");
}

void cr_backend_leave(certreg_backend *backend)
{
    if (cr_backend_is_device(backend)) cr_call_guard_leave(&backend->guard, CERTREG_OK);
}

certreg_status cr_backend_failed(certreg_backend *backend, certreg_status status, const char *what,
                                 certreg_error *why)
{
    const char *text = NULL;
    const int32_t code = backend->ops->last_code(backend, &text);
    cr_error_set(why, status, "the backend failed to %s%s%.150s", what, text ? ": " : "",
                 text ? text : "");
    why->code = code;
    return status;
}

certreg_status cr_backend_read(certreg_backend *backend, const float **numbers, float *host,
                               size_t count, const char *what, certreg_error *why)
{
    int is_device = 0;
    if (!cr_backend_is_device(backend) || !*numbers || !count) return CERTREG_OK;
    certreg_status status = backend->ops->locate(backend, *numbers, &is_device);
    if (status == CERTREG_E_INVALID)
        return cr_error_set(why, status, "%s is memory of another device than %d", what,
                            (int)backend->ops->device);
    if (!status && is_device)
        status = backend->ops->fetch(backend, host, *numbers, count * sizeof *host);
    if (is_device) *numbers = host;
    return status ? cr_backend_failed(backend, status, "read the caller's numbers", why)
                  : CERTREG_OK;
}

certreg_status cr_backend_join(certreg_backend *backend)
{
    return backend->ops->join ? backend->ops->join(backend) : CERTREG_OK;
}

/* ======== The sweep for backends without the op: function by function, by replay, set_directions,
 * project and gram. */
typedef struct fallback {
    certreg_backend *backend;
    const cr_noise *noise;
    const cr_sweep *sweep;
    cr_deadline *deadline;
} fallback;

static certreg_status store_weights(const fallback *t, const cr_sweep_function *f, size_t functions)
{
    certreg_status status = CERTREG_OK;
    for (size_t k = 0; k < functions && !status; k++)
        status = t->backend->ops->store(t->backend, t->sweep->buffers->weights + k * f->count,
                                        f[k].weights, f->count * sizeof *f->weights);
    return status;
}

static certreg_status clear_sums(const fallback *t, size_t rows)
{
    return t->backend->ops->fill(t->backend, t->sweep->buffers->sums,
                                 rows * t->noise->inputs * sizeof *t->sweep->buffers->sums, 0);
}

/* ---- products of block sums, for two functions at once if they have the same blocks */
static certreg_status multiply_block_sums(const fallback *t, const cr_sweep_function *f, size_t k,
                                          size_t functions)
{
    const cr_backend_ops *ops = t->backend->ops;
    const cr_sweep_buffers *buffers = t->sweep->buffers;
    const size_t d = t->noise->inputs;
    const certreg_status status =
        ops->gram(t->backend, buffers->sums + k * d, functions * d, f->blocks, d, buffers->gram);
    return status ? status
                  : ops->fetch(t->backend, f[k].gram, buffers->gram,
                               f->blocks * f->blocks * sizeof *buffers->gram);
}

static certreg_status compute_gram(const fallback *t, const cr_sweep_function *f, size_t functions)
{
    const cr_sweep_buffers *buffers = t->sweep->buffers;
    const cr_weighted_blocks blocks = {.first = f->first,
                                       .block_samples = f->count / f->blocks,
                                       .blocks = f->blocks,
                                       .functions = functions,
                                       .weights = buffers->weights,
                                       .stride = f->count};
    certreg_status status = store_weights(t, f, functions);
    if (!status) status = clear_sums(t, f->blocks * functions);
    if (!status)
        status = t->backend->ops->replay(t->backend, t->noise, &blocks, t->sweep->mask,
                                         buffers->sums, t->deadline);
    for (size_t k = 0; k < functions && !status; k++)
        status = multiply_block_sums(t, f, k, functions);
    return status;
}

/* ---- the sums at each border, then projections on them */
/* Adds the weighted noise of `blocks` blocks of equal length, the first of which is `block`. Row 0
 * of the sums stays 0, since no sample is before the first border. */
static certreg_status add_blocks(const fallback *t, const cr_sweep_function *f, size_t block,
                                 size_t blocks)
{
    const cr_sweep_buffers *buffers = t->sweep->buffers;
    const size_t begin = cr_block_begin(f->count, f->blocks, block),
                 end = cr_block_begin(f->count, f->blocks, block + 1);
    const cr_weighted_blocks w = {.first = f->first + begin,
                                  .block_samples = end - begin,
                                  .blocks = blocks,
                                  .functions = 1,
                                  .weights = buffers->weights + begin};
    if (!blocks || begin == end) return CERTREG_OK;
    return t->backend->ops->replay(t->backend, t->noise, &w, NULL,
                                   buffers->sums + (block + 1) * t->noise->inputs, t->deadline);
}

/* Projects each sample on the sums at the border before its block, or on all sums. */
static certreg_status project_samples(const fallback *t, const cr_sweep_function *f,
                                      const float *directions)
{
    double *dots = t->sweep->buffers->results + 2 * (f->blocks + 1);
    const size_t total = f->is_total ? f->blocks * t->noise->inputs : 0;
    const cr_projection projection = {.first = f->first,
                                      .count = f->count,
                                      .directions = directions + total,
                                      .mask = t->sweep->mask,
                                      .dots = dots,
                                      .squared_norms = dots + f->count,
                                      .blocks = f->is_total ? 1 : f->blocks};
    return t->backend->ops->project(t->backend, t->noise, &projection, t->deadline);
}

/* The directions lie behind the sums, in the room of a second function's sums. */
static certreg_status enqueue_cumulative(const fallback *t, const cr_sweep_function *f)
{
    const cr_sweep_buffers *buffers = t->sweep->buffers;
    const size_t rows = f->blocks + 1, longer = f->count % f->blocks, d = t->noise->inputs;
    float *directions = (float *)(buffers->sums + rows * d);
    certreg_status status = store_weights(t, f, 1);
    if (!status) status = clear_sums(t, rows);
    if (!status) status = add_blocks(t, f, 0, f->blocks - longer);
    if (!status) status = add_blocks(t, f, f->blocks - longer, longer);
    if (!status)
        status = t->backend->ops->set_directions(
            t->backend, &(cr_direction_rows){rows, d, t->sweep->mask, buffers->sums, directions,
                                             buffers->results});
    return status ? status : project_samples(t, f, directions);
}

/* Copies the results, and divides projections by the length of their direction. */
static void read_results(const fallback *t, const cr_sweep_function *f)
{
    const double *norms = t->sweep->buffers->host_results, *dots = norms + 2 * (f->blocks + 1);
    memcpy(t->sweep->squared_norms + (f->first - t->sweep->first), dots + f->count,
           f->count * sizeof *dots);
    for (size_t b = 0; b <= f->blocks; b++) f->norms[b] = norms[2 * b];
    for (size_t b = 0; b < f->blocks; b++) {
        const double length = norms[2 * (f->is_total ? f->blocks : b) + 1];
        const size_t end = cr_block_begin(f->count, f->blocks, b + 1);
        for (size_t i = cr_block_begin(f->count, f->blocks, b); i < end; i++)
            f->dots[i] = length > 0 ? dots[i] / length : 0;
    }
}

static certreg_status compute_cumulative(const fallback *t, const cr_sweep_function *f)
{
    const cr_sweep_buffers *buffers = t->sweep->buffers;
    certreg_status status = enqueue_cumulative(t, f);
    if (!status)
        status = t->backend->ops->fetch(t->backend, buffers->host_results, buffers->results,
                                        cr_sweep_result_count(f->blocks, f->count) *
                                            sizeof *buffers->host_results);
    if (!status) read_results(t, f);
    return status;
}

/* Returns 2 if function `at` and the next one have the same blocks, else 1. */
static size_t functions_at_once(const cr_sweep *sweep, size_t at)
{
    const cr_sweep_function *f = sweep->functions + at;
    return at + 1 < sweep->count && f[1].gram && f[1].first == f->first && f[1].count == f->count &&
                   f[1].blocks == f->blocks
               ? 2
               : 1;
}

certreg_status cr_backend_sweep(certreg_backend *backend, const cr_noise *noise,
                                const cr_sweep *sweep, cr_deadline *deadline)
{
    const fallback t = {backend, noise, sweep, deadline};
    certreg_status status = CERTREG_OK;
    if (backend->ops->sweep) return backend->ops->sweep(backend, noise, sweep, deadline);
    for (size_t at = 0, functions; at < sweep->count && !status; at += functions) {
        const cr_sweep_function *f = sweep->functions + at;
        functions = f->gram ? functions_at_once(sweep, at) : 1;
        status = f->gram ? compute_gram(&t, f, functions) : compute_cumulative(&t, f);
    }
    return status;
}
