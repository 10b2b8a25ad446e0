/* Gradient norms of all conditions of a question: the asymptotic interval, from block means of
 * score times noise (formulas in statistics/gradient_ustatistic.c), or the bound without normality
 * of gradient_martingale.c. */
#include "bounds/gradient_bounds.h"
#include "base/constants.h"
#include "bounds/gradient_martingale.h"
#include "bounds/mean_bounds.h"
#include "bounds/sample_split.h"
#include "record/noise_sums.h"
#include "statistics/gradient_ustatistic.h"
#include "statistics/moments.h"
#include <math.h>

/* Returns the center that is subtracted from the scores before they are multiplied with the noise.
 * It does not depend on the main samples: otherwise self terms would bias the estimate. */
static double center_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const cr_samples pilot = cr_split_pilot_scores(v, conditions, &c->score);
    cr_moments m;
    cr_moments_of(&pilot, &m);
    if (m.count && isfinite(cr_moments_mean(&m))) return cr_moments_mean(&m);
    if (c->score.kind == CR_SCORE_OUTPUT)
        return conditions->question.given.prediction_given ? conditions->question.given.prediction
                                                           : 0;
    return cr_score_of_prediction(&c->score);
}

/* The main samples of a condition about its center. */
static cr_samples function_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    cr_samples main = cr_split_main_scores(v, conditions, &c->score);
    main.center = center_of(v, conditions, c);
    return main;
}

static int has_gradient(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    return !c->near &&
           !(conditions->question.method->normality && cr_means_are_sparse(v, conditions, c));
}

/* ---- asymptotic */
/* Drops the last (count % blocks) samples, since all blocks of a Gram matrix are equal. */
static cr_samples in_blocks(cr_view *v, cr_samples s)
{
    s.count -= s.count % v->plan.blocks;
    return s;
}

/* Returns the pilot of a function about the same center; empty if it is too short, or if the score
 * is clipped and hardly ever linear. */
static cr_samples pilot_of(cr_view *v, const cr_conditions *conditions, const cr_samples *main)
{
    const enum cr_score_kind kind = main->score->kind;
    cr_samples pilot = cr_split_pilot_scores(v, conditions, main->score);
    pilot.center = main->center;
    if (kind == CR_SCORE_SIGN || kind == CR_SCORE_HUBER || pilot.count < 2 * v->plan.blocks)
        pilot.count = 0;
    return in_blocks(v, pilot);
}

static certreg_status find_gram(cr_replay *r, const cr_samples *s, const double **gram)
{
    const cr_sweep_function *found;
    const certreg_status status =
        cr_noise_sums_get(r, s, CR_SUMS_GRAM, r->view->plan.blocks, &found);
    if (!status) *gram = found->gram;
    return status;
}

/* Sets *linear if more than half of the pilot's variance is linear: only then does a lower bound of
 * the gradient norm pay for its share of alpha. */
static certreg_status pilot_is_linear(cr_replay *r, const cr_conditions *conditions,
                                      const cr_samples *main, int *linear)
{
    const cr_samples pilot = pilot_of(r->view, conditions, main),
                     plain = cr_split_pilot_scores(r->view, conditions, main->score);
    const double *gram;
    cr_moments m;
    cr_gradient g;
    *linear = 0;
    if (!pilot.count) return CERTREG_OK;
    const certreg_status status = find_gram(r, &pilot, &gram);
    if (status) return status;
    cr_moments_of(&plain, &m);
    cr_gradient_estimate(gram, r->view->plan.blocks, &g);
    *linear = g.square > 0.5 * cr_moments_variance(&m);
    return CERTREG_OK;
}

