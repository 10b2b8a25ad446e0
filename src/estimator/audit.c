/* The audit (theory 15): after a run the model is asked again for some samples, first alone, then
 * in small calls, and once more if their outputs differ. The first call, of a few rows, comes
 * before the run. Whoever calls the model draws the rows of a call, and takes its outputs. */
#include "backend/philox.h"
#include "base/arena.h"
#include "base/error.h"
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include "statistics/location.h"
#include <math.h>
#include <string.h>

/* What differs by at most these counts as rounding. */
static const double part_of_tolerance = 1.0 / 64, rough_part = 1.0 / 8, part_of_output = 1e-5;
enum { least_moves = 64, few_picks = 16 }; /* rows */
static const double low_precision = 2;     /* times the effect of moving inputs by 2^-11 */
static const double low_precision_of_few = 3;
static const double randomness = 16; /* times the change of equal rows that the check has found */
static const double same_cause = 1.0 / 8; /* of the difference: rows see each other now */
#define KEY UINT64_C(0x6175646974203634)

/* ======== Picks: one sample of each block. Those of 64 are among those of 32, and these among
 * those of 16, so that a run of any size has the same picks as its parts. */
size_t cr_audit_stride(uint64_t samples)
{
    return samples < 500 ? 16 : samples < 1000 ? 32 : 64;
}

/* Returns the most picks of a record that is audited alone. */
static size_t most_picks(const certreg_plan *plan)
{
    const size_t of_64 = plan->max_samples / 64 + 1;
    return cr_min_size(plan->max_samples, of_64 > 32 ? of_64 : 32);
}

size_t cr_audit_room(const certreg_plan *plan, size_t records)
{
    return plan->audit ? cr_arena_product(records, most_picks(plan)) + 64 : 0;
}

/* Returns the pick of the block with this number. */
static uint64_t pick_at(const cr_noise *noise, size_t stride, uint64_t number)
{
    uint32_t keys[2 * CR_PHILOX_ROUNDS], words[4];
    const uint64_t of_64 = number * stride / 64;
    const uint32_t part = (uint32_t)(number * stride % 64);
    cr_philox_keys(noise->seed ^ KEY, keys);
    cr_philox_at(keys, noise->noise_id, (noise->level << CR_LEVEL_BITS) + of_64, words);
    uint32_t at = words[0] % 64;
    if (stride < 64 && at / 32 != part / 32) at = part / 32 * 32 + words[1] % 32;
    if (stride < 32 && at / 16 != part / 16) at = part + (words[2] >> part / 4) % 16;
    return of_64 * 64 + at;
}

static cr_record *record_of(const certreg_estimator *e, uint32_t number)
{
    return e->audit->source.record(e->audit->source.user, number);
}

static const float *recorded(cr_view *v, uint64_t sample)
{
    return v->values + sample * v->model.outputs;
}

void cr_audit_begin(certreg_estimator *e, cr_audit_source source, size_t stride)
{
    cr_audit *a = e->audit;
    a->source = source;
    a->stride = stride;
    a->is_out = 0;
    a->riding = a->check_rows;
    a->count = a->first = a->used = 0;
    a->worst_excess = 0;
    a->step = CR_AUDIT_ASK;
    a->is_random = a->is_rough = a->is_same = 0;
    a->moves = 0;
    for (size_t k = 0; k < e->record.model.outputs; k++)
        a->limit[k] = a->change[k] = a->ratio[k] = a->scale[k] = a->moved[k] = 0;
}

static void add_pick(cr_audit *a, cr_view *v, uint32_t record, uint64_t sample)
{
    if (a->count == a->room || sample >= v->plan.max_samples || !cr_view_has(v, sample)) return;
    a->picks[a->count++] = (cr_audit_pick){.record = record, .sample = sample};
    for (size_t k = 0; k < v->model.outputs; k++) {
        const double y = fabs((double)recorded(v, sample)[k]);
        if (isfinite(y)) a->scale[k] = fmax(a->scale[k], y);
    }
}

