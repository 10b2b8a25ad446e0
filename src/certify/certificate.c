/* Certificates: written without a claim, with a status, with the radius in all norms; about
 * outputs that were rounded; and moved to a nearby input. */
#include "base/bytes.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "bounds/bounds.h"
#include "certify/certify.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* ======== Radii with k units of arbitrary values (theory 1.12): w of all samples show none of
 * them. */
/* Returns the part of these samples that may be out: less than 1 - p'/w, rounded down; `allowed` is
 * 1 - p'. */
static double allowed_with_faults(cr_view *v, double allowed, uint64_t k)
{
    return k ? nextafter((allowed - (1 - v->unseen[k])) / v->unseen[k], -1) : allowed;
}

double cr_radius_with_faults(cr_view *v, double allowed, uint64_t k, double out, double cap)
{
    const double least = allowed_with_faults(v, allowed, k),
                 most = k ? nextafter(out / v->unseen[k], INFINITY) : out;
    return least > 0 && most < 1 ? cr_shift_max_radius(most, least, cap) : 0;
}

double cr_fault_radius(cr_view *v, double allowed, uint64_t from, uint64_t k, double radius)
{
    const double least = nextafter(nextafter(allowed_with_faults(v, allowed, from), 1), 1),
                 out = (from ? v->unseen[from] : 1) *
                       cr_normal_sf(nextafter(radius, 0) + cr_normal_quantile_sf(least)) *
                       (1 + CR_ROUNDING_MARGIN);
    return v->unseen[k] > 0 ? cr_radius_with_faults(v, allowed, k, out, INFINITY) : 0;
}

/* ======== Writes certificates. Only this file and evaluate.c set their claims. */
void cr_certificate_init(cr_view *v, const cr_question *q, certreg_certificate *c)
{
    *c = (certreg_certificate){.struct_size = sizeof *c,
                               .output_lo = -INFINITY,
                               .output_hi = INFINITY,
                               .prediction = NAN,
                               .estimate = NAN,
                               .sigma = NAN,
                               .tolerance = NAN,
                               .alpha = NAN};
    if (q) {
        c->output = q->given.output;
        c->statistic = q->given.statistic;
        c->method = q->given.method;
        c->center = q->given.center;
        c->tolerance = q->given.tolerance;
        c->alpha = q->given.alpha;
        c->question_digest = q->given.digest;
        c->faults = q->given.faults;
        c->served_samples = q->given.serving_samples;
        c->served_failure_rate = q->given.serving_failure_rate;
    }
    if (!v) return;
    if (v->input.is_set) {
        c->sigma = v->input.sigma;
        c->input_digest = v->input.digest;
    }
    c->noise_id = v->input.noise.noise_id;
    c->samples = v->sample_count;
}

/* The share of outputs that so many picks miss with a probability of 0.05. */
static double found_share(uint64_t picks)
{
    return picks ? -expm1(log(0.05) / (double)picks) : 0;
}

void cr_certificate_set_asked(cr_view *v, certreg_certificate *c)
{
    c->audited = v->audited.samples >= v->sample_count ? v->audited.outputs : 0;
    c->audit_share = found_share(c->audited);
}

void cr_certificate_set_audit(cr_view *v, const cr_conditions *conditions, certreg_certificate *c)
{
    const cr_question *q = &conditions->question;
    int counts = q->uses_order_statistics || conditions->count > 0;
    for (int i = 0; i < conditions->count && !q->uses_order_statistics; i++)
        counts &= conditions->each[i].is_binomial;
    cr_certificate_set_asked(v, c);
    c->audit_change = cr_conditions_audit_change(v, q);
    c->audit_band = counts ? cr_conditions_band(v, q) : 0;
}

void cr_certificate_set_status(certreg_status status, certreg_certificate *c)
{
    c->status = status;
    if (!status) return;
    c->prediction = c->estimate = c->tolerance = c->alpha = NAN;
    c->reason = CERTREG_REASON_NONE;
    c->share_out = c->share_allowed = 0;
    c->samples_needed = 0;
}

/* The largest balls of other norms within ||D^-1 delta||_2 < radius, with delta_j = 0 if scale_j =
 * 0 (theory 7). */
void cr_certificate_set_norms(const float *scales, size_t inputs, certreg_certificate *c)
{
    double least = INFINITY, sum = 0, active = 0;
    for (size_t j = 0; j < inputs; j++) {
        const double scale = scales ? (double)scales[j] : 1;
        if (!(scale > 0)) continue;
        least = fmin(least, scale);
        sum += 1 / (scale * scale);
        active++;
    }
    c->radius_l1 = c->radius_l2 = nextafter(c->radius * least, 0);
    c->radius_linf = c->radius / sqrt(sum) * (1 - 1e-12 - 1e-16 * active);
}

