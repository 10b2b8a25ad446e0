/* Upper bound of the gradient norm kappa = ||E[u e]|| of a bounded score, valid at every number of
 * samples (theory 6.6). */
#ifndef CR_BOUNDS_GRADIENT_MARTINGALE_H
#define CR_BOUNDS_GRADIENT_MARTINGALE_H
#include "record/noise_replay.h"

typedef struct cr_martingale_problem {
    /* Main samples. Their score and center do not depend on them; the samples before them are the
     * pilot. */
    cr_samples samples;
    double range_lo, range_hi; /* of the score */
    double second_moment_hi;   /* of E (u - c)^2; infinite: only the range is known */
    double cap;                /* known bound of kappa; infinite: none */
    /* Probability that the bound is too small although second_moment_hi and cap hold; in (0, 1). */
    double alpha;
} cr_martingale_problem;

/* Requests the sweep that the bound needs. Returns 0 if there is no memory for it, else 1. */
int cr_gradient_martingale_prefetch(cr_replay *, const cr_samples *);
/* Sets *upper, in the unit of the score: at most cap and sqrt(second_moment_hi), and no better if
 * the score has no finite range or there are fewer than 64 samples. Replays the noise unless it was
 * swept before, so the estimator needs memory for the gradient. Errors: of the replay. */
certreg_status cr_gradient_martingale_upper(cr_replay *, const cr_martingale_problem *,
                                            double *upper);

#endif
