/* Checks that outputs depend on their row alone, the premise of every certificate (theory 0.5): a
 * few rows are evaluated in several ways, which must not change an output. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include <math.h>
#include <string.h>

/* Changes that do not count. float32 rounds to 6e-8 of a number, and sums in another order differ
 * by some hundred times as much. If outputs are small beside the terms of their sums, or computed
 * in a low precision, they change as much as by moving each feature by 2^-11 of it: twice that
 * passes, up to an eighth of the spread of outputs, if the model computes the same again. */
#define OUTPUT_ROUNDING 1e-5 /* of the largest output */
#define MOVE_EFFECTS 2
#define PART_OF_SPREAD 0.125
/* A whole batch has other rows at all places: a smaller part of the spread is a remark there. */
#define REMARK_OF_SPREAD 0.015625
typedef struct trial {
    certreg_estimator *e;
    size_t rows;      /* of the first call, which has samples 0, 1, ... */
    int fixed_batch;  /* every call has model.batch rows; those from `rows` on never change */
    float *reference; /* rows*columns: outputs of the first call, in memory that the record lends */
    float *rounding; /* columns, behind them: the change that counts as rounding; NULL: not measured
                        yet */
    uint64_t calls;
    int is_random;  /* 1: equal rows have other outputs in a later call */
    int with_whole; /* 1: the last call has model.batch rows */
    double remark;  /* the largest change of the call of a whole batch that is a remark only */
} trial;

typedef struct variant { /* of evaluating the rows */
    size_t rows;
    int32_t dependence; /* CERTREG_DEPENDENCE_... that a change proves */
    int32_t perturbed;  /* 1: each feature by 2^-11 of it */
} variant;

#define WHOLE_BATCH 16 /* as a dependence: on others, in a call of model.batch rows */

/* The sample in a slot of the batch. Beside other rows, the last odd slot has a copy of row 1. */
static uint64_t sample_at(const trial *t, variant v, size_t slot)
{
    const size_t n = t->rows;
    if (v.dependence == WHOLE_BATCH) return slot < v.rows - n ? n + slot : slot + n - v.rows;
    if (v.dependence == CERTREG_DEPENDENCE_ORDER) return n - 1 - slot;
    if (v.dependence == CERTREG_DEPENDENCE_OTHERS)
        return slot % 2 == 0 ? n + slot : slot + 2 < n ? slot : 1;
    if (v.dependence == CERTREG_DEPENDENCE_COUNT) return v.rows == 1 ? 0 : n - v.rows + slot;
    return slot;
}

