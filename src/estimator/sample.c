/* Sampling: the loop over batches of the model, and its inverse for engines with their own loop. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"

/* ---- one batch */
typedef struct span { /* samples */
    uint64_t first, end;
} span;

typedef struct request {   /* of a call */
    uint64_t end;          /* of its samples */
    uint64_t fixed, looks; /* they count as fixed beforehand if the outputs end the sampling */
} request;

/* Seconds for a batch that records `more` samples, and for the answers. A record that has no answer
 * yet gains nothing by stopping, so the batch alone has to fit. The fastest batch of earlier inputs
 * counts, so that one outlier does not end all later sampling. */
static double time_needed(const certreg_estimator *e, size_t more)
{
    const double batch = fmax(e->clock.fastest_batch, e->clock.slowest_batch);
    const cr_answer_budget *closing = &e->clock.closing;
    if (!closing->cost || e->record.present < closing->from) return batch;
    if (!cr_answer_cost_known(closing->cost)) return batch + closing->supposed;
    const cr_sample_counts n = {(double)(e->record.present + more), (double)e->record.pilot};
    return batch + closing->times * cr_answer_cost_expected(closing->cost, n);
}

static certreg_status interrupted(certreg_estimator *e, size_t more)
{
    if (cr_estimator_cancelled(e))
        return cr_error_set(&e->error, CERTREG_E_CANCELLED,
                            "cancelled with %zu samples in the record", e->record.present);
    if (e->clock.deadline > 0 && cr_estimator_now(e) + time_needed(e, more) > e->clock.deadline)
        return cr_error_set(
            &e->error, CERTREG_E_DEADLINE,
            "the deadline leaves no time for another batch; %zu samples in the record",
            e->record.present);
    return CERTREG_OK;
}

/* Samples 2i and 2i + 1 have the noise of number i. */
static certreg_status draw_pairs(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    certreg_status status = CERTREG_OK;
    for (uint64_t i = first; i < first + count && !status; i++, x += e->record.model.inputs) {
        const float *step = i % 2 ? e->batches.opposite : e->batches.step;
        const cr_draw row = {e->batches.z, step, i / 2, 1, x};
        status = e->backend->ops->draw(e->backend, &e->record.input.noise, &row);
    }
    return status;
}

/* x is memory of the backend. */
static certreg_status draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const cr_draw rows = {e->batches.z, e->batches.step, first, count, x};
    const certreg_status status =
        e->batches.opposite ? draw_pairs(e, first, count, x)
                            : e->backend->ops->draw(e->backend, &e->record.input.noise, &rows);
    if (status == CERTREG_E_INVALID)
        return cr_error_set(&e->error, status, "x is not memory of device %d",
                            (int)e->backend->ops->device);
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

/* The model's batch: it was drawn ahead, or is drawn now. */
static certreg_status draw_batch(certreg_estimator *e, uint64_t first)
{
    cr_batch_buffers *at = &e->batches;
    if (!at->ahead || at->first != first)
        return draw(e, first, e->record.model.batch, e->batches.x[at->turn]);
    const certreg_status status = cr_backend_join(e->backend);
    if (status) return cr_backend_failed(e->backend, status, "draw noise", &e->error);
    at->turn = !at->turn;
    at->ahead = 0;
    return CERTREG_OK;
}

