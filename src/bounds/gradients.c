#include "bounds/gradients.h"
#include "base/constants.h"
#include "bounds/hessian.h"
#include "bounds/martingale.h"
#include "bounds/means.h"
#include "bounds/parts.h"
#include "record/correlate.h"
#include "statistics/gradient.h"
#include "statistics/moments.h"
#include <math.h>

/* What is subtracted from the scores before they are multiplied with the noise; fixed without the
 * main samples, or self terms would bias. */
static double center_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const cr_samples pilot = cr_parts_pilot(v, conditions, &c->score);
    cr_moments m;
    cr_moments_of(&pilot, &m);
    if (m.count && isfinite(cr_moments_mean(&m))) return cr_moments_mean(&m);
    if (c->score.kind == CR_SCORE_OUTPUT)
        return conditions->question.prediction_given ? conditions->question.prediction : 0;
    return cr_score_of_prediction(&c->score);
}

/* ---- asymptotic */
typedef struct gradient_job { /* of one or two functions: their main samples about a center */
    cr_samples main[2];
    certreg_bounds *bounds[2];
    size_t functions;
} gradient_job;

static int is_clipped(const cr_score *score)
{
    return score->kind == CR_SCORE_SIGN || score->kind == CR_SCORE_HUBER;
}

/* A lower bound on the gradient norm pays only where most of the variance is linear. A clipped
 * score's hardly ever is. The pilot decides, before the main samples. */
static certreg_status pilot_is_linear(cr_replay *r, const cr_conditions *conditions,
                                      const gradient_job *job, int linear[2])
{
    cr_samples pilot[2], plain;
    cr_block_sums sums;
    linear[0] = linear[1] = 0;
    for (size_t f = 0; f < job->functions; f++) {
        pilot[f] = cr_parts_pilot(r->view, conditions, job->main[f].score);
        pilot[f].center = job->main[f].center;
    }
    if (pilot->count < 2 * r->view->plan.blocks) return CERTREG_OK;
    certreg_status status = cr_correlate_blocks(r, pilot, job->functions, &sums);
    for (size_t f = 0; !status && f < job->functions; f++) {
        cr_moments m;
        cr_gradient g;
        plain = cr_parts_pilot(r->view, conditions, pilot[f].score);
        cr_moments_of(&plain, &m);
        if ((status = cr_correlate_gram(r, &sums, f))) break;
        cr_gradient_estimate(r->host.gram, r->view->plan.blocks, &g);
        linear[f] = g.square > 0.5 * cr_moments_variance(&m);
    }
    return status;
}

typedef struct spread { /* about the center */
    double deviation;   /* root of the mean square */
    double kurtosis;    /* how far the variance along the gradient may exceed that of an average
                           direction */
} spread;

static spread spread_of(const cr_samples *s)
{
    const double n = (double)s->count;
    double second = 0, fourth = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++) {
        const double gap = cr_samples_at(s, i), square = gap * gap;
        second += square;
        fourth += square * square;
    }
    return (spread){.deviation = sqrt(second / n),
                    .kurtosis = second > 0 ? fourth / (second * second) * n : INFINITY};
}

static certreg_status bound_gradients(cr_replay *r, const cr_conditions *conditions, double alpha,
                                      gradient_job *job)
{
    int linear[2] = {0, 0};
    certreg_status status = CERTREG_OK;
    cr_block_sums sums;
    if (!is_clipped(job->main->score)) status = pilot_is_linear(r, conditions, job, linear);
    if (!status) status = cr_correlate_blocks(r, job->main, job->functions, &sums);
    for (size_t f = 0; !status && f < job->functions; f++) {
        certreg_bounds *b = job->bounds[f];
        if ((status = cr_correlate_gram(r, &sums, f))) break;
        const double tail = linear[f] ? alpha / 2 : alpha;
        const spread about = spread_of(job->main + f);
        cr_gradient_interval(r->host.gram, r->view->plan.blocks, (double)r->view->input.active,
                             about.kurtosis, linear[f] ? tail : 0, tail, &b->gradient_lo,
                             &b->gradient_hi);
        b->gradient_lo = fmax(0, b->gradient_lo - CR_NOISE_GAP * about.deviation);
        b->gradient_hi += CR_NOISE_GAP * about.deviation;
        if (isfinite(b->gradient_hi)) b->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    }
    return status;
}

