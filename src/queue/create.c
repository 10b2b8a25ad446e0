/* Making queues: the layout of all their memory, and the checks of their plans. */
#include "base/arena.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "queue/queue.h"

enum { MAX_CAPACITY = 65536, MAX_QUESTIONS = 1024, MAX_ALTERNATIVES = 65535 };

/* ---- the layout */
static void lay_out_entry(cr_arena *arena, const certreg_queue *q, const cr_record *like,
                          cr_entry *e)
{
    const size_t n = q->plan.questions, outputs = like->model.outputs;
    e->questions = cr_arena_alloc(arena, n, sizeof *e->questions);
    e->targets = cr_arena_alloc(arena, n, sizeof *e->targets);
    e->serving = cr_arena_alloc(arena, n, sizeof *e->serving);
    e->looks = cr_arena_alloc(arena, n * CR_LOOKS, sizeof *e->looks);
    e->predictions = cr_arena_alloc(arena, cr_arena_product(n, outputs), sizeof(double));
    e->certificates = cr_arena_alloc(arena, n, sizeof *e->certificates);
}

static void lay_out_set(cr_arena *arena, const certreg_queue *q, const cr_record *like, cr_set *s)
{
    const size_t n = q->plan.questions, members = q->plan.alternatives + 1;
    s->z = cr_arena_alloc(arena, like->model.inputs, sizeof *s->z);
    s->members = cr_arena_alloc(arena, members, sizeof *s->members);
    s->estimates = cr_arena_alloc(arena, cr_arena_product(members, n), sizeof *s->estimates);
    s->predictions =
        cr_arena_alloc(arena, cr_arena_product(n, like->model.outputs), sizeof *s->predictions);
    s->outputs = cr_arena_alloc(arena, n, sizeof *s->outputs);
    s->watched = cr_arena_alloc(arena, n, sizeof *s->watched);
    s->least = cr_arena_alloc(arena, n, sizeof *s->least);
    s->limiting = cr_arena_alloc(arena, n, sizeof *s->limiting);
    s->out = cr_arena_alloc(arena, n, sizeof *s->out);
    s->own = cr_arena_alloc(arena, n, sizeof *s->own);
    s->tightest = cr_arena_alloc(arena, n, sizeof *s->tightest);
}

static void lay_out_calls(cr_arena *host, cr_arena *device, certreg_queue *q, const cr_record *like)
{
    const size_t rows = like->model.batch;
    q->calls = cr_arena_alloc(host, q->plan.calls, sizeof *q->calls);
    for (size_t i = 0; i < q->plan.calls; i++) {
        float *x = NULL; /* the first call has the rows of the estimator */
        if (i) x = cr_arena_alloc(device, cr_arena_product(rows, like->model.inputs), sizeof *x);
        float *y = cr_arena_alloc(host, cr_arena_product(rows, like->columns), sizeof *y);
        certreg_queue_row *row = cr_arena_alloc(host, rows, sizeof *row);
        cr_origin *origin = cr_arena_alloc(host, rows, sizeof *origin);
        if (q->calls) q->calls[i] = (cr_queue_call){.x = x, .y = y, .row = row, .origin = origin};
    }
}

/* Lays out everything behind the queue itself; while counting, the slots and entries have no
 * memory. The record is like that of the estimator. */
static void lay_out(certreg_queue *q, const cr_record *like, cr_arena *host, cr_arena *device)
{
    const certreg_queue_plan *p = &q->plan;
    q->slots = cr_arena_alloc(host, p->capacity, sizeof *q->slots);
    q->open = cr_arena_alloc(host, p->capacity, sizeof(void *));
    q->entries = cr_arena_alloc(host, p->capacity, sizeof *q->entries);
    q->asked = cr_arena_alloc(host, p->questions, sizeof *q->asked);
    q->answers = cr_arena_alloc(host, p->questions, sizeof *q->answers);
    q->changed = cr_arena_alloc(host, p->sets ? like->model.inputs : 0, sizeof *q->changed);
    lay_out_calls(host, device, q, like);
    q->picks = cr_arena_alloc(host, cr_audit_room(&like->plan, p->capacity), sizeof *q->picks);
    if (p->keep) q->exported = cr_arena_alloc(host, q->export_bytes, 1);
    if (p->keep && p->flags & CERTREG_QUEUE_KEEP_PICKS)
        q->erased = cr_arena_alloc(host, like->plan.max_samples, sizeof *q->erased);
    for (size_t i = 0; i < p->capacity; i++) {
        cr_record record;
        cr_entry entry = {.is_open = 0};
        cr_estimator_lay_out_record(like, host, &record);
        lay_out_entry(host, q, like, &entry);
        if (i < p->sets) lay_out_set(host, q, like, &entry.set);
        if (q->slots) q->slots[i].record = record;
        if (q->entries) q->entries[i] = entry;
    }
}

