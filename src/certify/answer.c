#include "certify/answer.h"
#include "bisection/radius.h"
#include "bounds/bounds.h"
#include "question/question.h"
#include <math.h>
#include <string.h>

/* The bounds of f itself depend on neither family nor tolerance, as long as both need the same
 * constraints. */
static int same_bounds(const certreg_estimator *e, const cr_answer *before,
                       const certreg_question *q)
{
    if (!before->known || q->center != CERTREG_CENTER_TRUE_MEAN) return 0;
    const uint32_t differ = cr_bounds_constraints(e, &before->question) ^
                            cr_bounds_constraints(e, q);
    if (q->method == CERTREG_METHOD_PAPER ? differ & CERTREG_CONSTRAINT_GRADIENT : differ) return 0;
    certreg_question alike = before->question;
    alike.constraints = q->constraints;
    alike.tolerance = q->tolerance;
    return memcmp(&alike, q, sizeof alike) == 0;
}

static certreg_status find_bounds(certreg_estimator *e, const cr_conditions *read, cr_answer *a)
{
    const int same = same_bounds(e, a, &read->question);
    a->known = 0;
    a->conditions = *read;
    certreg_status status = cr_conditions_prepare(e, &a->conditions);
    a->told |= !status;
    if (!status && !same && !cr_question_orders(e, &read->question))
        status = cr_bounds_find(e, &a->conditions, a->bounds, &a->abstained);
    a->question = read->question;
    a->known = !status;
    return status;
}

static certreg_status above(cr_bisection *how, const cr_answer *a, certreg_radius *radius,
                            certreg_error *why)
{
    const cr_conditions *conditions = &a->conditions;
    double threshold[CR_CONDITIONS];
    for (int i = 0; i < conditions->count; i++) threshold[i] = conditions->each[i].threshold;
    return cr_bisection_above(how, a->bounds, threshold, (size_t)conditions->count,
                              cr_question_constraints(&conditions->question), radius, why);
}

static certreg_status within(cr_bisection *how, const cr_answer *a, certreg_radius *radius,
                             certreg_error *why)
{
    const certreg_question *q = &a->conditions.question;
    return cr_bisection_within(how, a->bounds, q->constraints, q->tolerance, radius, why);
}

certreg_status cr_answer_solve(certreg_estimator *e, const cr_answer *a, certreg_radius *radius)
{
    const int true_mean = a->conditions.question.center == CERTREG_CENTER_TRUE_MEAN;
    const double start = cr_estimator_now(e);
    cr_bisection how = cr_bisection_default(e->clock.watch);
    const certreg_status status = (true_mean ? within : above)(&how, a, radius, &e->error);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    return status;
}

/* ---- the certificate */
void cr_answer_blank(const certreg_estimator *e, const certreg_question *q, certreg_certificate *c)
{
    memset(c, 0, sizeof *c);
    c->struct_size = sizeof *c;
    c->output_lo = -INFINITY, c->output_hi = INFINITY;
    c->prediction = c->estimate = NAN;
    c->output = q->output, c->statistic = q->statistic, c->method = q->method,
    c->center = q->center;
    c->constraints = q->constraints;
    c->tolerance = q->tolerance, c->huber_width = q->huber_width, c->alpha = q->alpha;
    c->wanted = q->wanted, c->at_radius = q->at_radius;
    c->served_samples = q->served_samples, c->served_beta = q->served_beta;
    if (!e) return;
    c->sigma = e->input.sigma;
    c->seed = e->input.noise.seed, c->noise_id = e->input.noise.noise_id,
    c->level = e->input.noise.level;
    c->samples = e->record.present, c->pilot = e->record.pilot, c->batch = e->model.batch;
}

/* Balls of other norms that lie within ||D^-1 delta||_2 < radius; delta_j = 0 where scale_j = 0
 * (theory 7). */
static void convert(const certreg_estimator *e, certreg_certificate *c)
{
    double least = INFINITY, sum = 0;
    for (size_t j = 0; j < e->model.inputs; j++) {
        const double scale = (double)e->input.scale[j];
        if (!(scale > 0)) continue;
        least = fmin(least, scale);
        sum += 1 / (scale * scale);
    }
    c->radius_l1 = c->radius_l2 = nextafter(c->radius * least, 0);
    c->radius_linf = c->radius / sqrt(sum) * (1 - 1e-12 - 1e-16 * (double)e->input.active);
}

