/* The calls on a queue: adding inputs, drawing their rows, recording outputs, and taking results.
 * What is known about one record goes from call to call through cr_queue_step. */
#include "queue/queue.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "conditions/conditions.h"
#include <math.h>
#include <string.h>

/* ======== Entering and leaving. */
static certreg_status enter(certreg_queue *q)
{
    if (!q) return CERTREG_E_INVALID;
    if (!cr_handle_is_own(q)) return CERTREG_E_VERSION;
    return cr_estimator_enter(q->w.estimator, NULL);
}

/* At rest the estimator has its own record. */
static certreg_status leave(certreg_queue *q, certreg_status status)
{
    cr_queue_exchange(q, NULL);
    return cr_estimator_leave(q->w.estimator, status);
}

/* ======== Adding inputs. */
/* Copies the questions, with everything that they point to. */
static certreg_status copy_question(const certreg_queue *q, const certreg_queue_input *in, size_t k,
                                    cr_entry *e)
{
    const size_t outputs = q->w.record->model.outputs;
    certreg_error *why = q->w.why;
    certreg_question *to = e->questions + k;
    certreg_target *target = e->targets + k;
    certreg_status status = cr_struct_element(to, sizeof *to, in->questions, k, "question", why);
    if (!status && to->target)
        status = cr_struct_read(target, sizeof *target, CR_OLDEST_TARGET, to->target,
                                "question.target", why);
    if (!status && to->serving)
        status = cr_struct_read(e->serving + k, sizeof *e->serving, CR_OLDEST_SERVING, to->serving,
                                "question.serving", why);
    if (status) return status;
    if (to->target && target->looks && target->look_count <= CR_LOOKS) {
        memcpy(e->looks + k * CR_LOOKS, target->looks, target->look_count * sizeof *e->looks);
        target->looks = e->looks + k * CR_LOOKS;
    }
    if (to->prediction && to->prediction_count > outputs)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.prediction_count is %zu, and the model has %zu outputs",
                            to->prediction_count, outputs);
    if (to->prediction) {
        const size_t numbers = to->prediction_count ? to->prediction_count : 1;
        memcpy(e->predictions + k * outputs, to->prediction, numbers * sizeof *e->predictions);
        to->prediction = e->predictions + k * outputs;
    }
    if (to->target) to->target = target;
    if (to->serving) to->serving = e->serving + k;
    return CERTREG_OK;
}

/* Returns 1 if two inputs, with their alternatives, share noise. */
static int overlaps(uint64_t id, uint64_t ids, uint64_t other, uint64_t others)
{
    return id < other ? other - id < ids && others : id - other < others && ids;
}

static int shares_noise(const cr_entry *a, const cr_entry *b)
{
    const uint64_t first = a->set.given.first_noise_id, ids = cr_set_noise_ids(&a->set.given),
                   other = b->set.given.first_noise_id, others = cr_set_noise_ids(&b->set.given);
    return a->level == b->level &&
           (overlaps(a->noise_id, a != b, b->noise_id, a != b) ||
            overlaps(a->noise_id, 1, other, others) || overlaps(first, ids, b->noise_id, 1) ||
            (a != b && overlaps(first, ids, other, others)));
}

static certreg_status check_entry(const certreg_queue *q, const cr_entry *e)
{
    certreg_error *why = q->w.why;
    const size_t max_samples = q->home.plan.max_samples;
    if (e->samples > max_samples)
        return cr_error_set(why, CERTREG_E_TOO_MANY,
                            "samples is %zu, more than plan.max_samples = %zu", e->samples,
                            max_samples);
    for (size_t i = 0; i < q->plan.capacity; i++) {
        const cr_entry *other = q->entries + i;
        if (other->is_open && other != e && other->tag == e->tag)
            return cr_error_set(why, CERTREG_E_INVALID, "tag %llu is open already",
                                (unsigned long long)e->tag);
        if ((other->is_open || other == e) && shares_noise(e, other))
            return cr_error_set(why, CERTREG_E_INVALID,
                                "noise id %llu at level %llu, or one of the alternatives', is that "
                                "of the input with tag %llu: give each record noise of its own",
                                (unsigned long long)e->noise_id, (unsigned long long)e->level,
                                (unsigned long long)other->tag);
    }
    return CERTREG_OK;
}

