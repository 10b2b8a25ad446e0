/* Upper bound of the gradient norm kappa = ||E[u e]|| of a bounded score, valid at every number of
 * samples (theory 6). */
#ifndef CR_BOUNDS_MARTINGALE_H
#define CR_BOUNDS_MARTINGALE_H
#include "record/replay.h"

typedef struct cr_martingale_job {
    /* Their score and center are fixed without them; the samples before them are the pilot. */
    cr_samples samples;
    double range_lo, range_hi; /* of the score */
    double second_hi;          /* E (u - c)^2 does not exceed it; infinite: what the range says */
    double cap;                /* kappa does not exceed it; infinite: likewise */
    /* Probability of a bound that is too small, if the two constraints above hold; in (0, 1). */
    double alpha;
} cr_martingale_job;

/* Wants the sweep that this takes, so that it is found with others; 0: there is no room. */
int cr_martingale_want(cr_replay *, const cr_samples *);
/* At most cap and sqrt(second_hi), which are all there is where the score has no finite range or
 * there are fewer than 64 samples. Draws the noise again where it was not swept yet: of estimators
 * with memory for the gradient only. */
certreg_status cr_martingale_upper(cr_replay *, const cr_martingale_job *, double *upper);

#endif
