/* The handle of an attack: size, create and destroy, and the beginning and the end of every call.
 * The probe is made only here, in the memory of the attack. */
#include "attack/attack.h"
#include "base/arena.h"
#include "base/handle_memory.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"

/* The backend as the caller gave it; NULL is the default one. */
static certreg_backend *backend_of(const cr_context *target)
{
    certreg_backend *backend = target->replay->backend;
    return backend == cr_backend_default() ? NULL : backend;
}

static certreg_model model_of(const cr_context *target)
{
    certreg_model model = target->record->model;
    model.struct_size = sizeof model;
    return model;
}

/* The probe's plan, with room for the samples of one step and of the record, because the probe
 * replays the record's noise. One block makes room for the sums of two functions. Each attack sets
 * the seed; until then it is the target's, so that none is drawn. */
static certreg_plan plan_of(const cr_context *target, size_t max_calls)
{
    const size_t pairs = max_calls / 2, record_samples = target->record->plan.max_samples;
    return (certreg_plan){.struct_size = sizeof(certreg_plan),
                          .constraints = CERTREG_CONSTRAINTS_ECGM,
                          .seed = target->record->plan.seed,
                          .max_samples = pairs > record_samples ? pairs : record_samples,
                          .pilot = SIZE_MAX,
                          .blocks = 1,
                          /* a fixed shift is an episode's adversary too */
                          .flags = target->record->plan.flags & ~(uint32_t)CERTREG_PLAN_EPISODE};
}

/* Returns the memory of the probe, behind all arrays. */
static void *lay_out(certreg_attack *a, cr_arena *arena, size_t inputs, size_t pairs, size_t probe)
{
    cr_arena_alloc(arena, 1, sizeof *a);
    a->direction = cr_arena_alloc(arena, inputs, sizeof *a->direction);
    a->shifted_input = cr_arena_alloc(arena, inputs, sizeof *a->shifted_input);
    a->forward = cr_arena_alloc(arena, pairs, sizeof *a->forward);
    a->gradient_sum = cr_arena_alloc(arena, inputs, sizeof *a->gradient_sum);
    a->half_sums = cr_arena_alloc(arena, cr_arena_product(4, inputs), sizeof *a->half_sums);
    return cr_arena_alloc(arena, probe, 1);
}

static certreg_status read_plan(const certreg_attack_plan *caller_plan, certreg_attack_plan *plan,
                                certreg_error *why)
{
    const certreg_status status =
        cr_struct_read(plan, sizeof *plan, CR_OLDEST_ATTACK_PLAN, caller_plan, "plan", why);
    if (status) return status;
    if (plan->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.reserved is %d; it must be 0",
                            (int)plan->reserved);
    return CERTREG_OK;
}

typedef struct memory_sizes { /* bytes */
    size_t total, probe, device;
} memory_sizes;

/* Also reads the plan. */
static certreg_status count(const cr_context *target, const certreg_attack_plan *caller_plan,
                            certreg_attack_plan *plan, memory_sizes *n, certreg_error *why)
{
    certreg_status status = read_plan(caller_plan, plan, why);
    if (status) return status;
    const certreg_model model = model_of(target);
    const certreg_plan probe_plan = plan_of(target, plan->max_calls);
    size_t bytes[2];
    status = cr_estimator_memory(backend_of(target), &model, &probe_plan, 1, bytes, why);
    if (status && status != CERTREG_E_NO_MEMORY) return status;
    certreg_attack sized;
    cr_arena arena = {0};
    lay_out(&sized, &arena, model.inputs, plan->max_calls / 2, bytes[0]);
    if (status || arena.overflow)
        return cr_error_set(why, CERTREG_E_NO_MEMORY,
                            "%zu inputs and plan.max_calls = %zu do not fit into memory",
                            model.inputs, plan->max_calls);
    *n = (memory_sizes){.total = arena.used, .probe = bytes[0], .device = bytes[1]};
    return CERTREG_OK;
}

