/* All outputs as one vector (theory 7): bounds of the trace of their covariance and of the
 * Frobenius norm of the scaled Jacobian. They enter the solver as variance and gradient norm of one
 * function without a range. */
#include "bounds/vector.h"
#include "base/constants.h"
#include "bounds/finite.h"
#include "bounds/parts.h"
#include "estimator/correlate.h"
#include "question/question.h"
#include "statistics/gradient.h"
#include "statistics/moments.h"
#include "statistics/normal.h"
#include <math.h>
#include <string.h>

static const cr_score identity = {.kind = CR_SCORE_OUTPUT};

/* Fixed without the main samples. */
static double center_of(const certreg_estimator *e, size_t output)
{
    const size_t first = cr_record_noisy(e), pilot = e->record.pilot;
    const cr_samples s = cr_record_samples(e, &identity, (int32_t)output, first,
                                           pilot > first ? pilot - first : 0, 0);
    double sum = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) sum += cr_samples_at(&s, i);
    return s.count ? sum / (double)s.count : (double)cr_record_value(e, 0, output);
}

/* Without a pilot the first main sample is the center, and is left out. */
static size_t first_of(const certreg_estimator *e, const cr_conditions *conditions)
{
    return conditions->main_first + (e->record.pilot == 0);
}

/* ||f - c||^2 of one sample. */
static double square_at(const void *of, size_t sample)
{
    const certreg_estimator *e = of;
    double sum = 0;
    for (size_t k = 0; k < e->model.outputs; k++) {
        const double gap = (double)cr_record_value(e, sample, k) - e->here.center[k];
        sum += gap * gap;
    }
    return sum;
}

static void collect(const certreg_estimator *e, const cr_conditions *conditions, cr_moments *m)
{
    cr_moments_start(m, 0);
    for (size_t i = first_of(e, conditions);
         i < conditions->samples && !cr_watch_ends(e->clock.watch, i); i++)
        cr_moments_add(m, square_at(e, i));
}

/* ---- without normality */
static void bound_without_normality(const certreg_estimator *e, const cr_conditions *conditions,
                                    double alpha, certreg_bounds *b)
{
    double most = 0;
    for (size_t k = 0; k < e->model.outputs; k++) {
        const double far =
            fmax(e->model.hi[k] - e->here.center[k], e->here.center[k] - e->model.lo[k]);
        most += far * far;
    }
    const cr_bet bet = {.value = square_at,
                        .of = e,
                        .hi = most * (1 + CR_ROUNDING),
                        .first = first_of(e, conditions)};
    b->variance_hi = cr_finite_bound(e, conditions, bet, alpha, 1) * (1 + CR_ROUNDING);
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
}

/* ---- asymptotic */
/* tr Cov f <= E ||f - c||^2 for every c. */
static int bound_variance(const cr_moments *m, double tail, certreg_bounds *b)
{
    if (m->count < 2 || !(m->least < m->greatest)) return 1;
    const double n = (double)m->count, mean = cr_moments_mean(m);
    const double z = cr_moments_skewed_quantile(cr_normal_quantile_sf(tail),
                                                CR_UNSEEN_SQUARE * cr_moments_skewness(m), n);
    b->constraints |= CERTREG_CONSTRAINT_VARIANCE;
    b->variance_hi = (mean + z * sqrt(cr_moments_variance(m) / n)) * (1 + CR_ROUNDING);
    return !isfinite(b->variance_hi);
}

static certreg_status add_output(certreg_estimator *e, const cr_conditions *conditions,
                                 size_t output)
{
    const size_t first = first_of(e, conditions), cells = e->plan.blocks * e->plan.blocks;
    const cr_samples samples = cr_record_samples(
        e, &identity, (int32_t)output, first, conditions->samples - first, e->here.center[output]);
    cr_block_sums sums;
    certreg_status status = cr_correlate_blocks(e, &samples, 1, &sums);
    if (!status) status = cr_correlate_gram(e, &sums, 0);
    if (status) return status;
    for (size_t i = 0; i < cells; i++) e->here.gram_sum[i] += e->here.gram[i];
    return CERTREG_OK;
}

/* The Gram matrices of the outputs add up to that of their stacked block means, of dimension
 * outputs * active. Cauchy and Schwarz bound the variance along one stacked direction by sqrt(3
 * kurtosis) E ||f - c||^2, which is outputs times its average coordinate. */
static certreg_status bound_gradient(certreg_estimator *e, const cr_conditions *conditions,
                                     const cr_moments *m, double tail, certreg_bounds *b)
{
    const double outputs = (double)e->model.outputs, mean = cr_moments_mean(m);
    const double kurtosis = (cr_moments_second(m) + mean * mean) / (mean * mean);
    memset(e->here.gram_sum, 0, e->plan.blocks * e->plan.blocks * sizeof *e->here.gram_sum);
    for (size_t k = 0; k < e->model.outputs; k++) {
        const certreg_status status = add_output(e, conditions, k);
        if (status) return status;
    }
    cr_gradient_interval(e->here.gram_sum, e->plan.blocks, 1, outputs * (double)e->input.active,
                         outputs * outputs * kurtosis, 0, tail, &b->gradient_lo, &b->gradient_hi);
    if (isfinite(b->gradient_hi)) b->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    return CERTREG_OK;
}

/* As of a jump that fewer samples than blocks show. */
static int is_sparse(const certreg_estimator *e, const cr_moments *m)
{
    const double mean = cr_moments_mean(m), excess = cr_moments_second(m) / (mean * mean);
    return !(excess < (double)m->count / (double)e->plan.blocks);
}

certreg_status cr_vector_find(certreg_estimator *e, const cr_conditions *conditions,
                              uint32_t constraints, certreg_bounds *b, int *abstained)
{
    const double alpha = conditions->question.alpha,
                 share = constraints & CERTREG_CONSTRAINT_GRADIENT ? 0.5 : 1;
    cr_moments m;
    *abstained = 0;
    for (size_t k = 0; k < e->model.outputs; k++) e->here.center[k] = center_of(e, k);
    if (cr_question_without_normality(&conditions->question))
        return bound_without_normality(e, conditions, alpha, b), CERTREG_OK;
    collect(e, conditions, &m);
    *abstained = bound_variance(&m, share * alpha, b) || is_sparse(e, &m);
    if (*abstained || !(constraints & CERTREG_CONSTRAINT_GRADIENT)) return CERTREG_OK;
    return bound_gradient(e, conditions, &m, share * alpha, b);
}
