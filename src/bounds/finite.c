/* Bounds of bounded scores, and of outputs with a declared range, that hold at every number of
 * samples (theory 6). */
#include "statistics/betting.h"
#include "bounds/finite.h"
#include "question/question.h"
#include <float.h>
#include <math.h>

/* Of alpha, what the two ends of the mean take together where the output itself is asked for; the
 * second moment has the rest. */
static const double ends_share = 0.25;

/* ---- bets */
typedef struct main_part { /* of the record: what is bet upon */
    const cr_sampled *sampled;
    size_t first;
} main_part;

static double main_value(const void *of, size_t i)
{
    const main_part *m = of;
    return m->sampled->value(m->sampled->of, m->first + i);
}

double cr_finite_bound(const certreg_estimator *e, const cr_conditions *conditions,
                       const cr_sampled *sampled, size_t first, double lo, double hi, double alpha,
                       int upper)
{
    cr_bet bet;
    cr_betting_start(&bet, lo, hi);
    bet.watch = e->clock.watch;
    const int anytime = conditions->question.method == CERTREG_METHOD_ANYTIME;
    for (size_t i = e->input.noise.clean_first != 0; i < conditions->main_first; i++)
        cr_betting_learn(&bet, sampled->value(sampled->of, i));
    const main_part rest = {sampled, first};
    const cr_series series = {main_value, &rest, conditions->samples - first};
    return upper ? cr_betting_upper(&bet, &series, alpha, anytime)
                 : cr_betting_lower(&bet, &series, alpha, anytime);
}

typedef struct course { /* u, or (u - center)^2 */
    const certreg_estimator *e;
    const cr_score *score;
    size_t output;
    double center;
} course;

static double score_at(const void *of, size_t sample)
{
    const course *c = of;
    return cr_score_value(c->score, cr_record_value(c->e, sample, c->output));
}

static double square_at(const void *of, size_t sample)
{
    const course *c = of;
    const double gap = score_at(of, sample) - c->center;
    return gap * gap;
}

/* ---- one bound for mean and variance */
/* About E u^2 / E u the second moment loses nothing: there the set of means and variances that it
 * allows touches the curve of those that are certified as far (theory 6; exactly so without a
 * range). The pilot decides, with the score of the prediction itself as one more sample. */
static double best_center(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_score *score, double least, double greatest)
{
    const double own =
        fmin(fmax(cr_score_value(score, (float)conditions->prediction), least), greatest);
    double sum = own, square = own * own;
    for (size_t i = e->input.noise.clean_first != 0; i < conditions->main_first; i++) {
        const double u =
            cr_score_value(score, cr_record_value(e, i, (size_t)conditions->question.output));
        sum += u;
        square += u * u;
    }
    const double most = greatest + (greatest - least);
    return sum > 0 ? fmin(square / sum, most) : most;
}

static double pilot_mean(const certreg_estimator *e, const cr_conditions *conditions,
                         const cr_score *score, double least, double greatest)
{
    const size_t first = e->input.noise.clean_first != 0;
    double sum = 0;
    for (size_t i = first; i < conditions->main_first; i++)
        sum += cr_score_value(score, cr_record_value(e, i, (size_t)conditions->question.output));
    const double mean = sum / (double)(conditions->main_first - first);
    return mean >= least && mean <= greatest ? mean : 0.5 * (least + greatest);
}

static void bound_moment(const certreg_estimator *e, const cr_conditions *conditions,
                         const cr_score *score, double center, double alpha, certreg_bounds *b)
{
    const double far = fmax(b->range_hi - center, center - b->range_lo),
                 most = far * far * (1 + 4 * DBL_EPSILON);
    const course squares = {e, score, (size_t)conditions->question.output, center};
    const cr_sampled sampled = {square_at, &squares};
    b->moment_center = center;
    b->moment_hi =
        cr_finite_bound(e, conditions, &sampled, conditions->main_first, 0, most, alpha, 1) *
        (1 + 4 * DBL_EPSILON);
    b->constraints |= CERTREG_CONSTRAINT_MOMENT;
    const double reach = nextafter(sqrt(b->moment_hi), INFINITY) *
                         (1 + DBL_EPSILON); /* the mean cannot be farther from the center */
    b->mean_lo = fmax(b->mean_lo, nextafter(center - reach, -INFINITY));
    b->mean_hi = fmin(b->mean_hi, nextafter(center + reach, INFINITY));
}

static void bound_mean(const certreg_estimator *e, const cr_conditions *conditions,
                       const cr_score *score, double alpha, int both, certreg_bounds *b)
{
    const course values = {.e = e, .score = score, .output = (size_t)conditions->question.output};
    const cr_sampled sampled = {score_at, &values};
    const double share = both ? alpha / 2 : alpha;
    b->mean_lo = cr_finite_bound(e, conditions, &sampled, conditions->main_first, b->range_lo,
                                 b->range_hi, share, 0);
    if (both)
        b->mean_hi = cr_finite_bound(e, conditions, &sampled, conditions->main_first, b->range_lo,
                                     b->range_hi, share, 1);
}

/* Who names mean and variance has them bounded together, by one moment; scores even by nothing
 * else, since it bounds their mean as well. Who names the variance alone gets that moment about the
 * pilot's mean, which no variance exceeds; a score's mean is needed all the same, for the threshold
 * is on it. */
void cr_finite_find(const certreg_estimator *e, const cr_conditions *conditions,
                    const cr_score *score, uint32_t constraints, double alpha, certreg_bounds *b)
{
    const int32_t k = conditions->question.output;
    const int output = score->kind == CR_SCORE_OUTPUT,
              spread = (constraints & CERTREG_CONSTRAINT_VARIANCE) != 0,
              together = spread && constraints & CERTREG_CONSTRAINT_MEAN;
    const double share = !spread ? 1 : together == output ? ends_share : 0;
    cr_score_range(score, e->model.lo[k], e->model.hi[k], &b->range_lo, &b->range_hi);
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = b->range_lo, b->mean_hi = b->range_hi;
    if (share > 0) bound_mean(e, conditions, score, share * alpha, output, b);
    if (!spread) return;
    const double center = together && !output
                              ? best_center(e, conditions, score, b->range_lo, b->range_hi)
                              : pilot_mean(e, conditions, score, b->range_lo, b->range_hi);
    bound_moment(e, conditions, score, center, (1 - share) * alpha, b);
    if (together) return;
    b->variance_hi = b->moment_hi;
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
}
