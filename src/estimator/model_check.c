/* Checks that outputs depend on their row alone, the premise of every certificate (theory 0.5): a
 * few rows are evaluated in several ways, which must not change an output. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include <math.h>
#include <string.h>

#define FEW 4u /* rows: 19 in all calls */
/* Changes that do not count. float32 rounds to 6e-8 of a number, and sums in another order differ
 * by some hundred times as much. If outputs are small beside the terms of their sums, rounding may
 * change them by several times the effect of moving each feature by one step of float32. */
#define ROUNDING 1e-5 /* of the largest output */
#define STEPS 32      /* of these effects */
/* The name of noise that no certificate uses, different at each level, so that checks of two
 * domains see different noise. */
#define SEED UINT64_C(0x70726f766973696f)
#define NOISE_ID UINT64_MAX

typedef struct trial {
    certreg_estimator *e;
    size_t rows;  /* of the first call, which has samples 0, 1, ... */
    int whole;    /* every call has model.batch rows; rows behind `rows` never change */
    float *first; /* rows*columns: outputs of the first call, in memory that the record lends */
    float *moved; /* columns, behind them: the largest change by a step of float32; NULL: not
                     measured yet */
    uint64_t calls;
} trial;

typedef struct way { /* to evaluate the rows */
    size_t rows;
    int32_t shows; /* CERTREG_DEPENDENCE_... that a change proves */
    int32_t moved; /* 1: each feature by a step of float32 */
} way;

/* The sample at a place of the batch. Beside other rows, the last odd place has a copy of row 1. */
static uint64_t sample_at(const trial *t, way w, size_t place)
{
    const size_t n = t->rows;
    if (w.shows == CERTREG_DEPENDENCE_ORDER) return n - 1 - place;
    if (w.shows == CERTREG_DEPENDENCE_OTHERS)
        return place % 2 == 0 ? n + place : place + 2 < n ? place : 1;
    if (w.shows == CERTREG_DEPENDENCE_COUNT) return w.rows == 1 ? 0 : n - w.rows + place;
    return place;
}

