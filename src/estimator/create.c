/* Making estimators: the layout of all their memory, and the checks of model and plan. */
#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/os.h"
#include "base/struct_sizes.h"
#include "estimator/estimator.h"
#include "record/record.h"
#include "statistics/location.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ======== All memory of an estimator: one function lays it out, to count and to carve. Places
 * of all arrays of an estimator, on the host and on a device. A device's arrays are the host's
 * own if the backend uses its memory, which no caller needs to know. */
typedef struct cr_declared_outputs { /* outputs each: the arrays of the model, to be filled */
    int32_t *kind;
    double *lo, *hi; /* declared range; a full turn for angles */
} cr_declared_outputs;

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

static void lay_out_audited(cr_arena *arena, cr_record *r)
{
    r->audited.change = cr_arena_alloc(arena, 2 * r->model.outputs, sizeof(double));
    if (r->audited.change) r->audited.limit = r->audited.change + r->model.outputs;
}

void cr_estimator_lay_out_record(const cr_record *like, cr_arena *arena, cr_record *r)
{
    const size_t d = like->model.inputs;
    *r = *like;
    r->input.z = cr_arena_alloc(arena, d, sizeof(float));
    r->input.noise_deviation = cr_arena_alloc(arena, d, sizeof(float));
    lay_out_audited(arena, r);
    r->values = cr_arena_alloc(arena, cr_arena_product(like->plan.max_samples, like->model.outputs),
                               sizeof(float));
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

static void lay_out_audit(const arenas *p, certreg_estimator *e)
{
    cr_audit layout = {.room = 0}, *a = &layout;
    const size_t outputs = e->record.model.outputs, inputs = e->record.model.inputs;
    if (!e->record.plan.audit) return;
    e->audit = cr_arena_alloc(p->host, 1, sizeof *e->audit);
    a->room = cr_audit_room(&e->record.plan, 1);
    a->picks = cr_arena_alloc(p->host, a->room, sizeof *a->picks);
    a->limit = cr_arena_alloc(p->host, 5 * outputs, sizeof(double));
    if (a->limit) {
        a->scale = a->limit + outputs;
        a->change = a->scale + outputs;
        a->ratio = a->change + outputs;
        a->moved = a->ratio + outputs;
    }
    a->row = cr_arena_alloc(p->host, outputs, sizeof(float));
    a->before =
        cr_arena_alloc(p->host, cr_arena_product(e->record.model.batch, outputs), sizeof(float));
    a->check_outputs = cr_arena_alloc(p->host, CR_CHECK_ROWS * outputs, sizeof(float));
    a->check_z = cr_arena_alloc(p->device, inputs, sizeof(float));
    a->check_deviation = cr_arena_alloc(p->device, inputs, sizeof(float));
    if (e->audit) *e->audit = layout;
}

static void lay_out_masks(const arenas *p, certreg_estimator *e)
{
    if (!e->record.model.masks) return;
    const size_t d = e->record.model.inputs, units = e->record.model.masks->units;
    cr_mask_memory layout = {.unit = cr_arena_alloc(p->host, d, sizeof(int32_t))};
    layout.device = (cr_mask_arrays){cr_arena_alloc(p->device, units, sizeof(double)),
                                     cr_arena_alloc(p->device, units + 1, sizeof(uint32_t)),
                                     cr_arena_alloc(p->device, d, sizeof(uint32_t))};
    layout.host = (cr_mask_arrays){mirror(p, layout.device.probability, units, sizeof(double)),
                                   mirror(p, layout.device.first, units + 1, sizeof(uint32_t)),
                                   mirror(p, layout.device.feature, d, sizeof(uint32_t))};
    e->masks = cr_arena_alloc(p->host, 1, sizeof *e->masks);
    if (e->masks) *e->masks = layout;
}

/* Lays out the arrays for model, plan, columns and backend of an estimator. Takes nothing from
 * `device` if the backend uses the host's memory. */
static cr_declared_outputs cr_layout(certreg_estimator *e, cr_arena *host, cr_arena *device)
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
    lay_out_audited(host, &e->record);
    lay_out_audit(&p, e);
    lay_out_masks(&p, e);
    /* Last, and before what a model may overwrite without harm: the outputs of a void record. */
    lay_out_batch(&p, e);
    /* The check of the model keeps a row of columns there, even if the record has one sample. */
    const size_t floats = cr_arena_product(e->record.plan.max_samples, outputs),
                 least = e->record.columns;
    e->record.values = cr_arena_alloc(host, floats > least ? floats : least, sizeof(float));
    e->scratch.group_paths = cr_arena_alloc(host, CR_GROUP_WORK_DOUBLES, sizeof(double));
    return declared;
}

