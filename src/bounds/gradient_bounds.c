/* Bounds of the gradient: the martingale of theory 6.6, then the choice by method. */
#include "base/constants.h"
#include "bounds/bounds.h"
#include "record/record.h"
#include "statistics/moments.h"
#include "statistics/normal.h"
#include <math.h>

/* ======== Upper bound of ||g||, g = E[(u - c) e], by two test martingales (proved in theory 6.6).
 *
 * In units of B = max |u - c| let w = (u - c)/B in [-1, 1], E w^2 <= p and kappa = ||g||. Samples
 * come in blocks. G is the sum of w e over earlier blocks, Z_i = e_i . G/||G||, x_i = ||G|| w_i
 * clip(Z_i, -tau, tau), and loss = E (|Z| - tau)^+ bounds the loss by clipping. W_j is the number
 * of samples in blocks after the block of sample j, and W their sum. H(t) = E[phi(t |Z|); |Z| > q]
 * with phi(y) = e^y - 1 - y and P(|Z| > q) = p. The pilot fixes lambda and theta, earlier blocks
 * fix a_i >= 0, and tau keeps 1 - lambda (x_i - a_i) positive. With probability 1 - alpha
 *       lambda kappa^2 W - (1-theta)/theta sum H(s W_j)
 *           < sum [lambda a_i - log(1 - lambda (x_i - a_i)) + lambda ||G|| loss]
 *             + log(1/alpha)/theta,          s = theta lambda kappa/(1-theta).
 * The left side, as a function of kappa, rises, then falls. So if the inequality fails at the cap,
 * it fails from one point on, and that point is the bound. If it holds at the cap, the cap is the
 * bound. In low dimension ||G|| over all n samples hardly exceeds kappa n, and a simpler bound is
 * smaller: kappa <= ||G||/n + inf_s [H(s) + log(1/alpha)/n]/s. The pilot chooses one of the two.
 *
 * The noise of a replay, e, is not quite the exact xi (theory 0.3). The bound holds for the noise
 * e/(1 + CR_NOISE_EXCESS) and its kappa'; kappa <= (1 + CR_NOISE_EXCESS) kappa' + CR_NOISE_GAP sqrt
 * p.
 *
 * Rounding. Weights and chunks of CR_REPLAY_CHUNK samples are summed in float, and directions are
 * sums rounded to float: G is known up to 2^-18 sum |w| ||e||. Projections on the unit vector along
 * G are known up to 2^-16 ||e|| (256 additions in float), which moves the mean of x_i by 2^-16
 * ||G|| sqrt(p d). Both are added. */
#define BLOCKS CR_CUMULATIVE_BLOCKS
#define MAX_LAMBDA_X 0.8 /* limit of lambda x */
#define SUM_ERROR 0x1p-18
#define DOT_ERROR 0x1p-16
#define EVALUATION_ERROR 1e-9 /* relative error of H and of sums of logarithms, and more */

typedef struct martingale {
    const cr_samples *samples;
    double score_bound;             /* B */
    double second_moment, quantile; /* p and q */
    double cap, log_inverse_alpha;  /* of kappa; log(1/alpha) */
    double theta, lambda;
    double cost;                /* right side without the last term */
    double gain_sum, stake_sum; /* sums of x and ||G|| over earlier blocks, for a */
    double norm_sum;            /* sum |w| ||e|| so far */
    double rounding_slack;      /* what rounding may hide in sum g . G, divided by the cap */
} martingale;

typedef struct block {
    size_t first, count, later_count; /* its samples, and those after it */
    double norm;                      /* ||G|| */
    double clip, expected_gain;       /* tau, and a */
} block;

/* ---- the function H */
/* E[|Z|^k; |Z| > q], k = 2, 3, 4 */
static double tail_moment(int k, double q)
{
    const double pdf = cr_normal_pdf(q), sf = cr_normal_sf(q), square = q * q;
    return k == 2   ? 2 * (q * pdf + sf)
           : k == 3 ? 2 * (square + 2) * pdf
                    : 2 * ((square + 3) * q * pdf + 3 * sf);
}

