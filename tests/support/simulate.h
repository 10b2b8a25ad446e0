/* Random laws for simulated coverage: seeded, the same on every machine. */
#ifndef SUPPORT_SIMULATE_H
#define SUPPORT_SIMULATE_H
#include <stddef.h>
#include <stdint.h>

typedef struct simulate_source {
    uint64_t state[4];
} simulate_source;

void simulate_seed(simulate_source *source, uint64_t seed);
double simulate_uniform(simulate_source *source); /* in (0, 1) */
double simulate_normal(simulate_source *source);
double simulate_gamma(simulate_source *source, double shape); /* scale 1 */

/* Adds to gram (blocks x blocks) what `coordinates` further coordinates of the noise contribute, if
 * no weight depends on them. Exact, not an approximation: given the weights w_i, the block mean of
 * w_i e_ij over a coordinate j that they do not depend on is N(0, sum w_i^2/n_b^2), independent
 * over coordinates and blocks. The Gram matrix of these is diag(deviation) W diag(deviation) with a
 * Wishart matrix W of `coordinates` degrees; W = L L^T by Bartlett where that is cheaper than the
 * coordinates themselves. deviation[b] = sqrt(sum w_i^2)/n_b; at most 128 blocks. */
void simulate_other_coordinates(simulate_source *source, const double *deviation, size_t blocks,
                                size_t coordinates, double *gram);

/* P(X >= k) for X ~ Binomial(n, p). */
double simulate_at_least(uint64_t k, uint64_t n, double p);

/* Most misses in `trials` that a true rate of `nominal` exceeds with a probability of at most
 * `level`. */
uint64_t simulate_most_misses(uint64_t trials, double nominal, double level);

#endif