/* ---- the plan */
static certreg_status check_number(const char *name, size_t value, size_t most, certreg_error *why)
{
    return value <= most
               ? CERTREG_OK
               : cr_error_set(why, CERTREG_E_INVALID, "plan.%s is %zu; it must be at most %zu",
                              name, value, most);
}

static certreg_status read_plan(const certreg_queue_plan *given, const certreg_plan *plan,
                                certreg_queue_plan *out, certreg_error *why)
{
    const uint32_t refused = CERTREG_PLAN_PAIRS | CERTREG_PLAN_DEPLOYED;
    certreg_plan sampling;
    certreg_status status =
        cr_struct_read(out, sizeof *out, CR_OLDEST_QUEUE_PLAN, given, "queue plan", why);
    if (!status)
        status = cr_struct_read(&sampling, sizeof sampling, CR_OLDEST_PLAN, plan, "plan", why);
    if (status) return status;
    if (!out->calls) out->calls = 1;
    if (!out->questions) out->questions = 1;
    if (!out->alternatives || !out->sets) out->alternatives = out->sets = 0;
    if (!(out->random >= 0))
        return cr_error_set(why, CERTREG_E_INVALID, "plan.random is %g; it must be 0 or above",
                            out->random);
    if (!out->capacity)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.capacity is 0; give the inputs that may "
                            "be open at a time");
    if (out->flags & ~(uint32_t)(CERTREG_QUEUE_SPLIT | CERTREG_QUEUE_KEEP_PICKS))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.flags of the queue is 0x%x; give CERTREG_QUEUE_SPLIT, "
                            "CERTREG_QUEUE_KEEP_PICKS or 0",
                            out->flags);
    if (sampling.progress || sampling.flags & refused)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "a queue needs plan.progress NULL, and plan.flags without "
                            "CERTREG_PLAN_PAIRS and CERTREG_PLAN_DEPLOYED, which certify nothing");
    status = check_number("capacity", out->capacity, MAX_CAPACITY, why);
    if (!status) status = check_number("calls", out->calls, CR_MAX_CALLS, why);
    if (!status) status = check_number("questions", out->questions, MAX_QUESTIONS, why);
    if (!status) status = check_number("alternatives", out->alternatives, MAX_ALTERNATIVES, why);
    return status ? status : check_number("sets", out->sets, out->capacity, why);
}

/* ---- size and create */
typedef struct request { /* everything create and size agree upon */
    certreg_queue_plan plan;
    cr_record like;
    size_t own, estimator; /* bytes of the host */
    size_t device, rows;   /* bytes of a device: of all, and of the rows of further calls */
} request;

static certreg_status read_request(certreg_backend *backend, const certreg_model *model,
                                   const certreg_plan *plan, const certreg_queue_plan *given,
                                   request *r, certreg_error *why)
{
    size_t bytes[2];
    *r = (request){.own = 0};
    certreg_status status = read_plan(given, plan, &r->plan, why);
    if (!status) status = cr_estimator_like(backend, model, plan, bytes, &r->like, why);
    if (status) return status;
    certreg_queue sized = {.plan = r->plan, .export_bytes = cr_record_export_bytes(&r->like)};
    cr_arena host = {0}, device = {.align = 256};
    cr_arena_alloc(&host, 1, sizeof sized);
    const int on_device = backend && cr_backend_is_device(backend);
    lay_out(&sized, &r->like, &host, on_device ? &device : &host);
    r->own = (host.used + CR_ALIGN - 1) & ~(size_t)(CR_ALIGN - 1);
    r->estimator = bytes[0];
    r->rows = device.used;
    r->device = bytes[1] + device.used;
    if (!host.overflow && !device.overflow) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_NO_MEMORY,
                        "capacity %zu, max_samples %zu, alternatives %zu do not fit into memory",
                        r->plan.capacity, r->like.plan.max_samples, r->plan.alternatives);
}

