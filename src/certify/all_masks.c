/* certreg_certify_masks: wrong features alone, by the outputs of all masks, without noise and
 * alpha (theory 1.12). */
#include "base/error.h"
#include "base/struct_sizes.h"
#include "certify/certify.h"
#include "estimator/context.h"
#include "statistics/location.h"
#include <math.h>

/* ---- checks */
static certreg_status check_question(const cr_context *w, const certreg_question *question,
                                     cr_question *q)
{
    static const double nowhere = 1;
    *q = (cr_question){.first_output = 0};
    certreg_status status = cr_struct_check(question, CR_OLDEST_QUESTION, "question", w->why);
    if (!status) status = cr_question_parse(question, 0, 1, &q->given, w->why);
    const cr_given given = q->given, *g = &given;
    if (!status && !given.prediction_given) { /* it needs no pilot: all outputs choose it */
        q->given.prediction_given = 1;
        q->given.predictions = &nowhere;
        q->given.prediction_count = 1;
    }
    if (!status) status = cr_question_validate(w->record, q, w->why);
    if (status) return status;
    q->given = given;
    if (cr_question_allows_faults(w->record, q) && !q->is_vector && !q->is_angle &&
        !(g->target_radius > 0) && !g->serving_samples && !(g->relative_tolerance > 0) &&
        !g->faults)
        return CERTREG_OK;
    return cr_error_set(w->why, CERTREG_E_INVALID,
                        "question: for all masks ask about the median of one REAL output, about "
                        "CERTREG_CENTER_PREDICTION and without target, serving, "
                        "relative_tolerance and faults");
}

/* Returns the binomial coefficient of `units` over `shown`, or UINT64_MAX above 2^53. */
static uint64_t sets_of(size_t units, size_t shown)
{
    uint64_t count = units >= shown;
    if (count) shown = cr_min_size(shown, units - shown);
    for (size_t i = 0; i < shown && count; i++) { /* every quotient is a number of sets */
        if (count > (UINT64_C(1) << 53) / (units - i)) return UINT64_MAX;
        count = count * (units - i) / (i + 1);
    }
    return count;
}

static certreg_status count_masks(const cr_context *w, uint64_t *count)
{
    const certreg_masks *m = w->record->model.masks;
    if (!m || !m->shown)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "model.masks: give `shown`, the number of units that each mask shows");
    *count = sets_of(m->units, m->shown);
    if (*count <= w->record->plan.max_samples) return CERTREG_OK;
    return cr_error_set(w->why, CERTREG_E_INVALID,
                        "plan.max_samples is %zu, and there are more sets of %zu of %zu units: "
                        "allow as many, or certify with noise (certreg_certify)",
                        w->record->plan.max_samples, m->shown, m->units);
}

/* ---- the outputs */
/* Writes the units that mask `number` shows, as a row: units below 0 are always shown. */
static void show(const cr_context *w, const float *z, uint64_t number, float *row)
{
    const certreg_masks *m = w->record->model.masks;
    const size_t inputs = w->record->model.inputs;
    size_t left = m->shown;
    for (size_t j = 0; j < inputs; j++) row[j] = z[j];
    for (size_t u = 0; u < m->units; u++) {
        const uint64_t with = left ? sets_of(m->units - u - 1, left - 1) : 0;
        if (number < with) {
            left--;
            continue;
        }
        number -= with;
        for (size_t j = 0; j < inputs; j++)
            if (m->unit[j] == (int32_t)u) row[j] = m->marker;
    }
}

/* Puts the outputs of some masks in the place of samples. */
static certreg_status ask(const cr_context *w, const float *z, uint64_t first, size_t used)
{
    cr_record *r = w->record;
    const int whole = r->plan.audit == CERTREG_AUDIT_WHOLE;
    const size_t rows = whole ? r->model.batch : used, inputs = r->model.inputs;
    float *row = r->input.noise_deviation, *x = cr_estimator_rows(w->estimator);
    const float *y;
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < rows && !status; i++) {
        show(w, z, first + i % used, row);
        status = cr_estimator_put_row(w->estimator, row, x + i * inputs);
    }
    if (!status) status = cr_estimator_call(w->estimator, used, rows, NULL, &y);
    for (size_t i = 0; i < used && !status; i++)
        cr_view_read_outputs(r, y + i * r->columns, r->values + (first + i) * r->model.outputs);
    return status;
}

