/* Bounds of mean and variance of a score: exact for two-valued scores, asymptotic, and by
 * betting. */
#include "bounds/bounds.h"
#include "conditions/conditions.h"
#include "statistics/betting_bounds.h"
#include "statistics/binomial.h"
#include "statistics/moments.h"
#include <float.h>
#include <math.h>

/* ======== Divides a record into its pilot and its main samples. */
/* Fractions of alpha (theory 5.1). Two ends of the mean take half of the mean's fraction each. */
#define CR_ALPHA_FRACTION_MEAN 0.25
#define CR_ALPHA_FRACTION_VARIANCE 0.25

static cr_samples samples_between(cr_view *v, const cr_conditions *conditions,
                                  const cr_score *score, size_t first, size_t end)
{
    return cr_view_samples(v, score, conditions->score_output, first, end > first ? end - first : 0,
                           0);
}

cr_samples cr_split_pilot_scores(cr_view *v, const cr_conditions *conditions, const cr_score *score)
{
    return samples_between(v, conditions, score, cr_view_first_noisy(v),
                           conditions->first_main_sample);
}

cr_samples cr_split_main_scores(cr_view *v, const cr_conditions *conditions, const cr_score *score)
{
    return samples_between(v, conditions, score, conditions->first_main_sample,
                           conditions->samples);
}

size_t cr_split_main_count(const cr_conditions *conditions)
{
    return conditions->samples > conditions->first_main_sample
               ? conditions->samples - conditions->first_main_sample
               : 0;
}

/* ======== Bounds without betting: the exact bound of a two-valued score, which certifies the
 * median (theory 6.2), the bound of sparse scores by counting, and the asymptotic bounds of mean
 * and variance (theory 5.1). The formulas are in statistics/binomial.c and moments.c. */
/* ---- two-valued scores */
/* Returns v - (v - min_value) p, rounded down: a lower bound of E u if P(u < v) <= p, u >=
 * min_value. */
static double mean_from_probability(double v, double min_value, double p)
{
    return fmax(min_value, nextafter(v - nextafter((v - min_value) * p, INFINITY), -INFINITY));
}

void cr_mean_bounds_binomial(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                             double alpha, cr_bound *b)
{
    b->failures = UINT64_MAX;
    if (conditions->question.is_group_sequential)
        b->failure_probability = cr_looks_group_sequential_upper(v, conditions, c);
    else if (conditions->question.method->is_anytime)
        b->failure_probability = cr_looks_anytime_upper(v, conditions, c, alpha);
    else {
        const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
        b->failures = cr_samples_count_negative(&s);
        b->failure_probability = cr_binomial_upper(b->failures, s.count, alpha);
    }
    b->moments.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->moments.mean_lo = mean_from_probability(1, -1, b->failure_probability);
    b->moments.mean_hi = 1;
    b->moments.range_lo = -1;
    b->moments.range_hi = 1;
}

/* ---- by counting */
/* Returns the value of more than half of the scores (vote of Boyer and Moore), or any value if
 * there is none. *other_count: number of scores that differ from it. */
static double majority_score(const cr_samples *s, size_t *other_count)
{
    double majority = NAN;
    size_t votes = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++) {
        const double u = cr_samples_at(s, i);
        if (!votes) majority = u;
        votes = u == majority ? votes + 1 : votes - 1;
    }
    *other_count = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++) *other_count += cr_samples_at(s, i) != majority;
    return majority;
}

int cr_scores_are_sparse(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
    size_t other_count;
    majority_score(&s, &other_count);
    return other_count < v->plan.blocks;
}

/* Returns a level that does not depend on the main samples, so that the number of scores below it
 * is binomial. */
static double counting_level(const cr_samples *pilot, double max_score)
{
    size_t other_count;
    if (!pilot->count) return max_score;
    const double majority = majority_score(pilot, &other_count);
    return 2 * other_count < pilot->count ? majority : max_score;
}

static void score_range(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                        double *lo, double *hi)
{
    const int32_t k = conditions->score_output;
    cr_score_range(&c->score, v->model.lo + k, v->model.hi + k, lo, hi);
}

/* Returns p (end - v)^2, rounded up: the maximum that values between v and `end`, of probability at
 * most p, add to E(u - v)^2. */
static double square_bound(double v, double end, double p)
{
    const double distance = nextafter(fabs(end - v), INFINITY);
    return nextafter(nextafter(distance * distance, INFINITY) * p, INFINITY);
}

/* Adds the variance bound that the two events imply, unless the square of the range overflows. */
static void bound_variance(double v, double lo, double hi, double below, double above,
                           certreg_bounds *b)
{
    const double variance =
        nextafter(square_bound(v, lo, below) + square_bound(v, hi, above), INFINITY);
    if (!isfinite(variance)) return;
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
    b->variance_hi = variance;
}

