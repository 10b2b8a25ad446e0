#include "estimator/device.h"
#include "estimator/hessian_shape.h"

#define DEVICE_ALIGN \
    256u /* what engines ask of their inputs and outputs, and what a device's allocator gives */

static void lay_out_second(cr_arena *arena, const certreg_estimator *e, cr_hessian_device *at)
{
    const cr_hessian_shape shape = cr_hessian_choose(
        e->model.inputs, e->input.active, e->plan.max_samples, e->plan.second_order_bytes);
    const size_t tile = shape.tile, n = e->plan.max_samples;
    at->features = cr_arena_take(arena, e->input.active, sizeof(int32_t));
    for (int i = 0; i < 2; i++)
        at->rows[i] = cr_arena_take(arena, cr_arena_times(tile, e->input.active), sizeof(float));
    at->products = cr_arena_take(arena, tile * tile, sizeof(float));
    at->matrix =
        shape.matrix
            ? cr_arena_take(arena, cr_arena_times(e->input.active, e->input.active), sizeof(float))
            : NULL;
    at->weights = cr_arena_take(arena, n, sizeof(float));
    at->sums = cr_arena_take(arena, n, sizeof(double));
    at->norms = cr_arena_take(arena, n, sizeof(double));
    at->squares = cr_arena_take(arena, n, sizeof(double));
}

static void lay_out(cr_arena *arena, const certreg_estimator *e, cr_device_room *at)
{
    const size_t d = e->model.inputs, batch = e->model.batch;
    at->z = cr_arena_take(arena, d, sizeof(float));
    at->step = cr_arena_take(arena, d, sizeof(float));
    at->mask = cr_arena_take(arena, d, sizeof(float));
    at->x = cr_arena_take(arena, cr_arena_times(batch, d), sizeof(float));
    at->next = cr_arena_take(arena, cr_arena_times(batch, d), sizeof(float));
    at->y = cr_arena_take(arena, cr_arena_times(batch, e->columns), sizeof(float));
    if (e->plan.constraints & CERTREG_CONSTRAINT_SECOND_ORDER)
        lay_out_second(arena, e, &at->second);
    if (!cr_estimator_has_gradient(e)) return;
    at->weights = cr_arena_take(arena, cr_arena_times(2, e->plan.max_samples), sizeof(float));
    at->sums = cr_arena_take(arena, cr_arena_times(2 * e->plan.blocks, d), sizeof(double));
    at->gram = cr_arena_take(arena, cr_arena_times(e->plan.blocks, e->plan.blocks), sizeof(double));
    at->direction = cr_arena_take(arena, d, sizeof(float));
    at->lengths = cr_arena_take(arena, cr_estimator_replayed(e->plan.max_samples), sizeof(double));
    at->dots = at->lengths ? at->lengths + cr_estimator_replayed(0) : NULL;
}

certreg_status cr_estimator_backend_failed(certreg_estimator *e, certreg_status status,
                                           const char *what)
{
    const char *text = NULL;
    const int32_t code = e->backend->ops->last_code ? e->backend->ops->last_code(e->backend, &text)
                                                    : 0;
    cr_fail(&e->error, status, "the backend failed to %s%s%.150s", what, text ? ": " : "",
            text ? text : "");
    e->error.model_code = code;
    return status;
}

/* Indices of the active ones, a few at a time. */
static certreg_status store_features(certreg_estimator *e)
{
    int32_t at[512];
    size_t filled = 0, stored = 0;
    certreg_status status = CERTREG_OK;
    for (size_t j = 0; j < e->model.inputs && !status; j++) {
        if (e->input.mask[j] > 0) at[filled++] = (int32_t)j;
        if (filled < sizeof at / sizeof *at && j + 1 < e->model.inputs) continue;
        status = e->backend->ops->store(e->backend, e->device.second.features + stored, at,
                                        filled * sizeof *at);
        if (!status) status = e->backend->ops->wait(e->backend); /* for `at` */
        stored += filled, filled = 0;
    }
    return status;
}

