/* Upper bound of the gradient norm kappa = ||E[u e]|| of a bounded score, valid at every number of
 * samples (theory 6). */
#ifndef CR_BOUNDS_MARTINGALE_H
#define CR_BOUNDS_MARTINGALE_H
#include "estimator/estimator.h"
#include "statistics/score.h"

typedef struct cr_martingale_job {
    const cr_score *score;
    double center;    /* c, fixed without the samples below, as is the score */
    double second_hi; /* E (u - c)^2 does not exceed it; infinite: what the range says */
    double cap;       /* kappa does not exceed it; infinite: likewise */
    double alpha; /* probability of a bound that is too small, if the two constraints above hold; in
                     (0, 1) */
    size_t output, first, count; /* recorded samples first .. first+count-1; those before are the
                                    pilot */
} cr_martingale_job;

/* At most cap and sqrt(second_hi), which are all there is where the score has no finite range or
 * count is below 64. Draws the noise again, twice. Overwrites what a replay
 * computes: of estimators with memory for the gradient only. */
certreg_status cr_martingale_upper(certreg_estimator *, const cr_martingale_job *, double *upper);

#endif