/* Bounds sparse scores. Non-zero: they have no finite range. */
static int bound_by_counting(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                             double alpha, certreg_bounds *b)
{
    double lo, hi;
    score_range(v, conditions, c, &lo, &hi);
    if (!isfinite(lo) || !isfinite(hi)) return 1;
    const cr_samples pilot = cr_split_pilot_scores(v, conditions, &c->score),
                     s = cr_split_main_scores(v, conditions, &c->score);
    const double level = counting_level(&pilot, hi);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    uint64_t below = 0, above = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) {
        const double u = cr_samples_at(&s, i);
        below += u < level;
        above += u > level;
    }
    if (two_sided) alpha /= 2;
    const double probability_below = cr_binomial_upper(below, b->samples, alpha);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->range_lo = lo;
    b->range_hi = hi;
    b->mean_lo = mean_from_probability(level, lo, probability_below);
    b->mean_hi = hi;
    if (!two_sided) return 0; /* the number of scores above the level is not bounded */
    const double probability_above = cr_binomial_upper(above, b->samples, alpha);
    b->mean_hi = -mean_from_probability(-level, -hi, probability_above);
    bound_variance(level, lo, hi, probability_below, probability_above, b);
    return 0;
}

/* ---- asymptotic */
int cr_mean_bounds_asymptotic(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                              certreg_bounds *b)
{
    const double alpha = conditions->question.given.alpha,
                 mean_alpha = CR_ALPHA_FRACTION_MEAN * alpha;
    double lo, hi;
    cr_moments m;
    if (cr_scores_are_sparse(v, conditions, c))
        return bound_by_counting(v, conditions, c, mean_alpha, b);
    const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
    cr_moments_of(&s, &m);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    const cr_moments_tails tails = {.mean_lo = two_sided ? mean_alpha / 2 : mean_alpha,
                                    .mean_hi = two_sided ? mean_alpha / 2 : 0,
                                    .variance_hi = CR_ALPHA_FRACTION_VARIANCE * alpha};
    score_range(v, conditions, c, &lo, &hi);
    return cr_moments_asymptotic(&m, lo, hi, &tails, b);
}

/* ======== Betting only: bounds of the mean or the second moment of a score with a finite range,
 * and of the mean of H (theory 6.4, 6.5, 6.9). The exact bound of the median, and of every other
 * two-valued score, is here as well. The bets themselves are in
 * statistics/betting_bounds.c. */
/* Fraction of alpha for the mean; the second moment takes the remaining fraction (theory 6.4). */
static const double mean_alpha_fraction = 0.25;

/* ---- bets */
/* Returns an end of the mean of the bet's values, at a fixed count or at any time, as the method
 * requires; if forecast_samples > 0, its forecast from the pilot for this number of samples. The
 * bet comes with its values, their range and its first sample. The pilot's values only decide the
 * stakes. */
static double betting_bound(cr_view *v, const cr_conditions *conditions, cr_betting_problem bet,
                            double alpha, size_t forecast_samples, int upper)
{
    const int anytime = conditions->question.method->is_anytime;
    for (size_t i = cr_view_first_noisy(v); i < conditions->first_main_sample; i++)
        cr_betting_add_pilot(&bet, bet.value(bet.context, i));
    bet.count = forecast_samples ? forecast_samples : cr_split_main_count(conditions);
    bet.deadline = v->deadline;
    if (forecast_samples)
        return upper ? cr_betting_expected_upper(&bet, alpha, anytime)
                     : cr_betting_expected_lower(&bet, alpha, anytime);
    return upper ? cr_betting_upper(&bet, alpha, anytime) : cr_betting_lower(&bet, alpha, anytime);
}

static double score_value(const void *context, size_t sample)
{
    return cr_samples_at(context, sample);
}

static double squared_score(const void *context, size_t sample)
{
    const double deviation = cr_samples_at(context, sample);
    return deviation * deviation;
}

/* Pilot and main samples, each by its place in the record. */
static cr_samples all_samples(cr_view *v, const cr_conditions *conditions, const cr_score *score,
                              double center)
{
    return cr_view_samples(v, score, conditions->score_output, 0, conditions->samples, center);
}

/* ---- one bound for mean and variance */
/* Returns the pilot's E u^2 / E u, with the score of the prediction as one more sample. About this
 * center the second moment loses nothing: the set of means and variances that it allows touches the
 * curve of equal radius (theory 6.4; exactly so without a range). */
static double best_center(const cr_samples *pilot, double min_score, double max_score)
{
    const double prediction_score =
        fmin(fmax(cr_score_of_prediction(pilot->score), min_score), max_score);
    double sum = prediction_score, square = prediction_score * prediction_score;
    for (size_t i = 0; cr_samples_has(pilot, i); i++) {
        const double u = cr_samples_at(pilot, i);
        sum += u;
        square += u * u;
    }
    const double max_center = max_score + (max_score - min_score);
    return sum > 0 ? fmin(square / sum, max_center) : max_center;
}

static double pilot_mean(const cr_samples *pilot, double min_score, double max_score)
{
    double sum = 0;
    for (size_t i = 0; cr_samples_has(pilot, i); i++) sum += cr_samples_at(pilot, i);
    const double mean = sum / (double)pilot->count;
    return mean >= min_score && mean <= max_score ? mean : 0.5 * (min_score + max_score);
}

