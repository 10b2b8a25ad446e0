/* The calls on an estimator: entering and leaving, a new input, and the loop that samples into
 * its record. */
#include "certreg/sampling.h"
#include "estimator/context.h"
#include "estimator/estimator.h"
#include <float.h>
#include <math.h>

/* ======== Entering and leaving calls on an estimator, and the calls that neither sample nor
 * evaluate: a record as bytes, a deadline, a cancel, the last error. */
cr_context cr_estimator_context(certreg_estimator *e)
{
    return (cr_context){.estimator = e,
                        .record = &e->record,
                        .replay = &e->replay,
                        .scratch = &e->scratch,
                        .clock = &e->clock,
                        .why = &e->error};
}

certreg_status cr_estimator_enter(certreg_estimator *e, cr_context *context)
{
    if (!e) return CERTREG_E_INVALID;
    certreg_status status = cr_call_guard_enter(&e->guard, &e->error);
    if (status) return status;
    status = cr_backend_enter(e->backend, &e->error);
    if (context) *context = cr_estimator_context(e);
    return status ? cr_call_guard_leave(&e->guard, status) : CERTREG_OK;
}

certreg_status cr_estimator_leave(certreg_estimator *e, certreg_status status)
{
    cr_backend_leave(e->backend);
    return cr_call_guard_leave(&e->guard, status);
}

void cr_estimator_begin_callback(certreg_estimator *e)
{
    cr_environment_leave(&e->guard.saved_environment);
}

void cr_estimator_end_callback(certreg_estimator *e)
{
    cr_environment_enter(&e->guard.saved_environment);
}

certreg_status cr_estimator_lock(certreg_estimator *e)
{
    return cr_call_guard_enter(&e->guard, &e->error);
}

certreg_status cr_estimator_unlock(certreg_estimator *e, certreg_status status)
{
    return cr_call_guard_leave(&e->guard, status);
}

int cr_estimator_cancelled(certreg_estimator *e)
{
    return atomic_exchange(&e->cancel, 0);
}

/* ---- a record as bytes */
certreg_status certreg_estimator_export(certreg_estimator *e, void *buffer, size_t *bytes)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status
                  : cr_estimator_leave(e, cr_record_export(&e->record, buffer, bytes, &e->error));
}

certreg_status certreg_estimator_import(certreg_estimator *e, const void *buffer, size_t bytes)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status
                  : cr_estimator_leave(e, cr_record_import(&e->record, buffer, bytes, &e->error));
}

/* ---- requests from other threads */
certreg_status certreg_estimator_set_deadline(certreg_estimator *e, double seconds)
{
    certreg_status status = cr_estimator_enter(e, NULL);
    if (status) return status;
    if (isnan(seconds))
        status = cr_error_set(&e->error, CERTREG_E_INVALID,
                              "seconds is NaN; give a number, or INFINITY for no deadline");
    else if (isinf(seconds) && seconds > 0) e->clock.expires_at = 0;
    else /* DBL_MIN has passed already, by every clock */
        e->clock.expires_at = seconds > 0 ? cr_deadline_now(e->record.deadline) + seconds : DBL_MIN;
    return cr_estimator_leave(e, status);
}

void certreg_estimator_cancel(certreg_estimator *e)
{
    if (e && cr_handle_is_own(e)) atomic_store(&e->cancel, 1);
}

const certreg_error *certreg_estimator_error(const certreg_estimator *e)
{
    return e ? cr_call_guard_error(&e->guard, &e->error) : NULL;
}

/* ======== A new input: checks that float can carry its noise, and copies it to the backend. */
/* The smallest noise deviation with a grid that contains z. */
static double min_noise_deviation(float z)
{
    int exponent;
    const double mantissa = frexp(fabs((double)z) / cr_grid_max_input(1), &exponent);
    if (mantissa == 0) return (double)CR_MIN_NOISE_DEVIATION;
    return fmax(ldexp(1, exponent - (mantissa == 0.5)), (double)CR_MIN_NOISE_DEVIATION);
}