/* Returns the constraints behind the radius. A near condition has bounds of its own under every
 * method, and the solver uses the named ones among them. */
static uint32_t constraints_used(cr_view *v, const cr_evaluation *e,
                                 const cr_condition_radius *proven)
{
    const uint32_t found = proven->constraints, named = e->conditions.question.solver_constraints;
    const cr_condition *c = e->conditions.each + proven->limiting;
    if (c->law) return found | CERTREG_CONSTRAINT_LAW;
    if (!c->near) return cr_bounds_constraints(v, &e->conditions.question) & found;
    return named ? found & (named | CERTREG_CONSTRAINT_MOMENT) : found;
}

void cr_certificate_fill(cr_view *v, const cr_evaluation *e, const cr_condition_radius *proven,
                         certreg_certificate *c)
{
    const cr_question *q = &e->conditions.question;
    c->outcome = proven->outcome;
    c->radius = proven->radius;
    c->samples = e->conditions.samples;
    cr_certificate_set_norms(v->input.scale, v->model.inputs, c);
    if (q->given.at_radius > 0) return;
    c->limiting_side = proven->limiting_side;
    c->constraints = constraints_used(v, e, proven);
    if (c->outcome == CERTREG_OUTCOME_ABSTAINED || isnan(c->prediction) ||
        q->center->about_estimate)
        return;
    c->output_lo = c->prediction - c->tolerance;
    c->output_hi = c->prediction + c->tolerance;
    if (q->has_exact_ends) return;
    c->output_lo = nextafter(c->output_lo, -INFINITY);
    c->output_hi = nextafter(c->output_hi, INFINITY);
}

/* The radius for more units follows from the joined one as if no alternative had a margin; for
 * fewer units it is at least the joined one (theory 1.12). Arcs of an angle have thresholds of
 * their own. */
static void join_fault_radii(cr_view *v, certreg_certificate *c)
{
    const double radius = c->radius / v->input.min_sigma, allowed = 1 - c->counted_required;
    const int is_alike = c->output < 0 || v->model.kind[c->output] == CERTREG_OUTPUT_REAL,
              holds = c->fault_radius[c->faults] > 0 && radius > 0;
    for (size_t k = 0; k < CR_FAULTS; k++) {
        const double more = holds && is_alike && k > c->faults
                                ? cr_fault_radius(v, allowed, c->faults, k, radius)
                                : 0;
        c->fault_radius[k] = nextafter(more * v->input.min_sigma, 0);
        if (holds && k <= c->faults) c->fault_radius[k] = c->radius;
    }
}

void cr_certificate_join(cr_view *v, const cr_joined *j, certreg_certificate *c)
{
    const certreg_certificate *limiting = j->limiting;
    *c = *j->own;
    c->alpha = j->alpha;
    c->question_digest = j->digest;
    c->samples = j->samples;
    c->stop = j->stop;
    c->samples_needed = 0; /* of one record, and this certificate is about several */
    c->share_out = limiting->share_out;
    c->share_allowed = limiting->share_allowed;
    c->radius = j->left > 0 ? j->left : 0;
    c->outcome = !(j->left > 0)                ? CERTREG_OUTCOME_ABSTAINED
                 : j->left == limiting->radius ? limiting->outcome
                                               : CERTREG_OUTCOME_CERTIFIED;
    c->reason = limiting->reason;
    if (j->left > 0) c->reason = CERTREG_REASON_NONE;
    else if (j->moved) c->reason = CERTREG_REASON_ALTERNATIVE;
    else if (!c->reason)
        c->reason = j->stop == CERTREG_STOP_HOPELESS ? CERTREG_REASON_TARGET : CERTREG_REASON_MOVED;
    c->limiting_side = j->left > 0 ? limiting->limiting_side : 0;
    c->constraints = limiting->constraints;
    c->audited = j->audited;
    c->audit_change = j->change;
    c->audit_band = j->band;
    c->audit_share = found_share(j->audited);
    c->output_lo = j->left > 0 ? limiting->output_lo : -INFINITY;
    c->output_hi = j->left > 0 ? limiting->output_hi : INFINITY;
    c->counted = c->counted_out = 0; /* of one record */
    join_fault_radii(v, c);
    cr_certificate_set_norms(v->input.scale, v->model.inputs, c);
}

void cr_certificate_write_empty(cr_view *v, certreg_status status, int stop, size_t count,
                                certreg_certificate *out)
{
    certreg_certificate nothing;
    if (cr_struct_check(out, CR_OLDEST_CERTIFICATE, "certificate", NULL)) return;
    const uint32_t size = out->struct_size;
    cr_certificate_init(v, NULL, &nothing);
    cr_certificate_set_status(status, &nothing);
    nothing.stop = stop;
    for (size_t i = 0; i < count; i++)
        cr_struct_write((unsigned char *)out + i * size, size, &nothing, sizeof nothing);
}

