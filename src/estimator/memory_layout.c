/* Places of all arrays of an estimator, on the host and on a device. A device's arrays are the
 * host's own if the backend uses its memory, which no caller needs to know. */
#include "estimator/memory_layout.h"
#include "record/noise_sums.h"

/* The alignment that engines require of inputs and outputs, and that a device's allocator has. */
#define DEVICE_ALIGN 256u

typedef struct arenas { /* one arena twice if the backend uses the host's memory */
    cr_arena *host, *device;
} arenas;

static int is_shared(const arenas *p)
{
    return p->host == p->device;
}

/* The host's array for one of the device: the same one, or room for a copy. */
static void *mirror(const arenas *p, void *device, size_t count, size_t size)
{
    return is_shared(p) ? device : cr_arena_alloc(p->host, count, size);
}

static void lay_out_input(const arenas *p, certreg_estimator *e)
{
    const size_t d = e->record.model.inputs;
    e->batches.z = cr_arena_alloc(p->device, d, sizeof(float));
    e->batches.noise_deviation = cr_arena_alloc(p->device, d, sizeof(float));
    e->batches.negated_deviation =
        cr_view_is_antithetic(&e->record) ? cr_arena_alloc(p->device, d, sizeof(float)) : NULL;
    e->replay.device.mask = cr_arena_alloc(p->device, d, sizeof(float));
    e->record.input.scale = cr_arena_alloc(p->host, d, sizeof(float));
    e->record.input.z = mirror(p, e->batches.z, d, sizeof(float));
    e->record.input.noise_deviation = mirror(p, e->batches.noise_deviation, d, sizeof(float));
    e->replay.host.mask = mirror(p, e->replay.device.mask, d, sizeof(float));
}