static certreg_status read_input(certreg_queue *q, const certreg_queue_input *in, cr_entry *e)
{
    certreg_error *why = q->w.why;
    if (!(in->seconds >= 0))
        return cr_error_set(why, CERTREG_E_INVALID, "input.seconds is %g; it must be 0 or above",
                            in->seconds);
    if (in->asks_again &&
        (in->asks_again != 1 || !in->record || in->alternatives || !q->home.plan.audit))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "input.asks_again is %d; it is 0, or 1 with a record, without "
                            "alternatives, and with plan.audit",
                            (int)in->asks_again);
    if (!in->count || in->count > q->plan.questions)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "input.count is %zu; the queue is made for 1 to %zu questions",
                            in->count, q->plan.questions);
    if (!(in->at_radius >= 0) || (in->at_radius > 0 && in->alternatives))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "input.at_radius is %g; it must be 0 or above, and 0 with alternatives",
                            in->at_radius);
    if (in->alternatives && in->record)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "input.record and input.alternatives are set: alternatives.write names "
                            "the records of all of them");
    e->tag = in->tag;
    e->asks_again = in->asks_again;
    e->noise_id = in->noise_id;
    e->level = in->level;
    e->sigma = in->sigma;
    e->at_radius = in->at_radius;
    e->samples = in->samples ? in->samples : q->home.plan.max_samples;
    e->count = in->count;
    e->decided = e->rows = e->pilot = 0;
    e->expires_at = in->seconds > 0 ? cr_deadline_now(q->home.deadline) + in->seconds : 0;
    e->set.given.count = 0;
    certreg_status status = cr_struct_check(in->questions, CR_OLDEST_QUESTION, "question", why);
    for (size_t k = 0; k < in->count && !status; k++) status = copy_question(q, in, k, e);
    if (!status && in->alternatives) status = cr_set_read(q, in->alternatives, e);
    return status ? status : check_entry(q, e);
}

static cr_entry *free_entry(certreg_queue *q, int with_set)
{
    for (size_t i = with_set ? 0 : q->plan.sets; i < q->plan.capacity; i++) {
        if (with_set && i == q->plan.sets) return NULL;
        if (!q->entries[i].is_open) return q->entries + i;
    }
    for (size_t i = 0; i < q->plan.sets && !with_set; i++)
        if (!q->entries[i].is_open) return q->entries + i;
    return NULL;
}

static void fill_sets(certreg_queue *q)
{
    for (size_t i = 0; i < q->plan.sets && q->open_count < q->plan.capacity; i++) {
        cr_entry *e = q->entries + i;
        if (e->is_open && !e->decided && e->set.given.count) cr_set_fill(q, e);
    }
}

/* Lets the samples of an earlier run wait for the audit, which judges them by these tolerances. */
static void wait_for_audit(certreg_queue *q, cr_slot *slot)
{
    cr_entry *e = slot->entry;
    cr_audited *audited = &q->w.record->audited;
    e->certificates->struct_size = sizeof *e->certificates;
    cr_certificate_write_empty(q->w.record, CERTREG_OK, CERTREG_STOP_ALL, e->count,
                               e->certificates);
    for (size_t k = 0; k < e->count; k++) {
        cr_question asked = {.first_output = 0};
        if (cr_question_parse(e->questions, k, 1, &asked.given, q->w.why) ||
            cr_question_validate(q->w.record, &asked, q->w.why))
            continue;
        for (size_t i = asked.first_output; i < asked.end_output; i++)
            audited->limit[i] = fmin(audited->limit[i], asked.given.tolerance);
    }
    cr_error_clear(&e->error);
    slot->waits = CR_WAITS;
}

/* Opens an entry that has been read. */
static certreg_status open_entry(certreg_queue *q, cr_slot *slot, cr_entry *e,
                                 const certreg_queue_input *in)
{
    certreg_alternative itself = {
        .struct_size = sizeof itself, .record = in->record, .record_bytes = in->record_bytes};
    certreg_status status = CERTREG_OK;
    if (e->set.given.count) status = cr_set_itself(q, e, in->z, &itself);
    if (!status) status = cr_queue_open(q, slot, e, &itself, in->z);
    if (status) return status;
    e->is_open = 1;
    if (e->asks_again) wait_for_audit(q, slot);
    else if (e->set.given.count) cr_set_begin(q, slot);
    else cr_queue_step(q, slot, CERTREG_OK);
    cr_error_clear(q->w.why); /* of an input that has failed; its result has it */
    return CERTREG_OK;
}

