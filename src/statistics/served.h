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
double cr_served_bounded(uint64_t samples, double least, double greatest, double beta);

#endif
