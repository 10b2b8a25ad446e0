/* Whether outputs depend on anything but their row: the premise of every certificate (theory 0.5).
 * A few rows are evaluated in several ways, each of which would change nothing else. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include <math.h>
#include <string.h>

#define FEW 4u /* rows: 19 in all calls */
/* Changes that do not count: float32 rounds to 6e-8 of a number, and sums of a model's numbers in
 * another order differ by up to some hundred times that; a thousandth of what the noise does to
 * outputs covers those near 0. */
#define ROUNDING 1e-5   /* of the largest output */
#define NOTICEABLE 1e-3 /* of the standard deviation of the outputs */
/* No certificate has noise of this name, whatever the plan's seed is. */
#define CHECK_SEED UINT64_C(0x70726f766973696f)
#define CHECK_NOISE_ID UINT64_MAX

typedef struct trial {
    certreg_estimator *e;
    cr_noise noise;
    size_t rows;  /* of the first call, in which they are the samples from 0 on */
    int whole;    /* every call has model.batch rows */
    float *first; /* rows*columns: the outputs of the first call. The record lends its memory */
    uint64_t calls;
} trial;

typedef struct way { /* to evaluate the rows */
    int32_t shows;   /* CERTREG_DEPENDENCE_...: what a change would show */
    size_t rows;
} way;

/* The sample that a place has. */
static uint64_t sample_at(const trial *t, way w, size_t place)
{
    const size_t n = t->rows;
    switch ((enum certreg_dependence)w.shows) {
    case CERTREG_DEPENDENCE_ORDER: return n - 1 - place;
    case CERTREG_DEPENDENCE_OTHERS: /* the last odd place has a copy of row 1 */
        return place % 2 == 0 ? n + place : place + 2 < n ? place : 1;
    case CERTREG_DEPENDENCE_COUNT: return w.rows == 1 ? 0 : n - w.rows + place;
    case CERTREG_DEPENDENCE_NONE:
    case CERTREG_DEPENDENCE_CALL: break;
    }
    return place;
}