/* An empty arena for memory of a device. */
static cr_arena cr_layout_device(void *memory)
{
    return (cr_arena){.base = memory, .align = DEVICE_ALIGN};
}

/* Takes memory of a device; none if the backend uses the host's. */
static certreg_status cr_layout_alloc_device(certreg_estimator *e, size_t bytes)
{
    if (!cr_backend_is_device(e->backend)) return CERTREG_OK;
    const certreg_status status = e->backend->ops->alloc(e->backend, bytes, &e->device_memory);
    return status ? cr_backend_failed(e->backend, status, "take memory", &e->error) : CERTREG_OK;
}

/* Frees memory of a device. */
static void cr_layout_release(certreg_estimator *e)
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

/* Copies to the device what all inputs share, after the layout. NO_MEMORY, DEVICE_FAILED. */
static certreg_status cr_layout_prepare(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    certreg_status status = ops->store(e->backend, e->replay.device.mask, e->replay.host.mask,
                                       e->record.model.inputs * sizeof *e->replay.host.mask);
    if (!status && e->masks) status = cr_masks_store(e);
    if (!status && e->device_memory && e->replay.device.sweep.gram) status = warm_up_gram(e);
    if (!status) status = ops->wait(e->backend);
    return status ? cr_backend_failed(e->backend, status, "prepare for a model", &e->error)
                  : CERTREG_OK;
}

/* ======== Size, create and destroy, with the checks of model and plan. Nothing else in this
 * room takes memory of the host. */
#define CR_MIN_BLOCKS 64u /* of a public plan */

#define MIN_STEPS_OF_A_TURN 4096

/* ---- the caller's model and plan: checks and defaults */
static certreg_status check_scale(const certreg_model *model, size_t *active, certreg_error *why)
{
    *active = model->scale ? 0 : model->inputs;
    for (size_t j = 0; model->scale && j < model->inputs; j++) {
        const float s = model->scale[j];
        if (!(s >= 0) || !isfinite(s))
            return cr_error_set(why, CERTREG_E_INVALID,
                                "model.scale[%zu] is %g; it must be finite and not negative", j,
                                (double)s);
        *active += s > 0;
    }
    if (!*active)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.scale is zero for every feature: nothing would be perturbed");
    return CERTREG_OK;
}

static int is_output_kind(int32_t kind)
{
    switch ((enum certreg_output_kind)kind) {
    case CERTREG_OUTPUT_REAL:
    case CERTREG_OUTPUT_ANGLE:
    case CERTREG_OUTPUT_ANGLE_PAIR: return 1;
    }
    return 0;
}

static certreg_status check_output(const certreg_model *model, size_t k, certreg_error *why)
{
    const int32_t kind = model->kind ? model->kind[k] : CERTREG_OUTPUT_REAL;
    const double lo = model->lo ? model->lo[k] : -INFINITY,
                 hi = model->hi ? model->hi[k] : INFINITY;
    if (!is_output_kind(kind))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.kind[%zu] is %d; give one of CERTREG_OUTPUT_...", k, (int)kind);
    if (!(lo < hi))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.lo[%zu] = %g must be below model.hi[%zu] = %g", k, lo, k, hi);
    if (kind != CERTREG_OUTPUT_REAL && isfinite(lo) != isfinite(hi))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "output %zu is an angle: give both ends of its turn, model.lo and model.hi, or neither",
            k);
    if (kind != CERTREG_OUTPUT_REAL && isfinite(lo) && !isfinite(hi - lo))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "output %zu is an angle: its turn from %g to %g is too long for a double", k, lo, hi);
    if (kind != CERTREG_OUTPUT_REAL && isfinite(lo) &&
        !(cr_location_float_step(lo, hi) <= (hi - lo) / MIN_STEPS_OF_A_TURN))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "output %zu is an angle: its turn from %.9g to %.9g is so far from 0 "
                            "that it has fewer than %d floats: let it begin at 0",
                            k, lo, hi, MIN_STEPS_OF_A_TURN);
    return CERTREG_OK;
}

