/* Bounds of the scores of a question: which interval, which share of alpha, which samples. */
#include "base/binomial.h"
#include "base/structs.h"
#include "estimator/gradient.h"
#include "estimator/inquiry.h"
#include "estimator/moments.h"
#include "estimator/sums.h"
#include <math.h>
#include <string.h>

enum { OLDEST_BOUNDS = sizeof(certreg_bounds) };

/* Shares of alpha (theory 5.1): the two ends of an interval that needs both take half of MEAN_SHARE each. */
static const double mean_share = 0.25, variance_share = 0.25, gradient_share = 0.5;

uint32_t cr_bounds_facts(const certreg_estimator *e, const certreg_question *q)
{
    uint32_t facts = CERTREG_MEAN | CERTREG_RANGE;
    if (q->score != CERTREG_SCORE_MEDIAN) facts |= CERTREG_VARIANCE;
    if (q->interval != CERTREG_INTERVAL_FINITE && cr_estimator_has_gradient(e)) facts |= CERTREG_GRADIENT;
    return q->family ? facts & q->family : facts;
}

static certreg_bounds blank(const certreg_estimator *e, const cr_inquiry *inquiry)
{
    certreg_bounds b = {.struct_size = sizeof b, .sigma = e->sigma, .alpha = inquiry->question.alpha};
    b.samples = inquiry->samples - inquiry->main_first;
    return b;
}

/* ---- mean and variance ---------------------------------------------------------------------------------------------------------- */
static double score_of(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c, size_t sample)
{
    return cr_score_value(&c->score, cr_record_value(e, sample, (size_t)inquiry->question.output));
}

/* u is least with probability at most b, else `greatest`: a mean of at least greatest - (greatest + 1) b, rounded down. */
static void set_two_valued(certreg_bounds *b, double greatest, uint64_t misses, double alpha)
{
    const double p = cr_binomial_upper(misses, b->samples, alpha);
    const double mean = nextafter(greatest - nextafter((greatest + 1) * p, INFINITY), -INFINITY);
    b->facts = CERTREG_MEAN | CERTREG_RANGE;
    b->mean_lo = mean > -1 ? mean : -1;
    b->mean_hi = 1;
    b->range_lo = -1, b->range_hi = 1;
}

static void bound_exactly(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c, double alpha, certreg_bounds *b)
{
    uint64_t misses = 0;
    for (size_t i = inquiry->main_first; i < inquiry->samples; i++) misses += score_of(e, inquiry, c, i) < 0;
    set_two_valued(b, 1, misses, alpha);
}

static void collect(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c, size_t first, size_t end, cr_moments *m)
{
    cr_moments_start(m, first < end ? score_of(e, inquiry, c, first) : 0);
    for (size_t i = first; i < end; i++) cr_moments_add(m, score_of(e, inquiry, c, i));
}

/* Asymptotic mean and variance. Where all scores are equal the normal approximation is silent; a bounded score still has the
 * binomial bound on the probability of any other value. */
static int bound_moments(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c, certreg_bounds *b)
{
    const double alpha = inquiry->question.alpha, tail = mean_share * alpha;
    const int32_t k = inquiry->question.output;
    double lo, hi;
    cr_moments m;
    cr_score_range(&c->score, e->at.lo[k], e->at.hi[k], &lo, &hi);
    collect(e, inquiry, c, inquiry->main_first, inquiry->samples, &m);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    const int silent = cr_asymptotic_moments_sided(&m, lo, hi, two_sided ? tail / 2 : tail, two_sided ? tail / 2 : 0, variance_share * alpha, b);
    if (silent && cr_score_is_bounded(&c->score) && m.count > 0) {
        set_two_valued(b, m.greatest, 0, tail);
        return 0;
    }
    return silent;
}