static certreg_status ask_all(const cr_context *w, const float *z, uint64_t count)
{
    certreg_status status = CERTREG_OK;
    for (uint64_t at = 0; at < count && !status; at += w->record->model.batch) {
        if (cr_estimator_cancelled(w->estimator))
            return cr_error_set(w->why, CERTREG_E_CANCELLED, "the call was cancelled");
        status = ask(w, z, at, cr_min_size(w->record->model.batch, (size_t)(count - at)));
    }
    return status;
}

/* ---- the certificate */
/* T stays inside while fewer than half of the outputs are out. Masks that show one of k wrong units
 * count as out too. */
static void decide(const cr_context *w, const cr_question *q, const float *z, uint64_t count,
                   certreg_certificate *c)
{
    const certreg_masks *m = w->record->model.masks;
    const size_t outputs = w->record->model.outputs;
    const cr_values values = {
        .y = w->record->values + q->given.output, .count = (size_t)count, .stride = outputs};
    uint64_t below = 0, above = 0, k = 0;
    c->prediction = q->given.prediction_given ? q->given.prediction : cr_location_median(&values);
    c->estimate = cr_location_median(&values);
    for (uint64_t i = 0; i < count; i++) {
        const double y = (double)values.y[i * outputs];
        below += !(y > c->prediction - c->tolerance);
        above += !(y < c->prediction + c->tolerance);
    }
    const uint64_t out = below > above ? below : above;
    while (2 * (out + count - sets_of(m->units - k - 1, m->shown)) < count) k++;
    c->input_digest = cr_input_digest(z, w->record->input.scale, w->record->model.inputs);
    c->alpha = 0;
    c->samples = c->counted = count;
    c->counted_out = out;
    c->counted_required = 0.5;
    c->limiting_side = below >= above ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER;
    c->faults = k;
    c->outcome = k ? CERTREG_OUTCOME_CERTIFIED : CERTREG_OUTCOME_ABSTAINED;
    if (k) {
        c->output_lo = c->prediction - c->tolerance;
        c->output_hi = c->prediction + c->tolerance;
        return;
    }
    const double seen = 1 - (double)sets_of(m->units - 1, m->shown) / (double)count;
    c->reason = isnan(c->prediction) ? CERTREG_REASON_NO_PREDICTION : CERTREG_REASON_OUTPUTS_OUT;
    c->share_out = (double)out / (double)count;
    c->share_allowed = fmax(0, 0.5 - seen);
}

static certreg_status certify(const cr_context *w, const float *z, const certreg_question *question,
                              certreg_certificate *out)
{
    cr_question q;
    certreg_certificate c;
    uint64_t count = 0;
    certreg_status status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "out", w->why);
    if (status) return status;
    const uint32_t size = out->struct_size; /* before callbacks run */
    status = count_masks(w, &count);
    if (!status) status = check_question(w, question, &q);
    if (!status && !z) status = cr_error_set(w->why, CERTREG_E_INVALID, "z is NULL");
    if (!status && !w->record->model.eval)
        status = cr_error_set(w->why, CERTREG_E_WRONG_STATE,
                              "model.eval is NULL, and every mask needs an output of the model");
    w->record->input.is_set = 0; /* nothing else answers from these outputs */
    cr_record_clear(w->record);
    if (!status) cr_certificate_init(w->record, &q, &c);
    if (!status) status = ask_all(w, z, count);
    if (!status) decide(w, &q, z, count, &c);
    if (!status && c.faults && w->record->plan.flags & CERTREG_PLAN_ROUNDED)
        status = cr_certificate_check_steps(&c, w->why);
    if (status) cr_certificate_init(w->record, NULL, &c);
    cr_record_clear(w->record);
    cr_certificate_set_status(status, &c);
    cr_struct_write(out, size, &c, sizeof c);
    return status;
}

certreg_status certreg_certify_masks(certreg_estimator *e, const float *z,
                                     const certreg_question *question, certreg_certificate *out)
{
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (!refused) return cr_estimator_leave(e, certify(&w, z, question, out));
    cr_certificate_write_empty(NULL, refused, CERTREG_STOP_ALL, 1, out);
    return refused;
}