static certreg_status check_model(certreg_model *model, size_t *columns, size_t *active,
                                  certreg_error *why)
{
    if (model->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "model.reserved is %d; it must be 0",
                            (int)model->reserved);
    if (!model->inputs)
        return cr_error_set(why, CERTREG_E_INVALID, "model.inputs is 0; it must be at least 1");
    if (!model->outputs)
        return cr_error_set(why, CERTREG_E_INVALID, "model.outputs is 0; it must be at least 1");
    if (model->inputs > SIZE_MAX / 4096 || model->outputs > SIZE_MAX / 4096 ||
        model->outputs > INT32_MAX / 2)
        return cr_error_set(why, CERTREG_E_NO_MEMORY,
                            "model.inputs = %zu, model.outputs = %zu do not fit into memory",
                            model->inputs, model->outputs);
    *columns = model->outputs;
    /* Without arrays all outputs are alike, and a loop over an absurd number of them takes long. */
    const int is_default = !model->kind && !model->lo && !model->hi;
    for (size_t k = 0; !is_default && k < model->outputs; k++) {
        certreg_status status = check_output(model, k, why);
        if (status) return status;
        *columns += model->kind && model->kind[k] == CERTREG_OUTPUT_ANGLE_PAIR;
    }
    return check_scale(model, active, why);
}

/* The default number of rows in a call. On a device it is larger, since each call of the model and
 * each draw there has a fixed cost that small batches do not repay. */
static size_t default_batch(const certreg_backend *backend, size_t inputs)
{
    enum { HOST_ROWS = 256, MAX_DEVICE_ROWS = 4096, DEVICE_FLOATS = 1 << 22 };
    if (!cr_backend_is_device(backend)) return HOST_ROWS;
    const size_t rows = cr_min_size(DEVICE_FLOATS / inputs, MAX_DEVICE_ROWS);
    return rows < HOST_ROWS ? HOST_ROWS : rows;
}

static certreg_status check_flags(const certreg_plan *plan, certreg_error *why)
{
    const uint32_t uses = CERTREG_PLAN_PAIRS | CERTREG_PLAN_EPISODE | CERTREG_PLAN_DEPLOYED,
                   any = CERTREG_PLAN_COUNT_FAILURES | CERTREG_PLAN_ROUNDED,
                   use = plan->flags & uses;
    if (plan->flags & ~(any | uses) || use & (use - 1))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "plan.flags has 0x%x; give CERTREG_PLAN_COUNT_FAILURES, CERTREG_PLAN_ROUNDED and one "
            "of CERTREG_PLAN_PAIRS, CERTREG_PLAN_EPISODE and CERTREG_PLAN_DEPLOYED, or 0",
            plan->flags & ~any);
    if (plan->flags & CERTREG_PLAN_EPISODE && plan->constraints & CERTREG_CONSTRAINT_GRADIENT)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "plan.constraints has CERTREG_CONSTRAINT_GRADIENT, and plan.flags has "
            "CERTREG_PLAN_EPISODE: leave the gradient out, which proves nothing against an "
            "adversary who adapts (theory 14.4)");
    if (plan->flags & CERTREG_PLAN_PAIRS && plan->pilot != SIZE_MAX)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "plan.pilot is %zu; with CERTREG_PLAN_PAIRS it must be SIZE_MAX: a server "
            "has no pilot",
            plan->pilot);
    if (plan->flags & CERTREG_PLAN_DEPLOYED && plan->pilot && plan->pilot != SIZE_MAX)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "plan.pilot is %zu; with CERTREG_PLAN_DEPLOYED it must be 0 or SIZE_MAX: a deployed "
            "loop has no pilot, whose first sample has no noise",
            plan->pilot);
    return CERTREG_OK;
}

static certreg_status check_plan(certreg_plan *plan, size_t min_blocks, certreg_error *why)
{
    if (!plan->max_samples)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.max_samples is 0; give the most samples that one input may take");
    certreg_status status = cr_constraints_check(plan->constraints, "plan.constraints", why);
    if (!status) status = check_flags(plan, why);
    if (status) return status;
    if (plan->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.reserved is %u; it must be 0",
                            plan->reserved);
    if (plan->audit > CERTREG_AUDIT_WHOLE || plan->reserved_2)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.audit is %u and plan.reserved_2 %u; give one of "
                            "CERTREG_AUDIT_..., and 0",
                            plan->audit, plan->reserved_2);
    if (plan->flags & CERTREG_PLAN_DEPLOYED) plan->pilot = SIZE_MAX;
    if (!plan->constraints) plan->constraints = CERTREG_CONSTRAINTS_ECM;
    if (!plan->blocks) plan->blocks = 64;
    if (plan->blocks < min_blocks || plan->blocks > 65536)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.blocks is %zu; it must be 0 or 64 to 65536", plan->blocks);
    if (plan->pilot != SIZE_MAX && plan->pilot >= plan->max_samples)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.pilot (%zu) must be smaller than plan.max_samples (%zu)",
                            plan->pilot, plan->max_samples);
    return CERTREG_OK;
}