static double phi_beyond(double t, double probability, double q)
{
    if (t < 0x1p-5) { /* the next term is below E|Z|^5 e^(|Z|/32)/120 < 7/120 */
        const double series =
            tail_moment(2, q) / 2 +
            t * (tail_moment(3, q) / 6 + t * (tail_moment(4, q) / 24 + t * (7.0 / 120)));
        return t * t * series * (1 + EVALUATION_ERROR);
    }
    if (t > 20) return INFINITY;
    const double exponential_part = 2 * exp(t * t / 2) * cr_normal_sf(q - t);
    return exponential_part - probability - 2 * t * cr_normal_pdf(q) +
           EVALUATION_ERROR * exponential_part * t * t;
}

static double tail_quantile(double probability)
{
    return probability < 1 ? cr_normal_quantile_sf(probability / 2) : 0;
}

static double clipping_loss(double tau)
{
    return fmax(0, 2 * (cr_normal_pdf(tau) - tau * cr_normal_sf(tau)));
}

/* ---- block by block */
static block block_of(const cr_samples *s, size_t b)
{
    const size_t start = cr_block_begin(s->count, BLOCKS, b),
                 end = cr_block_begin(s->count, BLOCKS, b + 1);
    return (block){.first = start, .count = end - start, .later_count = s->count - end};
}

static double scaled_score(const cr_samples *s, double score_bound, size_t i)
{
    return cr_samples_at(s, i) / score_bound;
}

/* Returns 1 if a score is outside its range. */
static int has_score_out_of_range(const martingale *g)
{
    for (size_t i = 0; cr_samples_has(g->samples, i); i++)
        if (!(fabs(scaled_score(g->samples, g->score_bound, i)) <= 1)) return 1;
    return 0;
}

/* Sets ||G||, tau and a of a block. sum_norm: norm of the sum over earlier blocks, in the unit of
 * the score. All noise is divided by 1 + CR_NOISE_EXCESS. */
static void set_direction(const martingale *g, double sum_norm, block *b)
{
    b->norm = sum_norm / g->score_bound / (1 + CR_NOISE_EXCESS);
    if (!(b->norm > 0)) return;
    b->clip = g->lambda > 0 ? fmin(8, MAX_LAMBDA_X / (g->lambda * b->norm)) : 8;
    b->expected_gain = g->stake_sum > 0 ? fmax(0, g->gain_sum / g->stake_sum) * b->norm : 0;
}

/* Adds the bets of a block on the direction of earlier blocks. */
static void add_block(const cr_replay *r, const cr_sweep_function *sums, martingale *g,
                      const block *b)
{
    const double projection_error =
        DOT_ERROR * sqrt(g->second_moment * (double)r->view->input.active);
    const double *dots = sums->dots + b->first,
                 *norms = cr_noise_sums_squared_norms(r, sums) + b->first;
    g->rounding_slack += (double)b->count * SUM_ERROR * g->norm_sum;
    for (size_t i = 0; i < b->count; i++) {
        const double score = scaled_score(g->samples, g->score_bound, b->first + i);
        g->norm_sum += (fabs(score) + 0x1p-100) * sqrt(norms[i]);
        if (!(b->norm > 0)) continue;
        const double projection = dots[i] / (1 + CR_NOISE_EXCESS),
                     gain = b->norm * score * fmin(fmax(projection, -b->clip), b->clip);
        g->cost += g->lambda * b->expected_gain - log1p(-g->lambda * (gain - b->expected_gain));
        g->gain_sum += gain;
    }
    if (b->norm > 0)
        g->cost +=
            g->lambda * (double)b->count * b->norm * (clipping_loss(b->clip) + projection_error);
    g->stake_sum += (double)b->count * b->norm;
}