static void bound_moment(const cr_finite_sample_problem *problem, double center, double alpha,
                         certreg_bounds *b)
{
    const double max_distance = fmax(b->range_hi - center, center - b->range_lo);
    const cr_samples all = all_samples(problem->view, problem->conditions, problem->score, center);
    const cr_betting_problem bet = {.value = squared_score,
                                    .context = &all,
                                    .hi = max_distance * max_distance * (1 + 4 * DBL_EPSILON),
                                    .first = problem->conditions->first_main_sample};
    b->moment_center = center;
    b->moment_hi = betting_bound(problem->view, problem->conditions, bet, alpha,
                                 problem->forecast_samples, 1) *
                   (1 + 4 * DBL_EPSILON);
    b->constraints |= CERTREG_CONSTRAINT_MOMENT;
    /* (E u - center)^2 <= E (u - center)^2 */
    const double max_deviation = nextafter(sqrt(b->moment_hi), INFINITY) * (1 + DBL_EPSILON);
    b->mean_lo = fmax(b->mean_lo, nextafter(center - max_deviation, -INFINITY));
    b->mean_hi = fmin(b->mean_hi, nextafter(center + max_deviation, INFINITY));
}

static void bound_mean(const cr_finite_sample_problem *problem, double alpha, int two_sided,
                       certreg_bounds *b)
{
    const cr_samples all = all_samples(problem->view, problem->conditions, problem->score, 0);
    const cr_betting_problem bet = {.value = score_value,
                                    .context = &all,
                                    .lo = b->range_lo,
                                    .hi = b->range_hi,
                                    .first = problem->conditions->first_main_sample};
    const double alpha_per_end = two_sided ? alpha / 2 : alpha;
    b->mean_lo = betting_bound(problem->view, problem->conditions, bet, alpha_per_end,
                               problem->forecast_samples, 0);
    if (two_sided)
        b->mean_hi = betting_bound(problem->view, problem->conditions, bet, alpha_per_end,
                                   problem->forecast_samples, 1);
}

/* If mean and variance are both named, one moment bounds them jointly, and a score needs nothing
 * else, since the moment bounds its mean as well. If the variance alone is named, the moment about
 * the pilot's mean bounds it. A score's mean is bounded even then: the threshold is on it. */
void cr_finite_sample_bounds(const cr_finite_sample_problem *problem, uint32_t constraints,
                             certreg_bounds *b)
{
    cr_view *v = problem->view;
    const int32_t k = problem->conditions->score_output;
    const int is_output = problem->score->kind == CR_SCORE_OUTPUT,
              has_variance = (constraints & CERTREG_CONSTRAINT_VARIANCE) != 0,
              has_mean_and_variance = has_variance && constraints & CERTREG_CONSTRAINT_MEAN;
    const double mean_fraction = !has_variance                        ? 1
                                 : has_mean_and_variance == is_output ? mean_alpha_fraction
                                                                      : 0;
    cr_score_range(problem->score, v->model.lo + k, v->model.hi + k, &b->range_lo, &b->range_hi);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = b->range_lo;
    b->mean_hi = b->range_hi;
    if (mean_fraction > 0) bound_mean(problem, mean_fraction * problem->alpha, is_output, b);
    if (!has_variance) return;
    const cr_samples pilot = cr_split_pilot_scores(v, problem->conditions, problem->score);
    const double center = has_mean_and_variance && !is_output
                              ? best_center(&pilot, b->range_lo, b->range_hi)
                              : pilot_mean(&pilot, b->range_lo, b->range_hi);
    bound_moment(problem, center, (1 - mean_fraction) * problem->alpha, b);
    if (has_mean_and_variance) return;
    b->variance_hi = b->moment_hi;
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
}

/* ---- the whole distribution */
typedef struct transformed_scores {
    const cr_distribution_bound *bound;
    cr_samples samples;
} transformed_scores;

static double transformed_value(const void *context, size_t sample)
{
    const transformed_scores *scores = context;
    return cr_distribution_bound_value(scores->bound, cr_samples_at(&scores->samples, sample));
}

double cr_finite_sample_distribution_bound(cr_view *v, const cr_conditions *conditions,
                                           const cr_condition *c, double alpha, certreg_bounds *b)
{
    const cr_distribution_bound *bound = c->law;
    const int32_t k = conditions->score_output;
    const transformed_scores scores = {bound, all_samples(v, conditions, &c->score, 0)};
    cr_betting_problem bet = {
        .value = transformed_value, .context = &scores, .first = conditions->first_main_sample};
    cr_score_range(&c->score, v->model.lo + k, v->model.hi + k, &b->range_lo, &b->range_hi);
    cr_distribution_bound_range(bound, &bet);
    /* The subtracted term is for the rounding of H. */
    const double mean = betting_bound(v, conditions, bet, alpha, 0, 0) -
                        0x1p-50 * (fabs(b->range_lo) + fabs(b->range_hi));
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = b->range_lo;
    b->mean_hi = b->range_hi;
    if (!bound->bounds_change)
        b->mean_lo = fmax(b->mean_lo, cr_distribution_bound_shifted(bound, mean, 0));
    return mean;
}