/* Float has to carry the noise: x is a whole number of grid steps, fewer than 2^24. */
static certreg_status check_feature(const certreg_estimator *e, size_t j, float z, double sigma,
                                    certreg_error *why)
{
    if (!isfinite(z)) {
        cr_error_set(why, CERTREG_E_INVALID, "z[%zu] is %g; the input must be finite%s", j,
                     (double)z, e->masks ? ", also for a wrong unit: give it any value" : "");
        why->value = (double)z;
        return CERTREG_E_INVALID;
    }
    if (!(e->record.input.scale[j] > 0)) return CERTREG_OK;
    const double noise = sigma * (double)e->record.input.scale[j];
    const float deviation = noise < (double)CR_MAX_NOISE_DEVIATION ? (float)noise
                                                                   : CR_MAX_NOISE_DEVIATION;
    if (!(deviation < CR_MAX_NOISE_DEVIATION))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "sigma*scale[%zu] is %.9g; float32 carries noise below %.9g: lower sigma or "
            "the scale, or measure the feature in a larger unit",
            j, noise, (double)CR_MAX_NOISE_DEVIATION);
    if (deviation >= CR_MIN_NOISE_DEVIATION && fabs((double)z) <= cr_grid_max_input(deviation))
        return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "z[%zu] = %.9g cannot carry float32 noise of %.9g, which must be at least %.9g: "
        "raise sigma or the scale, or shift the input by a constant and undo that "
        "inside the model",
        j, (double)z, noise, min_noise_deviation(z));
}

/* Whole batches of noise up to max_samples must lie within one level of the noise of one input. */
static certreg_status check_noise(const certreg_estimator *e, certreg_error *why)
{
    const uint64_t blocks = (e->record.model.inputs - 1) / 4 + 1; /* blocks of four */
    const uint64_t max_samples = (UINT64_C(1) << CR_LEVEL_BITS) / blocks;
    if (e->record.plan.max_samples <= max_samples &&
        e->record.model.batch <= max_samples - e->record.plan.max_samples)
        return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "plan.max_samples = %zu plus model.batch = %zu exceeds the %llu samples that the noise of "
        "one input has",
        e->record.plan.max_samples, e->record.model.batch, (unsigned long long)max_samples);
}

certreg_status cr_estimator_check_input(certreg_estimator *e, const float *z, double sigma)
{
    if (!z) return cr_error_set(&e->error, CERTREG_E_INVALID, "z is NULL");
    if (!(sigma > 0) || !isfinite(sigma))
        return cr_error_set(&e->error, CERTREG_E_INVALID,
                            "sigma is %g; it must be positive and finite", sigma);
    for (size_t j = 0; j < e->record.model.inputs; j++) {
        const certreg_status status = check_feature(e, j, z[j], sigma, &e->error);
        if (status) return status;
    }
    return check_noise(e, &e->error);
}

static void negate_deviations(cr_input *input, size_t inputs)
{
    for (size_t j = 0; j < inputs; j++) input->noise_deviation[j] = -input->noise_deviation[j];
}

/* Stores negated deviations, for the second sample of each pair. */
static certreg_status store_negated_deviation(certreg_estimator *e, size_t bytes)
{
    const cr_backend_ops *ops = e->backend->ops;
    cr_input *input = &e->record.input;
    negate_deviations(input, e->record.model.inputs);
    certreg_status status =
        ops->store(e->backend, e->batches.negated_deviation, input->noise_deviation, bytes);
    if (!status) status = ops->wait(e->backend);
    negate_deviations(input, e->record.model.inputs);
    return status;
}

/* Copies the input to the backend, which draws its noise. */
static certreg_status store_input(certreg_estimator *e)
{
    const cr_backend_ops *ops = e->backend->ops;
    const size_t bytes = e->record.model.inputs * sizeof(float);
    certreg_status status = cr_backend_join(e->backend); /* nothing may still read the last input */
    e->batches.next_is_drawn = 0;
    if (!status) status = ops->store(e->backend, e->batches.z, e->record.input.z, bytes);
    if (!status && e->batches.negated_deviation) status = store_negated_deviation(e, bytes);
    if (!status)
        status = ops->store(e->backend, e->batches.noise_deviation, e->record.input.noise_deviation,
                            bytes);
    /* Noise drawn ahead reads these arrays, and the next begin overwrites them. */
    if (!status) status = ops->wait(e->backend);
    e->batches.is_stored = !status;
    return status ? cr_backend_failed(e->backend, status, "take the input", &e->error) : CERTREG_OK;
}

