/* Sampling: a new input, the loop over batches of the model, and its inverse for engines with a
 * loop of their own. */
#include "estimator/device.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

double cr_estimator_clock(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cr_estimator_now(const certreg_estimator *e)
{
    return cr_watch_now(e->clock.watch);
}

/* ---- a call */
certreg_status cr_estimator_enter(certreg_estimator *e)
{
    if (!e) return CERTREG_E_INVALID;
    certreg_status status = cr_busy_enter(&e->busy, &e->error);
    if (status || !cr_estimator_on_device(e)) return status;
    status = cr_busy_enter(&e->backend->busy, &e->error);
    if (status == CERTREG_E_BUSY)
        cr_fail(&e->error, status, "the backend is serving another estimator's call");
    return status ? cr_busy_leave(&e->busy, status) : CERTREG_OK;
}

certreg_status cr_estimator_leave(certreg_estimator *e, certreg_status status)
{
    if (cr_estimator_on_device(e)) cr_busy_leave(&e->backend->busy, status);
    return cr_busy_leave(&e->busy, status);
}

certreg_status cr_estimator_ready(certreg_estimator *e)
{
    if (!e->input.begun)
        return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                       "certreg_estimator_begin has not been called");
    return CERTREG_OK;
}

/* ---- begin */
/* Float has to carry the noise: below 2^10 units in the last place of z_j its distribution is no
 * longer Gaussian. */
static certreg_status check_feature(certreg_estimator *e, size_t j, float z, double sigma)
{
    if (!isfinite(z)) {
        cr_fail(&e->error, CERTREG_E_INVALID, "z[%zu] is %g; the input must be finite", j,
                (double)z);
        return e->error.value = (double)z, CERTREG_E_INVALID;
    }
    if (!(e->input.scale[j] > 0)) return CERTREG_OK;
    const double step = sigma * (double)e->input.scale[j];
    const double ulp = (double)nextafterf(fabsf(z), INFINITY) - (double)fabsf(z);
    if (!(step >= 1024 * ulp) || step < (double)FLT_MIN ||
        !(step + fabs((double)z) < (double)FLT_MAX / 16))
        return cr_fail(&e->error, CERTREG_E_INVALID,
                       "feature %zu: noise of %g at z = %g cannot be carried by float (needs 1024 "
                       "ulp = %g and no overflow)",
                       j, step, (double)z, 1024 * ulp);
    return CERTREG_OK;
}

/* Whole batches of noise up to the max_samples lie within one level of the stream. */
static certreg_status check_noise(certreg_estimator *e)
{
    const uint64_t row = e->model.inputs / 4 + (e->model.inputs % 4 != 0);
    const uint64_t most = (UINT64_C(1) << CR_LEVEL_BITS) / row;
    if (e->plan.max_samples <= most && e->model.batch <= most - e->plan.max_samples)
        return CERTREG_OK;
    return cr_fail(
        &e->error, CERTREG_E_INVALID,
        "plan.max_samples = %zu plus model.batch = %zu exceeds the %llu samples that one level "
        "of a stream has",
        e->plan.max_samples, e->model.batch, (unsigned long long)most);
}

certreg_status cr_estimator_check_input(certreg_estimator *e, const float *z, double sigma)
{
    if (!z) return cr_fail(&e->error, CERTREG_E_INVALID, "z is NULL");
    if (!(sigma > 0) || !isfinite(sigma))
        return cr_fail(&e->error, CERTREG_E_INVALID, "sigma is %g; it must be positive and finite",
                       sigma);
    for (size_t j = 0; j < e->model.inputs; j++) {
        const certreg_status status = check_feature(e, j, z[j], sigma);
        if (status) return status;
    }
    return check_noise(e);
}