certreg_status certreg_queue_size(certreg_backend *backend, const certreg_model *model,
                                  const certreg_plan *plan, const certreg_queue_plan *queue_plan,
                                  certreg_error *why, size_t *bytes, size_t *device_bytes)
{
    request r = {.own = 0};
    certreg_error error;
    cr_error_clear(&error);
    certreg_status status = bytes ? CERTREG_OK
                                  : cr_error_set(&error, CERTREG_E_INVALID, "bytes is NULL");
    if (!status) status = read_request(backend, model, plan, queue_plan, &r, &error);
    cr_error_copy_out(why, &error);
    if (bytes) *bytes = status ? 0 : r.own + r.estimator;
    if (device_bytes) *device_bytes = status ? 0 : r.device;
    return status;
}

static void init(certreg_queue *q, const request *r, cr_arena *host, cr_arena *device)
{
    cr_record *own = q->w.record;
    q->export_bytes = cr_record_export_bytes(own);
    lay_out(q, own, host, device);
    cr_audit_set_room(q->w.estimator, q->picks, cr_audit_room(&own->plan, r->plan.capacity),
                      r->plan.random);
    q->calls[0].x = cr_estimator_rows(q->w.estimator);
    q->home = *own;
    for (size_t i = 0; i < r->plan.capacity; i++) cr_record_clear(&q->slots[i].record);
}

/* Takes memory of a device for the rows of further calls. */
static certreg_status alloc_rows(certreg_queue *q, size_t bytes, certreg_error *why)
{
    certreg_backend *backend = q->w.replay->backend;
    certreg_status status = cr_estimator_enter(q->w.estimator, NULL);
    if (status) return status;
    status = backend->ops->alloc(backend, bytes, &q->device_memory);
    if (status) status = cr_backend_failed(backend, status, "take memory", why);
    return cr_estimator_leave(q->w.estimator, status);
}

static certreg_status create(certreg_backend *backend, const certreg_model *model,
                             const certreg_plan *plan, const certreg_queue_plan *queue_plan,
                             certreg_queue **out, certreg_error *why)
{
    request r;
    int32_t owned;
    void *memory;
    certreg_estimator *e = NULL;
    certreg_status status = read_request(backend, model, plan, queue_plan, &r, why);
    if (!status)
        status = cr_handle_alloc(r.like.plan.memory, r.like.plan.memory_bytes, r.own + r.estimator,
                                 &owned, &memory, why);
    if (status) return status;
    certreg_queue *q = memory;
    certreg_plan inner = r.like.plan;
    inner.struct_size = sizeof inner;
    inner.memory = (unsigned char *)memory + r.own;
    inner.memory_bytes = r.estimator;
    *q = (certreg_queue){.tag = CR_HANDLE_TAG, .plan = r.plan, .owns_memory = owned};
    status = certreg_estimator_create(backend, model, &inner, why, &e);
    if (!status) {
        q->w = cr_estimator_context(e);
        if (r.rows) status = alloc_rows(q, r.rows, why);
    }
    if (status) {
        certreg_estimator_destroy(e);
        if (owned) cr_handle_release(q);
        return status;
    }
    cr_arena host = {.base = memory}, device = {.base = q->device_memory, .align = 256};
    cr_arena_alloc(&host, 1, sizeof *q);
    init(q, &r, &host, q->device_memory ? &device : &host);
    *out = q;
    return CERTREG_OK;
}

certreg_status certreg_queue_create(certreg_backend *backend, const certreg_model *model,
                                    const certreg_plan *plan, const certreg_queue_plan *queue_plan,
                                    certreg_error *why, certreg_queue **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create(backend, model, plan, queue_plan, out, &error)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_queue_destroy(certreg_queue *q)
{
    if (!q || !cr_handle_is_own(q)) return;
    certreg_backend *backend = q->w.replay->backend;
    if (q->device_memory && !cr_estimator_enter(q->w.estimator, NULL)) {
        backend->ops->free(backend, q->device_memory);
        cr_estimator_leave(q->w.estimator, CERTREG_OK);
    }
    certreg_estimator_destroy(q->w.estimator);
    if (q->owns_memory) cr_handle_release(q);
}

const certreg_error *certreg_queue_error(const certreg_queue *q)
{
    if (q && !cr_handle_is_own(q)) return &cr_handle_foreign_error;
    return q ? certreg_estimator_error(q->w.estimator) : NULL;
}