certreg_status cr_estimator_begin(certreg_estimator *e, const float *z, double sigma,
                                  uint64_t noise_id, uint64_t level)
{
    cr_input *input = &e->record.input;
    cr_error_clear(&e->error);
    input->is_set = 0;
    certreg_status status =
        cr_backend_read(e->backend, &z, input->z, e->record.model.inputs, "z", &e->error);
    if (!status) status = cr_estimator_check_input(e, z, sigma);
    if (status) return status;
    if (level >= CR_LEVELS)
        return cr_error_set(&e->error, CERTREG_E_INVALID, "level is %llu; it must be 0 to %llu",
                            (unsigned long long)level, (unsigned long long)CR_LEVELS - 1);
    const double start = cr_deadline_now(e->record.deadline);
    input->min_sigma = sigma;
    for (size_t j = 0; j < e->record.model.inputs; j++) {
        const double scale = (double)input->scale[j];
        input->z[j] = z[j];
        input->noise_deviation[j] = (float)(sigma * scale);
        if (!(scale > 0)) continue;
        input->min_sigma =
            fmin(input->min_sigma, nextafter((double)input->noise_deviation[j] / scale, 0));
    }
    input->noise = (cr_noise){.seed = e->record.plan.seed,
                              .noise_id = noise_id,
                              .level = level,
                              .inputs = e->record.model.inputs};
    input->sigma = sigma;
    input->digest = cr_input_digest(z, input->scale, e->record.model.inputs);
    cr_record_clear(&e->record);
    e->record.pilot_is_frozen = 0;
    cr_record_choose_pilot(&e->record, e->record.plan.max_samples);
    const certreg_status stored = store_input(e);
    if (stored) return stored;
    e->clock.slowest_batch = e->clock.model_seconds = 0;
    e->record.query_log = (cr_query_log){0};
    e->record.audited.is_relative = 0;
    for (size_t k = 0; k < e->record.model.outputs; k++) e->record.audited.limit[k] = INFINITY;
    e->record.first_failed = e->record.first_out_of_range = 0;
    input->is_set = 1;
    e->clock.library_seconds = cr_deadline_now(e->record.deadline) - start;
    return CERTREG_OK;
}

certreg_status cr_estimator_negate_noise(certreg_estimator *e)
{
    negate_deviations(&e->record.input, e->record.model.inputs);
    cr_record_clear(&e->record);
    return store_input(e);
}

certreg_status certreg_estimator_begin_level(certreg_estimator *e, const float *z, double sigma,
                                             uint64_t noise_id, uint64_t level)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    if (status) return status;
    if (e->audit) e->audit->step = CR_AUDIT_OFF; /* of the input before */
    return cr_estimator_leave(e, cr_estimator_begin(e, z, sigma, noise_id, level));
}

certreg_status certreg_estimator_begin(certreg_estimator *e, const float *z, double sigma,
                                       uint64_t noise_id)
{
    return certreg_estimator_begin_level(e, z, sigma, noise_id, 0);
}

/* ======== The time of answers, learned from earlier ones. Tests choose the times: no clock is
 * read here. */
static const double safety_factor = 1.125; /* a factor on the expected time */
static const double decay = 1.0 / 16;

/* Follows a longer time at once, but to at most twice the estimate, so that one outlier does
 * little; follows a shorter one slowly. */
static double update_estimate(double estimate, double observed)
{
    if (!(estimate > 0)) return observed;
    return observed > estimate ? fmin(observed, 2 * estimate)
                               : estimate + decay * (observed - estimate);
}

/* The main samples, but at least half of all: a few main samples predict nothing. */
static double main_samples(cr_sample_counts n)
{
    return fmax(n.all - n.pilot, n.all / 2);
}

double cr_answer_cost_expected(const cr_answer_cost *cost, cr_sample_counts n)
{
    return safety_factor *
           (cost->constant_seconds + fmax(cost->seconds_per_sample * n.all,
                                          cost->seconds_per_main_sample * main_samples(n)));
}

void cr_answer_cost_learn(cr_answer_cost *cost, cr_sample_counts n, double seconds,
                          double constant_seconds)
{
    const double variable_seconds = fmax(0, seconds - constant_seconds);
    if (!(n.all > 0)) return;
    cost->constant_seconds = update_estimate(cost->constant_seconds, constant_seconds);
    cost->seconds_per_sample = update_estimate(cost->seconds_per_sample, variable_seconds / n.all);
    cost->seconds_per_main_sample =
        update_estimate(cost->seconds_per_main_sample, variable_seconds / main_samples(n));
}

