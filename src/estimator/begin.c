/* A new input: checks that float can carry its noise, and copies it to the backend. */
#include "certreg/sampling.h"
#include "estimator/estimator.h"
#include <math.h>

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
        cr_error_set(why, CERTREG_E_INVALID, "z[%zu] is %g; the input must be finite", j,
                     (double)z);
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
    const double start = cr_estimator_now(e);
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
    e->record.first_failed = e->record.first_out_of_range = 0;
    input->is_set = 1;
    e->clock.library_seconds = cr_estimator_now(e) - start;
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
    return status ? status
                  : cr_estimator_leave(e, cr_estimator_begin(e, z, sigma, noise_id, level));
}

certreg_status certreg_estimator_begin(certreg_estimator *e, const float *z, double sigma,
                                       uint64_t noise_id)
{
    return certreg_estimator_begin_level(e, z, sigma, noise_id, 0);
}
