/* Size, create and destroy, with the checks of model and plan. Nothing else in this room takes
 * memory of the host. */
#include "base/os.h"
#include "base/constants.h"
#include "base/fp_environment.h"
#include "base/handle_memory.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "estimator/memory_layout.h"
#include "statistics/location.h"
#include <float.h>
#include <math.h>
#include <string.h>

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
                   use = plan->flags & uses;
    if (plan->flags & ~(CERTREG_PLAN_COUNT_FAILURES | uses) || use & (use - 1))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "plan.flags is 0x%x; give CERTREG_PLAN_COUNT_FAILURES and one of "
            "CERTREG_PLAN_PAIRS, CERTREG_PLAN_EPISODE and CERTREG_PLAN_DEPLOYED, or 0",
            plan->flags);
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
