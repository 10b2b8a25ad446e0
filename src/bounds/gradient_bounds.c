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
static cr_samples centered_scores(cr_view *v, const cr_conditions *conditions,
                                  const cr_condition *c)
{
    cr_samples scores = cr_split_main_scores(v, conditions, &c->score);
    scores.center = center_of(v, conditions, c);
    return scores;
}

static int has_gradient(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    return !c->near &&
           !(conditions->question.method->normality && cr_scores_are_sparse(v, conditions, c));
}

/* ---- asymptotic */
/* Drops the last (count % blocks) samples, since all blocks of a Gram matrix are equal. */
static cr_samples whole_blocks(cr_view *v, cr_samples s)
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
    return whole_blocks(v, pilot);
}

static certreg_status get_gram(cr_replay *r, const cr_samples *samples, const double **gram)
{
    const cr_sweep_function *sums;
    const certreg_status status =
        cr_noise_sums_get(r, samples, CR_SUMS_GRAM, r->view->plan.blocks, &sums);
    if (!status) *gram = sums->gram;
    return status;
}

/* Sets *linear if more than half of the pilot's variance is linear: only then is a lower bound of
 * the gradient norm worth its fraction of alpha. */
static certreg_status pilot_is_linear(cr_replay *r, const cr_conditions *conditions,
                                      const cr_samples *main, int *linear)
{
    const cr_samples pilot = pilot_of(r->view, conditions, main),
                     uncentered = cr_split_pilot_scores(r->view, conditions, main->score);
    const double *gram;
    cr_moments moments;
    cr_gradient_statistics statistics;
    *linear = 0;
    if (!pilot.count) return CERTREG_OK;
    const certreg_status status = get_gram(r, &pilot, &gram);
    if (status) return status;
    cr_moments_of(&uncentered, &moments);
    cr_gradient_estimate(gram, r->view->plan.blocks, &statistics);
    *linear = statistics.square > 0.5 * cr_moments_variance(&moments);
    return CERTREG_OK;
}

typedef struct deviation_and_kurtosis { /* about the center */
    double deviation;                   /* root of the mean square */
    double kurtosis;                    /* E (u-c)^4 / (E (u-c)^2)^2 */
} deviation_and_kurtosis;

static deviation_and_kurtosis deviation_and_kurtosis_of(const cr_samples *samples)
{
    const double n = (double)samples->count;
    double second = 0, fourth = 0;
    for (size_t i = 0; cr_samples_has(samples, i); i++) {
        const double deviation = cr_samples_at(samples, i), square = deviation * deviation;
        second += square;
        fourth += square * square;
    }
    return (deviation_and_kurtosis){.deviation = sqrt(second / n),
                                    .kurtosis = second > 0 ? fourth / (second * second) * n
                                                           : INFINITY};
}

static certreg_status bound_asymptotic(cr_replay *r, const cr_conditions *conditions, double alpha,
                                       const cr_samples *main, certreg_bounds *b)
{
    const size_t count = r->view->plan.blocks;
    const cr_samples blocks = whole_blocks(r->view, *main);
    const double *gram;
    cr_gradient_statistics statistics;
    int linear;
    if (main->count < count)
        return cr_error_set(
            r->why, CERTREG_E_WRONG_STATE,
            "%zu samples after the pilot are fewer than plan.blocks = %zu: the gradient needs more",
            main->count, count);
    certreg_status status = pilot_is_linear(r, conditions, main, &linear);
    if (!status) status = get_gram(r, &blocks, &gram);
    if (status) return status;
    const double tail = linear ? alpha / 2 : alpha;
    const deviation_and_kurtosis moments = deviation_and_kurtosis_of(main);
    const double noise_gap = CR_NOISE_GAP * moments.deviation,
                 dimension = (double)r->view->input.active;
    cr_gradient_estimate(gram, count, &statistics);
    b->gradient_lo = fmax(0, cr_gradient_lower(&statistics, linear ? tail : 0) - noise_gap);
    b->gradient_hi = cr_gradient_upper(&statistics, dimension, moments.kurtosis, tail) + noise_gap;
    return CERTREG_OK;
}

static int prefetch_asymptotic(cr_replay *r, const cr_conditions *conditions,
                               const cr_samples *main)
{
    const cr_samples blocks = whole_blocks(r->view, *main),
                     pilot = pilot_of(r->view, conditions, main);
    const size_t count = r->view->plan.blocks;
    return (!blocks.count || cr_noise_sums_request(r, &blocks, CR_SUMS_GRAM, count)) &&
           (!pilot.count || cr_noise_sums_request(r, &pilot, CR_SUMS_GRAM, count));
}

/* ---- without normality */
/* Bounds E (u - center)^2 by the known moment about its own center, or by the range. */
static double second_moment_about(const certreg_bounds *b, double center)
{
    const double max_abs = fmax(b->range_hi, -b->range_lo);
    const double known_center = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_center : 0,
                 moment = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_hi
                                                                     : max_abs * max_abs;
    const double center_distance = known_center - center,
                 max_cross_term = fmax(center_distance * (b->mean_lo - known_center),
                                       center_distance * (b->mean_hi - known_center));
    return (moment + 2 * max_cross_term + center_distance * center_distance) *
               (1 + CR_ROUNDING_MARGIN) +
           CR_TINY;
}

static certreg_status bound_without_normality(cr_replay *r, double alpha, const cr_samples *main,
                                              certreg_bounds *b)
{
    const cr_martingale_problem problem = {
        .samples = *main,
        .range_lo = b->range_lo,
        .range_hi = b->range_hi,
        .second_moment_hi = second_moment_about(b, main->center),
        .cap = sqrt(second_moment_about(b, 0.5 * (b->mean_lo + b->mean_hi))),
        .alpha = alpha};
    return cr_gradient_martingale_upper(r, &problem, &b->gradient_hi);
}

/* ---- all conditions */
int cr_gradient_bounds_prefetch(cr_replay *r, const cr_conditions *conditions)
{
    const int normality = conditions->question.method->normality;
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        if (!has_gradient(r->view, conditions, c)) continue;
        const cr_samples main = centered_scores(r->view, conditions, c);
        if (!(normality ? prefetch_asymptotic(r, conditions, &main)
                        : cr_gradient_martingale_prefetch(r, &main)))
            return 0;
    }
    return 1;
}

certreg_status cr_gradient_bounds_compute(cr_replay *r, const cr_conditions *conditions,
                                          cr_bound *bounds)
{
    const double alpha = CR_ALPHA_FRACTION_GRADIENT * conditions->question.given.alpha;
    const int normality = conditions->question.method->normality;
    if (!cr_gradient_bounds_prefetch(r, conditions)) { /* again, without what earlier questions
                                                          requested */
        cr_noise_sums_clear(r);
        cr_gradient_bounds_prefetch(r, conditions);
    }
    certreg_status status = cr_noise_sums_compute(r);
    for (int i = 0; i < conditions->count && !status; i++) {
        const cr_condition *c = conditions->each + i;
        certreg_bounds *moments = &bounds[i].moments;
        if (!has_gradient(r->view, conditions, c)) continue;
        const cr_samples main = centered_scores(r->view, conditions, c);
        status = normality ? bound_asymptotic(r, conditions, alpha, &main, moments)
                           : bound_without_normality(r, alpha, &main, moments);
        if (!status && isfinite(moments->gradient_hi))
            moments->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    }
    return status;
}
