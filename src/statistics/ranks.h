/* Ranks for prediction intervals under attack (theory 12): how many scores have to be small, so
 * that the truth is missed with probability at most alpha. */
#ifndef CR_STATISTICS_RANKS_H
#define CR_STATISTICS_RANKS_H
#include <stdint.h>

typedef struct cr_ranks_setting {
    double alpha;                           /* in (0, 1) */
    double shift;                           /* radius/sigma >= 0 */
    uint64_t points;                        /* m >= 1 */
    uint64_t calibration, calibration_rank; /* n' and k', 1 <= k' <= n' */
    uint64_t samples;                       /* n >= 1 */
} cr_ranks_setting;

typedef struct cr_ranks {
    uint64_t point, sample; /* j and k; 0: there are none */
    double alpha;           /* proven for them; rounded up */
    uint64_t least_points;  /* fewer have no ranks; 0: no number of points has them */
} cr_ranks;

/* n and n' go up to here, where a tail is still exact to 1e-10. */
#define CR_RANKS_MOST_SAMPLES 10000000u

cr_ranks cr_ranks_choose(const cr_ranks_setting *);
/* least_points of cr_ranks, whatever `points` is. */
uint64_t cr_ranks_least_points(const cr_ranks_setting *);
/* The greatest probability of a miss, for any ranks j and k; rounded up. */
double cr_ranks_misses(const cr_ranks_setting *, uint64_t point, uint64_t sample);

#endif