/* ---- gradient ------------------------------------------------------------------------------------------------------------------- */
/* What is subtracted from the scores before they meet the noise; fixed without the main samples, or self terms would bias. */
static double centre_of(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c)
{
    cr_moments m;
    collect(e, inquiry, c, e->noise.centre != 0, inquiry->main_first, &m);
    if (m.count && isfinite(cr_moments_mean(&m))) return cr_moments_mean(&m);
    if (c->score.kind == CR_SCORE_OUTPUT) return inquiry->question.prediction_given ? inquiry->prediction : 0;
    return cr_score_value(&c->score, (float)inquiry->prediction);
}

typedef struct gradient_job {
    cr_sums_job sums;
    certreg_bounds *bounds[2];
} gradient_job;

/* A lower bound on the gradient norm pays only where most of the variance is linear; the pilot decides, before the main samples. */
static certreg_status pilot_is_linear(certreg_estimator *e, const cr_inquiry *inquiry, const gradient_job *job, int linear[2])
{
    linear[0] = linear[1] = 0;
    cr_sums_job pilot = job->sums;
    pilot.first = e->noise.centre != 0;
    pilot.count = inquiry->main_first - (inquiry->main_first ? pilot.first : 0);
    if (pilot.count < 2 * e->plan.blocks) return CERTREG_OK;
    const certreg_status status = cr_sums_blocks(e, &pilot);
    for (size_t f = 0; !status && f < pilot.functions; f++) {
        cr_condition c = {.score = *pilot.score[f]};
        cr_moments m;
        cr_gradient g;
        collect(e, inquiry, &c, pilot.first, inquiry->main_first, &m);
        cr_sums_gram(e, &pilot, f);
        cr_gradient_estimate(e->at.gram, e->plan.blocks, &g);
        linear[f] = g.square > 0.5 * cr_moments_variance(&m);
    }
    return status;
}

/* Of the main samples: how far the variance along the gradient may exceed that of an average direction. */
static double kurtosis_of(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_score *score)
{
    const cr_condition c = {.score = *score};
    cr_moments m;
    collect(e, inquiry, &c, inquiry->main_first, inquiry->samples, &m);
    const double second = cr_moments_second(&m);
    return second > 0 ? cr_moments_fourth(&m) / (second * second) : INFINITY;
}

static certreg_status bound_gradients(certreg_estimator *e, const cr_inquiry *inquiry, gradient_job *job)
{
    const double alpha = gradient_share * inquiry->question.alpha;
    int linear[2] = {0, 0};
    certreg_status status = CERTREG_OK;
    if (job->sums.score[0]->kind != CR_SCORE_SIGN) status = pilot_is_linear(e, inquiry, job, linear);
    if (!status) status = cr_sums_blocks(e, &job->sums);
    for (size_t f = 0; !status && f < job->sums.functions; f++) {
        cr_sums_gram(e, &job->sums, f);
        const double tail = linear[f] ? alpha / 2 : alpha;
        cr_gradient_interval_within(e->at.gram, e->plan.blocks, (double)e->active, kurtosis_of(e, inquiry, job->sums.score[f]),
                                    linear[f] ? tail : 0, tail, &job->bounds[f]->gradient_lo, &job->bounds[f]->gradient_hi);
        job->bounds[f]->facts |= CERTREG_GRADIENT;
    }
    return status;
}

static gradient_job job_of(const certreg_estimator *e, const cr_inquiry *inquiry, certreg_bounds *bounds)
{
    gradient_job job = {.sums = {.output = (size_t)inquiry->question.output, .first = inquiry->main_first,
                                 .count = inquiry->samples - inquiry->main_first}};
    for (int i = 0; i < inquiry->conditions; i++) {
        const cr_condition *c = inquiry->condition + i;
        if (c->score.kind == CR_SCORE_ARC) continue;
        const size_t f = job.sums.functions++;
        job.sums.score[f] = &c->score;
        job.sums.centre[f] = centre_of(e, inquiry, c);
        job.bounds[f] = bounds + i;
    }
    return job;
}

