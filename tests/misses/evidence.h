/* What runs say against "the probability of a miss is at most alpha". A run counts 0 or 1; where
 * samples were tilted, the likelihood ratio of its samples instead of 1, whose mean is the
 * probability of a miss, whatever the tilt.
 *
 * Without a tilt the p-value is the exact tail of the binomial distribution. With it: let the X_i
 * >= 0 be independent with means of at most alpha. For every l in [0, 1] the factors 1 +
 * l(X_i/alpha - 1) are not negative and have means of at most 1, so that their product K_l, and any
 * average of such products, has a mean of at most 1. By Markov's inequality the average is c or
 * more with probability at most 1/c: its inverse is a p-value. No bound of the weights is needed.
 */
#ifndef MISSES_EVIDENCE_H
#define MISSES_EVIDENCE_H
#include <stdint.h>

enum { STAKES = 8 };

typedef struct evidence {
    int weighted;
    uint64_t runs, misses; /* misses: runs that count at all */
    double alpha, sum, squares, log_capital[STAKES];
} evidence;

evidence evidence_of(double alpha, int weighted);
void evidence_add(evidence *e, double count);
double evidence_rate(const evidence *e);
double evidence_error(const evidence *e); /* standard error of the rate */
double evidence_p_value(const evidence *e);

#endif