/* The missing time is unknown, so the whole is assumed to take twice as long. */
void cr_answer_cost_learn_abandoned(cr_answer_cost *cost, cr_sample_counts n, double seconds)
{
    const double variable_seconds = 2 * (seconds - cost->constant_seconds);
    if (!(n.all > 0)) return;
    cost->seconds_per_sample = update_estimate(
        cost->seconds_per_sample, fmax(cost->seconds_per_sample, variable_seconds / n.all));
    cost->seconds_per_main_sample =
        update_estimate(cost->seconds_per_main_sample,
                        fmax(cost->seconds_per_main_sample, variable_seconds / main_samples(n)));
}

/* ======== Sampling: the loop over batches of the model, and its inverse for engines with their
 * own loop. */
/* ---- one batch */
typedef struct span { /* samples */
    uint64_t first, end;
} span;

typedef struct sampling_request {           /* of a call */
    uint64_t end;                           /* of its samples */
    uint64_t planned_samples, looks_digest; /* they count as fixed beforehand if the outputs end the
                                               sampling */
} sampling_request;

/* Seconds for a batch that records `new_samples` samples, and for the answers. A record that has no
 * answer yet gains nothing by stopping, so the batch alone has to fit. The fastest batch of earlier
 * inputs counts, so that one outlier does not end all later sampling. */
static double required_seconds(const certreg_estimator *e, uint64_t new_samples)
{
    const double batch = fmax(e->clock.fastest_batch, e->clock.slowest_batch);
    const cr_answer_budget *budget = &e->clock.answer_budget;
    if (!budget->cost || e->record.sample_count < budget->min_samples) return batch;
    if (!cr_answer_cost_known(budget->cost)) return batch + budget->assumed_seconds;
    const cr_sample_counts n = {(double)e->record.sample_count + (double)new_samples,
                                (double)e->record.pilot};
    return batch + budget->answers_per_batch * cr_answer_cost_expected(budget->cost, n);
}

/* Samples 2i and 2i + 1 have the noise of number i. */
static certreg_status draw_pairs(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    certreg_status status = CERTREG_OK;
    for (uint64_t i = first; i < first + count && !status; i++, x += e->record.model.inputs) {
        const float *deviation = i % 2 ? e->batches.negated_deviation : e->batches.noise_deviation;
        const cr_draw row = {e->batches.z, deviation, i / 2, 1, x, NULL};
        status = e->backend->ops->draw(e->backend, &e->record.input.noise, &row);
    }
    return status;
}

/* x is memory of the backend. */
static certreg_status draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const cr_draw rows = {e->batches.z,    e->batches.noise_deviation, first, count, x,
                          e->batches.masks};
    const certreg_status status =
        e->batches.negated_deviation
            ? draw_pairs(e, first, count, x)
            : e->backend->ops->draw(e->backend, &e->record.input.noise, &rows);
    if (status == CERTREG_E_INVALID)
        return cr_error_set(&e->error, status, "x is not memory of device %d",
                            (int)e->backend->ops->device);
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

/* Draws the next batch while the model works, if the backend can do this. */
static certreg_status draw_ahead(certreg_estimator *e, uint64_t first)
{
    const cr_backend_ops *ops = e->backend->ops;
    cr_batch_buffers *buffers = &e->batches;
    /* Noise that was drawn ahead and not used is overwritten. */
    certreg_status status = buffers->next_is_drawn ? cr_backend_join(e->backend) : CERTREG_OK;
    buffers->next_is_drawn = 0;
    buffers->next_first = first;
    if (!ops->draw_ahead || buffers->negated_deviation) return CERTREG_OK;
    const cr_draw next = {buffers->z,
                          buffers->noise_deviation,
                          first,
                          e->record.model.batch,
                          buffers->x[!buffers->current],
                          buffers->masks};
    if (!status) status = ops->draw_ahead(e->backend, &e->record.input.noise, &next);
    buffers->next_is_drawn = !status;
    return status ? cr_backend_failed(e->backend, status, "draw noise", &e->error) : CERTREG_OK;
}

/* ---- a call of the model */
#define UNWRITTEN 0xff /* every byte: a NaN, so that an unwritten row fails */

certreg_status cr_estimator_clear_outputs(certreg_estimator *e)
{
    const certreg_status status =
        e->backend->ops->fill(e->backend, e->batches.guard, e->batches.fetched_bytes, UNWRITTEN);
    return status ? cr_backend_failed(e->backend, status, "prepare a batch", &e->error)
                  : CERTREG_OK;
}