typedef struct spread { /* about the center */
    double deviation;   /* root of the mean square */
    double kurtosis;    /* E (u-c)^4 / (E (u-c)^2)^2 */
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

static certreg_status bound_asymptotic(cr_replay *r, const cr_conditions *conditions, double alpha,
                                       const cr_samples *main, certreg_bounds *b)
{
    const size_t count = r->view->plan.blocks;
    const cr_samples blocks = in_blocks(r->view, *main);
    const double *gram;
    cr_gradient g;
    int linear;
    if (main->count < count)
        return cr_error_set(
            r->why, CERTREG_E_WRONG_STATE,
            "%zu samples after the pilot are fewer than plan.blocks = %zu: the gradient needs more",
            main->count, count);
    certreg_status status = pilot_is_linear(r, conditions, main, &linear);
    if (!status) status = find_gram(r, &blocks, &gram);
    if (status) return status;
    const double tail = linear ? alpha / 2 : alpha;
    const spread about = spread_of(main);
    const double gap = CR_NOISE_GAP * about.deviation, dimension = (double)r->view->input.active;
    cr_gradient_estimate(gram, count, &g);
    b->gradient_lo = fmax(0, cr_gradient_lower(&g, linear ? tail : 0) - gap);
    b->gradient_hi = cr_gradient_upper(&g, dimension, about.kurtosis, tail) + gap;
    return CERTREG_OK;
}

static int want_asymptotic(cr_replay *r, const cr_conditions *conditions, const cr_samples *main)
{
    const cr_samples blocks = in_blocks(r->view, *main),
                     pilot = pilot_of(r->view, conditions, main);
    const size_t count = r->view->plan.blocks;
    return (!blocks.count || cr_noise_sums_request(r, &blocks, CR_SUMS_GRAM, count)) &&
           (!pilot.count || cr_noise_sums_request(r, &pilot, CR_SUMS_GRAM, count));
}

/* ---- without normality */
/* Bounds E (u - center)^2 by the known moment about its own center, or by the range. */
static double second_moment_about(const certreg_bounds *b, double center)
{
    const double widest = fmax(b->range_hi, -b->range_lo);
    const double known = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_center : 0,
                 moment = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_hi
                                                                     : widest * widest;
    const double gap = known - center,
                 farthest = fmax(gap * (b->mean_lo - known), gap * (b->mean_hi - known));
    return (moment + 2 * farthest + gap * gap) * (1 + CR_ROUNDING_MARGIN) + CR_TINY;
}

static certreg_status bound_without_normality(cr_replay *r, double alpha, const cr_samples *main,
                                              certreg_bounds *b)
{
    const cr_martingale_job job = {
        .samples = *main,
        .range_lo = b->range_lo,
        .range_hi = b->range_hi,
        .second_hi = second_moment_about(b, main->center),
        .cap = sqrt(second_moment_about(b, 0.5 * (b->mean_lo + b->mean_hi))),
        .alpha = alpha};
    return cr_martingale_upper(r, &job, &b->gradient_hi);
}

/* ---- all conditions */
int cr_gradient_bounds_prefetch(cr_replay *r, const cr_conditions *conditions)
{
    const int normality = conditions->question.method->normality;
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        if (!has_gradient(r->view, conditions, c)) continue;
        const cr_samples main = function_of(r->view, conditions, c);
        if (!(normality ? want_asymptotic(r, conditions, &main)
                        : cr_gradient_martingale_prefetch(r, &main)))
            return 0;
    }
    return 1;
}

certreg_status cr_gradient_bounds_compute(cr_replay *r, const cr_conditions *conditions,
                                          cr_bound *bounds)
{
    const double alpha = CR_SHARE_CORRELATIONS * conditions->question.given.alpha;
    const int normality = conditions->question.method->normality;
    if (!cr_gradient_bounds_prefetch(r, conditions)) { /* again, without what earlier questions
                                                          requested */
        cr_noise_sums_clear(r);
        cr_gradient_bounds_prefetch(r, conditions);
    }
    certreg_status status = cr_noise_sums_compute(r);
    for (int i = 0; i < conditions->count && !status; i++) {
        const cr_condition *c = conditions->each + i;
        certreg_bounds *b = &bounds[i].moments;
        if (!has_gradient(r->view, conditions, c)) continue;
        const cr_samples main = function_of(r->view, conditions, c);
        status = normality ? bound_asymptotic(r, conditions, alpha, &main, b)
                           : bound_without_normality(r, alpha, &main, b);
        if (!status && isfinite(b->gradient_hi)) b->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    }
    return status;
}