static certreg_status add(certreg_queue *q, const certreg_queue_input *given, int32_t *full)
{
    certreg_queue_input in;
    cr_error_clear(q->w.why);
    certreg_status status =
        cr_struct_read(&in, sizeof in, CR_OLDEST_QUEUE_INPUT, given, "input", q->w.why);
    if (status) return status;
    if (in.alternatives && !q->plan.sets)
        return cr_error_set(q->w.why, CERTREG_E_INVALID,
                            "input.alternatives is set, and the queue has no room for alternatives "
                            "(sets and alternatives of certreg_queue_plan)");
    fill_sets(q);
    cr_slot *slot = cr_queue_free_slot(q);
    cr_entry *e = free_entry(q, in.alternatives != NULL);
    *full = !slot || !e;
    if (*full) return CERTREG_OK;
    status = read_input(q, &in, e);
    return status ? status : open_entry(q, slot, e, &in);
}

/* ======== Rows: drawn for the oldest records, and recorded. */
/* Finds the next samples of a slot that are not drawn: [*first, returned end). */
static size_t next_samples(cr_slot *slot, cr_view *v, size_t *first)
{
    while (slot->next < slot->goal && cr_view_has(v, slot->next)) slot->next++;
    size_t end = *first = slot->next;
    while (end < slot->goal && !cr_view_has(v, end)) end++;
    return end;
}

/* The record of a slot as it is now. */
static cr_view *view_of(const certreg_queue *q, const cr_slot *slot)
{
    return q->mounted == slot ? q->w.record : &slot->record;
}

/* Draws samples of a slot as the next rows of a call. */
static certreg_status draw(certreg_queue *q, cr_queue_call *c, cr_slot *slot, size_t first,
                           size_t count)
{
    cr_queue_mount(q, slot);
    const certreg_status status =
        cr_estimator_draw(q->w.estimator, first, count, c->x + c->used * q->home.model.inputs);
    for (size_t i = 0; i < count; i++) {
        c->origin[c->used + i] = (cr_origin){.slot = slot, .use = slot->use};
        c->row[c->used + i] = cr_queue_origin(slot, first + i);
    }
    c->used += count;
    return status;
}

/* Fills the rest of a call with further noise of its last input, so that all calls have the same
 * shape. */
static certreg_status fill_rest(certreg_queue *q, cr_queue_call *c)
{
    const size_t rest = q->home.model.batch - c->used;
    if (!rest) return CERTREG_OK;
    return cr_estimator_draw(q->w.estimator, c->row[c->used - 1].sample + 1, rest,
                             c->x + c->used * q->home.model.inputs);
}

/* Returns the number of rows that can be drawn, up to a whole call. */
static size_t rows_waiting(const certreg_queue *q)
{
    size_t rows = 0;
    for (size_t i = 0; i < q->open_count; i++) {
        const cr_slot *slot = q->open[i];
        for (size_t at = slot->next; at < slot->goal && rows < q->home.model.batch; at++)
            rows += !cr_view_has(view_of(q, slot), at);
    }
    return rows;
}

/* A record that is called alone shares no call. */
static certreg_status draw_call(certreg_queue *q, cr_queue_call *c)
{
    const size_t batch = q->home.model.batch;
    certreg_status status = CERTREG_OK;
    c->used = 0;
    for (size_t i = 0; i < q->open_count && c->used < batch && !status; i++) {
        cr_slot *slot = q->open[i];
        size_t first, end;
        if (slot->is_alone && c->used) continue;
        while (c->used < batch && !status &&
               (end = next_samples(slot, view_of(q, slot), &first)) > first) {
            const size_t count = cr_min_size(end - first, batch - c->used);
            status = draw(q, c, slot, first, count);
            slot->next = first + count;
        }
        if (slot->is_alone && c->used) break;
    }
    if (!status && c->used) status = fill_rest(q, c);
    c->rows = batch;
    c->audit = 0;
    c->begun = cr_deadline_now(q->home.deadline);
    return status;
}

static void fail_open(certreg_queue *q, certreg_status status)
{
    const certreg_error why = *q->w.why;
    for (size_t i = 0; i < q->plan.capacity; i++)
        if (q->entries[i].is_open && !q->entries[i].decided) {
            *q->w.why = why;
            cr_queue_fail(q, q->entries + i, status);
        }
    cr_queue_abort_audit(q);
}