static gradient_job job_of(cr_view *v, const cr_conditions *conditions, certreg_bounds *bounds)
{
    gradient_job job = {.functions = 0};
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        if (c->guard || cr_means_are_sparse(v, conditions, c)) continue;
        const size_t f = job.functions++;
        job.main[f] = cr_parts_main(v, conditions, &c->score);
        job.main[f].center = center_of(v, conditions, c);
        job.bounds[f] = bounds + i;
    }
    return job;
}

/* ---- second order */
static certreg_status bound_second_orders(cr_replay *r, const cr_conditions *conditions,
                                          const gradient_job *job)
{
    for (size_t f = 0; f < job->functions; f++) {
        certreg_bounds *b = job->bounds[f];
        const certreg_status status =
            cr_hessian_upper(r, job->main + f, CR_SHARE_SECOND_ORDER * conditions->question.alpha,
                             &b->second_order_hi);
        if (status) return status;
        if (isfinite(b->second_order_hi)) b->constraints |= CERTREG_CONSTRAINT_SECOND_ORDER;
        else b->second_order_hi = 0;
    }
    return CERTREG_OK;
}

/* ---- without normality */
/* E (u - center)^2 from what is known: the moment about its own center, or about 0 by the range. */
static double second_moment_about(const certreg_bounds *b, double center)
{
    const double widest = fmax(b->range_hi, -b->range_lo);
    const double known = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_center : 0,
                 moment = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_hi
                                                                     : widest * widest;
    const double gap = known - center,
                 farthest = fmax(gap * (b->mean_lo - known), gap * (b->mean_hi - known));
    return (moment + 2 * farthest + gap * gap) * (1 + CR_ROUNDING) + CR_TINY;
}

/* One condition after the other. */
static certreg_status bound_without_normality(cr_replay *r, const cr_conditions *conditions,
                                              double alpha, certreg_bounds *bounds)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        certreg_bounds *b = bounds + i;
        if (c->guard) continue;
        cr_martingale_job job = {.samples = cr_parts_main(r->view, conditions, &c->score),
                                 .range_lo = b->range_lo,
                                 .range_hi = b->range_hi,
                                 .alpha = alpha};
        job.samples.center = center_of(r->view, conditions, c);
        job.second_hi = second_moment_about(b, job.samples.center);
        job.cap = sqrt(second_moment_about(b, 0.5 * (b->mean_lo + b->mean_hi)));
        const certreg_status status = cr_martingale_upper(r, &job, &b->gradient_hi);
        if (status) return status;
        if (isfinite(b->gradient_hi)) b->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    }
    return CERTREG_OK;
}

certreg_status cr_gradients_find(cr_replay *r, const cr_conditions *conditions,
                                 uint32_t constraints, certreg_bounds *bounds)
{
    const int second = (constraints & CERTREG_CONSTRAINT_SECOND_ORDER) != 0;
    const double alpha = conditions->question.alpha,
                 share = CR_SHARE_CORRELATIONS - (second ? CR_SHARE_SECOND_ORDER : 0);
    if (!conditions->question.method_row->normality)
        return bound_without_normality(r, conditions, CR_SHARE_CORRELATIONS * alpha, bounds);
    gradient_job job = job_of(r->view, conditions, bounds);
    if (!job.functions) return CERTREG_OK;
    certreg_status status = CERTREG_OK;
    if (constraints & CERTREG_CONSTRAINT_GRADIENT)
        status = bound_gradients(r, conditions, share * alpha, &job);
    if (!status && second) status = bound_second_orders(r, conditions, &job);
    return status;
}
