/* certreg_certify_sigmas: several noise levels for one input, which share alpha and the deadline;
 * certreg_choose_sigma: the choice of one level for all inputs. */
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "base/error.h"
#include "certify/certify.h"
#include <math.h>

static const size_t max_levels = 1000000;

static double sigma_of(const void *sigmas, size_t level)
{
    return ((const double *)sigmas)[level];
}

/* Refuses the first level with the sigma of an earlier one. */
static certreg_status check_differ(const cr_context *w, const double *sigmas, size_t levels,
                                   certreg_certificate *out)
{
    const cr_order o = {out, out->struct_size, sigma_of, sigmas};
    size_t earlier = 0, level = levels;
    cr_order_make(&o, levels);
    for (size_t i = 1; i < levels; i++) {
        const size_t a = cr_order_at(&o, i - 1), b = cr_order_at(&o, i);
        if (sigmas[a] != sigmas[b] || b > level) continue;
        earlier = a;
        level = b;
    }
    if (level == levels) return CERTREG_OK;
    return cr_error_set(w->why, CERTREG_E_INVALID,
                        "sigmas[%zu] and sigmas[%zu] are both %g; they must differ", earlier, level,
                        sigmas[level]);
}

/* Checks everything before the model is called. */
static certreg_status check(const cr_context *w, const float *z, const double *sigmas,
                            size_t levels, certreg_certificate *out)
{
    certreg_status status = CERTREG_OK;
    if (!sigmas) return cr_error_set(w->why, CERTREG_E_INVALID, "sigmas is NULL");
    if (!levels || levels > max_levels)
        return cr_error_set(w->why, CERTREG_E_INVALID, "levels is %zu; give 1 to %zu noise levels",
                            levels, max_levels);
    for (size_t i = 0; i < levels && !status; i++) {
        if (!(sigmas[i] > 0) || !isfinite(sigmas[i]))
            return cr_error_set(w->why, CERTREG_E_INVALID,
                                "sigmas[%zu] is %g; it must be positive and finite", i, sigmas[i]);
        status = cr_estimator_check_input(w->estimator, z, sigmas[i]);
    }
    return status ? status : check_differ(w, sigmas, levels, out);
}

/* Certifies one level, in an equal share of the time for the `left` levels: otherwise the first
 * would take all of it. After a cancel later levels are not sampled, and *stop stays. */
static certreg_status certify_level(const cr_context *w, const cr_call *call, size_t left,
                                    int *stop, certreg_certificate *out)
{
    const double deadline = w->clock->expires_at,
                 later = (deadline - cr_deadline_now(w->record->deadline)) / (double)left *
                         (double)(left - 1);
    if (*stop == CERTREG_STOP_CANCELLED) {
        cr_certificate_write_empty(w->record, CERTREG_OK, *stop, call->count, out);
        return CERTREG_OK;
    }
    if (deadline > 0 && later > 0) w->clock->expires_at = deadline - later;
    const certreg_status status = cr_certify(w, call, stop, out);
    w->clock->expires_at = deadline;
    return status;
}

/* Writes certificates without any claim or sigma for all levels. */
static void write_empty_levels(certreg_status status, size_t levels, size_t count,
                               certreg_certificate *out)
{
    if (levels <= max_levels && count <= SIZE_MAX / max_levels)
        cr_certificate_write_empty(NULL, status, CERTREG_STOP_ALL, levels * count, out);
}

static certreg_certificate *level_at(certreg_certificate *out, size_t place, uint32_t size)
{
    certreg_certificate *here = (certreg_certificate *)((unsigned char *)out + place * size);
    here->struct_size = size; /* a callback may have overwritten it */
    return here;
}

static certreg_status certify_sigmas(const cr_context *w, const cr_call *call, const float *z,
                                     const double *sigmas, uint64_t noise_id,
                                     certreg_certificate *out)
{
    const size_t levels = (size_t)call->share, count = call->count;
    certreg_error first;
    cr_error_clear(&first);
    if (!count)
        return cr_error_set(w->why, CERTREG_E_INVALID, "count is 0; give at least one question");
    certreg_status status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "certificate", w->why);
    if (status) return status;
    const uint32_t size = out->struct_size;
    status = check(w, z, sigmas, levels, out);
    write_empty_levels(status, levels, count, out);
    int stop = CERTREG_STOP_ALL;
    for (size_t i = 0; !status && i < levels; i++) {
        certreg_certificate *here = level_at(out, i * count, size);
        certreg_status failed = cr_estimator_begin(w->estimator, z, sigmas[i], noise_id, i + 1);
        if (failed) stop = CR_STOP_FAILED;
        else failed = certify_level(w, call, levels - i, &stop, here);
        cr_certify_keep_first_error(w, failed, "noise level", i, &first);
        if (stop != CR_STOP_FAILED) continue; /* a question may fail, and others have answers */
        status = failed;
        cr_certificate_write_empty(w->record, status, CERTREG_STOP_ALL, count, here);
        if (failed == CERTREG_E_MODEL_FAILED && w->why->value > 0)
            write_empty_levels(failed, i, count, out); /* the model is refused */
        if (i + 1 < levels)
            write_empty_levels(failed, levels - i - 1, count, level_at(out, (i + 1) * count, size));
    }
    if (!first.status) return status;
    *w->why = first;
    return first.status;
}