/* Adds all blocks, from one replay, since no bet changes a weight. *sum_norm: norm of the sum over
 * all samples, in units of B. *out_of_range: 1 if a score is outside its range. */
static certreg_status add_blocks(cr_replay *r, martingale *g, int *out_of_range, double *sum_norm)
{
    const cr_sweep_function *sums;
    if ((*out_of_range = has_score_out_of_range(g))) return CERTREG_OK;
    const certreg_status status =
        cr_noise_sums_get(r, g->samples, CR_SUMS_CUMULATIVE, BLOCKS, &sums);
    for (size_t index = 0; index < BLOCKS && !status; index++) {
        block b = block_of(g->samples, index);
        set_direction(g, sums->norms[index], &b);
        add_block(r, sums, g, &b);
    }
    if (!status) *sum_norm = sums->norms[BLOCKS] / g->score_bound;
    return status;
}

/* ---- decisions of the pilot */
static cr_samples martingale_pilot(cr_view *v, const cr_samples *s)
{
    cr_samples pilot = *s;
    pilot.first = cr_view_first_noisy(v);
    pilot.count = s->first > pilot.first ? s->first - pilot.first : 0;
    return pilot;
}

/* Estimates E w^2 from the pilot and one unseen sample with w^2 = 1/4. */
static double pilot_second_moment(const cr_samples *pilot, double score_bound)
{
    double sum = 0.25, count = 1;
    for (size_t i = 0; cr_samples_has(pilot, i); i++) {
        const double score = scaled_score(pilot, score_bound, i);
        if (!(fabs(score) <= 1)) continue;
        sum += score * score;
        count += 1;
    }
    return fmin(1, sum / count);
}

/* Estimates kappa^2 from the pilot by its mean gain, without bets. NAN: unknown. */
static certreg_status estimate_kappa_square(cr_replay *r, const cr_samples *pilot,
                                            double score_bound, double *square)
{
    *square = NAN;
    if (pilot->count < BLOCKS) return CERTREG_OK;
    martingale unstaked = {.samples = pilot, .score_bound = score_bound, .second_moment = 1};
    int out_of_range = 0;
    double sum_norm;
    const certreg_status status = add_blocks(r, &unstaked, &out_of_range, &sum_norm);
    if (status || out_of_range) return status;
    const double n = (double)pilot->count;
    *square = 2 * unstaked.gain_sum / (n * n);
    return CERTREG_OK;
}

/* Returns the kappa at which the stakes are best: half of the maximum, or another value if the
 * pilot is certain of it. */
static double target_kappa(double square, double second_moment, double dimension,
                           double pilot_count)
{
    const double default_square = 0.25 * second_moment,
                 uncertainty = second_moment * sqrt(2 * dimension) / pilot_count;
    if (isnan(square)) return sqrt(default_square);
    const double lower = fmax(square + uncertainty, 0.01 * second_moment),
                 upper = fmin(square - uncertainty, 0.5 * second_moment);
    return sqrt(fmax(fmin(lower, default_square), upper));
}

typedef struct normal_forecast {     /* Gaussian approximation of the two martingales */
    double x_deviation, y_deviation; /* standard deviations: of the sum of x; of Y */
    double weight_sum;               /* W */
    double last_norm;                /* ||G|| of the last block */
} normal_forecast;

static normal_forecast make_forecast(const cr_samples *s, double second_moment, double kappa,
                                     double dimension)
{
    const double max_square = tail_moment(2, tail_quantile(second_moment));
    normal_forecast forecast = {.weight_sum = 0};
    for (size_t index = 0; index < BLOCKS; index++) {
        const block b = block_of(s, index);
        const double earlier_count = (double)b.first, later_count = (double)b.later_count,
                     count = (double)b.count;
        const double square = earlier_count * earlier_count * kappa * kappa +
                              earlier_count * second_moment * dimension;
        /* 2: |w| and |Z| are often large together. */
        forecast.x_deviation += 2 * count * second_moment * square;
        forecast.y_deviation += count * later_count * later_count * max_square;
        forecast.weight_sum += count * later_count;
        forecast.last_norm = sqrt(square);
    }
    forecast.x_deviation = sqrt(forecast.x_deviation);
    forecast.y_deviation = sqrt(forecast.y_deviation);
    return forecast;
}

