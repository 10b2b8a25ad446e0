/* A test of a probability that may look at any time (theory 6.8). */
#ifndef CR_STATISTICS_MIXTURE_H
#define CR_STATISTICS_MIXTURE_H
#include <stdint.h>

/* After k failures in n trials: whether q is rejected, and the least q from which all are, by the
 * mixture over Beta(1/2, 1/2) on (0, q) of likelihood ratios against q. If the probability is q or
 * more it is ever rejected, over all n, with probability at most alpha (alpha <= 1/2). Rounded
 * outward; 1 where nothing is rejected. */
int cr_mixture_rejects(uint64_t k, uint64_t n, double q, double alpha);
double cr_mixture_upper(uint64_t k, uint64_t n, double alpha);

#endif
