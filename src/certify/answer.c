#include "certify/answer.h"
#include "bisection/bisection.h"
#include <math.h>
#include <string.h>

/* The bounds of f itself depend on neither family nor tolerance, as long as both need the same facts. */
static int same_bounds(const certreg_estimator *e, const cr_answer *before, const certreg_question *q)
{
    if (!before->known || q->promise != CERTREG_PROMISE_TRUE_MEAN) return 0;
    if (q->interval != CERTREG_INTERVAL_PAPER && cr_bounds_facts(e, &before->question) != cr_bounds_facts(e, q)) return 0;
    certreg_question alike = before->question;
    alike.family = q->family;
    alike.tolerance = q->tolerance;
    return memcmp(&alike, q, sizeof alike) == 0;
}

static certreg_status find_bounds(certreg_estimator *e, const cr_inquiry *read, cr_answer *a)
{
    const int same = same_bounds(e, a, &read->question);
    a->known = 0;
    a->inquiry = *read;
    certreg_status status = cr_inquiry_prepare(e, &a->inquiry);
    a->told |= !status;
    if (!status && !same && !cr_inquiry_orders(e, &read->question)) status = cr_bounds_find(e, &a->inquiry, a->bounds, &a->abstained);
    a->question = read->question;
    a->known = !status;
    return status;
}

static certreg_status above(certreg_bisection *bisection, const cr_answer *a,
                            certreg_radius *radius)
{
    const cr_inquiry *inquiry = &a->inquiry;
    double threshold[CR_CONDITIONS];
    for (int i = 0; i < inquiry->conditions; i++) threshold[i] = inquiry->condition[i].threshold;
    return cr_bisection_above(bisection, a->bounds, threshold, (size_t)inquiry->conditions,
                              cr_inquiry_family(&inquiry->question), radius);
}

static certreg_status within(certreg_bisection *bisection, const cr_answer *a,
                             certreg_radius *radius)
{
    const certreg_question *q = &a->inquiry.question;
    return cr_bisection_within(bisection, a->bounds, q->family, q->tolerance, radius);
}

certreg_status cr_answer_solve(const certreg_estimator *e, certreg_bisection *bisection,
                               const cr_answer *a, certreg_radius *radius)
{
    const int true_mean = a->inquiry.question.promise == CERTREG_PROMISE_TRUE_MEAN;
    const double start = cr_estimator_now(e);
    cr_bisection_hurry(bisection, e->at.watch);
    const certreg_status status = (true_mean ? within : above)(bisection, a, radius);
    cr_bisection_hurry(bisection, NULL); /* which may outlive the estimator */
    e->at.watch->fixed += cr_estimator_now(e) - start;
    return status;
}

/* ---- the certificate ------------------------------------------------------------------------------------------------------------ */
void cr_answer_blank(const certreg_estimator *e, const certreg_question *q, certreg_certificate *c)
{
    memset(c, 0, sizeof *c);
    c->struct_size = sizeof *c;
    c->reach_lo = -INFINITY, c->reach_hi = INFINITY;
    c->prediction = c->estimate = NAN;
    c->output = q->output, c->score = q->score, c->interval = q->interval, c->promise = q->promise;
    c->family = q->family;
    c->tolerance = q->tolerance, c->huber_width = q->huber_width, c->alpha = q->alpha;
    c->wanted = q->wanted, c->at_radius = q->at_radius;
    c->served_samples = q->served_samples, c->served_beta = q->served_beta;
    if (!e) return;
    c->sigma = e->sigma;
    c->seed = e->noise.seed, c->stream = e->noise.stream, c->level = e->noise.level;
    c->samples = e->present, c->pilot = e->plan.pilot, c->batch = e->model.batch;
}

/* Balls of other norms that lie within ||D^-1 delta||_2 < radius; delta_j = 0 where scale_j = 0 (theory 7). */
static void convert(const certreg_estimator *e, certreg_certificate *c)
{
    double least = INFINITY, sum = 0;
    for (size_t j = 0; j < e->model.inputs; j++) {
        const double scale = (double)e->at.scale[j];
        if (!(scale > 0)) continue;
        least = fmin(least, scale);
        sum += 1 / (scale * scale);
    }
    c->radius_l1 = c->radius_l2 = nextafter(c->radius * least, 0);
    c->radius_linf = c->radius / sqrt(sum) * (1 - 1e-12 - 1e-16 * (double)e->active);
}

