/* certreg_move_certificate: a certificate at another input within the radius (theory 1.9). It needs
 * no estimator. */
#include "base/bytes.h"
#include "base/fp_environment.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "certify/certificate.h"
#include <math.h>

typedef struct cr_move {
    const float *scale, *z, *to; /* scale NULL: all 1 */
    size_t inputs;
} cr_move;

/* ---- checks */
static certreg_status check_certificate(const certreg_certificate *c, certreg_error *why)
{
    if (c->status)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "certificate.status is %d: only a certificate with status 0 can be moved",
            (int)c->status);
    if (c->center == CERTREG_CENTER_PREDICTION) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "certificate.center is %d: only certificates about a prediction, "
                        "CERTREG_CENTER_PREDICTION, hold at another input too",
                        (int)c->center);
}

static certreg_status check_input(const certreg_certificate *c, const cr_move *m,
                                  certreg_error *why)
{
    if (!m->z || !m->to)
        return cr_error_set(why, CERTREG_E_INVALID, "%s is NULL", m->z ? "to" : "z");
    if (cr_input_digest(m->z, m->scale, m->inputs) == c->input_digest) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_MISMATCH,
        "the certificate is about another input: give z, scale and inputs as they were "
        "when it was made, bit for bit");
}

static certreg_status check_feature(const cr_move *m, size_t j, certreg_error *why)
{
    const double to = (double)m->to[j];
    if (!isfinite(to)) {
        cr_error_set(why, CERTREG_E_INVALID, "to[%zu] is %g; the input must be finite", j, to);
        why->value = to;
        return CERTREG_E_INVALID;
    }
    if (!m->scale || m->scale[j] > 0 || cr_bits_of_float(m->to[j]) == cr_bits_of_float(m->z[j]))
        return CERTREG_OK;
    cr_error_set(
        why, CERTREG_E_INVALID,
        "to[%zu] = %.9g is not z[%zu] = %.9g, and changes of a feature with scale 0 are not "
        "covered: certify `to` itself",
        j, to, j, (double)m->z[j]);
    why->value = to;
    return CERTREG_E_INVALID;
}

/* ---- the move */
/* ||D^-1 (to - z)||, rounded up. Floats neither overflow nor underflow here. */
static double distance(const cr_move *m)
{
    double sum = 0;
    for (size_t j = 0; j < m->inputs; j++) {
        const double scale = m->scale ? (double)m->scale[j] : 1;
        if (!(scale > 0)) continue;
        const double step = ((double)m->to[j] - (double)m->z[j]) / scale;
        sum += step * step;
    }
    return sqrt(sum) * (1 + 1e-12 + 1e-16 * (double)m->inputs);
}

static certreg_status move(const cr_move *m, certreg_certificate *c, certreg_error *why)
{
    certreg_status status = check_certificate(c, why);
    if (!status) status = check_input(c, m, why);
    for (size_t j = 0; j < m->inputs && !status; j++) status = check_feature(m, j, why);
    if (status) return status;
    const double t = distance(m), left = t > 0 ? nextafter(c->radius - t, 0) : c->radius;
    c->radius = left > 0 ? left : 0;
    c->outcome = left > 0 ? CERTREG_OUTCOME_CERTIFIED : CERTREG_OUTCOME_ABSTAINED;
    if (!(left > 0)) {
        c->output_lo = -INFINITY;
        c->output_hi = INFINITY;
    }
    c->estimate = NAN;
    c->input_digest = cr_input_digest(m->to, m->scale, m->inputs);
    cr_certificate_set_norms(m->scale, m->inputs, c);
    return CERTREG_OK;
}

static certreg_status read_and_move(const certreg_certificate *certificate, const cr_move *m,
                                    certreg_certificate *out, certreg_error *why)
{
    certreg_certificate c;
    certreg_status status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "out", why);
    if (status) return status;
    const uint32_t size = out->struct_size;
    status = cr_struct_read(&c, sizeof c, CR_OLDEST_CERTIFICATE, certificate, "certificate", why);
    if (!status) status = move(m, &c, why);
    if (status) {
        cr_certificate_init(NULL, NULL, &c);
        cr_certificate_set_status(status, &c);
    }
    cr_struct_write(out, size, &c, sizeof c);
    return status;
}

certreg_status certreg_move_certificate(const certreg_certificate *certificate, size_t inputs,
                                        const float *scale, const float *z, const float *to,
                                        certreg_error *why, certreg_certificate *out)
{
    const cr_move m = {.scale = scale, .z = z, .to = to, .inputs = inputs};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    const certreg_status status = read_and_move(certificate, &m, out, &error);
    cr_environment_leave(&callers);
    cr_error_copy_out(why, &error);
    return status;
}
