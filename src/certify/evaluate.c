/* The driver of one question, from the record to its certificate: prediction, conditions, bounds,
 * radius (theory 1 and 2; in the paper, sections 3 and 4). */
#include "certify/evaluate.h"
#include "certify/bound_selection.h"
#include "certify/certificate.h"
#include "certify/output_bounds.h"
#include "record/noise_sums.h"
#include <math.h>

/* Returns 1 if the bounds of the previous question hold for this one too. Bounds of f itself do not
 * depend on the tolerance, nor on constraints that are neutral. */
static int has_same_bounds(cr_view *v, const cr_evaluation *before, const cr_question *q)
{
    const cr_question *b = &before->conditions.question;
    const cr_given *g = &q->given, *h = &b->given;
    if (q->is_vector || !q->center->bounds_output) return 0;
    if (cr_bound_selection_applies(b) || cr_bound_selection_applies(q)) return 0;
    const uint32_t other = cr_bounds_constraints(v, b) ^ cr_bounds_constraints(v, q);
    return !(other & ~q->method->neutral) && h->center == g->center && h->output == g->output &&
           h->output_count == g->output_count && h->statistic == g->statistic &&
           h->method == g->method && h->alpha == g->alpha && h->at_radius == g->at_radius &&
           h->prediction_given == g->prediction_given && h->prediction == g->prediction;
}

/* Computes the noise sums of a direction and of the following ones, while the cache has room, by
 * one sweep. Radii are the same without it; a failure is reported when bounds are found. */
static void prefetch_directions(const cr_context *w, cr_conditions *conditions, size_t direction)
{
    if (!cr_bounds_prefetch(w->replay, conditions)) {
        cr_noise_sums_clear(w->replay);
        cr_bounds_prefetch(w->replay, conditions);
    }
    if (!cr_noise_sums_pending(w->replay)) return;
    for (size_t i = direction + 1, room = 1; room && i < conditions->question.directions; i++) {
        cr_conditions_select_direction(w->record, conditions, i);
        room = (size_t)cr_bounds_prefetch(w->replay, conditions);
    }
    cr_conditions_select_direction(w->record, conditions, direction);
}

/* Returns 1 if a failure is an outcome: too few samples after an early stop, or an empty box of
 * estimates, prove nothing. */
static int is_abstention(certreg_status status, int stopped)
{
    return status == CERTREG_E_INFEASIBLE || (stopped && status == CERTREG_E_WRONG_STATE);
}

certreg_status cr_evaluate_question(const cr_context *w, const cr_question *q, uint64_t samples,
                                    int stopped, cr_evaluation *e, certreg_certificate *c)
{
    cr_view *v = w->record;
    cr_conditions *conditions = &e->conditions;
    cr_condition_radius here, *least = &e->proven;
    const int inverse = q->given.at_radius > 0,
              reuse = q->uses_order_statistics || (e->has_bounds && has_same_bounds(v, e, q));
    *least = (cr_condition_radius){.outcome = CERTREG_OUTCOME_ABSTAINED};
    cr_certificate_init(v, q, c);
    certreg_status status = cr_conditions_check_reuse(v, q, samples, w->why);
    if (status) return status;

    /* 1. The prediction, chosen by the pilot, and the conditions under which T stays within the
     * tolerance of it. */
    e->has_bounds = 0;
    *conditions = (cr_conditions){.question = *q, .scratch = w->scratch};
    status = cr_conditions_prepare(v, conditions, w->why);
    const int answers = !status || status == CERTREG_E_DEADLINE || is_abstention(status, stopped);
    e->reported |= answers;
    if (answers) {
        c->prediction = conditions->prediction;
        c->estimate = conditions->estimate;
        c->tolerance = conditions->question.given.tolerance;
    }
    if (status) return answers && status != CERTREG_E_DEADLINE ? CERTREG_OK : status;

    /* Steps 2 to 4 for each direction of a vector; for any other question once. */
    for (size_t i = 0; !status && i < q->directions; i++) {
        /* 2. The conditions along it, each by the moments or by the whole law of its score. */
        if (i) cr_conditions_select_direction(v, conditions, i);
        if (q->directions > 1) prefetch_directions(w, conditions, i);
        if (!reuse) cr_bound_selection_choose(w, conditions);

        /* 3. Bounds at the level alpha, from the main samples. */
        if (!reuse) status = cr_bounds_compute(w->replay, conditions, e->bounds, &e->abstained);
        if (i == 0) e->has_bounds = !status;
        if (status || inverse) break;
        here = (cr_condition_radius){.direction = i};

        /* 4. The largest radius at which every condition holds; the least one of a vector. */
        if (!e->abstained)
            status = cr_condition_radius_find(w, e, i ? least->radius : INFINITY, &here);
        if (!status && (i == 0 || e->abstained || here.radius < least->radius)) *least = here;
        if (!(least->radius > 0)) break;
    }
    if (inverse && !status) { /* 4'. Output bounds: the range of T at a given radius. */
        status = cr_output_bounds_find(w, e, &c->output_lo, &c->output_hi);
        if (!status && (isfinite(c->output_lo) || isfinite(c->output_hi)))
            *least = (cr_condition_radius){.outcome = CERTREG_OUTCOME_CERTIFIED,
                                           .radius = q->given.at_radius};
    }

    /* 5. The certificate. An unfinished evaluation claims nothing. */
    if (status || v->deadline->expired) {
        *least = (cr_condition_radius){.outcome = CERTREG_OUTCOME_ABSTAINED};
        c->output_lo = -INFINITY;
        c->output_hi = INFINITY;
    }
    if (v->deadline->expired) return CERTREG_E_DEADLINE;
    cr_certificate_fill(v, e, least, c);
    return is_abstention(status, stopped) ? CERTREG_OK : status;
}