typedef struct expected_bounds { /* the two bounds to expect at a given kappa */
    normal_forecast forecast;
    double by_blocks, by_norm, deviations;
} expected_bounds;

static expected_bounds expect_bounds(const martingale *g, double second_moment, double kappa,
                                     double dimension)
{
    const double n = (double)g->samples->count, deviations = sqrt(2 * g->log_inverse_alpha);
    const normal_forecast forecast = make_forecast(g->samples, second_moment, kappa, dimension);
    const double linear = deviations * forecast.y_deviation / forecast.weight_sum,
                 square = kappa * kappa + deviations * forecast.x_deviation / forecast.weight_sum;
    return (expected_bounds){.forecast = forecast,
                             .by_blocks = (linear + sqrt(linear * linear + 4 * square)) / 2,
                             .by_norm = sqrt(kappa * kappa + dimension * second_moment / n) +
                                        deviations *
                                            sqrt(tail_moment(2, tail_quantile(second_moment)) / n),
                             .deviations = deviations};
}

/* Sets theta and lambda to the best values for the forecast, and *by_norm if the bound by the norm
 * is expected to be smaller. A greater lambda would clip too much of x. */
static certreg_status set_stakes(cr_replay *r, martingale *g, int *by_norm)
{
    const cr_samples pilot = martingale_pilot(r->view, g->samples);
    const double second_moment = pilot_second_moment(&pilot, g->score_bound),
                 dimension = (double)r->view->input.active;
    double square;
    const certreg_status status = estimate_kappa_square(r, &pilot, g->score_bound, &square);
    if (status) return status;
    const double kappa = target_kappa(square, second_moment, dimension, (double)pilot.count);
    const expected_bounds bounds = expect_bounds(g, second_moment, kappa, dimension);
    g->theta = bounds.forecast.x_deviation /
               (bounds.forecast.x_deviation + bounds.by_blocks * bounds.forecast.y_deviation);
    g->lambda = fmin(bounds.deviations * sqrt(g->theta) / bounds.forecast.x_deviation,
                     MAX_LAMBDA_X / (2.5 * bounds.forecast.last_norm));
    *by_norm = bounds.by_norm < bounds.by_blocks;
    return CERTREG_OK;
}

/* ---- the two bounds */
/* Returns 1 if the bets refute this kappa, in units of B. */
static int refutes(const martingale *g, double kappa)
{
    const double s = g->theta * g->lambda * kappa / (1 - g->theta);
    double phi_sum = 0, weight_sum = 0;
    for (size_t index = 0; index < BLOCKS; index++) {
        const block b = block_of(g->samples, index);
        phi_sum +=
            (double)b.count * phi_beyond(s * (double)b.later_count, g->second_moment, g->quantile);
        weight_sum += (double)b.count * (double)b.later_count;
    }
    const double gain =
        g->lambda * kappa * (kappa * weight_sum) - (1 - g->theta) / g->theta * phi_sum;
    const double threshold =
        fmax(0, g->cost) + g->lambda * g->cap * g->rounding_slack + g->log_inverse_alpha / g->theta;
    return gain * (1 - EVALUATION_ERROR) >= threshold * (1 + EVALUATION_ERROR);
}

static double bound_by_blocks(const martingale *g)
{
    double low = 0, high = g->cap;
    if (!refutes(g, high)) return high;
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        if (refutes(g, middle)) high = middle;
        else low = middle;
    }
    return high;
}