typedef struct request { /* everything create and size agree upon */
    certreg_backend *backend;
    certreg_model model;
    certreg_masks masks; /* of the model, if it has any */
    certreg_plan plan;
    size_t columns, active;
    size_t host, device; /* bytes of the host, and of a device */
} request;

/* Sets the numbers of bytes. */
static certreg_status count_bytes(request *r, certreg_error *why)
{
    certreg_estimator sized = {
        .backend = r->backend,
        .record = {.model = r->model, .plan = r->plan, .columns = r->columns}};
    cr_arena host = {0}, device = cr_layout_device(NULL);
    cr_arena_alloc(&host, 1, sizeof(certreg_estimator));
    cr_layout(&sized, &host, &device);
    if (host.overflow || device.overflow)
        return cr_error_set(why, CERTREG_E_NO_MEMORY,
                            "%zu inputs, batch %zu, max_samples %zu do not fit into memory",
                            r->model.inputs, r->model.batch, r->plan.max_samples);
    r->host = host.used;
    r->device = device.used;
    return CERTREG_OK;
}

static certreg_status read_request(certreg_backend *backend, const certreg_model *model,
                                   const certreg_plan *plan, size_t min_blocks, request *out,
                                   certreg_error *why)
{
    fenv_t saved;
    memset(out, 0, sizeof *out);
    if (backend && backend->ops->api_version != CR_BACKEND_API)
        return cr_error_set(why, CERTREG_E_VERSION,
                            "another version of the library opened this backend: open it by the "
                            "version that makes the estimator");
    if (backend && cr_call_guard_is_foreign(&backend->guard))
        return cr_error_set(why, CERTREG_E_WRONG_STATE,
                            "the backend was opened in another process; open one after fork");
    out->backend = backend ? backend : cr_backend_default();
    cr_environment_enter(&saved);
    certreg_status status =
        cr_struct_read(&out->model, sizeof out->model, CR_OLDEST_MODEL, model, "model", why);
    if (!status)
        status = cr_struct_read(&out->plan, sizeof out->plan, CR_OLDEST_PLAN, plan, "plan", why);
    if (!status) status = check_model(&out->model, &out->columns, &out->active, why);
    if (!status) status = check_plan(&out->plan, min_blocks, why);
    if (!status && out->model.masks) {
        status = cr_masks_read(&out->model, &out->plan, &out->masks, why);
        out->model.masks = &out->masks;
    }
    if (!status && !out->model.batch)
        out->model.batch = default_batch(out->backend, out->model.inputs);
    if (!status) status = count_bytes(out, why);
    cr_environment_leave(&saved);
    return status;
}

certreg_status cr_estimator_memory(certreg_backend *backend, const certreg_model *model,
                                   const certreg_plan *plan, size_t min_blocks, size_t bytes[2],
                                   certreg_error *why)
{
    request r;
    const certreg_status status = read_request(backend, model, plan, min_blocks, &r, why);
    bytes[0] = r.host; /* both are 0 after a failure */
    bytes[1] = r.device;
    return status;
}

certreg_status cr_estimator_like(certreg_backend *backend, const certreg_model *model,
                                 const certreg_plan *plan, size_t bytes[2], cr_record *like,
                                 certreg_error *why)
{
    request r;
    const certreg_status status = read_request(backend, model, plan, CR_MIN_BLOCKS, &r, why);
    *like = (cr_record){.model = r.model, .plan = r.plan, .columns = r.columns};
    like->model.masks = NULL; /* the layout of a record does not depend on them */
    bytes[0] = r.host;
    bytes[1] = r.device;
    return status;
}

certreg_status certreg_estimator_size(certreg_backend *backend, const certreg_model *model,
                                      const certreg_plan *plan, certreg_error *why, size_t *bytes,
                                      size_t *device_bytes)
{
    size_t sizes[2] = {0, 0};
    certreg_error error;
    cr_error_clear(&error);
    const certreg_status status =
        bytes ? cr_estimator_memory(backend, model, plan, CR_MIN_BLOCKS, sizes, &error)
              : cr_error_set(&error, CERTREG_E_INVALID, "bytes is NULL");
    cr_error_copy_out(why, &error);
    if (bytes) *bytes = sizes[0];
    if (device_bytes) *device_bytes = sizes[1];
    return status;
}