certreg_status cr_estimator_begin(certreg_estimator *e, const float *z, double sigma,
                                  uint64_t noise_id, uint64_t level)
{
    cr_error_clear(&e->error);
    e->input.begun = 0;
    const certreg_status status = cr_estimator_check_input(e, z, sigma);
    if (status) return status;
    if (level >= CR_LEVELS)
        return cr_fail(&e->error, CERTREG_E_INVALID, "level is %llu; a stream has levels 0 to %llu",
                       (unsigned long long)level, (unsigned long long)CR_LEVELS - 1);
    const double start = cr_estimator_now(e);
    e->input.least_sigma = sigma;
    for (size_t j = 0; j < e->model.inputs; j++) {
        e->input.z[j] = z[j];
        e->input.step[j] = (float)(sigma * (double)e->input.scale[j]);
        if (e->input.scale[j] > 0)
            e->input.least_sigma =
                fmin(e->input.least_sigma,
                     nextafter((double)e->input.step[j] / (double)e->input.scale[j], 0));
    }
    e->input.noise = (cr_noise){
        .seed = e->plan.seed, .noise_id = noise_id, .level = level, .inputs = e->model.inputs};
    e->input.sigma = sigma;
    cr_record_clear(e);
    e->record.pilot_fixed = 0;
    cr_record_expect(e, e->plan.max_samples);
    if (cr_estimator_on_device(e)) {
        const certreg_status taken = cr_device_begin(e);
        if (taken) return taken;
    }
    e->clock.slowest_batch = e->clock.model_seconds = 0;
    e->record.asked = (cr_asked){0};
    e->input.begun = 1;
    e->clock.library_seconds = cr_estimator_now(e) - start;
    return CERTREG_OK;
}

certreg_status certreg_estimator_begin_level(certreg_estimator *e, const float *z, double sigma,
                                             uint64_t noise_id, uint64_t level)
{
    const certreg_status status = cr_estimator_enter(e);
    return status ? status
                  : cr_estimator_leave(e, cr_estimator_begin(e, z, sigma, noise_id, level));
}

certreg_status certreg_estimator_begin(certreg_estimator *e, const float *z, double sigma,
                                       uint64_t noise_id)
{
    return certreg_estimator_begin_level(e, z, sigma, noise_id, 0);
}

/* ---- one batch */
typedef struct span { /* samples */
    uint64_t first, end;
} span;

/* For a batch that records `more` samples, and for what follows. A record that has no answer yet
 * gains nothing by stopping: there the batch alone has to fit. For batches of earlier inputs the
 * fastest counts, so that one outlier does not end all later sampling. */
static double time_needed(const certreg_estimator *e, size_t more)
{
    const double batch = fmax(e->clock.fastest_batch, e->clock.slowest_batch);
    const cr_closing *closing = &e->clock.closing;
    if (!closing->cost || e->record.present < closing->from) return batch;
    if (!cr_cost_known(closing->cost)) return batch + closing->supposed;
    return batch +
           closing->times * cr_cost_expected(closing->cost, (double)(e->record.present + more));
}

static certreg_status interrupted(certreg_estimator *e, size_t more)
{
    if (atomic_exchange(&e->cancel, 0))
        return cr_fail(&e->error, CERTREG_E_CANCELLED, "cancelled with %zu samples in the record",
                       e->record.present);
    if (e->clock.deadline > 0 && cr_estimator_now(e) + time_needed(e, more) > e->clock.deadline)
        return cr_fail(&e->error, CERTREG_E_DEADLINE,
                       "the deadline leaves no time for another batch; %zu samples in the record",
                       e->record.present);
    return CERTREG_OK;
}

static certreg_status call_model(certreg_estimator *e, uint64_t batch_first, span used,
                                 uint64_t end)
{
    const size_t rows = e->model.batch;
    certreg_batch b = {.struct_size = sizeof b,
                       .device = e->backend->ops->device,
                       .rows = rows,
                       .inputs = e->model.inputs,
                       .columns = e->columns,
                       .first = batch_first,
                       .used_first = (size_t)(used.first - batch_first),
                       .used_count = (size_t)(used.end - used.first),
                       .x = e->at.x,
                       .y = e->at.y};
    const int device = cr_estimator_on_device(e);
    certreg_status status = CERTREG_OK;
    if (device) {
        b.stream = e->backend->ops->stream(e->backend);
        status = cr_device_blank_outputs(e);
        if (!status && batch_first + rows < end)
            status = cr_device_draw_ahead(e, batch_first + rows);
        if (status) return status;
    }
    for (size_t i = 0; !device && i < rows * e->columns; i++) e->at.y[i] = NAN;
    const double start = cr_estimator_now(e);
    cr_busy_out(&e->busy);
    const int code = e->model.eval(e->model.user, &b);
    cr_busy_in(&e->busy);
    if (device)
        status = cr_device_fetch_outputs(e); /* also after a failure: nothing stays in flight */
    e->clock.model_seconds += cr_estimator_now(e) - start;
    if (!code) return status;
    cr_fail(&e->error, CERTREG_E_MODEL_FAILED, "the model returned %d for samples %llu to %llu",
            code, (unsigned long long)used.first, (unsigned long long)(used.end - 1));
    e->error.sample = (int64_t)used.first;
    e->error.row = (int64_t)b.used_first;
    e->error.model_code = code;
    return CERTREG_E_MODEL_FAILED;
}

