/* The paper's estimate of the squared gradient norm, its variance, and its intervals (theory 5.1,
 * 10). The library's own interval is in gradient_ustatistic.c. */
#include "statistics/paper_interval.h"
#include "statistics/normal.h"
#include <math.h>

cr_paper_sums cr_paper_sums_of(const cr_samples *s, double norm, const double *dots,
                               const double *norms)
{
    cr_paper_sums paper = {.count = s->count, .norm_squared = norm * norm};
    const double g = sqrt(paper.norm_squared) / (double)s->count;
    for (size_t i = 0; i < s->count; i++) {
        const double value = cr_samples_at(s, i), projection = value * dots[i] * g;
        paper.self += value * value * norms[i];
        paper.square += projection * projection;
    }
    return paper;
}

double cr_paper_gradient_square(const cr_paper_sums *paper)
{
    const double n = (double)paper->count;
    return (paper->norm_squared - paper->self) / (n * (n - 1));
}

double cr_paper_square_variance(const cr_paper_sums *paper)
{
    const double n = (double)paper->count, mean = paper->norm_squared / (n * n);
    return 4 * fmax(0, paper->square - n * mean * mean) / (n - 1) / n;
}

int cr_paper_bounds(const cr_paper_sums *paper, const cr_moments *moments, double range_lo,
                    double range_hi, double alpha, certreg_bounds *bounds)
{
    const double n = (double)moments->count;
    bounds->constraints |= CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    if (paper) bounds->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    if (isfinite(range_lo) || isfinite(range_hi)) bounds->constraints |= CERTREG_CONSTRAINT_RANGE;
    bounds->range_lo = bounds->mean_lo = range_lo;
    bounds->range_hi = bounds->mean_hi = range_hi;
    bounds->variance_hi = cr_moments_max_variance(range_lo, range_hi, range_lo, range_hi);
    bounds->gradient_lo = 0;
    bounds->gradient_hi = paper ? sqrt(bounds->variance_hi) : 0;
    if (n < 2 || !(moments->min < moments->max)) return CR_MOMENTS_ABSTAINED;
    if (paper && paper->count != moments->count) return CR_MOMENTS_ABSTAINED;
    const double variance = cr_moments_variance(moments), mean = cr_moments_mean(moments);
    const double variance_error =
        sqrt(fmax(0, cr_moments_fourth(moments) - variance * variance) / n);
    bounds->mean_lo = bounds->mean_hi = fmin(fmax(mean, range_lo), range_hi);
    const double z = cr_normal_quantile_sf(paper ? alpha / 4 : alpha / 2);
    bounds->variance_hi = variance + z * variance_error + cr_moments_rounding_error(moments);
    if (!paper) return CR_MOMENTS_OK;
    const double square = cr_paper_gradient_square(paper),
                 half_width = z * sqrt(cr_paper_square_variance(paper));
    bounds->gradient_lo = sqrt(fmax(0, square - half_width));
    bounds->gradient_hi = sqrt(fmax(0, square + half_width));
    return CR_MOMENTS_OK;
}
