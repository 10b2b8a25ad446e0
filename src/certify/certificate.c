/* Writes certificates. Only this file, evaluate.c and move_certificate.c set their claims. */
#include "certify/certificate.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "bounds/bounds.h"
#include <math.h>

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
    }
    if (!v) return;
    if (v->input.is_set) {
        c->sigma = v->input.sigma;
        c->input_digest = v->input.digest;
    }
    c->noise_id = v->input.noise.noise_id;
    c->samples = v->sample_count;
}

void cr_certificate_set_status(certreg_status status, certreg_certificate *c)
{
    c->status = status;
    if (status) c->prediction = c->estimate = c->tolerance = c->alpha = NAN;
}

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
    if (q->statistic->score == CR_SCORE_SIGN && !(q->period > 0)) return; /* compared with these */
    c->output_lo = nextafter(c->output_lo, -INFINITY);
    c->output_hi = nextafter(c->output_hi, INFINITY);
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