static certreg_status draw(const trial *t, uint64_t sample, size_t count, size_t slot)
{
    certreg_estimator *e = t->e;
    const cr_noise noise = cr_estimator_check_noise(e);
    const cr_draw rows = {e->batches.z,
                          e->batches.noise_deviation,
                          sample,
                          count,
                          e->batches.x[e->batches.current] + slot * e->record.model.inputs,
                          e->batches.masks};
    const certreg_status status = e->backend->ops->draw(e->backend, &noise, &rows);
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

static certreg_status evaluate_variant(trial *t, variant v)
{
    certreg_estimator *e = t->e;
    const size_t batch = e->record.model.batch, rows = t->fixed_batch ? batch : v.rows,
                 batches = (e->record.plan.max_samples - 1) / batch + 1;
    /* A model may derive randomness of its own from the index of a sample, so each call has
     * different indices, unless the plan has too few. */
    const certreg_batch b = {
        .rows = rows, .first = t->calls++ % batches * batch, .used_count = rows};
    certreg_status status = cr_estimator_clear_outputs(e);
    for (size_t i = 0; i < v.rows && !status; i++) status = draw(t, sample_at(t, v, i), 1, i);
    if (!status && v.perturbed)
        status = cr_estimator_perturb(e, e->batches.x[e->batches.current], t->rows, 0);
    return status ? status : cr_estimator_evaluate(e, b);
}

/* ---- comparison */
/* The smallest change of an output that counts. */
static double min_change(const trial *t, size_t column)
{
    double largest = 0;
    for (size_t i = 0; i < t->rows; i++) {
        const double y = (double)t->reference[i * t->e->record.columns + column];
        if (isfinite(y)) largest = fmax(largest, fabs(y));
    }
    return OUTPUT_ROUNDING * largest + (t->rounding ? (double)t->rounding[column] : 0);
}

/* The standard deviation of a column in the latest call. */
static double spread_of(const trial *t, size_t column, size_t rows)
{
    return cr_estimator_spread(t->e->batches.outputs + column, rows, t->e->record.columns);
}

static double change_between(double a, double b)
{
    if (isfinite(a) && isfinite(b)) return fabs(a - b);
    return isfinite(a) || isfinite(b) ? INFINITY : 0;
}

/* Returns 1 if an output changes, with the largest change in value, row and output of the error. */
static int outputs_change(trial *t, variant v)
{
    certreg_estimator *e = t->e;
    const size_t columns = e->record.columns;
    e->error.value = 0;
    for (size_t k = 0; k < columns; k++) {
        const double rounding = min_change(t, k),
                     part = v.dependence == WHOLE_BATCH ? REMARK_OF_SPREAD * spread_of(t, k, v.rows)
                                                        : 0,
                     threshold = fmax(rounding, part);
        for (size_t i = 0; i < v.rows; i++) {
            const uint64_t sample = sample_at(t, v, i);
            if (sample >= t->rows) continue; /* a companion */
            const double change = change_between((double)e->batches.outputs[i * columns + k],
                                                 (double)t->reference[sample * columns + k]);
            if (change > rounding && !(change > threshold)) t->remark = fmax(t->remark, change);
            if (!(change > threshold) || change <= e->error.value) continue;
            e->error.value = change;
            e->error.row = (int64_t)sample;
            e->error.output = (int32_t)k;
        }
    }
    return e->error.value > 0;
}

/* ---- the result */
static const char *const remedies[] = {
    [CERTREG_DEPENDENCE_CALL] =
        "the same rows come again: switch off dropout and other noise (PyTorch: call eval(), or "
        "give the module itself), and keep no state between calls, which now holds rows of this "
        "check; nothing else was judged",
    [CERTREG_DEPENDENCE_ORDER] =
        "the rows are in another order: read and write the batch row by row (in Eigen: RowMajor), "
        "and let its first dimension be the batch, not time",
    [CERTREG_DEPENDENCE_OTHERS] =
        "other rows are beside it: switch off batch normalisation in training mode, and "
        "everything else that relates rows to each other",
    [CERTREG_DEPENDENCE_COUNT] =
        "the call has fewer rows: switch off what is computed over the batch, or let the model "
        "itself make up batches of one size",
    [WHOLE_BATCH] =
        "the call has a whole batch: switch off what is computed over the batch, such as batch "
        "normalisation in training mode, or use a smaller model.batch"};

static certreg_status report(certreg_error *why, int32_t *found)
{
    const certreg_error at = *why;
    const int32_t dependence = *found;
    const certreg_status status = dependence == CERTREG_DEPENDENCE_CALL ? CERTREG_OK
                                                                        : CERTREG_E_MODEL_FAILED;
    if (dependence == WHOLE_BATCH) *found = CERTREG_DEPENDENCE_OTHERS;
    if (isinf(at.value)) /* a row that the model left unwritten is NaN */
        cr_error_set(why, status, "an output turns NaN or inf (unwritten row?) if %s",
                     remedies[dependence]);
    else
        cr_error_set(why, status, "an output changes by %.3g if %s", at.value,
                     remedies[dependence]);
    why->row = at.row;
    why->output = at.output;
    why->value = at.value;
    return why->status;
}

/* Says that a whole batch changes outputs by a little more than rounding. */
static certreg_status remark(trial *t, int32_t *found)
{
    certreg_error *why = &t->e->error;
    *found = CERTREG_DEPENDENCE_OTHERS;
    cr_error_set(why, CERTREG_OK,
                 "an output changes by up to %.3g, which is less than 1/64 of the spread of "
                 "outputs, if the call has %zu rows, as in a low precision; plan.audit makes "
                 "certificates count such differences",
                 t->remark, t->e->record.model.batch);
    why->value = t->remark;
    return CERTREG_OK;
}

/* Measures which changes are rounding: as small as those by moving the inputs of the reference. */
static certreg_status measure_rounding(trial *t)
{
    const size_t columns = t->e->record.columns, numbers = t->rows * columns;
    const variant again = {t->rows, CERTREG_DEPENDENCE_NONE, 0},
                  moved = {t->rows, CERTREG_DEPENDENCE_NONE, 1};
    certreg_status status = evaluate_variant(t, again);
    t->rounding = t->reference + numbers;
    for (size_t k = 0; k < columns; k++) t->rounding[k] = 0;
    if (status ||
        memcmp(t->reference, t->e->batches.outputs, numbers * sizeof *t->reference) != 0) {
        t->is_random = !status && outputs_change(t, again);
        return status;
    }
    status = evaluate_variant(t, moved);
    for (size_t i = 0; i < numbers && !status; i++) {
        const float change = MOVE_EFFECTS * fabsf(t->e->batches.outputs[i] - t->reference[i]);
        if (isfinite(change)) t->rounding[i % columns] = fmaxf(t->rounding[i % columns], change);
    }
    for (size_t k = 0; k < columns && !status; k++)
        t->rounding[k] = fminf(t->rounding[k], (float)(PART_OF_SPREAD * spread_of(t, k, t->rows)));
    return status;
}

/* Repeats a variant that seems to change outputs once the effect of rounding is known. */
static certreg_status try_variant(trial *t, variant v, int *changed)
{
    certreg_status status = evaluate_variant(t, v);
    *changed = !status && outputs_change(t, v);
    if (!*changed || t->rounding || v.dependence == CERTREG_DEPENDENCE_CALL) return status;
    *changed = 0;
    status = measure_rounding(t);
    return status || t->is_random ? status : try_variant(t, v, changed);
}

/* Refuses rows that the model left unwritten: it would look random if it wrote them later. */
static certreg_status require_rows(const trial *t)
{
    certreg_estimator *e = t->e;
    const size_t columns = e->record.columns;
    if (e->record.plan.flags & CERTREG_PLAN_COUNT_FAILURES) return CERTREG_OK;
    for (size_t i = 0; i < t->rows; i++) {
        if (cr_estimator_is_written(e->batches.outputs + i * columns, columns)) continue;
        cr_error_set(&e->error, CERTREG_E_NOT_FINITE,
                     "the model left row %zu of %zu unwritten: let it write every row, and wait "
                     "for its outputs, before it returns",
                     i, t->rows);
        e->error.row = (int64_t)i;
        return CERTREG_E_NOT_FINITE;
    }
    return CERTREG_OK;
}

/* Repetition comes first: if it changes outputs, nothing else can be judged, and nothing is
 * refused, since a model may be random. */
static certreg_status try_variants(trial *t, int32_t *found)
{
    const size_t n = t->rows, batch = t->e->record.model.batch;
    const variant variants[] = {
        {n, CERTREG_DEPENDENCE_NONE, 0},  {n, CERTREG_DEPENDENCE_CALL, 0},
        {n, CERTREG_DEPENDENCE_ORDER, 0}, {n, CERTREG_DEPENDENCE_OTHERS, 0},
        {1, CERTREG_DEPENDENCE_COUNT, 0}, {n / 2, CERTREG_DEPENDENCE_COUNT, 0},
        {batch, WHOLE_BATCH, 0}};
    const size_t max_count = t->with_whole ? 7 : 6;
    const size_t count = n < 2 ? 2 : t->fixed_batch ? 4 : max_count;
    certreg_status status = t->fixed_batch ? draw(t, 2 * batch, batch, 0) : CERTREG_OK;
    for (size_t i = 0; i < count && !status && !*found; i++) {
        int changed = 0;
        if (i == 5 && n < 4) continue; /* half of the rows are one */
        status = i ? try_variant(t, variants[i], &changed) : evaluate_variant(t, variants[i]);
        if (!i && !status) status = require_rows(t);
        if (!i && !status)
            memcpy(t->reference, t->e->batches.outputs,
                   n * t->e->record.columns * sizeof *t->reference);
        if (changed) *found = variants[i].dependence;
        if (t->is_random) *found = CERTREG_DEPENDENCE_CALL;
    }
    if (*found) return report(&t->e->error, found);
    return status || !(t->remark > 0) ? status : remark(t, found);
}

static certreg_status check(certreg_estimator *e, size_t rows, int32_t *found)
{
    cr_record *r = &e->record;
    const size_t batch = r->model.batch,
                 capacity = r->plan.max_samples * r->model.outputs / r->columns;
    certreg_status status = cr_view_require_input(r, &e->error);
    if (status) return status;
    if (!r->model.eval || r->sample_count)
        return cr_error_set(&e->error, CERTREG_E_WRONG_STATE,
                            r->sample_count
                                ? "the record has samples: check the model before the first one, "
                                  "right after begin"
                                : "model.eval is NULL: there is no model to check");
    trial t = {.e = e,
               .rows = rows > 0 && rows < batch ? rows : CR_CHECK_ROWS,
               .fixed_batch = rows >= batch,
               .with_whole = !rows && batch > CR_CHECK_ROWS,
               .reference = r->values};
    if (t.rows > batch) t.rows = batch;
    if (t.rows >= capacity) t.rows = capacity > 1 ? capacity - 1 : 1;
    status = try_variants(&t, found);
    if (!status && r->plan.audit) {
        cr_audit_keep_outputs(e, t.reference, t.rows,
                              *found == CERTREG_DEPENDENCE_CALL ? e->error.value : 0);
        status = cr_audit_keep_input(e);
    }
    cr_record_clear(r);
    return status;
}

certreg_status certreg_model_check(certreg_estimator *e, size_t rows, int32_t *found)
{
    int32_t result = CERTREG_DEPENDENCE_NONE;
    certreg_status status = cr_estimator_enter(e, NULL);
    if (!status) status = cr_estimator_leave(e, check(e, rows, &result));
    if (found) *found = result;
    return status;
}