size_t cr_device_bytes(const certreg_estimator *e)
{
    cr_arena count = {.align = DEVICE_ALIGN};
    cr_device_room none;
    lay_out(&count, e, &none);
    return count.overflow ? SIZE_MAX : count.used;
}

/* Every product of matrices once, of zeros and in the shapes to come: their code is loaded when it
 * is first needed, which is now. */
static certreg_status warm_gradient(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t d = e->model.inputs, blocks = e->plan.blocks;
    certreg_status status =
        ops->fill(e->backend, e->device.sums, 2 * blocks * d * sizeof *e->device.sums, 0);
    if (!status)
        status = ops->fill(e->backend, e->device.lengths,
                           cr_estimator_replayed(0) * sizeof *e->device.lengths, 0); /* come whole
                                                                                      */
    for (size_t functions = 1; functions <= 2 && !status; functions++)
        status = ops->gram(e->backend, e->device.sums, functions * d, blocks, d, e->device.gram);
    return status;
}

static certreg_status warm_second(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const cr_hessian_device *at = &e->device.second;
    const size_t tile = e->at.second.tile, n = e->plan.max_samples, d = e->input.active,
                 row = d * sizeof *at->rows[0];
    const cr_tile a = {at->rows[0], at->weights, at->norms, tile < n ? tile : n},
                  b = {at->rows[1], at->weights, at->norms, a.count};
    certreg_status status = ops->fill(e->backend, at->weights, n * sizeof *at->weights, 0);
    if (!status) status = ops->fill(e->backend, at->norms, n * sizeof *at->norms, 0);
    if (!status) status = ops->fill(e->backend, at->sums, n * sizeof *at->sums, 0);
    if (!status) status = ops->fill(e->backend, at->squares, n * sizeof *at->squares, 0);
    for (int i = 0; i < 2 && !status; i++)
        status = ops->fill(e->backend, at->rows[i], a.count * row, 0);
    if (!status) status = ops->pairs(e->backend, &a, &b, d, at->products, at->sums, at->squares);
    if (status || !at->matrix) return status;
    status = ops->fill(e->backend, at->matrix, d * row, 0);
    if (!status) status = ops->outer(e->backend, &a, d, at->rows[1], at->matrix);
    return status ? status : ops->forms(e->backend, &a, d, at->matrix, at->rows[1], at->sums);
}

certreg_status cr_device_open(certreg_estimator *e)
{
    const size_t bytes = cr_device_bytes(e);
    if (bytes == SIZE_MAX)
        return cr_fail(&e->error, CERTREG_E_NO_MEMORY,
                       "a batch of %zu rows of %zu inputs fits into no memory", e->model.batch,
                       e->model.inputs);
    certreg_status status = e->backend->ops->alloc(e->backend, bytes, &e->device_memory);
    if (status) return cr_estimator_backend_failed(e, status, "take memory");
    cr_arena arena = {.base = e->device_memory, .align = DEVICE_ALIGN};
    lay_out(&arena, e, &e->device);
    e->at.x = e->device.x, e->at.y = e->device.y;
    status = e->backend->ops->store(e->backend, e->device.mask, e->input.mask,
                                    e->model.inputs * sizeof *e->input.mask);
    if (!status && e->at.second.tile) status = store_features(e);
    if (!status && cr_estimator_has_gradient(e)) status = warm_gradient(e);
    if (!status && e->at.second.tile) status = warm_second(e);
    if (!status) status = e->backend->ops->wait(e->backend);
    return status ? cr_estimator_backend_failed(e, status, "prepare for a model") : CERTREG_OK;
}

void cr_device_close(certreg_estimator *e)
{
    if (e->device_memory) e->backend->ops->free(e->backend, e->device_memory);
}

certreg_status cr_device_begin(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t bytes = e->model.inputs * sizeof(float);
    certreg_status status = ops->join(e->backend); /* nothing may still read the last input */
    e->device.has_next = 0;
    if (!status) status = ops->store(e->backend, e->device.z, e->input.z, bytes);
    if (!status) status = ops->store(e->backend, e->device.step, e->input.step, bytes);
    if (!status)
        status = ops->wait(e->backend); /* the side stream reads them, and the next begin writes
                                           here */
    return status ? cr_estimator_backend_failed(e, status, "take the input") : CERTREG_OK;
}