static certreg_status draw(const trial *t, uint64_t sample, size_t count, size_t place)
{
    certreg_estimator *e = t->e;
    const size_t inputs = e->record.model.inputs;
    const cr_noise noise = {SEED, NOISE_ID - e->record.input.noise.level, CR_LEVELS - 1, inputs, 0};
    const cr_draw rows = {e->batches.z, e->batches.step, sample, count,
                          e->batches.x[e->batches.turn] + place * inputs};
    const certreg_status status = e->backend->ops->draw(e->backend, &noise, &rows);
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

/* Moves the features that have noise. */
static certreg_status move_rows(const trial *t)
{
    certreg_estimator *e = t->e;
    const cr_backend_ops *ops = e->backend->ops;
    const size_t inputs = e->record.model.inputs, count = t->rows * inputs;
    float part[256], *const x = e->batches.x[e->batches.turn];
    certreg_status status = CERTREG_OK;
    for (size_t at = 0; at < count && !status; at += 256) {
        const size_t length = count - at < 256 ? count - at : 256;
        status = ops->fetch(e->backend, part, x + at, length * sizeof *x);
        for (size_t j = 0; j < length; j++)
            if (e->record.input.scale[(at + j) % inputs] > 0)
                part[j] = nextafterf(part[j], j % 2 ? INFINITY : -INFINITY);
        if (!status) status = ops->store(e->backend, x + at, part, length * sizeof *x);
        if (!status) status = ops->wait(e->backend);
    }
    return status ? cr_backend_failed(e->backend, status, "move inputs", &e->error) : CERTREG_OK;
}

static certreg_status evaluate(trial *t, way w)
{
    certreg_estimator *e = t->e;
    const size_t batch = e->record.model.batch, rows = t->whole ? batch : w.rows,
                 batches = (e->record.plan.max_samples - 1) / batch + 1;
    /* A model may derive randomness of its own from the index of a sample, so each call has
     * different indices, unless the plan has too few. */
    const certreg_batch b = {
        .rows = rows, .first = t->calls++ % batches * batch, .used_count = rows};
    certreg_status status = cr_estimator_blank(e);
    for (size_t i = 0; i < w.rows && !status; i++) status = draw(t, sample_at(t, w, i), 1, i);
    if (!status && w.moved) status = move_rows(t);
    return status ? status : cr_estimator_evaluate(e, b);
}

/* ---- comparison */
/* The least change of an output that counts. */
static double noticeable(const trial *t, size_t column)
{
    double largest = 0;
    for (size_t i = 0; i < t->rows; i++) {
        const double y = (double)t->first[i * t->e->record.columns + column];
        if (isfinite(y)) largest = fmax(largest, fabs(y));
    }
    return ROUNDING * largest + (t->moved ? STEPS * (double)t->moved[column] : 0);
}

static double change_of(double a, double b)
{
    if (isfinite(a) && isfinite(b)) return fabs(a - b);
    return isfinite(a) || isfinite(b) ? INFINITY : 0;
}

/* Returns 1 if an output changes, with the largest change in value, row and output of the error. */
static int changes(const trial *t, way w)
{
    certreg_estimator *e = t->e;
    const size_t columns = e->record.columns;
    e->error.value = 0;
    for (size_t k = 0; k < columns; k++) {
        const double least = noticeable(t, k);
        for (size_t i = 0; i < w.rows; i++) {
            const uint64_t sample = sample_at(t, w, i);
            if (sample >= t->rows) continue; /* a companion */
            const double change = change_of((double)e->batches.outputs[i * columns + k],
                                            (double)t->first[sample * columns + k]);
            if (!(change > least) || change <= e->error.value) continue;
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
        "the same rows come again: switch off dropout and other noise, and keep no state between "
        "calls, which now holds rows of this check; nothing else was judged",
    [CERTREG_DEPENDENCE_ORDER] =
        "the rows are in another order: read the batch row by row (in Eigen: RowMajor), and let "
        "its first dimension be the batch, not time",
    [CERTREG_DEPENDENCE_OTHERS] =
        "other rows are beside it: switch off batch normalisation in training mode, and "
        "everything else that relates rows to each other",
    [CERTREG_DEPENDENCE_COUNT] =
        "the call has fewer rows: switch off what is computed over the batch, or let the model "
        "itself make up batches of one size"};

static certreg_status tell(certreg_error *why, int32_t shown)
{
    const certreg_error at = *why;
    cr_error_set(why, shown == CERTREG_DEPENDENCE_CALL ? CERTREG_OK : CERTREG_E_MODEL_FAILED,
                 "an output changes by %.3g if %s", at.value, remedies[shown]);
    why->row = at.row;
    why->output = at.output;
    why->value = at.value;
    return why->status;
}

/* Measures how far a step of float32 changes each column. */
static certreg_status find_moved(trial *t)
{
    const size_t columns = t->e->record.columns, numbers = t->rows * columns;
    const certreg_status status = evaluate(t, (way){t->rows, CERTREG_DEPENDENCE_NONE, 1});
    if (status) return status;
    t->moved = t->first + numbers;
    for (size_t k = 0; k < columns; k++) t->moved[k] = 0;
    for (size_t i = 0; i < numbers; i++) {
        const float change = fabsf(t->e->batches.outputs[i] - t->first[i]);
        if (isfinite(change)) t->moved[i % columns] = fmaxf(t->moved[i % columns], change);
    }
    return CERTREG_OK;
}

/* Repeats a way that seems to change outputs once the effect of rounding is known. */
static certreg_status try_way(trial *t, way w, int *changed)
{
    certreg_status status = evaluate(t, w);
    *changed = !status && changes(t, w);
    if (!*changed || t->moved || w.shows == CERTREG_DEPENDENCE_CALL) return status;
    *changed = 0;
    status = find_moved(t);
    return status ? status : try_way(t, w, changed);
}

/* Repetition comes first: if it changes outputs, nothing else can be judged, and nothing is
 * refused, since a model may be random. */
static certreg_status try_all(trial *t, int32_t *found)
{
    const size_t n = t->rows, batch = t->e->record.model.batch;
    const way ways[] = {{n, CERTREG_DEPENDENCE_NONE, 0},  {n, CERTREG_DEPENDENCE_CALL, 0},
                        {n, CERTREG_DEPENDENCE_ORDER, 0}, {n, CERTREG_DEPENDENCE_OTHERS, 0},
                        {1, CERTREG_DEPENDENCE_COUNT, 0}, {n / 2, CERTREG_DEPENDENCE_COUNT, 0}};
    const size_t all = n < 4 ? 5 : 6;
    const size_t count = n < 2 ? 2 : t->whole ? 4 : all;
    certreg_status status = t->whole ? draw(t, 2 * batch, batch, 0) : CERTREG_OK;
    for (size_t i = 0; i < count && !status && !*found; i++) {
        int changed = 0;
        status = i ? try_way(t, ways[i], &changed) : evaluate(t, ways[i]);
        if (!i && !status)
            memcpy(t->first, t->e->batches.outputs, n * t->e->record.columns * sizeof *t->first);
        if (changed) *found = ways[i].shows;
    }
    return *found ? tell(&t->e->error, *found) : status;
}

static certreg_status check(certreg_estimator *e, size_t rows, int32_t *found)
{
    cr_record *r = &e->record;
    const size_t batch = r->model.batch, room = r->plan.max_samples * r->model.outputs / r->columns;
    certreg_status status = cr_view_require_input(r, &e->error);
    if (status) return status;
    if (!r->model.eval || r->present)
        return cr_error_set(&e->error, CERTREG_E_WRONG_STATE,
                            r->present
                                ? "the record has samples: check the model before the first one, "
                                  "right after begin"
                                : "model.eval is NULL: there is no model to check");
    trial t = {.e = e,
               .rows = rows > 0 && rows < batch ? rows : FEW,
               .whole = rows >= batch,
               .first = r->values};
    if (t.rows > batch) t.rows = batch;
    if (t.rows >= room) t.rows = room > 1 ? room - 1 : 1;
    status = try_all(&t, found);
    cr_record_clear(r);
    return status;
}

certreg_status certreg_model_check(certreg_estimator *e, size_t rows, int32_t *found)
{
    int32_t mine = CERTREG_DEPENDENCE_NONE;
    certreg_status status = cr_estimator_enter(e, NULL);
    if (!status) status = cr_estimator_leave(e, check(e, rows, &mine));
    if (found) *found = mine;
    return status;
}
