/* Test and bound of a probability that hold at all numbers of trials together (theory 6.8). */
#ifndef CR_STATISTICS_BETA_MIXTURE_TEST_H
#define CR_STATISTICS_BETA_MIXTURE_TEST_H
#include <stdint.h>

/* After k failures in n trials: rejects returns 1 if "the probability is q" is rejected, upper the
 * least q from which all are, rounded up, or 1 if none is. The test averages likelihood ratios
 * against q over Beta(1/2, 1/2) on (0, q). If the probability is q or more, q is ever rejected,
 * over all n, with probability at most alpha. No q is rejected if alpha is outside (0, 1/2]. */
int cr_mixture_rejects(uint64_t k, uint64_t n, double q, double alpha);
double cr_mixture_upper(uint64_t k, uint64_t n, double alpha);

#endif