static void fill_facts(const certreg_estimator *e, const cr_answer *a, size_t ruling, certreg_certificate *c)
{
    const certreg_bounds *b = a->bounds + ruling;
    c->family = a->inquiry.condition[ruling].guard ? b->facts : cr_bounds_facts(e, &a->inquiry.question) & b->facts;
    if (b->facts & CERTREG_MEAN) c->mean_lo = b->mean_lo, c->mean_hi = b->mean_hi;
    if (b->facts & CERTREG_VARIANCE) c->variance_hi = b->variance_hi;
    if (b->facts & CERTREG_GRADIENT) c->gradient_lo = b->gradient_lo, c->gradient_hi = b->gradient_hi;
    if (b->facts & CERTREG_SECOND_ORDER) c->second_order_hi = b->second_order_hi;
    if (c->family & CERTREG_MOMENT) c->moment_centre = b->moment_centre, c->moment_hi = b->moment_hi;
}

static void fill(const certreg_estimator *e, const cr_answer *a, const certreg_radius *radius, certreg_certificate *c)
{
    const certreg_question *q = &a->inquiry.question;
    const int within = q->promise == CERTREG_PROMISE_TRUE_MEAN;
    const size_t ruling = within ? 0 : radius->binding;
    c->outcome = radius->outcome;
    c->radius = radius->radius;
    c->prediction = a->inquiry.prediction, c->estimate = a->inquiry.estimate;
    c->samples = a->inquiry.samples;
    convert(e, c);
    if (q->promise == CERTREG_PROMISE_REACH) return;
    c->side = within ? (uint32_t)radius->binding : a->inquiry.condition[ruling].score.side > 0 ? 0 : 1;
    fill_facts(e, a, ruling, c);
    if (c->outcome == CERTREG_ABSTAINED || within) return;
    c->reach_lo = c->prediction - c->tolerance, c->reach_hi = c->prediction + c->tolerance;
}

/* Too few samples after an early stop, or an empty box of estimates, prove nothing: that is an outcome, not a failure. */
static int is_abstention(certreg_status status, int stopped)
{
    return status == CERTREG_INFEASIBLE || (stopped && status == CERTREG_WRONG_STATE);
}

static certreg_status find_radius(certreg_estimator *e, certreg_bisection *bisection, cr_answer *a, certreg_radius *radius, certreg_certificate *c)
{
    const certreg_question *q = &a->inquiry.question;
    if (q->promise != CERTREG_PROMISE_REACH) return a->abstained ? CERTREG_OK : cr_answer_solve(e, bisection, a, radius);
    const certreg_status status = cr_reach_find(e, bisection, a, &c->reach_lo, &c->reach_hi);
    if (!status && (isfinite(c->reach_lo) || isfinite(c->reach_hi))) radius->outcome = CERTREG_CERTIFIED, radius->radius = q->at_radius;
    return status;
}

certreg_status cr_answer_question(certreg_estimator *e, certreg_bisection *bisection,
                                  const certreg_question *theirs, uint64_t samples, int stopped,
                                  cr_answer *a, certreg_certificate *c)
{
    cr_inquiry read;
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_status status = cr_inquiry_read(e, theirs, &read);
    if (status) return status;
    cr_answer_blank(e, &read.question, c);
    status = cr_asked_allows(e, &read.question, samples);
    if (status) return status;
    status = find_bounds(e, &read, a);
    const int abstains = is_abstention(status, stopped);
    if (!status || status == CERTREG_DEADLINE || abstains) {
        c->estimate = a->inquiry.estimate;
        a->told = 1;
    }
    if (status) return abstains ? CERTREG_OK : status;
    status = find_radius(e, bisection, a, &radius, c);
    if (e->at.watch->late) { /* nothing of what was begun is claimed */
        c->reach_lo = -INFINITY, c->reach_hi = INFINITY;
        return CERTREG_DEADLINE;
    }
    if (status && !is_abstention(status, stopped)) {
        if (!e->error.status) cr_fail(&e->error, status, "%s", cr_bisection_error(bisection)->text);
        radius = (certreg_radius){.struct_size = sizeof radius};
        c->reach_lo = -INFINITY, c->reach_hi = INFINITY;
    }
    fill(e, a, &radius, c);
    return is_abstention(status, stopped) ? CERTREG_OK : status;
}