/* x lies where the backend computes. */
static certreg_status draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const int device = cr_estimator_on_device(e);
    const float *z = device ? e->device.z : e->input.z,
                *step = device ? e->device.step : e->input.step;
    const certreg_status status =
        e->backend->ops->draw(e->backend, &e->input.noise, z, step, first, count, x);
    if (status == CERTREG_E_INVALID)
        return cr_fail(&e->error, status, "x is no memory of device %d",
                       (int)e->backend->ops->device);
    return status ? cr_estimator_backend_failed(e, status, "draw noise") : CERTREG_OK;
}

/* Evaluates the batch that starts at batch_first and records the samples of `used` that are
 * missing. end: of all that is asked for. */
static certreg_status run_batch(certreg_estimator *e, uint64_t batch_first, span used, uint64_t end)
{
    const double start = cr_estimator_now(e), model_before = e->clock.model_seconds;
    e->record.pilot_fixed = 1;
    certreg_status status = cr_estimator_on_device(e)
                                ? cr_device_draw(e, batch_first)
                                : draw(e, batch_first, e->model.batch, e->at.x);
    if (status) return status;
    status = call_model(e, batch_first, used, end);
    for (uint64_t i = used.first; !status && i < used.end; i++)
        if (!cr_record_has(e, i)) {
            const size_t row = (size_t)(i - batch_first);
            status = cr_record_store(e, i, 1, e->at.y_host + row * e->columns, (int64_t)row);
        }
    const double took = cr_estimator_now(e) - start;
    e->clock.library_seconds += took - (e->clock.model_seconds - model_before);
    if (took > e->clock.slowest_batch) e->clock.slowest_batch = took;
    if (!status && (!(e->clock.fastest_batch > 0) || took < e->clock.fastest_batch))
        e->clock.fastest_batch = took;
    return status;
}

/* From the first to the last sample that is missing; empty where none is. */
static span missing_part(const certreg_estimator *e, span s)
{
    while (s.first < s.end && cr_record_has(e, s.first)) s.first++;
    while (s.first < s.end && cr_record_has(e, s.end - 1)) s.end--;
    return s;
}

static certreg_status check_span(certreg_estimator *e, uint64_t first, size_t count)
{
    const certreg_status status = cr_estimator_ready(e);
    if (status) return status;
    if (first > e->plan.max_samples || count > e->plan.max_samples - first) {
        cr_fail(&e->error, CERTREG_E_TOO_MANY,
                "samples %llu and %zu more go beyond plan.max_samples = %zu",
                (unsigned long long)first, count, e->plan.max_samples);
        return e->error.sample = (int64_t)e->plan.max_samples, CERTREG_E_TOO_MANY;
    }
    return CERTREG_OK;
}

/* An output that cannot be recorded ends the sampling where the outputs say. What was asked for was
 * fixed before, and is the number that counts (theory 5.2). */
static certreg_status chosen_by_outputs(certreg_estimator *e, certreg_status status, uint64_t end)
{
    if (status == CERTREG_E_NOT_FINITE || status == CERTREG_E_OUT_OF_RANGE)
        cr_asked_remember(e, end, end, 0);
    return status;
}

static int wants_to_stop(certreg_estimator *e, uint64_t done, uint64_t total)
{
    if (!e->plan.progress) return 0;
    cr_busy_out(&e->busy);
    const int stop = e->plan.progress(e->plan.progress_user, done, total);
    cr_busy_in(&e->busy);
    return stop;
}

