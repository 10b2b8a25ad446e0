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
/* Returns v - (v - least) p, rounded down: a lower bound of E u if P(u < v) <= p and u >= least. */
static double mean_of_share(double v, double least, double p)
{
    return fmax(least, nextafter(v - nextafter((v - least) * p, INFINITY), -INFINITY));
}

/* Upper bound of the probability that the score is -1. */
static double miss_rate(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                        double alpha)
{
    if (conditions->question.is_group_sequential)
        return cr_looks_group_sequential_upper(v, conditions, c);
    if (conditions->question.method->is_anytime)
        return cr_looks_anytime_upper(v, conditions, c, alpha);
    const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
    uint64_t misses = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) misses += cr_samples_at(&s, i) < 0;
    return cr_binomial_upper(misses, s.count, alpha);
}

double cr_mean_bounds_binomial(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                               double alpha, certreg_bounds *b)
{
    const double rate = miss_rate(v, conditions, c, alpha);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = mean_of_share(1, -1, rate);
    b->mean_hi = 1;
    b->range_lo = -1;
    b->range_hi = 1;
    return rate;
}

/* ---- by counting */
/* Returns the value of more than half of the scores (vote of Boyer and Moore), or any value if
 * there is none. *others: number of scores that differ from it. */
static double usual_score(const cr_samples *s, size_t *others)
{
    double usual = NAN;
    size_t lead = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++) {
        const double u = cr_samples_at(s, i);
        if (!lead) usual = u;
        lead = u == usual ? lead + 1 : lead - 1;
    }
    *others = 0;
    for (size_t i = 0; cr_samples_has(s, i); i++) *others += cr_samples_at(s, i) != usual;
    return usual;
}

int cr_means_are_sparse(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
    size_t others;
    usual_score(&s, &others);
    return others < v->plan.blocks;
}

/* Returns a level that does not depend on the main samples, so that the number of scores below it
 * is binomial. */
static double level_of(const cr_samples *pilot, double greatest)
{
    size_t others;
    if (!pilot->count) return greatest;
    const double usual = usual_score(pilot, &others);
    return 2 * others < pilot->count ? usual : greatest;
}

static void range_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c, double *lo,
                     double *hi)
{
    const int32_t k = conditions->score_output;
    cr_score_range(&c->score, v->model.lo + k, v->model.hi + k, lo, hi);
}

/* Returns p (end - v)^2, rounded up: the most that values between v and `end`, of probability at
 * most p, add to E(u - v)^2. */
static double square_of_share(double v, double end, double p)
{
    const double far = nextafter(fabs(end - v), INFINITY);
    return nextafter(nextafter(far * far, INFINITY) * p, INFINITY);
}

/* Adds the variance bound that the two events imply, unless the square of the range overflows. */
static void bound_variance(double v, double lo, double hi, double below, double above,
                           certreg_bounds *b)
{
    const double square =
        nextafter(square_of_share(v, lo, below) + square_of_share(v, hi, above), INFINITY);
    if (!isfinite(square)) return;
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
    b->variance_hi = square;
}

/* Bounds sparse scores. Non-zero: they have no finite range. */
static int bound_by_counting(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                             double alpha, certreg_bounds *b)
{
    double lo, hi;
    range_of(v, conditions, c, &lo, &hi);
    if (!isfinite(lo) || !isfinite(hi)) return 1;
    const cr_samples pilot = cr_split_pilot_scores(v, conditions, &c->score),
                     s = cr_split_main_scores(v, conditions, &c->score);
    const double level = level_of(&pilot, hi);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    uint64_t below = 0, above = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) {
        const double u = cr_samples_at(&s, i);
        below += u < level;
        above += u > level;
    }
    if (two_sided) alpha /= 2;
    const double share_below = cr_binomial_upper(below, b->samples, alpha);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->range_lo = lo;
    b->range_hi = hi;
    b->mean_lo = mean_of_share(level, lo, share_below);
    b->mean_hi = hi;
    if (!two_sided) return 0; /* the number of scores above the level is not bounded */
    const double share_above = cr_binomial_upper(above, b->samples, alpha);
    b->mean_hi = -mean_of_share(-level, -hi, share_above);
    bound_variance(level, lo, hi, share_below, share_above, b);
    return 0;
}

/* ---- asymptotic */
int cr_mean_bounds_asymptotic(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                              certreg_bounds *b)
{
    const double alpha = conditions->question.given.alpha, tail = CR_SHARE_MEAN * alpha;
    double lo, hi;
    cr_moments m;
    if (cr_means_are_sparse(v, conditions, c)) return bound_by_counting(v, conditions, c, tail, b);
    const cr_samples s = cr_split_main_scores(v, conditions, &c->score);
    cr_moments_of(&s, &m);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    const cr_moments_tails tails = {.mean_lo = two_sided ? tail / 2 : tail,
                                    .mean_hi = two_sided ? tail / 2 : 0,
                                    .variance_hi = CR_SHARE_VARIANCE * alpha};
    range_of(v, conditions, c, &lo, &hi);
    return cr_moments_asymptotic(&m, lo, hi, &tails, b);
}
