/* Bounds without betting: the exact bound of a two-valued score, which certifies the median (theory
 * 6.2), the bound of sparse scores by counting, and the asymptotic bounds of mean and variance
 * (theory 5.1). The formulas are in statistics/binomial.c, beta_mixture_test.c and moments.c. */
#include "bounds/mean_bounds.h"
#include "bounds/sample_split.h"
#include "conditions/interim_looks.h"
#include "statistics/binomial.h"
#include "statistics/moments.h"
#include <math.h>

/* ---- two-valued scores */
/* Returns v - (v - min_value) p, rounded down: a lower bound of E u if P(u < v) <= p, u >=
 * min_value. */
static double mean_from_probability(double v, double min_value, double p)
{
    return fmax(min_value, nextafter(v - nextafter((v - min_value) * p, INFINITY), -INFINITY));
}

/* Upper bound of the probability that the score is -1. */
static double failure_probability_upper(cr_view *v, const cr_conditions *conditions,
                                        const cr_condition *c, double alpha)
{
    if (conditions->question.is_group_sequential)
        return cr_looks_group_sequential_upper(v, conditions, c);
    if (conditions->question.method->is_anytime)
        return cr_looks_anytime_upper(v, conditions, c, alpha);
    const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
    uint64_t failures = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) failures += cr_samples_at(&s, i) < 0;
    return cr_binomial_upper(failures, s.count, alpha);
}

double cr_mean_bounds_binomial(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                               double alpha, certreg_bounds *b)
{
    const double failure_probability = failure_probability_upper(v, conditions, c, alpha);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = mean_from_probability(1, -1, failure_probability);
    b->mean_hi = 1;
    b->range_lo = -1;
    b->range_hi = 1;
    return failure_probability;
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