void cr_audit_add(certreg_estimator *e, uint32_t record, int kept)
{
    cr_view *v = record_of(e, record);
    cr_audit *a = e->audit;
    size_t samples;
    const int all = kept && v->sample_count <= most_picks(&v->plan);
    /* A shard need not begin at the first sample. */
    if (cr_view_require_contiguous(v, &samples, NULL) || all) samples = v->plan.max_samples;
    for (uint64_t i = 0; all && i < samples; i++) add_pick(a, v, record, i);
    for (uint64_t i = 0; !all && i * a->stride < samples; i++)
        add_pick(a, v, record, pick_at(&v->input.noise, a->stride, i));
    for (size_t k = 0; k < v->model.outputs; k++)
        if (isfinite(v->audited.limit[k])) a->limit[k] = fmax(a->limit[k], v->audited.limit[k]);
}

void cr_audit_set_room(certreg_estimator *e, cr_audit_pick *picks, size_t room, double random)
{
    if (!e->audit) return;
    e->audit->picks = picks;
    e->audit->room = room;
    e->audit->random = random;
}

void cr_audit_keep_picks(cr_record *r)
{
    const size_t stride = cr_audit_stride(r->sample_count);
    uint64_t pick = 0;
    for (size_t i = 0; i < r->plan.max_samples; i++) {
        if (i % stride == 0) pick = pick_at(&r->input.noise, stride, i / stride);
        if (i != pick) cr_record_erase(r, i);
    }
    r->audited.samples = cr_min_size((size_t)r->audited.samples, r->sample_count);
}

/* ---- the order: the farthest output alone, then the farthest ones on its side */
static cr_values keys_of(const cr_audit *a)
{
    return (cr_values){
        .y = &a->picks->key, .count = a->count, .stride = sizeof *a->picks / sizeof a->picks->key};
}

static void read_keys(certreg_estimator *e, size_t output)
{
    for (size_t i = 0; i < e->audit->count; i++) {
        cr_audit_pick *p = e->audit->picks + i;
        p->key = recorded(record_of(e, p->record), p->sample)[output];
    }
}

/* Returns the distance of the farthest key from the median, in spreads; *side is its sign. */
static double farthest(const cr_audit *a, double *side)
{
    const cr_values keys = keys_of(a);
    const size_t n = cr_location_count(&keys);
    *side = 1;
    if (!n) return 0;
    const double middle = cr_location_order(&keys, n / 2),
                 above = cr_location_order(&keys, n - 1) - middle,
                 below = middle - cr_location_order(&keys, 0),
                 spread = cr_location_order(&keys, n - 1 - n / 4) - cr_location_order(&keys, n / 4),
                 far = fmax(above, below);
    *side = above >= below ? 1 : -1;
    return far > 0 ? far / spread : 0; /* infinite if most outputs are equal */
}

