/* Several noise levels for one input, and the choice of one for all inputs. */
#include "base/structs.h"
#include "certify/certify.h"
#include <math.h>

enum { OLDEST_CERTIFICATE = sizeof(certreg_certificate) };

static certreg_status check(certreg_estimator *e, const double *sigmas, size_t levels, size_t count)
{
    if (!sigmas || !levels || levels > UINT32_MAX) return cr_fail(&e->error, CERTREG_INVALID, "levels is %zu: there is no noise level", levels);
    if (!count) return cr_fail(&e->error, CERTREG_INVALID, "count is 0: no question was asked");
    for (size_t i = 0; i < levels; i++) {
        if (!(sigmas[i] > 0) || !isfinite(sigmas[i])) return cr_fail(&e->error, CERTREG_INVALID, "sigmas[%zu] is %g; it must be positive and finite", i, sigmas[i]);
        for (size_t j = 0; j < i; j++)
            if (sigmas[j] == sigmas[i]) return cr_fail(&e->error, CERTREG_INVALID, "sigmas[%zu] and sigmas[%zu] are both %g", j, i, sigmas[i]);
    }
    return CERTREG_OK;
}

certreg_status certreg_certify_sigmas(certreg_estimator *e, certreg_bisection *bisection, const float *z, const double *sigmas, size_t levels,
                                      uint64_t stream, size_t samples, const certreg_question *questions, size_t count, certreg_certificate *out)
{
    if (!e) return CERTREG_INVALID;
    cr_error_clear(&e->error);
    certreg_status status = cr_struct_check(out, OLDEST_CERTIFICATE, "certificate", &e->error);
    if (status) return status;
    const uint32_t size = out->struct_size;
    status = check(e, sigmas, levels, count);
    if (levels <= SIZE_MAX / (count ? count : 1)) cr_certify_nothing(e, status, levels * count, out);
    for (size_t i = 0; !status && i < levels; i++) {
        certreg_certificate *first = (certreg_certificate *)((unsigned char *)out + i * count * size);
        status = certreg_estimator_begin(e, z, sigmas[i], stream + i);
        if (!status) status = cr_certify(e, bisection, samples, questions, count, (uint32_t)levels, first);
        else cr_certify_nothing(e, status, count, first);
        if (status && i + 1 < levels) /* the levels that are not come to */
            cr_certify_nothing(e, status, (levels - i - 1) * count, (certreg_certificate *)((unsigned char *)first + count * size));
    }
    return status;
}

static int read(const certreg_certificate *certificates, size_t index, certreg_certificate *c)
{
    return cr_struct_element(c, sizeof *c, certificates, index, "certificate", NULL) == CERTREG_OK;
}

/* NAN if some certificate of the level cannot be read or is of another sigma. */
static double mean_of_level(const certreg_certificate *certificates, size_t inputs, size_t levels, size_t level)
{
    double sum = 0, sigma = NAN;
    for (size_t i = 0; i < inputs; i++) {
        certreg_certificate c;
        if (!read(certificates, i * levels + level, &c) || !(c.radius >= 0)) return NAN;
        if (i == 0) sigma = c.sigma;
        if (c.sigma != sigma) return NAN;
        sum += c.radius;
    }
    return sum / (double)inputs;
}

certreg_status certreg_choose_sigma(const certreg_certificate *certificates, size_t inputs, size_t levels, double *mean_radius, size_t *level)
{
    if (!level) return CERTREG_INVALID;
    *level = 0;
    if (!inputs || !levels || cr_struct_check(certificates, OLDEST_CERTIFICATE, "certificate", NULL)) return CERTREG_INVALID;
    double best = -1;
    for (size_t k = 0; k < levels; k++) {
        const double mean = mean_of_level(certificates, inputs, levels, k);
        if (isnan(mean)) return CERTREG_INVALID;
        if (mean_radius) mean_radius[k] = mean;
        if (mean > best) best = mean, *level = k;
    }
    return CERTREG_OK;
}