/* ---- create */
/* A limit, or its nearest float if that lies beyond: a model that clips in float returns that. */
static double widen_to_float(double limit, int upper)
{
    const double nearest = fabs(limit) <= FLT_MAX ? (double)(float)limit : limit;
    return upper ? fmax(limit, nearest) : fmin(limit, nearest);
}

static void copy_model(certreg_estimator *e, const request *r, const cr_declared_outputs *declared)
{
    for (size_t j = 0; j < e->record.model.inputs; j++) {
        e->record.input.scale[j] = r->model.scale ? r->model.scale[j] : 1.0f;
        e->replay.host.mask[j] = e->record.input.scale[j] > 0 ? 1.0f : 0.0f;
    }
    for (size_t k = 0; k < e->record.model.outputs; k++) {
        const int32_t kind = r->model.kind ? r->model.kind[k] : CERTREG_OUTPUT_REAL;
        const double lo = r->model.lo ? r->model.lo[k] : -INFINITY,
                     hi = r->model.hi ? r->model.hi[k] : INFINITY;
        const int real = kind == CERTREG_OUTPUT_REAL;
        declared->kind[k] = kind;
        declared->lo[k] = real ? widen_to_float(lo, 0) : isfinite(lo) ? lo : -CR_PI;
        declared->hi[k] = real ? widen_to_float(hi, 1) : isfinite(hi) ? hi : CR_PI;
    }
    e->record.model.scale = e->record.input.scale;
    e->record.model.kind = declared->kind;
    e->record.model.lo = declared->lo;
    e->record.model.hi = declared->hi;
    if (r->model.masks) cr_masks_copy(e, r->model.masks);
}

/* A given seed is the caller's responsibility: the model must not know it. */
static certreg_status draw_seed(certreg_plan *plan, certreg_error *why)
{
    if (plan->seed || !cr_os_random64(&plan->seed)) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "plan.seed is 0, and the system has no randomness to draw one from: give a seed "
        "that the model does not know");
}

/* Sets the fields that enter, leave and the layout need. */
static void init_handle(certreg_estimator *e, const request *r)
{
    e->backend = r->backend;
    e->record.model = r->model;
    e->record.plan = r->plan;
    e->record.columns = r->columns;
    e->record.input.active = r->active;
    cr_call_guard_init(&e->guard);
    cr_error_clear(&e->error);
    atomic_init(&e->cancel, 0);
}

static certreg_status init_memory(certreg_estimator *e, const request *r)
{
    const certreg_status status = cr_layout_alloc_device(e, r->device);
    if (status) return status;
    cr_arena host = {.base = (void *)e}, device = cr_layout_device(e->device_memory);
    cr_arena_alloc(&host, 1, sizeof *e);
    const cr_declared_outputs declared = cr_layout(e, &host, &device);
    copy_model(e, r, &declared);
    e->record.deadline->now = cr_os_now;
    e->replay.view = &e->record;
    e->replay.backend = e->backend;
    e->replay.why = &e->error;
    cr_record_clear(&e->record);
    return cr_layout_prepare(e);
}

certreg_status cr_estimator_create(certreg_backend *backend, const certreg_model *model,
                                   const certreg_plan *plan, size_t min_blocks, certreg_error *why,
                                   certreg_estimator **out)
{
    request r;
    int32_t owned;
    void *memory;
    certreg_status status = read_request(backend, model, plan, min_blocks, &r, why);
    if (!status) status = draw_seed(&r.plan, why);
    if (!status)
        status = cr_handle_alloc(r.plan.memory, r.plan.memory_bytes, r.host, &owned, &memory, why);
    if (status) return status;
    certreg_estimator *e = memory;
    e->owns_memory = owned;
    init_handle(e, &r);
    status = cr_estimator_enter(e, NULL);
    if (!status) status = cr_estimator_leave(e, init_memory(e, &r));
    *out = status ? NULL : e;
    if (!status) return CERTREG_OK;
    *why = e->error;
    certreg_estimator_destroy(e);
    return status;
}

certreg_status certreg_estimator_create(certreg_backend *backend, const certreg_model *model,
                                        const certreg_plan *plan, certreg_error *why,
                                        certreg_estimator **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status =
        out ? cr_estimator_create(backend, model, plan, CR_MIN_BLOCKS, &error, out)
            : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_estimator_destroy(certreg_estimator *e)
{
    if (!e || !cr_handle_is_own(e)) return;
    if (!cr_call_guard_is_foreign(&e->guard))
        cr_layout_release(e); /* a forked child has no device */
    if (e->owns_memory) cr_handle_release(e);
}