/* Records rows at .. end-1 of a call, which have one origin. */
static void record_rows(certreg_queue *q, const cr_queue_call *c, size_t at, size_t end,
                        const float *y)
{
    cr_slot *slot = c->origin[at].slot;
    if (slot->use != c->origin[at].use) return; /* its input has ended */
    cr_queue_mount(q, slot);
    cr_error_clear(q->w.why);
    const size_t before = q->w.record->sample_count;
    certreg_status status = CERTREG_OK;
    for (size_t i = at; i < end && !status; i++)
        status = cr_record_store(q->w.record, c->row[i].sample, 1, y + i * q->home.columns, -1,
                                 q->w.why);
    slot->missing -= q->w.record->sample_count - before;
    slot->is_alone = 0;
    if (status) {
        cr_queue_step(q, slot, status);
        return;
    }
    if (slot->entry->set.given.count) cr_set_advance(q, slot);
    else if (!slot->missing) cr_queue_step(q, slot, CERTREG_OK);
}

static void record_call(certreg_queue *q, const cr_queue_call *c, const float *y)
{
    if (c->audit) {
        const certreg_status status = cr_queue_audit_take(q, c, y);
        if (status) fail_open(q, status);
        return;
    }
    for (size_t at = 0, end; at < c->used; at = end) {
        for (end = at + 1; end < c->used && c->origin[end].use == c->origin[at].use;) end++;
        record_rows(q, c, at, end, y);
    }
}

/* The inputs of a call that failed fail; once each, with their first row. */
static void fail_call(certreg_queue *q, const cr_queue_call *c, int32_t code)
{
    if (c->audit) {
        cr_error_set(q->w.why, CERTREG_E_MODEL_FAILED,
                     "the model returned %d for a call of the audit with %zu rows: see what it "
                     "means by that, and let it take fewer rows than model.batch",
                     code, c->used);
        q->w.why->code = code;
        if (q->audit && c->audit == q->audits) fail_open(q, CERTREG_E_MODEL_FAILED);
        return;
    }
    for (size_t i = 0; i < c->used; i++) {
        cr_slot *slot = c->origin[i].slot;
        if (slot->use != c->origin[i].use) continue;
        cr_queue_mount(q, slot);
        cr_error_set(q->w.why, CERTREG_E_MODEL_FAILED,
                     "the model returned %d for a call with sample %llu of this input, in row %zu: "
                     "see what it means by that",
                     code, (unsigned long long)c->row[i].sample, i);
        q->w.why->sample = (int64_t)c->row[i].sample;
        q->w.why->row = (int64_t)i;
        q->w.why->code = code;
        cr_queue_fail(q, slot->entry, CERTREG_E_MODEL_FAILED);
    }
}

/* Evaluates the calls that are back. */
static void collect(certreg_queue *q)
{
    for (size_t i = 0; i < q->plan.calls; i++) {
        cr_queue_call *c = q->calls + i;
        if (atomic_load(&c->state) != CR_CALL_BACK) continue;
        cr_queue_learn(&q->slowest_call, cr_deadline_now(q->home.deadline) - c->begun);
        if (c->failed) fail_call(q, c, c->failed);
        else record_call(q, c, c->y);
        atomic_store(&c->state, CR_CALL_FREE);
    }
}

/* ---- a deadline or a cancel */
static void end_entry(certreg_queue *q, cr_entry *e, certreg_status why)
{
    if (e->set.given.count) {
        cr_set_give_up(q, e, why);
        return;
    }
    if (e->asks_again) { /* its samples answer nothing */
        for (size_t k = 0; k < e->count; k++)
            e->certificates[k].stop = why == CERTREG_E_DEADLINE ? CERTREG_STOP_DEADLINE
                                                                : CERTREG_STOP_CANCELLED;
        cr_queue_decide(q, e);
        return;
    }
    for (size_t i = 0; i < q->open_count; i++) {
        cr_slot *slot = q->open[i];
        if (slot->entry != e) continue;
        size_t present;
        cr_queue_mount(q, slot);
        cr_view_require_contiguous(q->w.record, &present, NULL);
        cr_record_truncate(q->w.record, present);
        cr_queue_step(q, slot, why);
        return;
    }
}

