/* The handle of a denoiser: create with its checks, destroy, apply and info. */
#include "denoiser/denoiser.h"
#include "base/fp_environment.h"
#include "base/handle_memory.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include <math.h>
#include <string.h>

enum { DEFAULT_COMPONENTS = 256 }; /* default of plan.components */

/* ---- create */
static certreg_status check_noise(const certreg_denoiser_plan *p, size_t j, certreg_error *why)
{
    const double scale = p->scale ? (double)p->scale[j] : 1, noise = p->sigma * scale;
    if (!(scale >= 0) || !isfinite(scale))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.scale[%zu] is %g; it must be finite and not negative", j, scale);
    if (scale == 0 ||
        (noise >= (double)CR_MIN_NOISE_DEVIATION && noise < (double)CR_MAX_NOISE_DEVIATION))
        return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.sigma*scale[%zu] is %g; float32 carries noise from %g to %g", j,
                        noise, (double)CR_MIN_NOISE_DEVIATION, (double)CR_MAX_NOISE_DEVIATION);
}

static certreg_status check_scale(const certreg_denoiser_plan *p, certreg_error *why)
{
    int noisy = 0;
    for (size_t j = 0; j < p->inputs; j++) {
        const certreg_status status = check_noise(p, j, why);
        if (status) return status;
        noisy |= !p->scale || p->scale[j] > 0;
    }
    if (noisy) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.scale is 0 for all features: nothing gets noise");
}

static certreg_status check(certreg_denoiser_plan *p, certreg_error *why)
{
    if (!p->inputs || p->inputs > CR_DENOISER_MAX_INPUTS)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.inputs is %zu; it must be 1 to 2^27",
                            p->inputs);
    if (p->rows < 2)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.rows is %llu; a denoiser needs at least 2 examples",
                            (unsigned long long)p->rows);
    if (!p->read) return cr_error_set(why, CERTREG_E_INVALID, "plan.read is NULL");
    if (!(p->sigma > 0) || !isfinite(p->sigma))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.sigma is %g; it must be positive and finite", p->sigma);
    if (p->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.reserved is %d; it must be 0",
                            (int)p->reserved);
    if (p->components > CR_DENOISER_MAX_COMPONENTS)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.components is %zu; it must be at most %d",
                            p->components, CR_DENOISER_MAX_COMPONENTS);
    if (!p->components) p->components = DEFAULT_COMPONENTS;
    return check_scale(p, why);
}

static certreg_status create(const certreg_denoiser_plan *caller_plan,
                             const fenv_t *caller_environment, certreg_error *why,
                             certreg_denoiser **out)
{
    certreg_denoiser_plan plan;
    const cr_blas *blas = NULL;
    certreg_status status =
        cr_struct_read(&plan, sizeof plan, CR_OLDEST_DENOISER_PLAN, caller_plan, "plan", why);
    if (!status) status = check(&plan, why);
    if (!status) status = cr_blas_open(why, &blas);
    return status ? status : cr_denoiser_fit(&plan, blas, caller_environment, why, out);
}

certreg_status certreg_denoiser_create(const certreg_denoiser_plan *plan, certreg_error *why,
                                       certreg_denoiser **out)
{
    certreg_error error;
    fenv_t caller_environment;
    cr_environment_enter(&caller_environment);
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create(plan, &caller_environment, &error, out)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_environment_leave(&caller_environment);
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_denoiser_destroy(certreg_denoiser *d)
{
    if (d && cr_handle_is_own(d)) cr_handle_release(d);
}

/* ---- use */
static int overlap(const float *x, const float *y, size_t count)
{
    const uintptr_t a = (uintptr_t)x, b = (uintptr_t)y;
    return (a < b ? b - a : a - b) < count * sizeof *x;
}

certreg_status certreg_denoiser_apply(const certreg_denoiser *d, const float *x, size_t rows,
                                      float *y)
{
    if (!d || (rows && (!x || !y))) return CERTREG_E_INVALID;
    if (!cr_handle_is_own(d)) return CERTREG_E_VERSION;
    if (overlap(x, y, rows * d->inputs)) return CERTREG_E_INVALID;
    const cr_filter filter = {.inputs = d->inputs,
                              .pitch = d->pitch,
                              .components = cr_denoiser_rows(d),
                              .center = d->center,
                              .base_gain = d->base_gain,
                              .analysis = d->analysis,
                              .synthesis = d->synthesis};
    fenv_t caller_environment;
    cr_environment_enter(&caller_environment);
    cr_cpu_best()->filter(&filter, x, rows, y);
    cr_environment_leave(&caller_environment);
    for (size_t j = 0; j < d->inputs; j++)
        for (size_t i = j; d->base_gain[j] < 0 && i < rows * d->inputs; i += d->inputs)
            memcpy(y + i, x + i, sizeof *y);
    return CERTREG_OK;
}

certreg_status certreg_denoiser_info(const certreg_denoiser *d, certreg_denoiser_facts *out)
{
    static const certreg_denoiser no_denoiser = {0};
    certreg_error error;
    certreg_status status = cr_struct_check(out, CR_OLDEST_DENOISER_FACTS, "facts", &error);
    if (!status && !d) status = CERTREG_E_INVALID;
    if (!status && !cr_handle_is_own(d)) status = CERTREG_E_VERSION;
    if (status) d = &no_denoiser;
    const certreg_denoiser_facts facts = {.struct_size = sizeof facts,
                                          .inputs = d->inputs,
                                          .components = d->components,
                                          .sigma = d->sigma,
                                          .rows = d->rows,
                                          .digest = d->digest,
                                          .error = d->error};
    cr_struct_write_empty(out, CR_OLDEST_DENOISER_FACTS, &facts, sizeof facts);
    return status;
}