/* ---- size */
certreg_status certreg_attack_size(certreg_estimator *target, const certreg_attack_plan *plan,
                                   size_t *bytes, size_t *device_bytes)
{
    certreg_attack_plan read;
    memory_sizes n = {0};
    if (bytes) *bytes = 0;
    if (device_bytes) *device_bytes = 0;
    if (!target || !bytes) return CERTREG_E_INVALID;
    const certreg_status refused = cr_estimator_lock(target);
    if (refused) return refused;
    const cr_context context = cr_estimator_context(target);
    const certreg_status status = count(&context, plan, &read, &n, context.why);
    if (!status) *bytes = n.total;
    if (!status && device_bytes) *device_bytes = n.device;
    return cr_estimator_unlock(target, status);
}

/* ---- create */
static certreg_status create(const cr_context *target, const certreg_attack_plan *caller_plan,
                             certreg_attack **out, certreg_error *why)
{
    certreg_attack_plan plan;
    memory_sizes n = {0};
    int32_t owned = 0;
    void *memory = NULL;
    certreg_status status = count(target, caller_plan, &plan, &n, why);
    if (!status)
        status = cr_handle_alloc(plan.memory, plan.memory_bytes, n.total, &owned, &memory, why);
    if (status) return status;
    certreg_attack *a = memory;
    a->tag = CR_HANDLE_TAG;
    a->target = *target;
    a->max_calls = plan.max_calls;
    a->owns_memory = owned;
    cr_arena arena = {.base = memory};
    certreg_plan probe_plan = plan_of(target, plan.max_calls);
    probe_plan.memory =
        lay_out(a, &arena, target->record->model.inputs, plan.max_calls / 2, n.probe);
    probe_plan.memory_bytes = n.probe;
    const certreg_model model = model_of(target);
    certreg_estimator *probe;
    status = cr_estimator_create(backend_of(target), &model, &probe_plan, 1, why, &probe);
    if (status) {
        if (owned) cr_handle_release(a);
        return status;
    }
    a->probe = cr_estimator_context(probe);
    *out = a;
    return CERTREG_OK;
}

static certreg_status create_beside(certreg_estimator *target, const certreg_attack_plan *plan,
                                    certreg_attack **out, certreg_error *why)
{
    if (!target) return cr_error_set(why, CERTREG_E_INVALID, "estimator is NULL");
    const certreg_status refused = cr_estimator_lock(target);
    const cr_context context = cr_estimator_context(target);
    if (refused == CERTREG_E_BUSY)
        return cr_error_set(why, refused, "a call is running on the estimator");
    if (refused) *why = *certreg_estimator_error(target);
    return refused ? refused : cr_estimator_unlock(target, create(&context, plan, out, why));
}

certreg_status certreg_attack_create(certreg_estimator *target, const certreg_attack_plan *plan,
                                     certreg_error *why, certreg_attack **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create_beside(target, plan, out, &error)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_attack_destroy(certreg_attack *a)
{
    if (!a || !cr_handle_is_own(a)) return;
    certreg_estimator_destroy(a->probe.estimator);
    if (a->owns_memory) cr_handle_release(a);
}

const certreg_error *certreg_attack_error(const certreg_attack *a)
{
    if (a && !cr_handle_is_own(a)) return &cr_handle_foreign_error;
    return a ? certreg_estimator_error(a->probe.estimator) : NULL;
}

/* ---- a call */
certreg_status cr_attack_enter(certreg_attack *a)
{
    if (!a) return CERTREG_E_INVALID;
    if (!cr_handle_is_own(a)) return CERTREG_E_VERSION;
    const certreg_status status = cr_estimator_enter(a->probe.estimator, NULL);
    if (status) return status;
    const certreg_status refused = cr_estimator_lock(a->target.estimator);
    if (!refused) return CERTREG_OK;
    return cr_estimator_leave(
        a->probe.estimator,
        cr_error_set(a->probe.why, refused, "a call is running on the estimator"));
}

certreg_status cr_attack_leave(certreg_attack *a, certreg_status status)
{
    cr_estimator_unlock(a->target.estimator, status);
    return cr_estimator_leave(a->probe.estimator, status);
}
