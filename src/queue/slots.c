/* The records of a queue: which of them is mounted, in the place of the estimator's, and the
 * beginning and the end of each. */
#include "base/error.h"
#include "queue/queue.h"

void cr_queue_exchange(certreg_queue *q, cr_slot *slot)
{
    if (q->mounted == slot) return;
    if (q->mounted) q->mounted->record = *q->w.record;
    cr_estimator_mount(q->w.estimator, slot ? &slot->record : &q->home);
    q->mounted = slot;
}

uint64_t cr_set_noise_ids(const certreg_alternatives *a)
{
    const uint64_t roots = a->count + UINT64_C(1);
    return a->count ? (roots << (a->halvings + 1)) - roots : 0;
}

static uint64_t noise_id_of(const cr_entry *e, const certreg_alternative *node)
{
    const uint64_t roots = e->set.given.count + UINT64_C(1);
    return e->set.given.first_noise_id + (roots << node->depth) - roots +
           ((uint64_t)node->number << node->depth) + node->path;
}

void cr_queue_mount(certreg_queue *q, cr_slot *slot)
{
    cr_queue_exchange(q, slot);
    q->w.clock->expires_at = slot->entry->expires_at;
}

cr_slot *cr_queue_free_slot(certreg_queue *q)
{
    for (size_t i = 0; i < q->plan.capacity && q->open_count < q->plan.capacity; i++)
        if (!q->slots[i].entry) return q->slots + i;
    return NULL;
}

certreg_status cr_queue_open(certreg_queue *q, cr_slot *slot, cr_entry *e,
                             const certreg_alternative *node, const float *z)
{
    const size_t max_samples = q->home.plan.max_samples;
    slot->entry = e;
    cr_queue_exchange(q, slot);
    q->w.record->plan.max_samples = node->number ? e->set.main_samples : max_samples;
    certreg_status status = cr_estimator_begin(
        q->w.estimator, z, e->sigma, node->number ? noise_id_of(e, node) : e->noise_id, e->level);
    if (!status && node->number && !e->set.needs_pilot) cr_record_set_pilot(q->w.record, 0);
    q->w.record->pilot_is_frozen |= node->number && !e->set.needs_pilot;
    if (!status && node->record)
        status = cr_record_import(q->w.record, node->record, node->record_bytes, q->w.why);
    if (status) {
        slot->entry = NULL;
        return status;
    }
    if (!node->number) e->digest = q->w.record->input.digest;
    slot->node = *node;
    slot->node.z = NULL;
    slot->node.record = NULL;
    slot->use = ++q->uses;
    slot->goal = slot->next = slot->missing = 0;
    slot->waits = slot->is_audited = 0;
    q->open[q->open_count++] = slot;
    return CERTREG_OK;
}

void cr_queue_close(certreg_queue *q, cr_slot *slot)
{
    size_t i = 0;
    if (q->audit && slot->waits == CR_WAITS_IN_AUDIT) cr_queue_abort_audit(q);
    while (q->open[i] != slot) i++;
    for (q->open_count--; i < q->open_count; i++) q->open[i] = q->open[i + 1];
    slot->entry = NULL;
    slot->use = 0;
}

void cr_queue_close_all(certreg_queue *q, const cr_entry *e)
{
    for (size_t i = q->open_count; i-- > 0;)
        if (q->open[i]->entry == e) cr_queue_close(q, q->open[i]);
}

/* ======== The end of records and of entries. */
void cr_queue_decide(certreg_queue *q, cr_entry *e)
{
    cr_queue_close_all(q, e);
    e->decided = ++q->decisions;
}

void cr_queue_fail(certreg_queue *q, cr_entry *e, certreg_status status)
{
    certreg_certificate *c = e->certificates;
    e->error = *q->w.why;
    e->error.status = status;
    c->struct_size = sizeof *c;
    cr_certificate_write_empty(q->w.record, status, CERTREG_STOP_ALL, e->count, c);
    for (size_t k = 0; k < e->count; k++) {
        c[k].noise_id = e->noise_id;
        c[k].input_digest = e->digest;
        c[k].samples = e->rows;
        c[k].sigma = e->sigma;
    }
    cr_queue_decide(q, e);
}

/* Exports the record, or its picks: all samples are there again afterwards. */
static certreg_status export(certreg_queue *q, size_t *bytes)
{
    cr_record *r = q->w.record;
    const size_t outputs = r->model.outputs, count = r->sample_count;
    const uint64_t audited = r->audited.samples;
    const int picks_only = (q->plan.flags & CERTREG_QUEUE_KEEP_PICKS) != 0;
    for (size_t i = 0; picks_only && i < r->plan.max_samples; i++)
        q->erased[i] = r->values[i * outputs];
    if (picks_only) cr_audit_keep_picks(r);
    const certreg_status status = cr_record_export(r, q->exported, bytes, q->w.why);
    for (size_t i = 0; picks_only && i < r->plan.max_samples; i++)
        r->values[i * outputs] = q->erased[i];
    r->sample_count = count;
    r->audited.samples = audited;
    return status;
}

/* Passes the record of a slot to the caller. */
void cr_queue_keep_record(certreg_queue *q, const cr_slot *slot)
{
    if (!q->plan.keep) return;
    size_t bytes = q->export_bytes;
    const certreg_queue_row of = cr_queue_origin(slot, q->w.record->sample_count);
    if (export(q, &bytes)) return;
    cr_estimator_begin_callback(q->w.estimator);
    const int cancels = q->plan.keep(q->plan.keep_user, &of, q->exported, bytes);
    cr_estimator_end_callback(q->w.estimator);
    if (cancels) certreg_estimator_cancel(q->w.estimator);
}