static void swap(cr_audit_pick *a, cr_audit_pick *b)
{
    const cr_audit_pick kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves `count` keys that are farthest on a side to the front, the farthest first. */
static void move_to_front(cr_audit *a, double side, size_t count)
{
    const cr_values keys = keys_of(a);
    const size_t n = cr_location_count(&keys), take = cr_min_size(count, n);
    if (!take) return;
    const double last = cr_location_order(&keys, side > 0 ? n - take : take - 1);
    size_t front = 0;
    for (int equal = 0; equal < 2; equal++)
        for (size_t i = front; i < a->count && front < take; i++) {
            const double beyond = side * ((double)a->picks[i].key - last);
            if (equal ? beyond == 0 : beyond > 0) swap(a->picks + i, a->picks + front++);
        }
    for (size_t i = 1; i < front; i++)
        if (side * (double)a->picks[i].key > side * (double)a->picks->key)
            swap(a->picks + i, a->picks);
}

/* Returns the picks of the second call. */
static size_t side_count(const certreg_estimator *e)
{
    return cr_min_size((size_t)ceil(sqrt((double)e->audit->count)), e->record.model.batch);
}

static void order(certreg_estimator *e)
{
    double side = 1, sign, most = -1;
    size_t output = 0;
    for (size_t k = 0; k < e->record.model.outputs; k++) {
        if (k && !(e->audit->limit[k] > 0)) continue; /* no claim is about it */
        read_keys(e, k);
        const double distance = farthest(e->audit, &sign);
        if (distance <= most) continue;
        most = distance;
        output = k;
        side = sign;
    }
    read_keys(e, output);
    move_to_front(e->audit, side, 1 + side_count(e));
}

/* ======== Calls. Their items are the picks, and then the rows of the check. */
/* Sets the items of the next call, or none: all were asked. */
static void choose_items(certreg_estimator *e)
{
    cr_audit *a = e->audit;
    const size_t items = a->count + a->riding, batch = e->record.model.batch;
    a->first += a->used;
    const size_t left = items - a->first;
    if (!a->first && a->count) a->used = 1;
    else if (a->first == 1) a->used = cr_min_size(side_count(e), a->count - 1);
    else a->used = 0;
    if (!a->used && left) {
        size_t calls = 1;
        while (calls * batch < left) calls++;
        a->used = (left - 1) / calls + 1;
    }
}

/* Returns the item in a row of the present call. */
static size_t item_at(const certreg_estimator *e, size_t row)
{
    const cr_audit *a = e->audit;
    if (a->step == CR_AUDIT_ALONE || (a->step == CR_AUDIT_FULL && row == e->record.model.batch - 1))
        return a->worst;
    if (a->step == CR_AUDIT_FULL) { /* first one unlike the worst, in case rows trade places */
        const size_t items = a->count + a->riding;
        return (a->worst + items / 2 + row) % items;
    }
    return a->first + row % a->used;
}

static size_t used_rows(const certreg_estimator *e)
{
    return e->audit->step == CR_AUDIT_ALONE  ? 1
           : e->audit->step == CR_AUDIT_FULL ? e->record.model.batch
                                             : e->audit->used;
}

cr_audit_pick cr_audit_row(const certreg_estimator *e, size_t row)
{
    const size_t item = item_at(e, row);
    const cr_audit *a = e->audit;
    return item < a->count ? a->picks[item]
                           : (cr_audit_pick){.record = CR_AUDIT_CHECK, .sample = item - a->count};
}

/* Draws a row of the check's input. */
static certreg_status draw_check(certreg_estimator *e, uint64_t row, float *x)
{
    const cr_audit *a = e->audit;
    const cr_draw rows = {a->check_z, a->check_deviation, row, 1, x, e->batches.masks};
    const certreg_status status = e->backend->ops->draw(e->backend, &a->check_noise, &rows);
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

certreg_status cr_audit_draw(certreg_estimator *e, float *x, size_t *used, size_t *rows)
{
    certreg_status status = CERTREG_OK;
    *used = used_rows(e);
    *rows = e->record.plan.audit == CERTREG_AUDIT_WHOLE ? e->record.model.batch : *used;
    for (size_t i = 0; i < *rows && !status; i++, x += e->record.model.inputs) {
        const cr_audit_pick p = cr_audit_row(e, i % *used);
        if (p.record == CR_AUDIT_CHECK) status = draw_check(e, p.sample, x);
        else {
            record_of(e, p.record);
            status = cr_estimator_draw(e, p.sample, 1, x);
        }
    }
    if (!status && e->audit->step == CR_AUDIT_MOVED)
        status = cr_estimator_perturb(e, x - *rows * e->record.model.inputs, *rows,
                                      (uint32_t)e->audit->moves++);
    return status;
}

/* ======== The check: a few rows of the first input, before the run. */
/* The name of noise that no certificate uses, different at each level, so that checks of two
 * domains see different noise. */
#define SEED UINT64_C(0x70726f766973696f)
#define NOISE_ID UINT64_MAX

cr_noise cr_estimator_check_noise(const certreg_estimator *e)
{
    return (cr_noise){SEED, NOISE_ID - e->record.input.noise.level, CR_LEVELS - 1,
                      e->record.model.inputs, 0};
}

certreg_status cr_estimator_perturb(certreg_estimator *e, float *x, size_t rows, uint32_t signs)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t inputs = e->record.model.inputs, count = rows * inputs;
    const float marker = e->masks ? e->masks->given.marker : NAN; /* no value, so it stays */
    float chunk[256];
    signs = 2654435761u * (signs + 1);
    certreg_status status = CERTREG_OK;
    for (size_t at = 0; at < count && !status; at += 256) {
        const size_t length = count - at < 256 ? count - at : 256;
        status = ops->fetch(e->backend, chunk, x + at, length * sizeof *x);
        for (size_t j = 0; j < length; j++) {
            signs = signs * 1664525u + 1013904223u; /* Knuth and Lewis */
            if (e->record.input.scale[(at + j) % inputs] > 0 && chunk[j] != marker)
                chunk[j] *= signs >> 31 ? 1 + 0x1p-11f : 1 - 0x1p-11f;
        }
        if (!status) status = ops->store(e->backend, x + at, chunk, length * sizeof *x);
        if (!status) status = ops->wait(e->backend);
    }
    return status ? cr_backend_failed(e->backend, status, "move inputs", &e->error) : CERTREG_OK;
}

certreg_status cr_audit_keep_input(certreg_estimator *e)
{
    cr_audit *a = e->audit;
    const cr_backend_ops *ops = e->backend->ops;
    const size_t bytes = e->record.model.inputs * sizeof(float);
    certreg_status status = ops->store(e->backend, a->check_z, e->record.input.z, bytes);
    if (!status)
        status = ops->store(e->backend, a->check_deviation, e->record.input.noise_deviation, bytes);
    if (!status) status = ops->wait(e->backend);
    a->check_noise = cr_estimator_check_noise(e);
    a->check_digest = e->record.input.digest;
    return status ? cr_backend_failed(e->backend, status, "keep the input", &e->error) : CERTREG_OK;
}

void cr_audit_keep_outputs(certreg_estimator *e, const float *y, size_t rows, double random)
{
    cr_audit *a = e->audit;
    a->random = random;
    a->check_rows = cr_min_size(rows, CR_CHECK_ROWS);
    for (size_t i = 0; i < a->check_rows; i++)
        cr_view_read_outputs(&e->record, y + i * e->record.columns,
                             a->check_outputs + i * e->record.model.outputs);
}

int cr_audit_is_due(const certreg_estimator *e)
{
    return e->record.plan.audit && !e->audit->check_rows;
}

certreg_status cr_audit_begin_check(certreg_estimator *e)
{
    cr_audit *a = e->audit;
    a->step = CR_AUDIT_FIRST;
    a->count = a->first = 0;
    a->used = cr_min_size(CR_CHECK_ROWS, e->record.model.batch);
    return cr_audit_keep_input(e);
}

/* ======== Differences. */
/* Notes the difference of output k of an item: `limit` is the tolerance that it is judged by. */
static void note(cr_audit *a, size_t item, size_t k, double change, double limit)
{
    const double allowed = fmax(part_of_tolerance * limit, part_of_output * a->scale[k]);
    if (!(change > 0) || isinf(limit)) return;
    const double excess = change / allowed;
    if (!(excess > 1)) return;
    a->is_rough |= change > rough_part * limit;
    if (excess > a->worst_excess) {
        a->worst_excess = excess;
        a->worst = item;
        a->worst_output = k;
        a->worst_change = change;
    }
}

static void compare(certreg_estimator *e, size_t item, const float *again)
{
    cr_audit *a = e->audit;
    const int is_check = item >= a->count;
    cr_view *v = is_check ? &e->record : record_of(e, a->picks[item].record);
    const size_t outputs = v->model.outputs;
    const float *before = is_check ? a->check_outputs + (item - a->count) * outputs
                                   : recorded(v, a->picks[item].sample);
    for (size_t k = 0; k < outputs; k++) {
        const double of_check = a->limit[k] > 0 ? a->limit[k] : INFINITY,
                     limit = is_check ? of_check : v->audited.limit[k],
                     change = cr_view_change(v, k, before[k], again[k]);
        const double worst = a->worst_excess;
        note(a, item, k, change, limit);
        if (a->worst_excess > worst) {
            a->worst_before = before[k];
            a->worst_again = again[k];
        }
        a->change[k] = fmax(a->change[k], change);
        if (!is_check && v->audited.is_relative && isfinite(limit))
            a->ratio[k] = fmax(a->ratio[k], change / limit);
    }
}

/* Takes the outputs of an item in a row of the present call. */
static void take_row(certreg_estimator *e, size_t row, const float *y)
{
    cr_audit *a = e->audit;
    const size_t outputs = e->record.model.outputs;
    float *kept = a->before + row * outputs;
    if (a->step == CR_AUDIT_ASK) {
        cr_view_read_outputs(&e->record, y, kept);
        compare(e, a->first + row, kept);
        return;
    }
    cr_view_read_outputs(&e->record, y, a->row);
    for (size_t k = 0; k < outputs; k++) {
        const double change = cr_view_change(&e->record, k, kept[k], a->row[k]);
        if (a->step == CR_AUDIT_SAME && change > 0) a->is_same = 0;
        if (a->step == CR_AUDIT_MOVED) a->moved[k] = fmax(a->moved[k], change);
    }
}

/* ======== The verdict. */
/* Differences as small as those of a low precision pass, if the model computes the same again. */
static int is_low_precision(const certreg_estimator *e)
{
    const cr_audit *a = e->audit;
    const double most = a->count < few_picks ? low_precision_of_few : low_precision;
    return a->is_same && a->worst_change <= most * a->moved[a->worst_output];
}

static certreg_status refuse(certreg_estimator *e, int rows_see)
{
    const cr_audit *a = e->audit;
    const size_t item = a->worst;
    const int is_check = item >= a->count;
    const uint64_t sample = is_check ? item - a->count : a->picks[item].sample;
    cr_error_set(
        &e->error, CERTREG_E_MODEL_FAILED,
        "%s %llu: output %zu was %.9g, and is %.9g if it is asked again: %s",
        is_check ? "row of the check" : "sample", (unsigned long long)sample, a->worst_output,
        (double)a->worst_before, (double)a->worst_again,
        rows_see ? "rows seem to see each other (write the rows in their order, compute nothing "
                   "over the batch, and compute in float32)"
                 : "outputs seem to change with time (switch off randomness, keep no state "
                   "between calls, and use one model for the whole run)");
    e->error.sample = (int64_t)sample;
    e->error.output = (int32_t)a->worst_output;
    e->error.value = a->worst_change;
    e->error.code = rows_see ? CERTREG_DEPENDENCE_OTHERS : CERTREG_DEPENDENCE_CALL;
    e->error.row = is_check ? -1 : (int64_t)a->picks[item].record;
    return CERTREG_E_MODEL_FAILED;
}

/* Goes to the step after one that has all outputs. */
static enum cr_audit_step step_after(const certreg_estimator *e)
{
    const cr_audit *a = e->audit;
    switch (a->step) {
    case CR_AUDIT_ASK:
        return !(a->worst_excess > 1) ? CR_AUDIT_OFF : a->is_rough ? CR_AUDIT_ALONE : CR_AUDIT_SAME;
    case CR_AUDIT_SAME: return a->is_same ? CR_AUDIT_MOVED : CR_AUDIT_ALONE;
    case CR_AUDIT_MOVED: /* a few rows say little: they move again, otherwise */
        if (a->moves * a->used < least_moves) return CR_AUDIT_MOVED;
        return is_low_precision(e) ? CR_AUDIT_OFF : CR_AUDIT_ALONE;
    case CR_AUDIT_ALONE: return CR_AUDIT_FULL;
    case CR_AUDIT_FIRST:
    case CR_AUDIT_FULL:
    case CR_AUDIT_OFF: break;
    }
    return CR_AUDIT_OFF;
}

/* Takes the outputs of the present call. Returns 1 if its step has further calls. */
static int take_call(certreg_estimator *e, const float *y)
{
    cr_audit *a = e->audit;
    const size_t columns = e->record.columns, last = used_rows(e) - 1;
    switch (a->step) {
    case CR_AUDIT_FIRST: cr_audit_keep_outputs(e, y, a->used, a->random); break;
    case CR_AUDIT_ALONE: cr_view_read_outputs(&e->record, y, a->row); break;
    case CR_AUDIT_FULL: cr_view_read_outputs(&e->record, y + last * columns, a->row); break;
    case CR_AUDIT_ASK:
    case CR_AUDIT_SAME:
    case CR_AUDIT_MOVED:
        for (size_t i = 0; i <= last; i++) take_row(e, i, y + i * columns);
        break;
    case CR_AUDIT_OFF: break;
    }
    return a->step == CR_AUDIT_ASK && a->first + a->used < a->count + a->riding;
}

/* Returns 1 if equal rows differed nearly as much in the check before the run: they come from a
 * random model, and nothing can be compared. */
static int differs_as_before(const cr_audit *a, size_t outputs)
{
    double change = 0;
    for (size_t k = 0; k < outputs; k++) change = fmax(change, a->change[k]);
    return a->random > 0 && change <= randomness * a->random;
}

certreg_status cr_audit_take(certreg_estimator *e, const float *y, int *ended)
{
    cr_audit *a = e->audit;
    const enum cr_audit_step step = a->step;
    *ended = 0;
    if (take_call(e, y)) {
        choose_items(e);
        return CERTREG_OK;
    }
    const float now = a->row[a->worst_output];
    a->is_same |= step == CR_AUDIT_ASK;
    a->step = step_after(e);
    if (step == CR_AUDIT_ASK && differs_as_before(a, e->record.model.outputs)) {
        a->is_random = 1;
        a->step = CR_AUDIT_OFF;
    }
    *ended = a->step == CR_AUDIT_OFF;
    if (step == CR_AUDIT_ALONE) a->alone = now;
    if (step != CR_AUDIT_FULL) return CERTREG_OK;
    return refuse(e, cr_view_change(&e->record, a->worst_output, a->alone, now) >=
                         same_cause * a->worst_change);
}

int cr_audit_start(certreg_estimator *e)
{
    order(e);
    e->audit->first = e->audit->used = 0;
    if (!e->audit->count) e->audit->step = CR_AUDIT_OFF;
    else choose_items(e);
    return e->audit->step != CR_AUDIT_OFF;
}

void cr_audit_store(const certreg_estimator *e, cr_record *r)
{
    const cr_audit *a = e->audit;
    r->audited.outputs = a->is_random ? 0 : a->count;
    r->audited.samples = r->sample_count;
    if (a->is_random) return;
    for (size_t k = 0; k < r->model.outputs; k++) {
        const double limit = r->audited.limit[k];
        const int in_proportion = r->audited.is_relative && isfinite(limit);
        r->audited.change[k] =
            fmax(r->audited.change[k], in_proportion ? a->ratio[k] * limit : a->change[k]);
    }
}

/* ======== The audit of one record, by the model's callback. */
static certreg_status call(certreg_estimator *e, int *ended)
{
    const size_t batch = e->record.model.batch,
                 batches = (e->record.plan.max_samples - 1) / batch + 1;
    certreg_batch b = {.first = e->audit->calls++ % batches * batch};
    e->batches.next_is_drawn = 0;
    certreg_status status = cr_estimator_clear_outputs(e);
    if (!status)
        status = cr_audit_draw(e, e->batches.x[e->batches.current], &b.used_count, &b.rows);
    const double called = cr_deadline_now(e->record.deadline);
    if (!status) status = cr_estimator_evaluate(e, b);
    e->clock.model_seconds += cr_deadline_now(e->record.deadline) - called;
    return status ? status : cr_audit_take(e, e->batches.outputs, ended);
}

static cr_record *own_record(void *e, uint32_t number)
{
    (void)number;
    return &((certreg_estimator *)e)->record;
}

certreg_status cr_audit_check(certreg_estimator *e)
{
    int ended;
    certreg_status status = CERTREG_OK;
    if (!e->record.plan.audit || !e->record.model.eval) return status;
    const int is_kept = !cr_audit_is_due(e) && e->audit->check_digest == e->record.input.digest,
              is_late = e->clock.expires_at > 0 &&
                        cr_deadline_now(e->record.deadline) + e->clock.slowest_batch >
                            e->clock.expires_at;
    /* No call of the model follows if it is late. */
    if (is_kept || is_late || atomic_load(&e->cancel)) return status;
    status = cr_audit_begin_check(e);
    return status ? status : call(e, &ended);
}

static int begin_own(certreg_estimator *e)
{
    const cr_audit_source own = {own_record, e};
    e->audit->own_samples = e->record.sample_count;
    cr_audit_begin(e, own, cr_audit_stride(e->record.sample_count));
    if (e->audit->check_digest != e->record.input.digest) e->audit->riding = 0;
    cr_audit_add(e, 0, 0);
    return cr_audit_start(e);
}

certreg_status cr_audit_run(certreg_estimator *e)
{
    certreg_status status = CERTREG_OK;
    for (int ended = !begin_own(e); !ended && !status;) status = call(e, &ended);
    if (!status) cr_audit_store(e, &e->record);
    return status;
}

/* ======== The audit of one record, by the caller's loop. */
double cr_estimator_spread(const float *y, size_t count, size_t stride)
{
    double sum = 0, squares = 0, n = 0, first = NAN;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)y[i * stride], gap = isnan(first) ? 0 : value - first;
        if (!isfinite(value)) continue;
        if (isnan(first)) first = value;
        sum += gap;
        squares += gap * gap;
        n++;
    }
    return n > 0 ? sqrt(fmax(0, squares - sum * sum / n) / n) : 0;
}