static double bound_by_norm(const martingale *g, double sum_norm)
{
    const double n = (double)g->samples->count,
                 best_s = sqrt(2 * g->log_inverse_alpha / (n * tail_moment(2, g->quantile)));
    double min_term = INFINITY;
    for (int i = -12; i <= 4; i++) {
        const double s = best_s * exp2(0.25 * i);
        min_term =
            fmin(min_term,
                 (phi_beyond(s, g->second_moment, g->quantile) + g->log_inverse_alpha / n) / s);
    }
    return (sum_norm / (1 + CR_NOISE_EXCESS) + SUM_ERROR * g->norm_sum) / n +
           min_term * (1 + EVALUATION_ERROR);
}

/* Sets up a martingale for the problem, and *upper to the bound that is known without it. Non-zero:
 * there can be no martingale. */
static int init_martingale(const cr_martingale_problem *problem, martingale *g, double *upper)
{
    const cr_samples *s = &problem->samples;
    *g = (martingale){.samples = s};
    g->score_bound =
        nextafter(fmax(problem->range_hi - s->center, s->center - problem->range_lo), INFINITY);
    *upper = fmin(fmin(problem->cap, g->score_bound),
                  sqrt(fmax(0, problem->second_moment_hi)) * (1 + EVALUATION_ERROR));
    if (!(isfinite(g->score_bound) && g->score_bound > 0) || s->count < BLOCKS ||
        !(problem->alpha > 0 && problem->alpha < 1))
        return 1;
    g->second_moment = fmin(1, problem->second_moment_hi / g->score_bound / g->score_bound *
                                   (1 + EVALUATION_ERROR));
    g->quantile = tail_quantile(g->second_moment);
    g->cap = *upper / g->score_bound;
    g->log_inverse_alpha = -log(problem->alpha);
    return !(g->second_moment > 0 && g->cap > 0);
}

/* Converts a bound for the noise e/(1 + CR_NOISE_EXCESS) to a bound for the exact noise. */
static double to_exact_noise(const martingale *g, double kappa)
{
    return (1 + CR_NOISE_EXCESS) * kappa + CR_NOISE_GAP * sqrt(g->second_moment);
}

/* Requests the sweep that the bound needs. Returns 0 if there is no memory for it, else 1. */
static int cr_gradient_martingale_prefetch(cr_replay *r, const cr_samples *samples)
{
    const cr_samples pilot = martingale_pilot(r->view, samples);
    if (samples->count < BLOCKS) return 1;
    return cr_noise_sums_request(r, samples, CR_SUMS_CUMULATIVE, BLOCKS) &&
           (pilot.count < BLOCKS || cr_noise_sums_request(r, &pilot, CR_SUMS_CUMULATIVE, BLOCKS));
}

certreg_status cr_gradient_martingale_upper(cr_replay *r, const cr_martingale_problem *problem,
                                            double *upper)
{
    martingale g;
    if (init_martingale(problem, &g, upper)) return CERTREG_OK;
    int by_norm = 0, out_of_range = 0;
    double sum_norm;
    certreg_status status = set_stakes(r, &g, &by_norm);
    if (!status) status = add_blocks(r, &g, &out_of_range, &sum_norm);
    if (status || out_of_range) return status;
    const double kappa = by_norm ? bound_by_norm(&g, sum_norm) : bound_by_blocks(&g);
    *upper = fmin(*upper, to_exact_noise(&g, kappa) * g.score_bound * (1 + EVALUATION_ERROR));
    return CERTREG_OK;
}

/* ======== Gradient norms of all conditions of a question: the asymptotic interval, from block
 * means of score times noise (formulas in statistics/moments.c), or the bound
 * without normality above. */
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
    cr_samples pilot = cr_split_pilot_scores(v, conditions, main->score);
    pilot.center = main->center;
    if (cr_score_traits_of(main->score->kind).clipped || pilot.count < 2 * v->plan.blocks)
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
