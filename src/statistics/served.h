/* Serving (theory 1): how far above zero the mean of a score must stay, for an estimate from N'
 * fresh samples. */
#ifndef CR_STATISTICS_SERVED_H
#define CR_STATISTICS_SERVED_H
#include "statistics/score.h"
#include <stdint.h>

/* Least mean tau at which N' fresh values in [least, greatest] have a sum <= 0 with probability at
 * most beta (Chernoff; exactly the binomial tail for a two-valued score, of which `share` of the N'
 * at most fail to be positive). Rounded up; infinite: none. */
double cr_served_binomial(uint64_t samples, double share, double beta);
/* How many of N' values that share is. */
uint64_t cr_served_share(uint64_t samples, double share);
/* The same for an estimate that fails where more than `out` of the N' values are -1. */
double cr_served_misses(uint64_t samples, uint64_t out, double beta);
/* Of pairs half of the samples count (theory 1.5). */
double cr_served_bounded(double samples, double least, double greatest, double beta);

/* ---- trimmed means (theory 9) */
/* How many of N' outputs are cut off at each end for a share `trim` in [0, 0.5); one is left. */
uint64_t cr_served_cut(uint64_t samples, double trim);
/* How many of them may be out, at `core` or farther from the prediction, while the mean of what is
 * not cut off stays nearer than the tolerance. core is in (0, tolerance]; nothing is farther than
 * `reach`, which may be infinite. */
uint64_t cr_served_out(uint64_t samples, double trim, double tolerance, double core, double reach);

#endif
