/* All outputs as one vector (theory 7): bounds of the trace of their covariance and of the Frobenius norm of the scaled Jacobian. They
 * enter the solver as variance and gradient norm of one function without a range. */
#include "base/normal.h"
#include "estimator/gradient.h"
#include "estimator/inquiry.h"
#include "estimator/moments.h"
#include "estimator/sums.h"
#include <math.h>
#include <string.h>

/* Fixed without the main samples. */
static double centre_of(const certreg_estimator *e, size_t output)
{
    const size_t first = e->noise.centre != 0;
    double sum = 0;
    for (size_t i = first; i < e->plan.pilot; i++) sum += (double)cr_record_value(e, i, output);
    return e->plan.pilot > first ? sum / (double)(e->plan.pilot - first) : (double)cr_record_value(e, 0, output);
}

/* Without a pilot the first main sample is the centre, and is left out. */
static size_t first_of(const certreg_estimator *e, const cr_inquiry *inquiry)
{
    return inquiry->main_first + (e->plan.pilot == 0);
}

/* ||f - c||^2 of one sample. */
static double square_of(const certreg_estimator *e, size_t sample)
{
    double sum = 0;
    for (size_t k = 0; k < e->model.outputs; k++) {
        const double gap = (double)cr_record_value(e, sample, k) - e->at.centre[k];
        sum += gap * gap;
    }
    return sum;
}

static void collect(const certreg_estimator *e, const cr_inquiry *inquiry, cr_moments *m)
{
    cr_moments_start(m, 0);
    for (size_t i = first_of(e, inquiry); i < inquiry->samples && !cr_watch_ends(e->at.watch, i); i++)
        cr_moments_add(m, square_of(e, i));
}

/* ---- without normality ------------------------------------------------------------------------------------------------------------ */
static double square_at(const void *of, size_t sample)
{
    return square_of(of, sample);
}

static void bound_without_normality(const certreg_estimator *e, const cr_inquiry *inquiry, double alpha, certreg_bounds *b)
{
    double most = 0;
    for (size_t k = 0; k < e->model.outputs; k++) {
        const double far = fmax(e->at.hi[k] - e->at.centre[k], e->at.centre[k] - e->at.lo[k]);
        most += far * far;
    }
    most *= 1 + 1e-12;
    const cr_sampled squares = {square_at, e};
    b->variance_hi = cr_finite_bound(e, inquiry, &squares, first_of(e, inquiry), 0, most, alpha, 1) * (1 + 1e-12);
    b->facts |= CERTREG_VARIANCE;
}

/* ---- asymptotic ------------------------------------------------------------------------------------------------------------------- */
/* tr Cov f <= E ||f - c||^2 for every c. */
static int bound_variance(const cr_moments *m, double tail, certreg_bounds *b)
{
    if (m->count < 2 || !(m->least < m->greatest)) return 1;
    const double n = (double)m->count, mean = cr_moments_mean(m);
    const double z = cr_moments_skewed_quantile(cr_normal_quantile_sf(tail), CR_UNSEEN_SQUARE * cr_moments_skewness(m), n);
    b->facts |= CERTREG_VARIANCE;
    b->variance_hi = (mean + z * sqrt(cr_moments_variance(m) / n)) * (1 + 1e-12);
    return !isfinite(b->variance_hi);
}

static certreg_status add_output(certreg_estimator *e, const cr_inquiry *inquiry, size_t output)
{
    const cr_score identity = {.kind = CR_SCORE_OUTPUT};
    const size_t first = first_of(e, inquiry), cells = e->plan.blocks * e->plan.blocks;
    cr_sums_job job = {.score = {&identity, NULL}, .centre = {e->at.centre[output], 0}, .functions = 1, .output = output,
                       .first = first, .count = inquiry->samples - first};
    certreg_status status = cr_sums_blocks(e, &job);
    if (!status) status = cr_sums_gram(e, &job, 0);
    if (status) return status;
    for (size_t i = 0; i < cells; i++) e->at.gram_sum[i] += e->at.gram[i];
    return CERTREG_OK;
}

/* The Gram matrices of the outputs add up to that of their stacked block means, of dimension outputs * active. Cauchy and Schwarz
 * bound the variance along one stacked direction by sqrt(3 kurtosis) E ||f - c||^2, which is outputs times its average coordinate. */
static certreg_status bound_gradient(certreg_estimator *e, const cr_inquiry *inquiry, const cr_moments *m, double tail, certreg_bounds *b)
{
    const double outputs = (double)e->model.outputs, mean = cr_moments_mean(m);
    const double kurtosis = (cr_moments_second(m) + mean * mean) / (mean * mean);
    memset(e->at.gram_sum, 0, e->plan.blocks * e->plan.blocks * sizeof *e->at.gram_sum);
    for (size_t k = 0; k < e->model.outputs; k++) {
        const certreg_status status = add_output(e, inquiry, k);
        if (status) return status;
    }
    cr_gradient_interval_within(e->at.gram_sum, e->plan.blocks, outputs * (double)e->active, outputs * outputs * kurtosis, 0, tail,
                                &b->gradient_lo, &b->gradient_hi);
    if (isfinite(b->gradient_hi)) b->facts |= CERTREG_GRADIENT;
    return CERTREG_OK;
}

static int is_sparse(const certreg_estimator *e, const cr_moments *m)
{
    const double mean = cr_moments_mean(m), excess = cr_moments_second(m) / (mean * mean);
    return !(excess < (double)m->count / (double)e->plan.blocks); /* as of a jump that fewer samples than blocks show */
}

certreg_status cr_norm_find(certreg_estimator *e, const cr_inquiry *inquiry, uint32_t facts, certreg_bounds *b, int *abstained)
{
    const double alpha = inquiry->question.alpha, share = facts & CERTREG_GRADIENT ? 0.5 : 1;
    cr_moments m;
    *abstained = 0;
    for (size_t k = 0; k < e->model.outputs; k++) e->at.centre[k] = centre_of(e, k);
    if (cr_inquiry_without_normality(&inquiry->question)) return bound_without_normality(e, inquiry, alpha, b), CERTREG_OK;
    collect(e, inquiry, &m);
    *abstained = bound_variance(&m, share * alpha, b) || is_sparse(e, &m);
    if (*abstained || !(facts & CERTREG_GRADIENT)) return CERTREG_OK;
    return bound_gradient(e, inquiry, &m, share * alpha, b);
}