static certreg_status draw(const trial *t, uint64_t sample, size_t count, size_t place)
{
    certreg_estimator *e = t->e;
    const certreg_status status =
        e->backend->ops->draw(e->backend, &t->noise, e->batches.z, e->batches.step, sample, count,
                              e->batches.x[e->batches.turn] + place * e->record.model.inputs);
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

/* Rows that no way uses: of a whole batch, or for a model that evaluates one although it is given
 * fewer rows. */
static certreg_status fill_batch(const trial *t)
{
    certreg_estimator *e = t->e;
    const size_t batch = e->record.model.batch;
    if (t->whole) return draw(t, 2 * batch, batch, 0);
    const certreg_status status =
        e->backend->ops->fill(e->backend, e->batches.x[e->batches.turn],
                              batch * e->record.model.inputs * sizeof(float), 0);
    return status ? cr_backend_failed(e->backend, status, "prepare a batch", &e->error)
                  : CERTREG_OK;
}

static certreg_status evaluate(trial *t, way w)
{
    certreg_estimator *e = t->e;
    const size_t batch = e->record.model.batch, batches = (e->record.plan.max_samples - 1) / batch;
    /* A model may draw randomness of its own by the index of a sample: each call has another one,
     * as long as the plan has. */
    const certreg_batch b = {.rows = t->whole ? batch : w.rows,
                             .first = t->calls++ % (batches + 1) * batch,
                             .used_count = t->whole ? batch : w.rows};
    certreg_status status = cr_estimator_blank(e);
    int code = 0;
    for (size_t i = 0; i < w.rows && !status; i++) status = draw(t, sample_at(t, w, i), 1, i);
    if (!status) status = cr_estimator_evaluate(e, b, &code);
    if (!code) return status;
    cr_fail(&e->error, CERTREG_E_MODEL_FAILED,
            "the model returned %d when it was checked with %zu rows: see what it means by that; "
            "if it takes whole batches only, let rows be model.batch",
            code, b.rows);
    return e->error.model_code = code, CERTREG_E_MODEL_FAILED;
}

/* ---- comparison */
/* The least change of an output that counts. */
static double noticeable(const trial *t, size_t column)
{
    const size_t columns = t->e->record.columns;
    double sum = 0, squares = 0, largest = 0, count = 0;
    for (size_t i = 0; i < t->rows; i++) {
        const double y = (double)t->first[i * columns + column];
        if (!isfinite(y)) continue;
        largest = fmax(largest, fabs(y));
        sum += y, squares += y * y, count++;
    }
    const double variance = count > 0 ? fmax(0, squares - sum * sum / count) / count : 0;
    return ROUNDING * largest + NOTICEABLE * sqrt(variance);
}

static double change_of(float a, float b)
{
    if (isfinite(a) && isfinite(b)) return fabs((double)a - (double)b);
    return isfinite(a) || isfinite(b) ? INFINITY : 0;
}

/* The largest change that counts, in value, row and output of the error; 0 without one. */
static double largest_change(const trial *t, way w)
{
    certreg_estimator *e = t->e;
    const size_t columns = e->record.columns;
    e->error.value = 0;
    for (size_t k = 0; k < columns; k++) {
        const double least = noticeable(t, k);
        for (size_t i = 0; i < w.rows; i++) {
            const uint64_t sample = sample_at(t, w, i);
            if (sample >= t->rows) continue; /* a companion */
            const double change =
                change_of(e->batches.outputs[i * columns + k], t->first[sample * columns + k]);
            if (!(change > least) || change <= e->error.value) continue;
            e->error.value = change;
            e->error.row = (int64_t)sample, e->error.output = (int32_t)k;
        }
    }
    return e->error.value;
}

/* ---- what is said */
static const char *remedy(enum certreg_dependence shown)
{
    switch (shown) {
    case CERTREG_DEPENDENCE_NONE:
    case CERTREG_DEPENDENCE_CALL: break;
    case CERTREG_DEPENDENCE_ORDER:
        return "the rows are in another order: read the batch row by row (in Eigen: RowMajor), and "
               "let its first dimension be the batch, not time";
    case CERTREG_DEPENDENCE_OTHERS:
        return "other rows are beside it: switch off batch normalisation in training mode, and "
               "everything else that relates rows to each other";
    case CERTREG_DEPENDENCE_COUNT:
        return "the call has fewer rows: switch off what is computed over the batch, or let the "
               "model itself make up batches of one size";
    }
    return "the same rows come again: switch off dropout and other noise, and keep no state "
           "between calls, which now holds rows of this check; nothing else was judged";
}

static certreg_status tell(const trial *t, way w)
{
    certreg_error *why = &t->e->error;
    const certreg_error at = *why;
    cr_fail(why, w.shows == CERTREG_DEPENDENCE_CALL ? CERTREG_OK : CERTREG_E_MODEL_FAILED,
            "an output changes by %.3g if %s", at.value, remedy((enum certreg_dependence)w.shows));
    why->row = at.row, why->output = at.output, why->value = at.value;
    return why->status;
}

/* Repetition comes first: if it changes outputs, nothing else can be judged, and nothing is
 * refused, since a model may be random. */
static certreg_status try_all(trial *t, int32_t *found)
{
    const size_t n = t->rows;
    const way ways[] = {{CERTREG_DEPENDENCE_NONE, n},  {CERTREG_DEPENDENCE_CALL, n},
                        {CERTREG_DEPENDENCE_ORDER, n}, {CERTREG_DEPENDENCE_OTHERS, n},
                        {CERTREG_DEPENDENCE_COUNT, 1}, {CERTREG_DEPENDENCE_COUNT, n / 2}};
    const size_t count = n < 2 ? 2 : t->whole ? 4 : n < 4 ? 5 : 6;
    certreg_status status = fill_batch(t);
    for (size_t i = 0; i < count && !status; i++) {
        const way w = ways[i];
        if ((status = evaluate(t, w))) break;
        if (i == 0)
            memcpy(t->first, t->e->batches.outputs, n * t->e->record.columns * sizeof *t->first);
        else if (largest_change(t, w) > 0) return *found = w.shows, tell(t, w);
    }
    return status;
}

static certreg_status check(certreg_estimator *e, size_t rows, int32_t *found)
{
    cr_record *r = &e->record;
    const size_t batch = r->model.batch, room = r->plan.max_samples * r->model.outputs / r->columns;
    certreg_status status = cr_view_begun(r, &e->error);
    if (status) return status;
    if (!r->model.eval)
        return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                       "model.eval is NULL: there is no model to check");
    if (r->present)
        return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                       "the record has %zu samples: check the model before the first one, right "
                       "after begin",
                       r->present);
    trial t = {.e = e,
               .noise = {.seed = CHECK_SEED,
                         .noise_id = CHECK_NOISE_ID,
                         .level = CR_LEVELS - 1,
                         .inputs = r->model.inputs},
               .rows = rows > 0 && rows < batch ? rows : FEW,
               .whole = rows >= batch,
               .first = r->values};
    if (t.rows > batch) t.rows = batch;
    if (t.rows > room) t.rows = room;
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