/* Draws the next batch while the model works, if the backend can do this. */
static certreg_status draw_ahead(certreg_estimator *e, uint64_t first)
{
    const cr_backend_ops *ops = e->backend->ops;
    cr_batch_buffers *at = &e->batches;
    /* Noise that was drawn ahead and not used is overwritten. */
    certreg_status status = at->ahead ? cr_backend_join(e->backend) : CERTREG_OK;
    at->ahead = 0;
    at->first = first;
    if (!ops->draw_ahead || at->opposite) return CERTREG_OK;
    const cr_draw next = {at->z, at->step, first, e->record.model.batch, at->x[!at->turn]};
    if (!status) status = ops->draw_ahead(e->backend, &e->record.input.noise, &next);
    at->ahead = !status;
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

static size_t output_bytes(const certreg_estimator *e)
{
    return e->record.model.batch * e->record.columns * sizeof *e->batches.y;
}

certreg_status cr_estimator_blank(certreg_estimator *e)
{
    const certreg_status status =
        e->backend->ops->fill(e->backend, e->batches.y, output_bytes(e), 0xff); /* a NaN */
    return status ? cr_backend_failed(e->backend, status, "prepare a batch", &e->error)
                  : CERTREG_OK;
}

/* This waits for the model. */
static certreg_status fetch_outputs(certreg_estimator *e)
{
    const certreg_status status =
        e->backend->ops->fetch(e->backend, e->batches.outputs, e->batches.y, output_bytes(e));
    return status ? cr_backend_failed(e->backend, status,
                                      "run the model's work or to give its outputs back", &e->error)
                  : CERTREG_OK;
}

certreg_status cr_estimator_evaluate(certreg_estimator *e, certreg_batch b)
{
    b.struct_size = sizeof b;
    b.device = e->backend->ops->device;
    b.inputs = e->record.model.inputs;
    b.columns = e->record.columns;
    b.x = e->batches.x[e->batches.turn];
    b.y = e->batches.y;
    b.stream = e->backend->ops->stream(e->backend);
    cr_call_guard_out(&e->busy);
    const int code = e->record.model.eval(e->record.model.user, &b);
    cr_call_guard_in(&e->busy);
    const certreg_status status = fetch_outputs(e); /* also then: nothing stays in flight */
    if (!code) return status;
    const uint64_t first = b.first + b.used_first;
    cr_error_set(
        &e->error, CERTREG_E_MODEL_FAILED,
        "the model returned %d for samples %llu to %llu: see what it means by that, and let it "
        "return 0 once its outputs are written",
        code, (unsigned long long)first, (unsigned long long)(first + b.used_count - 1));
    e->error.sample = (int64_t)first;
    e->error.row = (int64_t)b.used_first;
    e->error.model_code = code;
    return CERTREG_E_MODEL_FAILED;
}

/* The inputs of the batch, and room for its outputs. */
static certreg_status prepare_batch(certreg_estimator *e, uint64_t batch_first, uint64_t end)
{
    const uint64_t next = batch_first + e->record.model.batch;
    certreg_status status = draw_batch(e, batch_first);
    if (!status) status = cr_estimator_blank(e);
    return !status && next < end ? draw_ahead(e, next) : status;
}

static certreg_status call_model(certreg_estimator *e, uint64_t batch_first, span used)
{
    const certreg_batch b = {.rows = e->record.model.batch,
                             .first = batch_first,
                             .used_first = (size_t)(used.first - batch_first),
                             .used_count = (size_t)(used.end - used.first)};
    const double start = cr_estimator_now(e);
    const certreg_status status = cr_estimator_evaluate(e, b);
    e->clock.model_seconds += cr_estimator_now(e) - start;
    return status;
}

/* A model that fails, or returns an output that cannot be recorded, has seen all rows of its batch:
 * the outputs may choose the end of sampling. If main samples are among these rows, even if only
 * the pilot's are used, only the number that the call fixed beforehand counts as fixed (theory
 * 5.2). A device that fails before a batch may do so because of the model's earlier work there. */
static certreg_status chosen_by_outputs(certreg_estimator *e, certreg_status status,
                                        uint64_t batch_end, const request *r)
{
    if (batch_end > e->record.pilot) cr_query_log_settle(&e->record, r->fixed, r->fixed, r->looks);
    return status;
}

/* Evaluates the batch that starts at batch_first, and records the missing samples of `used`. */
static certreg_status run_batch(certreg_estimator *e, uint64_t batch_first, span used,
                                const request *r)
{
    const double start = cr_estimator_now(e), model_before = e->clock.model_seconds;
    e->record.pilot_fixed = 1;
    certreg_status status = prepare_batch(e, batch_first, r->end);
    if (status == CERTREG_E_DEVICE_FAILED)
        return chosen_by_outputs(e, status, e->record.present, r);
    if (status) return status;
    status = call_model(e, batch_first, used);
    for (uint64_t i = used.first; !status && i < used.end; i++)
        if (!cr_view_has(&e->record, i)) {
            const size_t row = (size_t)(i - batch_first);
            status = cr_record_store(&e->record, i, 1, e->batches.outputs + row * e->record.columns,
                                     (int64_t)row, &e->error);
        }
    const double took = cr_estimator_now(e) - start;
    e->clock.library_seconds += took - (e->clock.model_seconds - model_before);
    if (took > e->clock.slowest_batch) e->clock.slowest_batch = took;
    if (status) return chosen_by_outputs(e, status, batch_first + e->record.model.batch, r);
    if (!(e->clock.fastest_batch > 0) || took < e->clock.fastest_batch)
        e->clock.fastest_batch = took;
    return CERTREG_OK;
}

/* From the first to the last missing sample; empty if none is missing. */
static span missing_part(const certreg_estimator *e, span s)
{
    while (s.first < s.end && cr_view_has(&e->record, s.first)) s.first++;
    while (s.first < s.end && cr_view_has(&e->record, s.end - 1)) s.end--;
    return s;
}

static certreg_status refuse_span(certreg_estimator *e, uint64_t first, size_t count,
                                  const char *remedy)
{
    cr_error_set(
        &e->error, CERTREG_E_TOO_MANY,
        "first = %llu plus %zu samples exceeds plan.max_samples = %zu%s, or create the estimator "
        "with a larger one",
        (unsigned long long)first, count, e->record.plan.max_samples, remedy);
    e->error.sample = (int64_t)e->record.plan.max_samples;
    return CERTREG_E_TOO_MANY;
}

static certreg_status check_span(certreg_estimator *e, uint64_t first, size_t count)
{
    const size_t most = e->record.plan.max_samples;
    if (first <= most && count <= most - first) return CERTREG_OK;
    return refuse_span(e, first, count, ": take fewer");
}

static int wants_to_stop(certreg_estimator *e, uint64_t done, uint64_t total)
{
    if (!e->record.plan.progress) return 0;
    cr_call_guard_out(&e->busy);
    const int stop = e->record.plan.progress(e->record.plan.progress_user, done, total);
    cr_call_guard_in(&e->busy);
    return stop;
}

certreg_status cr_estimator_sample(certreg_estimator *e, uint64_t first, size_t count,
                                   uint64_t requested, uint64_t looks)
{
    cr_error_clear(&e->error);
    certreg_status status = cr_view_require_input(&e->record, &e->error);
    if (!status) status = check_span(e, first, count);
    if (status) return status;
    if (!e->record.model.eval)
        return cr_error_set(&e->error, CERTREG_E_WRONG_STATE,
                            "model.eval is NULL: use certreg_estimator_draw and _record");
    const uint64_t end = first + count, batch = e->record.model.batch;
    const request r = {.end = end, .fixed = requested, .looks = looks};
    for (uint64_t at = first / batch * batch; at < end; at += batch) {
        const span asked = {at > first ? at : first, end - at < batch ? end : at + batch},
                   used = missing_part(e, asked);
        if (used.first == used.end) continue;
        if ((status = interrupted(e, (size_t)(used.end - used.first)))) return status;
        if ((status = run_batch(e, at, used, &r))) return status;
        if (wants_to_stop(e, asked.end - first, count))
            return cr_error_set(&e->error, CERTREG_E_CANCELLED,
                                "cancelled by progress with %zu samples in the record",
                                e->record.present);
    }
    return CERTREG_OK;
}

certreg_status certreg_estimator_sample(certreg_estimator *e, uint64_t first, size_t count)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    if (status) return status;
    cr_record_expect(&e->record, e->record.plan.max_samples);
    return cr_estimator_leave(e, cr_estimator_sample(e, first, count, 0, 0));
}

