/* Intervals of the paper's method, after Zhang and Frank (ICML 2026): uncentered all-pairs estimate
 * of kappa^2 with the plug-in variance, the mean taken as a point. For comparison only; theory 5.1
 * has better ones. */
#ifndef CR_STATISTICS_PAPER_INTERVAL_H
#define CR_STATISTICS_PAPER_INTERVAL_H
#include "certreg/solver.h"
#include "statistics/moments.h"
#include <stddef.h>
#include <stdint.h>

/* Sums over outputs y times noise e of active features. */
typedef struct cr_paper_sums {
    uint64_t count;
    double norm_squared; /* ||sum y e||^2 */
    double self;         /* sum y^2 ||e||^2 */
    double square;       /* sum (y e.g)^2 with g = sum y e / n; the mean of y e.g is ||g||^2 */
} cr_paper_sums;

/* Returns the sums of these samples, from norm = ||sum y e||, dots[i] = e_i . g/||g|| and norms[i]
 * = ||e_i||^2. */
cr_paper_sums cr_paper_sums_of(const cr_samples *, double norm, const double *dots,
                               const double *norms);

/* Returns the estimate of kappa^2, which may be negative. */
double cr_paper_gradient_square(const cr_paper_sums *paper);
/* Returns the variance of this estimate by the paper's formula: 4/n times the sample variance of
 * the projections y e.g. */
double cr_paper_square_variance(const cr_paper_sums *paper);

/* Sets mean and variance, and the gradient norm unless paper is NULL, by the paper's formulas, with
 * the misprint under its root corrected: sqrt((m4 - S^4)/n). Its intervals are two-sided: of
 * variance and gradient norm at alpha/2 each, or of the variance alone at alpha. Only the upper end
 * of the variance is used, so a part of alpha stays unspent. The mean is a point and has no share,
 * which is one reason why the stated confidence is not reached (theory 10). Adds the constraints
 * MEAN, VARIANCE and GRADIENT, and RANGE if an end is finite. @return CR_MOMENTS_ABSTAINED, with
 * trivial values, if all outputs are equal, or paper and moments have different counts. */
int cr_paper_bounds(const cr_paper_sums *paper, const cr_moments *moments, double range_lo,
                    double range_hi, double alpha, certreg_bounds *bounds);

#endif