certreg_status certreg_certify_sigmas(certreg_estimator *e, const float *z, const double *sigmas,
                                      size_t levels, uint64_t noise_id, size_t total_samples,
                                      const certreg_question *questions, size_t count,
                                      certreg_certificate *out)
{
    const cr_call call = {
        .total_samples = total_samples, .questions = questions, .count = count, .share = levels};
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (!refused) return cr_estimator_leave(e, certify_sigmas(&w, &call, z, sigmas, noise_id, out));
    write_empty_levels(refused, levels, count, out);
    return refused;
}

/* ---- the choice of one level */
/* Certificates of inputs at levels, input by input. */
typedef struct cr_grid {
    const certreg_certificate *certificates;
    size_t inputs, levels;
} cr_grid;

/* Reads the certificate of an input at a level. Refuses one that failed, or has no radius. */
static certreg_status read_certificate(const cr_grid *grid, size_t input, size_t level,
                                       certreg_certificate *c, certreg_error *why)
{
    const size_t index = input * grid->levels + level;
    const certreg_status status =
        cr_struct_element(c, sizeof *c, grid->certificates, index, "certificates", why);
    if (status) return status;
    if (c->status)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "certificates[%zu].status is %d (%s); give certificates that did not "
                            "fail",
                            index, (int)c->status, certreg_status_text(c->status));
    if (!(c->radius >= 0) || !isfinite(c->radius))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "certificates[%zu].radius is %g; it must be finite and at least 0",
                            index, c->radius);
    return CERTREG_OK;
}

/* Sets the mean radius of a level, which must have one sigma. */
static certreg_status mean_of_level(const cr_grid *grid, size_t level, double *sigma, double *mean,
                                    certreg_error *why)
{
    double sum = 0;
    for (size_t i = 0; i < grid->inputs; i++) {
        certreg_certificate c;
        const certreg_status status = read_certificate(grid, i, level, &c, why);
        if (status) return status;
        if (i == 0) *sigma = c.sigma;
        if (c.sigma != *sigma) /* or NaN */
            return cr_error_set(why, CERTREG_E_INVALID,
                                "certificates[%zu].sigma is %g, and certificates[%zu].sigma %g; "
                                "give the same noise levels for every input",
                                i * grid->levels + level, c.sigma, level, *sigma);
        sum += c.radius;
    }
    *mean = sum / (double)grid->inputs;
    return CERTREG_OK;
}

/* Refuses a level with the sigma of an earlier one: the certificates answer several questions. The
 * earlier levels have been read. */
static certreg_status check_is_new(const cr_grid *grid, size_t level, double sigma,
                                   certreg_error *why)
{
    certreg_certificate other;
    for (size_t k = 0; k < level; k++) {
        read_certificate(grid, 0, k, &other, NULL);
        if (other.sigma == sigma)
            return cr_error_set(why, CERTREG_E_INVALID,
                                "certificates[%zu] and certificates[%zu] have the same sigma, %g; "
                                "give the answers to one question at different noise levels",
                                k, level, sigma);
    }
    return CERTREG_OK;
}

static certreg_status choose(const cr_grid *grid, double *mean_radius, size_t *level,
                             certreg_error *why)
{
    if (!grid->inputs || !grid->levels)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "inputs is %zu and levels %zu; they must be at least 1", grid->inputs,
                            grid->levels);
    certreg_status status =
        cr_struct_check(grid->certificates, CR_OLDEST_CERTIFICATE, "certificates", why);
    double best = -1;
    size_t found = 0;
    for (size_t k = 0; k < grid->levels && !status; k++) {
        double sigma = NAN, mean = NAN;
        status = mean_of_level(grid, k, &sigma, &mean, why);
        if (!status) status = check_is_new(grid, k, sigma, why);
        if (status) return status;
        if (mean_radius) mean_radius[k] = mean;
        if (!(mean > best)) continue;
        best = mean;
        found = k;
    }
    *level = found;
    return status;
}

certreg_status certreg_choose_sigma(const certreg_certificate *certificates, size_t inputs,
                                    size_t levels, certreg_error *why, double *mean_radius,
                                    size_t *level)
{
    const cr_grid grid = {certificates, inputs, levels};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    if (level) *level = 0;
    const certreg_status status = level ? choose(&grid, mean_radius, level, &error)
                                        : cr_error_set(&error, CERTREG_E_INVALID, "level is NULL");
    cr_environment_leave(&callers);
    cr_error_copy_out(why, &error);
    return status;
}