/* The sum, or SIZE_MAX. */
static size_t plus(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* A device draws into x[1] ahead. It has no guard: a model that writes behind it writes behind x[0]
 * too, which is used first. */
static void lay_out_batch(const arenas *p, certreg_estimator *e)
{
    const size_t x_count = cr_arena_product(e->record.model.batch, e->record.model.inputs),
                 y_count = cr_arena_product(e->record.model.batch, e->record.columns),
                 align = DEVICE_ALIGN / sizeof(float),
                 y_at = plus(x_count, CR_GUARD_FLOATS + align - 1) / align * align;
    cr_batch_buffers *buffers = &e->batches;
    if (!is_shared(p)) buffers->x[1] = cr_arena_alloc(p->device, x_count, sizeof(float));
    buffers->x[0] =
        cr_arena_alloc(p->device, plus(plus(y_at, y_count), CR_GUARD_FLOATS), sizeof(float));
    buffers->guard_floats = y_at - x_count;
    buffers->fetched_bytes = plus(plus(buffers->guard_floats, y_count), CR_GUARD_FLOATS);
    if (buffers->x[0]) buffers->guard = buffers->x[0] + x_count;
    buffers->fetched = mirror(p, buffers->guard, buffers->fetched_bytes, sizeof(float));
    buffers->fetched_bytes *= sizeof(float);
    if (is_shared(p)) buffers->x[1] = buffers->x[0];
    if (!buffers->fetched) return; /* only counted */
    buffers->y = buffers->guard + buffers->guard_floats;
    buffers->outputs = buffers->fetched + buffers->guard_floats;
}

/* Memory of replays, which a sweep uses too if the backend has no sweep of its own. */
static void lay_out_replay(const arenas *p, certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t d = e->record.model.inputs, n = e->record.plan.max_samples,
                 blocks = ops->sweep ? 1 : e->record.plan.blocks,
                 results = cr_sweep_result_count(CR_CUMULATIVE_BLOCKS, n);
    cr_replay_device *device = &e->replay.device;
    cr_replay_host *host = &e->replay.host;
    device->sums = cr_arena_alloc(p->device, cr_arena_product(2 * blocks, d), sizeof(double));
    device->weights = cr_arena_alloc(p->device, cr_arena_product(2, n), sizeof(float));
    device->direction = cr_arena_alloc(p->device, d, sizeof(float));
    device->dots = cr_arena_alloc(p->device, results, sizeof(double));
    host->weights = mirror(p, device->weights, cr_arena_product(2, n), sizeof(float));
    host->dots = mirror(p, device->dots, results, sizeof(double));
    device->sweep = (cr_sweep_buffers){.sums = device->sums,
                                       .weights = device->weights,
                                       .results = device->dots,
                                       .host_results = host->dots};
    if (ops->sweep)
        device->sweep.workspace =
            cr_arena_alloc(p->device, ops->sweep_bytes(e->backend, &e->replay.sizes), 1);
    else device->sweep.gram = cr_arena_alloc(p->device, blocks * blocks, sizeof(double));
}

static void lay_out_noise_sums(cr_arena *host, certreg_estimator *e)
{
    const cr_sweep_sizes *sizes = &e->replay.sizes;
    cr_noise_sums *cache = &e->replay.sums_cache;
    cache->functions = cr_arena_alloc(host, sizes->functions, sizeof *cache->functions);
    cache->units = cr_arena_alloc(host, sizes->functions, sizeof *cache->units);
    cache->weights = cr_arena_alloc(host, sizes->weights, sizeof(float));
    cache->dots = cr_arena_alloc(host, sizes->dots, sizeof(double));
    cache->squared_norms = cr_arena_alloc(host, sizes->sample_span, sizeof(double));
    cache->norms =
        cr_arena_alloc(host, sizes->functions * (CR_CUMULATIVE_BLOCKS + 1), sizeof(double));
    cache->products = cr_arena_alloc(
        host, cr_arena_product(sizes->grams * sizes->blocks, sizes->blocks), sizeof(double));
}

cr_declared_outputs cr_layout(certreg_estimator *e, cr_arena *host, cr_arena *device)
{
    const arenas p = {host, cr_backend_is_device(e->backend) ? device : host};
    const size_t outputs = e->record.model.outputs;
    const cr_declared_outputs declared = {.kind = cr_arena_alloc(host, outputs, sizeof(int32_t)),
                                          .lo = cr_arena_alloc(host, outputs, sizeof(double)),
                                          .hi = cr_arena_alloc(host, outputs, sizeof(double))};
    lay_out_input(&p, e);
    e->scratch.vector_prediction = cr_arena_alloc(host, outputs, sizeof(double));
    e->scratch.block_fractions = cr_arena_alloc(host, outputs, sizeof(double));
    e->scratch.direction_fractions =
        cr_arena_alloc(host, cr_arena_product(CR_NET_MAX_PROJECTIONS, outputs), sizeof(double));
    e->record.deadline = cr_arena_alloc(host, 1, sizeof *e->record.deadline);
    if (e->record.plan.constraints & CERTREG_CONSTRAINT_GRADIENT) {
        e->replay.sizes = cr_noise_sums_sizes(&e->record.model, &e->record.plan);
        lay_out_replay(&p, e);
        lay_out_noise_sums(host, e);
    }
    /* Last, and before what a model may overwrite without harm: the outputs of a void record. */
    lay_out_batch(&p, e);
    /* The check of the model keeps a row of columns there, even if the record has one sample. */
    const size_t floats = cr_arena_product(e->record.plan.max_samples, outputs),
                 least = e->record.columns;
    e->record.values = cr_arena_alloc(host, floats > least ? floats : least, sizeof(float));
    e->scratch.group_paths = cr_arena_alloc(host, CR_GROUP_WORK_DOUBLES, sizeof(double));
    return declared;
}

cr_arena cr_layout_device(void *memory)
{
    return (cr_arena){.base = memory, .align = DEVICE_ALIGN};
}

certreg_status cr_layout_alloc_device(certreg_estimator *e, size_t bytes)
{
    if (!cr_backend_is_device(e->backend)) return CERTREG_OK;
    const certreg_status status = e->backend->ops->alloc(e->backend, bytes, &e->device_memory);
    return status ? cr_backend_failed(e->backend, status, "take memory", &e->error) : CERTREG_OK;
}

void cr_layout_release(certreg_estimator *e)
{
    if (e->device_memory) e->backend->ops->free(e->backend, e->device_memory);
}

/* ---- a device's first use of everything */
/* Computes every product of matrices once, of zeros and in the shapes to come: a device loads their
 * code at the first use, and an answer should not wait for it. */
static certreg_status warm_up_gram(const certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t d = e->record.model.inputs, blocks = e->record.plan.blocks;
    const cr_replay_device *device = &e->replay.device;
    certreg_status status =
        ops->fill(e->backend, device->sums, 2 * blocks * d * sizeof *device->sums, 0);
    for (size_t functions = 1; functions <= 2 && !status; functions++)
        status = ops->gram(e->backend, device->sums, functions * d, blocks, d, device->sweep.gram);
    return status;
}

certreg_status cr_layout_prepare(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    certreg_status status = ops->store(e->backend, e->replay.device.mask, e->replay.host.mask,
                                       e->record.model.inputs * sizeof *e->replay.host.mask);
    if (!status && e->device_memory && e->replay.device.sweep.gram) status = warm_up_gram(e);
    if (!status) status = ops->wait(e->backend);
    return status ? cr_backend_failed(e->backend, status, "prepare for a model", &e->error)
                  : CERTREG_OK;
}