/* Ends the inputs whose time is over, or all after a cancel. */
static void end_in_time(certreg_queue *q)
{
    const int cancelled = cr_estimator_cancelled(q->w.estimator);
    double now = -1, needed = q->slowest_call + q->slowest_answer * (double)q->open_count;
    for (size_t i = 0; i < q->plan.capacity; i++) {
        cr_entry *e = q->entries + i;
        if (!e->is_open || e->decided || !(cancelled || e->expires_at > 0)) continue;
        if (now < 0) now = cr_deadline_now(q->home.deadline);
        if (cancelled) end_entry(q, e, CERTREG_E_CANCELLED);
        else if (now + needed > e->expires_at) end_entry(q, e, CERTREG_E_DEADLINE);
    }
}

static cr_queue_call *call_in_state(certreg_queue *q, int32_t state)
{
    for (size_t i = 0; i < q->plan.calls; i++)
        if (atomic_load(&q->calls[i].state) == state) return q->calls + i;
    return NULL;
}

static int any_decided(const certreg_queue *q)
{
    for (size_t i = 0; i < q->plan.capacity; i++)
        if (q->entries[i].is_open && q->entries[i].decided) return 1;
    return 0;
}

static int any_out(certreg_queue *q)
{
    return call_in_state(q, CR_CALL_OUT) || call_in_state(q, CR_CALL_BACK);
}

/* Evaluates what has come back, ends what is late, and gives free records to alternatives. */
static void advance(certreg_queue *q)
{
    cr_error_clear(q->w.why);
    collect(q);
    end_in_time(q);
    fill_sets(q);
    cr_error_clear(q->w.why);
}

static certreg_status next(certreg_queue *q, size_t least, certreg_queue_call *out)
{
    advance(q);
    cr_queue_call *c = call_in_state(q, CR_CALL_FREE);
    const int is_out = any_out(q);
    out->state = is_out           ? CERTREG_CALL_WAIT
                 : any_decided(q) ? CERTREG_CALL_TAKE
                                  : CERTREG_CALL_IDLE;
    const size_t waiting = rows_waiting(q);
    const int audits = cr_queue_audit_is_due(q, waiting);
    if (!c || (is_out && (audits || (least && waiting < least)))) return CERTREG_OK;
    const certreg_status status = audits ? cr_queue_audit_draw(q, c) : draw_call(q, c);
    if (audits && !status && !c->used) return next(q, least, out); /* it had nothing to ask */
    if (status) fail_open(q, status);
    if (status || !c->used) return status;
    certreg_backend *backend = q->w.replay->backend;
    const uint64_t ticket = ++q->call_numbers * CR_MAX_CALLS + (uint64_t)(c - q->calls);
    atomic_store(&c->state, CR_CALL_OUT);
    atomic_store(&c->ticket, ticket);
    *out = (certreg_queue_call){.struct_size = sizeof *out,
                                .state = CERTREG_CALL_ROWS,
                                .ticket = ticket,
                                .rows = c->rows,
                                .used = c->used,
                                .x = c->x,
                                .row = c->row,
                                .stream = backend->ops->stream(backend)};
    return CERTREG_OK;
}

static certreg_status give(certreg_queue *q, uint64_t ticket, const float *y, int32_t failed,
                           certreg_error *why)
{
    cr_queue_call *c = q->calls + ticket % CR_MAX_CALLS;
    uint64_t expected = ticket;
    if (!y && !failed) return cr_error_set(why, CERTREG_E_INVALID, "y is NULL");
    /* Two threads may give the same ticket: one of them takes it. */
    if (ticket % CR_MAX_CALLS >= q->plan.calls || !ticket ||
        !atomic_compare_exchange_strong(&c->ticket, &expected, 0))
        return cr_error_set(why, CERTREG_E_INVALID, "no call with ticket %llu is out",
                            (unsigned long long)ticket);
    const size_t count = c->used * q->home.columns;
    certreg_backend *backend = q->w.replay->backend;
    certreg_status status = CERTREG_OK;
    if (!failed && cr_backend_is_device(backend) && !(status = enter(q)))
        status = leave(q, cr_backend_read(backend, &y, c->y, count, "y", why));
    if (!failed && !status && y != c->y) memcpy(c->y, y, count * sizeof *y);
    c->failed = failed;
    if (status) atomic_store(&c->ticket, ticket);
    else atomic_store(&c->state, CR_CALL_BACK);
    return status;
}