int cr_estimator_is_written(const float *floats, size_t count)
{
    const unsigned char *bytes = (const unsigned char *)floats;
    for (size_t i = 0; i < count * sizeof *floats; i++)
        if (bytes[i] != UNWRITTEN) return 1;
    return 0;
}

/* A model that wrote more may have overwritten recorded outputs: no later call answers from them.
 */
static certreg_status void_record(certreg_estimator *e, const char *what, size_t rows)
{
    const size_t columns = e->record.columns;
    e->record.input.is_set = 0;
    cr_record_clear(&e->record);
    return cr_error_set(&e->error, CERTREG_E_MODEL_FAILED,
                        "the model wrote beyond its %s (%zu row%s of %zu column%s): declare every "
                        "output (model.outputs), write the rows of the batch and nothing else, and "
                        "begin again, since recorded outputs may be overwritten",
                        what, rows, rows == 1 ? "" : "s", columns, columns == 1 ? "" : "s");
}

certreg_status cr_estimator_evaluate(certreg_estimator *e, certreg_batch b)
{
    b.struct_size = sizeof b;
    b.device = e->backend->ops->device;
    b.inputs = e->record.model.inputs;
    b.columns = e->record.columns;
    b.x = e->batches.x[e->batches.current];
    b.y = e->batches.y;
    b.stream = e->backend->ops->stream(e->backend);
    cr_estimator_begin_callback(e);
    const int code = e->record.model.eval(e->record.model.user, &b);
    cr_estimator_end_callback(e);

    /* Always, since it waits for the model: nothing stays in flight. */
    const cr_batch_buffers *buffers = &e->batches;
    certreg_status status = e->backend->ops->fetch(e->backend, buffers->fetched, buffers->guard,
                                                   buffers->fetched_bytes);
    const size_t written = buffers->guard_floats + b.rows * e->record.columns,
                 rest = buffers->fetched_bytes / sizeof(float) - written;
    if (!status && cr_estimator_is_written(buffers->fetched, buffers->guard_floats))
        return void_record(e, "inputs", b.rows);
    if (!status && cr_estimator_is_written(buffers->fetched + written, rest))
        return void_record(e, "outputs", b.rows);
    if (status)
        status = cr_backend_failed(e->backend, status,
                                   "run the model's work or to give its outputs back", &e->error);
    if (!code) return status;
    const uint64_t first = b.first + b.used_first;
    cr_error_set(
        &e->error, CERTREG_E_MODEL_FAILED,
        "the model returned %d for samples %llu to %llu: see what it means by that, and let it "
        "return 0 once its outputs are written",
        code, (unsigned long long)first, (unsigned long long)(first + b.used_count - 1));
    e->error.sample = (int64_t)first;
    e->error.row = (int64_t)b.used_first;
    e->error.code = code;
    return CERTREG_E_MODEL_FAILED;
}

/* A model that fails, or returns an output that cannot be recorded, has seen all rows of its batch:
 * the outputs may choose the end of sampling. If main samples are among these rows, even if only
 * the pilot's are used, only the number that the call fixed beforehand counts as fixed (theory
 * 5.2). A device that fails before a batch may do so because of the model's earlier work there. */
static certreg_status log_failure(certreg_estimator *e, certreg_status status, uint64_t batch_end,
                                  const sampling_request *r)
{
    if (batch_end > e->record.pilot)
        cr_query_log_add_unrecorded(&e->record, r->planned_samples, r->planned_samples,
                                    r->looks_digest);
    return status;
}