certreg_status cr_device_draw(certreg_estimator *e, uint64_t first)
{
    const cr_backend_ops *ops = e->backend->ops;
    cr_device_room *at = &e->device;
    certreg_status status;
    if (at->has_next && at->next_first == first) {
        status = ops->join(e->backend);
        if (!status) {
            float *drawn = at->next;
            at->next = at->x, e->at.x = at->x = drawn;
            at->has_next = 0;
        }
    } else {
        status =
            ops->draw(e->backend, &e->input.noise, at->z, at->step, first, e->model.batch, at->x);
    }
    return status ? cr_estimator_backend_failed(e, status, "draw noise") : CERTREG_OK;
}

certreg_status cr_device_draw_ahead(certreg_estimator *e, uint64_t first)
{
    cr_device_room *at = &e->device;
    certreg_status status = at->has_next ? e->backend->ops->join(e->backend)
                                         : CERTREG_OK; /* its memory is drawn upon again */
    if (!status)
        status = e->backend->ops->draw_ahead(e->backend, &e->input.noise, at->z, at->step, first,
                                             e->model.batch, at->next);
    at->next_first = first, at->has_next = !status;
    return status ? cr_estimator_backend_failed(e, status, "draw noise") : CERTREG_OK;
}

certreg_status cr_device_wait(certreg_estimator *e)
{
    const certreg_status status = e->backend->ops->wait(e->backend);
    return status ? cr_estimator_backend_failed(e, status, "draw noise") : CERTREG_OK;
}

certreg_status cr_device_blank_outputs(certreg_estimator *e)
{
    const size_t bytes = e->model.batch * e->columns * sizeof *e->at.y;
    const certreg_status status =
        e->backend->ops->fill(e->backend, e->at.y, bytes, 0xff); /* all ones is a NaN */
    return status ? cr_estimator_backend_failed(e, status, "prepare a batch") : CERTREG_OK;
}

certreg_status cr_device_fetch_outputs(certreg_estimator *e)
{
    const certreg_status status = e->backend->ops->fetch(
        e->backend, e->at.y_host, e->at.y, e->model.batch * e->columns * sizeof *e->at.y);
    return status ? cr_estimator_backend_failed(e, status,
                                                "run the model's work or to give its outputs back")
                  : CERTREG_OK;
}

certreg_status cr_device_blocks(certreg_estimator *e, cr_correlate_job *s)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t length = s->count / e->plan.blocks, count = length * e->plan.blocks,
                 stride = e->plan.max_samples;
    certreg_status status = CERTREG_OK;
    cr_correlate_weights(e, s, s->first, count);
    for (size_t f = 0; f < s->functions && !status; f++)
        status = ops->store(e->backend, e->device.weights + f * stride, e->at.weights + f * stride,
                            count * sizeof(float));
    if (!status)
        status = ops->block_sums(e->backend, &e->input.noise, s->first, length, e->plan.blocks,
                                 s->functions, e->device.weights, stride, e->device.mask,
                                 e->device.sums);
    return status ? cr_estimator_backend_failed(e, status, "replay the noise") : CERTREG_OK;
}

certreg_status cr_device_gram(certreg_estimator *e, const cr_correlate_job *s, size_t f,
                              double scale)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t d = e->model.inputs, blocks = e->plan.blocks;
    certreg_status status =
        ops->gram(e->backend, e->device.sums + f * d, s->functions * d, blocks, d, e->device.gram);
    if (!status)
        status = ops->fetch(e->backend, e->at.gram, e->device.gram,
                            blocks * blocks * sizeof *e->at.gram);
    if (status) return cr_estimator_backend_failed(e, status, "correlate blocks");
    for (size_t p = 0; p < blocks; p++)
        for (size_t q = p; q < blocks; q++)
            e->at.gram[q * blocks + p] = e->at.gram[p * blocks + q] *= scale * scale;
    return CERTREG_OK;
}