/* ---- all together --------------------------------------------------------------------------------------------------------------- */
static certreg_status find_paper(certreg_estimator *e, const cr_inquiry *inquiry, certreg_bounds *b, int *abstained)
{
    const certreg_question *q = &inquiry->question;
    const size_t first = e->noise.centre != 0, count = inquiry->samples - first;
    cr_moments m;
    cr_paper paper;
    b->samples = count;
    collect(e, inquiry, inquiry->condition, first, inquiry->samples, &m);
    const certreg_status status = cr_sums_paper(e, (size_t)q->output, first, count, &paper);
    if (!status) *abstained = cr_paper_bounds(&paper, &m, e->at.lo[q->output], e->at.hi[q->output], q->alpha, b);
    return status;
}

/* Two-valued scores share alpha with the gradient only where there is one; an arc never has one. */
static double exact_alpha(const cr_condition *c, uint32_t facts, double alpha)
{
    return c->score.kind == CR_SCORE_SIGN && facts & CERTREG_GRADIENT ? (1 - gradient_share) * alpha : alpha;
}

certreg_status cr_bounds_find(certreg_estimator *e, const cr_inquiry *inquiry, certreg_bounds out[CR_CONDITIONS], int *abstained)
{
    const uint32_t facts = cr_bounds_facts(e, &inquiry->question);
    *abstained = 0;
    for (int i = 0; i < CR_CONDITIONS; i++) out[i] = blank(e, inquiry);
    for (int i = 0; i < inquiry->conditions; i++)
        if (isnan(inquiry->prediction) || (inquiry->failures && !cr_score_is_bounded(&inquiry->condition[i].score))) *abstained = 1;
    if (*abstained) return CERTREG_OK;
    if (inquiry->question.interval == CERTREG_INTERVAL_PAPER) return find_paper(e, inquiry, out, abstained);
    for (int i = 0; i < inquiry->conditions; i++) {
        const cr_condition *c = inquiry->condition + i;
        if (c->exact) bound_exactly(e, inquiry, c, exact_alpha(c, facts, inquiry->question.alpha), out + i);
        else *abstained |= bound_moments(e, inquiry, c, out + i);
    }
    if (*abstained || !(facts & CERTREG_GRADIENT)) return CERTREG_OK;
    gradient_job job = job_of(e, inquiry, out);
    return bound_gradients(e, inquiry, &job);
}

static int side_index(const cr_inquiry *inquiry, int32_t side)
{
    for (int i = 0; i < inquiry->conditions; i++) {
        const cr_score *s = &inquiry->condition[i].score;
        if (side == CERTREG_SIDE_OUTPUT ? s->kind == CR_SCORE_OUTPUT : s->kind != CR_SCORE_OUTPUT && s->side == side) return i;
    }
    return -1;
}

certreg_status certreg_estimator_bounds(certreg_estimator *e, const certreg_question *question, int32_t side, certreg_bounds *out)
{
    if (!e) return CERTREG_INVALID;
    cr_error_clear(&e->error);
    certreg_status status = cr_struct_check(out, OLDEST_BOUNDS, "bounds", &e->error);
    if (status) return status;
    certreg_bounds found[CR_CONDITIONS] = {{.struct_size = sizeof *found}}; /* no facts: nothing is claimed */
    cr_inquiry inquiry;
    int index = -1, abstained = 0;
    if (!(status = cr_estimator_ready(e)) && !(status = cr_inquiry_read(e, question, &inquiry)) &&
        !(status = cr_inquiry_prepare(e, &inquiry)) && (index = side_index(&inquiry, side)) < 0)
        status = cr_fail(&e->error, CERTREG_INVALID, "side %d: this promise has %s", (int)side,
                         inquiry.condition[0].score.kind == CR_SCORE_OUTPUT ? "side 0 only" : "sides -1 and 1");
    if (!status) status = cr_bounds_find(e, &inquiry, found, &abstained);
    if (status || abstained) found[0] = blank(e, &inquiry), index = 0;
    cr_struct_write(out, out->struct_size, found + index, sizeof *found);
    return status;
}