/* Evaluates the batch that starts at batch_first, and records the missing samples of `used`. */
static certreg_status run_batch(certreg_estimator *e, uint64_t batch_first, span used,
                                const sampling_request *r)
{
    const double start = cr_deadline_now(e->record.deadline);
    const uint64_t next = batch_first + e->record.model.batch;
    e->record.pilot_is_frozen = 1;

    /* 1. Its inputs, which were drawn ahead or are drawn now, and room for its outputs; the next
     * batch is drawn while the model works. */
    cr_batch_buffers *buffers = &e->batches;
    certreg_status status;
    if (buffers->next_is_drawn && buffers->next_first == batch_first) {
        status = cr_backend_join(e->backend);
        if (status) status = cr_backend_failed(e->backend, status, "draw noise", &e->error);
        buffers->current ^= !status;
        buffers->next_is_drawn &= status != CERTREG_OK;
    } else status = draw(e, batch_first, e->record.model.batch, buffers->x[buffers->current]);
    if (!status) status = cr_estimator_clear_outputs(e);
    if (!status && next < r->end) status = draw_ahead(e, next);
    if (status == CERTREG_E_DEVICE_FAILED) return log_failure(e, status, e->record.sample_count, r);
    if (status) return status;

    /* 2. The model. */
    const certreg_batch b = {.rows = e->record.model.batch,
                             .first = batch_first,
                             .used_first = (size_t)(used.first - batch_first),
                             .used_count = (size_t)(used.end - used.first)};
    const double called = cr_deadline_now(e->record.deadline);
    status = cr_estimator_evaluate(e, b);
    const double model_seconds = cr_deadline_now(e->record.deadline) - called;

    /* 3. The record. */
    if (!status)
        status = cr_record_store(&e->record, used.first, b.used_count,
                                 e->batches.outputs + b.used_first * e->record.columns,
                                 (int64_t)b.used_first, &e->error);
    const double seconds = cr_deadline_now(e->record.deadline) - start;
    e->clock.model_seconds += model_seconds;
    e->clock.library_seconds += seconds - model_seconds;
    if (seconds > e->clock.slowest_batch) e->clock.slowest_batch = seconds;
    if (status) return log_failure(e, status, next, r);
    if (!(e->clock.fastest_batch > 0) || seconds < e->clock.fastest_batch)
        e->clock.fastest_batch = seconds;
    return CERTREG_OK;
}

static certreg_status refuse_range(certreg_estimator *e, uint64_t first, size_t count,
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

static certreg_status check_range(certreg_estimator *e, uint64_t first, size_t count)
{
    const size_t max_samples = e->record.plan.max_samples;
    if (first <= max_samples && count <= max_samples - first) return CERTREG_OK;
    return refuse_range(e, first, count, ": take fewer");
}

certreg_status cr_estimator_sample(certreg_estimator *e, uint64_t first, size_t count,
                                   uint64_t planned_samples, uint64_t looks_digest)
{
    cr_error_clear(&e->error);
    certreg_status status = cr_view_require_input(&e->record, &e->error);
    if (!status) status = check_range(e, first, count);
    if (status) return status;
    const uint64_t end = first + count, batch = e->record.model.batch;
    const sampling_request r = {
        .end = end, .planned_samples = planned_samples, .looks_digest = looks_digest};
    for (uint64_t at = first / batch * batch; at < end; at += batch) {
        const uint64_t range_end = end - at < batch ? end : at + batch;
        span used = {at > first ? at : first, range_end}; /* first to last missing sample */
        while (used.first < used.end && cr_view_has(&e->record, used.first)) used.first++;
        while (used.first < used.end && cr_view_has(&e->record, used.end - 1)) used.end--;
        if (used.first == used.end) continue;
        if (!e->record.model.eval)
            return cr_error_set(&e->error, CERTREG_E_WRONG_STATE,
                                "model.eval is NULL: use certreg_estimator_draw and _record");
        if (cr_estimator_cancelled(e))
            return cr_error_set(&e->error, CERTREG_E_CANCELLED,
                                "cancelled with %zu samples in the record", e->record.sample_count);
        if (e->clock.expires_at > 0 &&
            cr_deadline_now(e->record.deadline) + required_seconds(e, used.end - used.first) >
                e->clock.expires_at)
            return cr_error_set(
                &e->error, CERTREG_E_DEADLINE,
                "the deadline leaves no time for another batch; %zu samples in the record",
                e->record.sample_count);
        if ((status = run_batch(e, at, used, &r))) return status;
        if (!e->record.plan.progress) continue;
        cr_estimator_begin_callback(e);
        const int stop =
            e->record.plan.progress(e->record.plan.progress_user, range_end - first, count);
        cr_estimator_end_callback(e);
        if (stop)
            return cr_error_set(&e->error, CERTREG_E_CANCELLED,
                                "cancelled by progress with %zu samples in the record",
                                e->record.sample_count);
    }
    return CERTREG_OK;
}

certreg_status certreg_estimator_sample(certreg_estimator *e, uint64_t first, size_t count)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    if (status) return status;
    cr_record_choose_pilot(&e->record, e->record.plan.max_samples);
    return cr_estimator_leave(e, cr_estimator_sample(e, first, count, 0, 0));
}