static void fill_facts(const certreg_estimator *e, const cr_answer *a, size_t ruling,
                       certreg_certificate *c)
{
    const certreg_bounds *b = a->bounds + ruling;
    c->constraints = a->conditions.each[ruling].guard
                         ? b->constraints
                         : cr_bounds_constraints(e, &a->conditions.question) & b->constraints;
    if (b->constraints & CERTREG_CONSTRAINT_MEAN) c->mean_lo = b->mean_lo, c->mean_hi = b->mean_hi;
    if (b->constraints & CERTREG_CONSTRAINT_VARIANCE) c->variance_hi = b->variance_hi;
    if (b->constraints & CERTREG_CONSTRAINT_GRADIENT)
        c->gradient_lo = b->gradient_lo, c->gradient_hi = b->gradient_hi;
    if (b->constraints & CERTREG_CONSTRAINT_SECOND_ORDER) c->second_order_hi = b->second_order_hi;
    if (c->constraints & CERTREG_CONSTRAINT_MOMENT)
        c->moment_center = b->moment_center, c->moment_hi = b->moment_hi;
}

static void fill(const certreg_estimator *e, const cr_answer *a, const certreg_radius *radius,
                 certreg_certificate *c)
{
    const certreg_question *q = &a->conditions.question;
    const int within = q->center == CERTREG_CENTER_TRUE_MEAN;
    const size_t ruling = radius->limiting;
    c->outcome = radius->outcome;
    c->radius = radius->radius;
    c->prediction = a->conditions.prediction, c->estimate = a->conditions.estimate;
    c->samples = a->conditions.samples;
    convert(e, c);
    if (q->center == CERTREG_CENTER_REACH) return;
    c->side = within                                      ? radius->limiting_side > 0
              : a->conditions.each[ruling].score.side > 0 ? 0
                                                          : 1;
    fill_facts(e, a, ruling, c);
    if (c->outcome == CERTREG_OUTCOME_ABSTAINED || within) return;
    c->output_lo = c->prediction - c->tolerance, c->output_hi = c->prediction + c->tolerance;
}

/* Too few samples after an early stop, or an empty box of estimates, prove nothing: that is an
 * outcome, not a failure. */
static int is_abstention(certreg_status status, int stopped)
{
    return status == CERTREG_E_INFEASIBLE || (stopped && status == CERTREG_E_WRONG_STATE);
}

static certreg_status find_radius(certreg_estimator *e, cr_answer *a, certreg_radius *radius,
                                  certreg_certificate *c)
{
    const certreg_question *q = &a->conditions.question;
    if (q->center != CERTREG_CENTER_REACH)
        return a->abstained ? CERTREG_OK : cr_answer_solve(e, a, radius);
    const certreg_status status = cr_output_bounds_find(e, a, &c->output_lo, &c->output_hi);
    if (!status && (isfinite(c->output_lo) || isfinite(c->output_hi)))
        radius->outcome = CERTREG_OUTCOME_CERTIFIED, radius->radius = q->at_radius;
    return status;
}

certreg_status cr_answer_question(certreg_estimator *e, const certreg_question *theirs,
                                  uint64_t samples, int stopped, cr_answer *a,
                                  certreg_certificate *c)
{
    cr_conditions read;
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_status status = cr_question_read(e, theirs, &read);
    if (status) return status;
    cr_answer_blank(e, &read.question, c);
    status = cr_question_allowed(e, &read.question, samples);
    if (status) return status;
    status = find_bounds(e, &read, a);
    const int abstains = is_abstention(status, stopped);
    if (!status || status == CERTREG_E_DEADLINE || abstains) {
        c->prediction = a->conditions.prediction, c->estimate = a->conditions.estimate;
        a->told = 1;
    }
    if (status) return abstains ? CERTREG_OK : status;
    status = find_radius(e, a, &radius, c);
    if (e->clock.watch->late) { /* nothing of what was begun is claimed */
        c->output_lo = -INFINITY, c->output_hi = INFINITY;
        return CERTREG_E_DEADLINE;
    }
    if (status && !is_abstention(status, stopped)) {
        radius = (certreg_radius){.struct_size = sizeof radius};
        c->output_lo = -INFINITY, c->output_hi = INFINITY;
    }
    fill(e, a, &radius, c);
    return is_abstention(status, stopped) ? CERTREG_OK : status;
}