/* ======== Outputs that were rounded to float before they were recorded (CERTREG_PLAN_ROUNDED). */
/* Returns the distance of neighboring floats at a value. */
static double float_step(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, (exponent > FLT_MIN_EXP ? exponent : FLT_MIN_EXP) - FLT_MANT_DIG);
}

/* Returns the step at the farther end of the tolerance; of a vector the norm of its outputs' steps.
 * A statement about the true mean has no prediction, and the estimate stands for it. */
static double step_at_prediction(cr_view *v, const cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const double tolerance = q->given.tolerance;
    double *center = conditions->scratch->vector_prediction + q->first_output, sum = 0;
    if (!q->is_vector) return float_step(fabs(conditions->prediction) + tolerance);
    if (q->about_estimate) cr_prediction_estimate_outputs(v, q, conditions->samples, center);
    for (size_t k = 0; k < q->outputs; k++) {
        const double step = float_step(fabs(center[k]) + tolerance);
        sum += step * step;
    }
    return sqrt(sum);
}

static certreg_status check_steps(double step, double tolerance, certreg_error *why)
{
    if (tolerance >= 50 * step) return CERTREG_OK; /* half a step is at most 1% of it */
    return cr_error_set(
        why, CERTREG_E_OUT_OF_RANGE,
        "outputs are recorded as float32, which has steps of %.3g at the prediction, and the "
        "tolerance %.6g is less than 50 steps: have the model return the distance from a constant "
        "near its outputs",
        step, tolerance);
}

certreg_status cr_certificate_allow_for_rounding(cr_view *v, const cr_evaluation *e,
                                                 certreg_certificate *c, certreg_error *why)
{
    const cr_given *g = &e->conditions.question.given;
    const double lo = c->output_lo, hi = c->output_hi; /* half a step is added, and rounded out */
    if (g->at_radius > 0 && isfinite(lo))
        c->output_lo = nextafter(lo - 0.5 * float_step(lo), -INFINITY);
    if (g->at_radius > 0 && isfinite(hi))
        c->output_hi = nextafter(hi + 0.5 * float_step(hi), INFINITY);
    if (g->at_radius > 0 || !(e->proven.radius > 0)) return CERTREG_OK;
    return check_steps(step_at_prediction(v, &e->conditions), g->tolerance, why);
}

certreg_status cr_certificate_check_steps(const certreg_certificate *c, certreg_error *why)
{
    return check_steps(float_step(fabs(c->prediction) + c->tolerance), c->tolerance, why);
}

/* ======== certreg_move_certificate: a certificate at another input within the radius (theory
 * 1.9). It needs no estimator. */
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
    if (c->outcome == CERTREG_OUTCOME_CERTIFIED && !(c->radius > 0))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "the certificate is about wrong features alone, and has no radius "
                            "within which it could be moved");
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
double cr_certificate_norm(double squares, size_t inputs)
{
    return sqrt(squares) * (1 + 1e-12 + 1e-16 * (double)inputs);
}

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
    return cr_certificate_norm(sum, m->inputs);
}

void cr_certificate_shorten(double by, const float *scale, size_t inputs, certreg_certificate *c)
{
    const double left = by > 0 ? nextafter(c->radius - by, 0) : c->radius;
    if (c->radius > 0 && !(left > 0)) c->reason = CERTREG_REASON_MOVED;
    c->radius = left > 0 ? left : 0;
    for (size_t k = 0; k < CR_FAULTS && by > 0; k++)
        c->fault_radius[k] = fmax(0, nextafter(c->fault_radius[k] - by, 0));
    c->outcome = left > 0 ? CERTREG_OUTCOME_CERTIFIED : CERTREG_OUTCOME_ABSTAINED;
    if (!(left > 0)) {
        c->output_lo = -INFINITY;
        c->output_hi = INFINITY;
    }
    cr_certificate_set_norms(scale, inputs, c);
}

static certreg_status move(const cr_move *m, certreg_certificate *c, certreg_error *why)
{
    certreg_status status = check_certificate(c, why);
    if (!status) status = check_input(c, m, why);
    for (size_t j = 0; j < m->inputs && !status; j++) status = check_feature(m, j, why);
    if (status) return status;
    cr_certificate_shorten(distance(m), m->scale, m->inputs, c);
    c->estimate = NAN;
    c->input_digest = cr_input_digest(m->to, m->scale, m->inputs);
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