/* Without a claim the spread of the outputs stands for the tolerance. */
static void limit_by_spread(cr_record *r)
{
    const size_t outputs = r->model.outputs;
    for (size_t k = 0; k < outputs; k++)
        if (isinf(r->audited.limit[k]))
            r->audited.limit[k] = cr_estimator_spread(r->values + k, r->plan.max_samples, outputs);
}

/* Returns 1 if an audit of the record as it is has begun. */
static int is_auditing(const certreg_estimator *e)
{
    return e->audit->step != CR_AUDIT_OFF && e->record.input.is_set &&
           e->audit->own_samples == e->record.sample_count;
}

/* No later call answers from a record that was refused. */
static certreg_status void_if_refused(certreg_estimator *e, certreg_status status)
{
    if (status) e->record.input.is_set = 0;
    return status;
}

static certreg_status next_call(certreg_estimator *e, float *x, size_t *rows)
{
    size_t used, drawn;
    cr_record *r = &e->record;
    certreg_status status = cr_view_require_input(r, &e->error);
    if (status) return status;
    if ((!x && !r->model.eval) || !r->plan.audit)
        return cr_error_set(&e->error, CERTREG_E_INVALID,
                            r->plan.audit ? "x is NULL, and so is model.eval"
                                          : "plan.audit is 0: nothing is kept for an audit");
    if (!is_auditing(e)) {
        if (r->audited.samples >= r->sample_count) return CERTREG_OK;
        limit_by_spread(r);
        if (!x) return void_if_refused(e, cr_audit_run(e));
        if (!begin_own(e)) return CERTREG_OK;
    }
    status = cr_audit_draw(e, x, &used, &drawn);
    e->audit->is_out = !status;
    if (!status && !e->backend->borrows_stream && (status = e->backend->ops->wait(e->backend)))
        status = cr_backend_failed(e->backend, status, "draw noise", &e->error);
    *rows = status ? 0 : drawn;
    return status;
}