certreg_status cr_estimator_sample(certreg_estimator *e, uint64_t first, size_t count)
{
    cr_error_clear(&e->error);
    certreg_status status = check_span(e, first, count);
    if (status) return status;
    if (!e->model.eval)
        return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                       "model.eval is NULL: use certreg_estimator_draw and _record");
    const uint64_t end = first + count, batch = e->model.batch;
    for (uint64_t at = first / batch * batch; at < end; at += batch) {
        const span asked = {at > first ? at : first, end - at < batch ? end : at + batch},
                   used = missing_part(e, asked);
        if (used.first == used.end) continue;
        if ((status = interrupted(e, (size_t)(used.end - used.first)))) return status;
        if ((status = run_batch(e, at, used, end))) return chosen_by_outputs(e, status, end);
        if (wants_to_stop(e, asked.end - first, count))
            return cr_fail(&e->error, CERTREG_E_CANCELLED,
                           "cancelled by progress with %zu samples in the record",
                           e->record.present);
    }
    return CERTREG_OK;
}

certreg_status certreg_estimator_sample(certreg_estimator *e, uint64_t first, size_t count)
{
    const certreg_status status = cr_estimator_enter(e);
    if (status) return status;
    cr_record_expect(e, e->plan.max_samples);
    return cr_estimator_leave(e, cr_estimator_sample(e, first, count));
}

/* ---- inverted control */
static certreg_status draw_range(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    certreg_status status = cr_estimator_ready(e);
    if (status) return status;
    if (!x && count) return cr_fail(&e->error, CERTREG_E_INVALID, "x is NULL");
    const size_t batch = e->model.batch,
                 last = (e->plan.max_samples - 1) / batch; /* the last batch is drawn whole */
    if (first / batch > last || count > (last - first / batch) * batch + (batch - first % batch)) {
        cr_fail(
            &e->error, CERTREG_E_TOO_MANY,
            "samples %llu and %zu more go beyond plan.max_samples = %zu and the end of its batch",
            (unsigned long long)first, count, e->plan.max_samples);
        return e->error.sample = (int64_t)e->plan.max_samples, CERTREG_E_TOO_MANY;
    }
    if (!count) return CERTREG_OK;
    const double start = cr_estimator_now(e);
    cr_record_expect(e, e->plan.max_samples);
    e->record.pilot_fixed = 1;
    status = draw(e, first, count, x);
    if (!status && cr_estimator_on_device(e)) status = cr_device_wait(e);
    e->clock.library_seconds += cr_estimator_now(e) - start;
    return status;
}

certreg_status certreg_estimator_draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const certreg_status status = cr_estimator_enter(e);
    return status ? status : cr_estimator_leave(e, draw_range(e, first, count, x));
}

static certreg_status record_range(certreg_estimator *e, uint64_t first, size_t count,
                                   const float *y)
{
    const certreg_status status = check_span(e, first, count);
    if (status) return status;
    if (!y && count) return cr_fail(&e->error, CERTREG_E_INVALID, "y is NULL");
    cr_record_expect(e, e->plan.max_samples);
    e->record.pilot_fixed |= count > 0;
    return cr_record_store(e, first, count, y, 0);
}

certreg_status certreg_estimator_record(certreg_estimator *e, uint64_t first, size_t count,
                                        const float *y)
{
    const certreg_status status = cr_estimator_enter(e);
    return status ? status : cr_estimator_leave(e, record_range(e, first, count, y));
}

/* ---- asynchronous wishes */
certreg_status certreg_estimator_set_deadline(certreg_estimator *e, double seconds)
{
    const certreg_status status = cr_estimator_enter(e);
    if (status) return status;
    if (isnan(seconds))
        return cr_estimator_leave(
            e, cr_fail(&e->error, CERTREG_E_INVALID, "seconds is NaN; 0 is for no deadline"));
    e->clock.deadline = seconds == 0 ? 0 : fmax(cr_estimator_now(e) + seconds, DBL_MIN); /* below 0:
                                                                                            over */
    return cr_estimator_leave(e, CERTREG_OK);
}

void certreg_estimator_cancel(certreg_estimator *e)
{
    if (e) atomic_store(&e->cancel, 1);
}

const certreg_error *certreg_estimator_error(const certreg_estimator *e)
{
    return e ? cr_busy_error(&e->busy, &e->error) : NULL;
}