/* ---- inverted control */
static certreg_status draw_range(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    certreg_status status = cr_view_require_input(&e->record, &e->error);
    if (status) return status;
    if (!x && count) return cr_error_set(&e->error, CERTREG_E_INVALID, "x is NULL");
    const size_t batch = e->record.model.batch;
    const size_t last = (e->record.plan.max_samples - 1) / batch; /* this batch is drawn whole */
    if (first / batch > last || count > (last - first / batch) * batch + (batch - first % batch))
        return refuse_span(e, first, count, " and the end of its batch: draw fewer");
    if (!count) return CERTREG_OK;
    const double start = cr_estimator_now(e);
    cr_record_expect(&e->record, e->record.plan.max_samples);
    e->record.pilot_fixed = 1;
    status = draw(e, first, count, x);
    if (!status && (status = e->backend->ops->wait(e->backend)))
        status = cr_backend_failed(e->backend, status, "draw noise", &e->error);
    e->clock.library_seconds += cr_estimator_now(e) - start;
    return status;
}

certreg_status certreg_estimator_draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status : cr_estimator_leave(e, draw_range(e, first, count, x));
}

static certreg_status record_range(certreg_estimator *e, uint64_t first, size_t count,
                                   const float *y)
{
    certreg_status status = cr_view_require_input(&e->record, &e->error);
    if (!status) status = check_span(e, first, count);
    if (status) return status;
    if (!y && count) return cr_error_set(&e->error, CERTREG_E_INVALID, "y is NULL");
    cr_record_expect(&e->record, e->record.plan.max_samples);
    e->record.pilot_fixed |= count > 0;
    return cr_record_store(&e->record, first, count, y, 0, &e->error);
}

certreg_status certreg_estimator_record(certreg_estimator *e, uint64_t first, size_t count,
                                        const float *y)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status : cr_estimator_leave(e, record_range(e, first, count, y));
}