static certreg_status give_outputs(certreg_estimator *e, const float *y)
{
    int ended;
    if (!e->audit || !is_auditing(e) || !e->audit->is_out)
        return cr_error_set(&e->error, CERTREG_E_WRONG_STATE,
                            "no rows of certreg_audit_next are out");
    if (!y) return cr_error_set(&e->error, CERTREG_E_INVALID, "y is NULL");
    certreg_status status = cr_backend_read(e->backend, &y, e->batches.outputs,
                                            used_rows(e) * e->record.columns, "y", &e->error);
    if (status) return status;
    e->audit->is_out = 0;
    status = cr_audit_take(e, y, &ended);
    if (!status && ended) cr_audit_store(e, &e->record);
    return void_if_refused(e, status);
}

certreg_status certreg_audit_next(certreg_estimator *e, float *x, size_t *rows)
{
    const certreg_status refused = cr_estimator_enter(e, NULL);
    if (rows) *rows = 0;
    if (refused) return refused;
    if (!rows)
        return cr_estimator_leave(e, cr_error_set(&e->error, CERTREG_E_INVALID, "rows is NULL"));
    cr_error_clear(&e->error);
    return cr_estimator_leave(e, next_call(e, x, rows));
}

certreg_status certreg_audit_give(certreg_estimator *e, const float *y)
{
    const certreg_status refused = cr_estimator_enter(e, NULL);
    if (refused) return refused;
    cr_error_clear(&e->error);
    return cr_estimator_leave(e, give_outputs(e, y));
}