/* ---- the model's callback */
/* Draws the rows of a failed call again, for each record alone. Returns 0 if they are of one. */
static int split(cr_queue_call *c)
{
    if (c->origin[0].use == c->origin[c->used - 1].use) return 0;
    for (size_t i = c->used; i-- > 0;) {
        if (c->origin[i].slot->use != c->origin[i].use) continue;
        c->origin[i].slot->is_alone = 1;
        c->origin[i].slot->next = (size_t)c->row[i].sample;
    }
    return 1;
}

/* Calls the model with the rows of a call. Fails if no input may go on. */
static certreg_status call_model(certreg_queue *q, cr_queue_call *c)
{
    const float *y;
    const certreg_status status = cr_estimator_call(q->w.estimator, c->used, c->rows, c->row, &y);
    cr_queue_learn(&q->slowest_call, cr_deadline_now(q->home.deadline) - c->begun);
    if (status == CERTREG_E_MODEL_FAILED && q->w.why->code) {
        if (c->audit || !(q->plan.flags & CERTREG_QUEUE_SPLIT) || !split(c))
            fail_call(q, c, q->w.why->code);
        return CERTREG_OK;
    }
    if (status) fail_open(q, status);
    else record_call(q, c, y);
    return status;
}

static certreg_status run(certreg_queue *q)
{
    cr_queue_call *c = q->calls; /* its rows are the estimator's, which the model reads */
    if (!q->home.model.eval)
        return cr_error_set(q->w.why, CERTREG_E_WRONG_STATE,
                            "model.eval is NULL: use certreg_queue_next and certreg_queue_give");
    if (call_in_state(q, CR_CALL_OUT))
        return cr_error_set(q->w.why, CERTREG_E_WRONG_STATE,
                            "a call of certreg_queue_next is out: give its outputs first");
    for (;;) {
        advance(q);
        if (any_decided(q)) return CERTREG_OK;
        const int audits = cr_queue_audit_is_due(q, rows_waiting(q));
        certreg_status status = audits ? cr_queue_audit_draw(q, c) : draw_call(q, c);
        if (status) fail_open(q, status);
        else if (!c->used && audits) continue; /* the audit had nothing to ask */
        else if (!c->used) return CERTREG_OK;
        else status = call_model(q, c);
        if (status) return status;
    }
}

/* ======== Taking results. */
static cr_entry *first_decided(const certreg_queue *q)
{
    cr_entry *first = NULL;
    for (size_t i = 0; i < q->plan.capacity; i++) {
        cr_entry *e = q->entries + i;
        if (e->is_open && e->decided && (!first || e->decided < first->decided)) first = e;
    }
    return first;
}

static void write_alternatives(const cr_entry *e, const certreg_queue_result *r)
{
    const uint32_t size = r->alternatives->struct_size;
    for (size_t i = 0; i < r->alternative_count; i++) {
        const certreg_alternative_result one = cr_set_result(e, i / e->count, i % e->count);
        cr_struct_write((unsigned char *)r->alternatives + i * size, size, &one, sizeof one);
    }
}

/* What a result says of an entry, beside its arrays; NULL: that none is ready. */
static void describe(const certreg_queue *q, const cr_entry *e, certreg_queue_result *r)
{
    const int has_set = e && e->set.given.count;
    r->state = e != NULL;
    r->tag = e ? e->tag : 0;
    r->status = e ? e->error.status : CERTREG_OK;
    r->seed = e ? q->home.plan.seed : 0;
    r->pilot = e ? e->pilot : 0;
    r->count = e ? e->count : 0;
    r->alternative_count = has_set ? (e->set.given.count + (size_t)1) * e->count : 0;
    r->proved = has_set ? cr_set_proved(e) : 0;
}

static certreg_status check_rooms(const certreg_queue *q, const certreg_queue_result *r)
{
    const int wants_all = r->alternatives && r->alternative_count;
    if (r->room < r->count || (wants_all && r->alternative_room < r->alternative_count))
        return cr_error_set(q->w.why, CERTREG_E_SMALL_MEMORY,
                            "the result has %zu certificates and %zu results of alternatives",
                            r->count, r->alternative_count);
    const certreg_status status =
        cr_struct_check(r->certificates, CR_OLDEST_CERTIFICATE, "certificates", q->w.why);
    if (status || !wants_all) return status;
    return cr_struct_check(r->alternatives, CR_OLDEST_ALTERNATIVE_RESULT, "alternatives", q->w.why);
}