/* ---- many records, one of which is mounted at a time */
void cr_estimator_mount(certreg_estimator *e, const cr_record *r)
{
    e->record = *r;
    e->batches.is_stored = 0;
    if (cr_backend_is_device(e->backend)) return; /* copied there before it is drawn */
    e->batches.z = r->input.z;
    e->batches.noise_deviation = r->input.noise_deviation;
}

certreg_status cr_estimator_draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const int is_missing = cr_backend_is_device(e->backend) && !e->batches.is_stored;
    const certreg_status status = is_missing ? store_input(e) : CERTREG_OK;
    e->record.pilot_is_frozen = 1;
    return status ? status : draw(e, first, count, x);
}

float *cr_estimator_rows(certreg_estimator *e)
{
    return e->batches.x[e->batches.current];
}

certreg_status cr_estimator_put_row(certreg_estimator *e, const float *row, float *x)
{
    const cr_backend_ops *ops = e->backend->ops;
    certreg_status status = ops->store(e->backend, x, row, e->record.model.inputs * sizeof *row);
    if (!status) status = ops->wait(e->backend);
    return status ? cr_backend_failed(e->backend, status, "copy an input", &e->error) : CERTREG_OK;
}

certreg_status cr_estimator_call(certreg_estimator *e, size_t used, size_t rows,
                                 const certreg_queue_row *row, const float **y)
{
    const certreg_batch b = {.rows = rows, .used_count = used, .row = row};
    const certreg_status status = cr_estimator_clear_outputs(e);
    *y = e->batches.outputs;
    return status ? status : cr_estimator_evaluate(e, b);
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
        return refuse_range(e, first, count, " and the end of its batch: draw fewer");
    if (!count) return CERTREG_OK;
    const double start = cr_deadline_now(e->record.deadline);
    cr_record_choose_pilot(&e->record, e->record.plan.max_samples);
    e->record.pilot_is_frozen = 1;
    status = draw(e, first, count, x);
    if (!status && !e->backend->borrows_stream && (status = e->backend->ops->wait(e->backend)))
        status = cr_backend_failed(e->backend, status, "draw noise", &e->error);
    e->clock.library_seconds += cr_deadline_now(e->record.deadline) - start;
    return status;
}

certreg_status certreg_estimator_draw(certreg_estimator *e, uint64_t first, size_t count, float *x)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status : cr_estimator_leave(e, draw_range(e, first, count, x));
}

/* Copies outputs on the device to the host. */
static certreg_status fetch_rows(certreg_estimator *e, size_t count, const float **y)
{
    const size_t rows = cr_min_size(count, e->record.model.batch);
    const float *const given = *y;
    const certreg_status status = cr_backend_read(e->backend, y, e->batches.outputs,
                                                  rows * e->record.columns, "y", &e->error);
    if (status || rows == count || *y == given) return status;
    return cr_error_set(&e->error, CERTREG_E_INVALID,
                        "y is on the device and has %zu rows; record at most model.batch = %zu at "
                        "a time from there",
                        count, rows);
}

static certreg_status record_range(certreg_estimator *e, uint64_t first, size_t count,
                                   const float *y)
{
    certreg_status status = cr_view_require_input(&e->record, &e->error);
    if (!status) status = check_range(e, first, count);
    if (status) return status;
    if (!y && count) return cr_error_set(&e->error, CERTREG_E_INVALID, "y is NULL");
    if ((status = fetch_rows(e, count, &y))) return status;
    cr_record_choose_pilot(&e->record, e->record.plan.max_samples);
    e->record.pilot_is_frozen |= count > 0;
    status = cr_record_check(&e->record, first, count, y, &e->error);
    if (!status) status = cr_record_store(&e->record, first, count, y, 0, &e->error);
    if (status != CERTREG_E_NOT_FINITE && status != CERTREG_E_OUT_OF_RANGE) return status;
    const sampling_request none_planned = {.end = first + count};
    return log_failure(e, status, first + count, &none_planned);
}

certreg_status certreg_estimator_record(certreg_estimator *e, uint64_t first, size_t count,
                                        const float *y)
{
    const certreg_status status = cr_estimator_enter(e, NULL);
    return status ? status : cr_estimator_leave(e, record_range(e, first, count, y));
}
