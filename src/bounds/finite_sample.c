/* Betting only: bounds of the mean or the second moment of a score with a finite range, and of the
 * mean of a law (theory 6.4, 6.5, 6.9). The exact bound of the median, and of every other
 * two-valued score, is in bounds/mean_bounds.c. The bets themselves are in
 * statistics/betting_bounds.c. */
#include "bounds/finite_sample.h"
#include "bounds/sample_split.h"
#include "statistics/betting_bounds.h"
#include <float.h>
#include <math.h>

/* Share of alpha for the mean if the second moment takes the remaining share (theory 6.4). */
static const double ends_share = 0.25;

/* ---- bets */
/* Returns an end of the mean of the bet's values, at a fixed count or at any time, as the method
 * requires; if expected > 0, its forecast from the pilot for `expected` samples. The bet comes with
 * its values, their range and its first sample. The pilot's values only decide the stakes. */
static double bound_of(cr_view *v, const cr_conditions *conditions, cr_betting_problem bet,
                       double alpha, size_t expected, int upper)
{
    const int anytime = conditions->question.method->is_anytime;
    for (size_t i = cr_view_first_noisy(v); i < conditions->first_main_sample; i++)
        cr_betting_add_pilot(&bet, bet.value(bet.of, i));
    bet.count = expected ? expected : cr_split_main_count(conditions);
    bet.watch = v->watch;
    if (expected)
        return upper ? cr_betting_expected_upper(&bet, alpha, anytime)
                     : cr_betting_expected_lower(&bet, alpha, anytime);
    return upper ? cr_betting_upper(&bet, alpha, anytime) : cr_betting_lower(&bet, alpha, anytime);
}

static double score_at(const void *of, size_t sample)
{
    return cr_samples_at(of, sample);
}

static double square_at(const void *of, size_t sample)
{
    const double gap = cr_samples_at(of, sample);
    return gap * gap;
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
static double best_center(const cr_samples *pilot, double least, double greatest)
{
    const double own = fmin(fmax(cr_score_of_prediction(pilot->score), least), greatest);
    double sum = own, square = own * own;
    for (size_t i = 0; cr_samples_has(pilot, i); i++) {
        const double u = cr_samples_at(pilot, i);
        sum += u;
        square += u * u;
    }
    const double most = greatest + (greatest - least);
    return sum > 0 ? fmin(square / sum, most) : most;
}

static double pilot_mean(const cr_samples *pilot, double least, double greatest)
{
    double sum = 0;
    for (size_t i = 0; cr_samples_has(pilot, i); i++) sum += cr_samples_at(pilot, i);
    const double mean = sum / (double)pilot->count;
    return mean >= least && mean <= greatest ? mean : 0.5 * (least + greatest);
}

static void bound_moment(const cr_finite_job *job, double center, double alpha, certreg_bounds *b)
{
    const double far = fmax(b->range_hi - center, center - b->range_lo);
    const cr_samples all = all_samples(job->view, job->conditions, job->score, center);
    const cr_betting_problem bet = {.value = square_at,
                                    .of = &all,
                                    .hi = far * far * (1 + 4 * DBL_EPSILON),
                                    .first = job->conditions->first_main_sample};
    b->moment_center = center;
    b->moment_hi =
        bound_of(job->view, job->conditions, bet, alpha, job->expected, 1) * (1 + 4 * DBL_EPSILON);
    b->constraints |= CERTREG_CONSTRAINT_MOMENT;
    /* (E u - center)^2 <= E (u - center)^2 */
    const double reach = nextafter(sqrt(b->moment_hi), INFINITY) * (1 + DBL_EPSILON);
    b->mean_lo = fmax(b->mean_lo, nextafter(center - reach, -INFINITY));
    b->mean_hi = fmin(b->mean_hi, nextafter(center + reach, INFINITY));
}

static void bound_mean(const cr_finite_job *job, double alpha, int both, certreg_bounds *b)
{
    const cr_samples all = all_samples(job->view, job->conditions, job->score, 0);
    const cr_betting_problem bet = {.value = score_at,
                                    .of = &all,
                                    .lo = b->range_lo,
                                    .hi = b->range_hi,
                                    .first = job->conditions->first_main_sample};
    const double share = both ? alpha / 2 : alpha;
    b->mean_lo = bound_of(job->view, job->conditions, bet, share, job->expected, 0);
    if (both) b->mean_hi = bound_of(job->view, job->conditions, bet, share, job->expected, 1);
}

/* If mean and variance are both named, one moment bounds them together, and a score needs
 * nothing else, since the moment bounds its mean as well. If the variance alone is named, the
 * moment about the pilot's mean bounds it. A score's mean is bounded even then, because the
 * threshold is on it. */
void cr_finite_sample_bounds(const cr_finite_job *job, uint32_t constraints, certreg_bounds *b)
{
    cr_view *v = job->view;
    const int32_t k = job->conditions->score_output;
    const int output = job->score->kind == CR_SCORE_OUTPUT,
              spread = (constraints & CERTREG_CONSTRAINT_VARIANCE) != 0,
              together = spread && constraints & CERTREG_CONSTRAINT_MEAN;
    const double share = !spread ? 1 : together == output ? ends_share : 0;
    cr_score_range(job->score, v->model.lo + k, v->model.hi + k, &b->range_lo, &b->range_hi);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = b->range_lo;
    b->mean_hi = b->range_hi;
    if (share > 0) bound_mean(job, share * job->alpha, output, b);
    if (!spread) return;
    const cr_samples pilot = cr_split_pilot_scores(v, job->conditions, job->score);
    const double center = together && !output ? best_center(&pilot, b->range_lo, b->range_hi)
                                              : pilot_mean(&pilot, b->range_lo, b->range_hi);
    bound_moment(job, center, (1 - share) * job->alpha, b);
    if (together) return;
    b->variance_hi = b->moment_hi;
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
}

/* ---- the whole law */
typedef struct of_law {
    const cr_distribution_bound *law;
    cr_samples samples;
} of_law;

static double law_at(const void *of, size_t sample)
{
    const of_law *l = of;
    return cr_distribution_bound_value(l->law, cr_samples_at(&l->samples, sample));
}

double cr_finite_sample_distribution_bound(cr_view *v, const cr_conditions *conditions,
                                           const cr_condition *c, double alpha, certreg_bounds *b)
{
    const cr_distribution_bound *law = c->law;
    const int32_t k = conditions->score_output;
    const of_law all = {law, all_samples(v, conditions, &c->score, 0)};
    cr_betting_problem bet = {.value = law_at, .of = &all, .first = conditions->first_main_sample};
    cr_score_range(&c->score, v->model.lo + k, v->model.hi + k, &b->range_lo, &b->range_hi);
    cr_distribution_bound_range(law, &bet);
    const double mean = bound_of(v, conditions, bet, alpha, 0, 0) -
                        0x1p-50 * (fabs(b->range_lo) + fabs(b->range_hi)); /* rounding of H */
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = b->range_lo;
    b->mean_hi = b->range_hi;
    if (!law->moves) b->mean_lo = fmax(b->mean_lo, cr_distribution_bound_shifted(law, mean, 0));
    return mean;
}