static void write_arrays(const cr_entry *e, const certreg_queue_result *r)
{
    const uint32_t each = r->certificates->struct_size;
    for (size_t k = 0; k < e->count; k++) {
        cr_struct_write((unsigned char *)r->certificates + k * each, each, e->certificates + k,
                        sizeof *e->certificates);
        if (r->limiting) r->limiting[k] = e->set.given.count ? e->set.limiting[k] : 0;
    }
    if (r->alternatives && r->alternative_count) write_alternatives(e, r);
    cr_error_copy_out(r->error, &e->error);
}

static certreg_status take(certreg_queue *q, certreg_queue_result *out)
{
    certreg_queue_result r;
    certreg_status status =
        cr_struct_read(&r, sizeof r, CR_OLDEST_QUEUE_RESULT, out, "result", q->w.why);
    if (status) return status;
    const uint32_t size = out->struct_size;
    advance(q);
    cr_entry *e = first_decided(q);
    describe(q, e, &r);
    if (e) status = check_rooms(q, &r);
    if (e && !status) {
        write_arrays(e, &r);
        e->is_open = 0;
    }
    if (status) r.state = 0;
    cr_struct_write(out, size, &r, sizeof r);
    return status;
}

static certreg_status drop(certreg_queue *q, const uint64_t *tag)
{
    size_t dropped = 0;
    for (size_t i = 0; i < q->plan.capacity; i++) {
        cr_entry *e = q->entries + i;
        if (!e->is_open || (tag && e->tag != *tag)) continue;
        cr_queue_close_all(q, e);
        e->is_open = 0;
        dropped++;
    }
    if (dropped || !tag) return CERTREG_OK;
    return cr_error_set(q->w.why, CERTREG_E_INVALID, "no open input has tag %llu",
                        (unsigned long long)*tag);
}

/* ======== The public functions. */
certreg_status certreg_queue_add(certreg_queue *q, const certreg_queue_input *input, int32_t *full)
{
    int32_t unused;
    const certreg_status refused = enter(q);
    if (!full) full = &unused;
    *full = 0;
    return refused ? refused : leave(q, add(q, input, full));
}

certreg_status certreg_queue_run(certreg_queue *q)
{
    const certreg_status refused = enter(q);
    return refused ? refused : leave(q, run(q));
}

certreg_status certreg_queue_next(certreg_queue *q, size_t least, certreg_queue_call *out)
{
    certreg_queue_call c = {.struct_size = sizeof c};
    certreg_status status = enter(q);
    if (status) cr_struct_write_empty(out, CR_OLDEST_QUEUE_CALL, &c, sizeof c);
    if (status) return status;
    status = cr_struct_check(out, CR_OLDEST_QUEUE_CALL, "call", q->w.why);
    if (status) return leave(q, status);
    status = next(q, least, &c);
    cr_struct_write(out, out->struct_size, &c, sizeof c);
    return leave(q, status);
}

/* Any thread, unless the outputs may be on a device. */
certreg_status certreg_queue_give(certreg_queue *q, uint64_t ticket, const float *y, int32_t failed,
                                  certreg_error *why)
{
    certreg_error error;
    cr_error_clear(&error);
    certreg_status status = CERTREG_E_INVALID;
    if (q && !cr_handle_is_own(q)) status = (error = cr_handle_foreign_error).status;
    else if (q) status = give(q, ticket, y, failed, &error);
    cr_error_copy_out(why, &error);
    return status;
}

certreg_status certreg_queue_take(certreg_queue *q, certreg_queue_result *result)
{
    const certreg_status refused = enter(q);
    if (!refused) return leave(q, take(q, result));
    if (!cr_struct_check(result, CR_OLDEST_QUEUE_RESULT, "result", NULL)) result->state = 0;
    return refused;
}

certreg_status certreg_queue_drop(certreg_queue *q, const uint64_t *tag)
{
    const certreg_status refused = enter(q);
    return refused ? refused : leave(q, drop(q, tag));
}

void certreg_queue_cancel(certreg_queue *q)
{
    if (q && cr_handle_is_own(q)) certreg_estimator_cancel(q->w.estimator);
}
