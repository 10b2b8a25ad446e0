/* The audit of a queue (theory 15): records that are complete wait for it, and samples of all of
 * them are asked again together. */
#include "base/error.h"
#include "queue/queue.h"
#include <stdio.h>

static cr_record *record_of(void *user, uint32_t number)
{
    certreg_queue *q = user;
    cr_queue_mount(q, q->slots + number);
    return q->w.record;
}

/* ---- its beginning */
static size_t count_waiting(const certreg_queue *q)
{
    size_t waiting = 0;
    for (size_t i = 0; i < q->open_count; i++) waiting += q->open[i]->waits != 0;
    return waiting;
}

int cr_queue_audit_is_due(certreg_queue *q, size_t rows_waiting)
{
    const size_t waiting = count_waiting(q);
    if (q->audit) return 1;
    if (rows_waiting && cr_audit_is_due(q->w.estimator)) return 1;
    return waiting && (!rows_waiting || 2 * waiting >= q->plan.capacity);
}

static void begin(certreg_queue *q)
{
    uint64_t samples = 0;
    const cr_audit_source source = {record_of, q};
    q->audit = CR_AUDIT_OF_PICKS;
    q->audits++;
    for (size_t i = 0; i < q->open_count; i++)
        if (q->open[i]->waits) {
            cr_queue_mount(q, q->open[i]);
            samples += q->w.record->sample_count;
        }
    cr_audit_begin(q->w.estimator, source, cr_audit_stride(samples));
    for (size_t i = 0; i < q->open_count; i++)
        if (q->open[i]->waits) {
            q->open[i]->waits = CR_WAITS_IN_AUDIT;
            cr_audit_add(q->w.estimator, (uint32_t)(q->open[i] - q->slots),
                         q->open[i]->entry->asks_again);
        }
}

/* The check is about the first input. */
static certreg_status begin_check(certreg_queue *q)
{
    q->audit = CR_AUDIT_OF_CHECK;
    q->audits++;
    q->check_tag = q->open[0]->entry->tag;
    cr_queue_mount(q, q->open[0]);
    return cr_audit_begin_check(q->w.estimator);
}

/* ---- its end */
static cr_slot *next_audited(const certreg_queue *q)
{
    for (size_t i = 0; i < q->open_count; i++)
        if (q->open[i]->waits == CR_WAITS_IN_AUDIT) return q->open[i];
    return NULL;
}

/* Answers stand if nothing differed; else they are computed again. */
static void pass(certreg_queue *q, cr_slot *slot)
{
    cr_entry *e = slot->entry;
    cr_queue_mount(q, slot);
    cr_audit_store(q->w.estimator, q->w.record);
    slot->waits = 0;
    slot->is_audited = 1;
    if (!e->asks_again && (e->set.given.count || cr_certify_differs(q->w.record))) {
        cr_queue_step(q, slot, CERTREG_OK);
        return;
    }
    for (size_t k = 0; k < e->count; k++)
        cr_certificate_set_asked(q->w.record, e->certificates + k);
    if (!e->asks_again) cr_queue_keep_record(q, slot);
    cr_queue_decide(q, e);
}

static void finish(certreg_queue *q)
{
    q->audit = CR_NO_AUDIT;
    for (cr_slot *slot; (slot = next_audited(q));) pass(q, slot);
}

/* ---- its calls */
static certreg_queue_row origin_of(const certreg_queue *q, size_t row)
{
    const cr_audit_pick p = cr_audit_row(q->w.estimator, row);
    if (p.record != CR_AUDIT_CHECK) return cr_queue_origin(q->slots + p.record, p.sample);
    return (certreg_queue_row){
        .struct_size = sizeof(certreg_queue_row), .tag = q->check_tag, .sample = UINT64_MAX};
}

certreg_status cr_queue_audit_draw(certreg_queue *q, cr_queue_call *c)
{
    certreg_status status = CERTREG_OK;
    c->used = 0;
    if (!q->audit && cr_audit_is_due(q->w.estimator)) status = begin_check(q);
    else if (!q->audit) {
        begin(q);
        if (!cr_audit_start(q->w.estimator)) {
            finish(q);
            return CERTREG_OK;
        }
    }
    if (!status) status = cr_audit_draw(q->w.estimator, c->x, &c->used, &c->rows);
    for (size_t i = 0; i < c->used && !status; i++) c->row[i] = origin_of(q, i);
    c->audit = q->audits;
    c->begun = cr_deadline_now(q->home.deadline);
    return status;
}

/* Names the input in the error. */
static void name_input(certreg_queue *q)
{
    certreg_error *why = q->w.why;
    const certreg_error given = *why;
    if (given.row < 0) return; /* a row of the check */
    const cr_slot *slot = q->slots + given.row;
    why->row = (int64_t)slot->entry->tag;
    snprintf(why->text, sizeof why->text, "input %llu%s, %.200s",
             (unsigned long long)slot->entry->tag, slot->node.number ? " (an alternative)" : "",
             given.text);
}

certreg_status cr_queue_audit_take(certreg_queue *q, const cr_queue_call *c, const float *y)
{
    int ended = 0;
    if (!q->audit || c->audit != q->audits) return CERTREG_OK; /* it was given up */
    const certreg_status status = cr_audit_take(q->w.estimator, y, &ended);
    if (status) {
        name_input(q);
        q->audit = CR_NO_AUDIT;
    } else if (ended && q->audit == CR_AUDIT_OF_PICKS) finish(q);
    else if (ended) q->audit = CR_NO_AUDIT;
    return status;
}
