#include "support/simulate.h"
#include "statistics/binomial.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 128

static uint64_t rotated(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* xoshiro256++ of Blackman and Vigna. */
static uint64_t next(simulate_source *source)
{
    uint64_t *s = source->state;
    const uint64_t result = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return result;
}

void simulate_seed(simulate_source *source, uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = seed;
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        source->state[i] = z ^ z >> 31;
    }
}

double simulate_uniform(simulate_source *source)
{
    return ((double)(next(source) >> 12) + 0.5) * 0x1p-52;
}

/* Ziggurat of Marsaglia and Tsang with 256 layers of equal area; edge[i] falls, height[i] =
 * exp(-edge^2/2) rises. */
#define LAYERS 256
#define TAIL 3.6541528853610088
#define AREA 0.00492867323399

static double edge[LAYERS + 1], height[LAYERS + 1];

static void build_ziggurat(void)
{
    edge[0] = AREA / exp(-0.5 * TAIL * TAIL);
    edge[1] = TAIL;
    for (int i = 2; i < LAYERS; i++)
        edge[i] = sqrt(-2 * log(AREA / edge[i - 1] + exp(-0.5 * edge[i - 1] * edge[i - 1])));
    edge[LAYERS] = 0;
    for (int i = 0; i <= LAYERS; i++) height[i] = exp(-0.5 * edge[i] * edge[i]);
}

static double beyond_tail(simulate_source *source)
{
    double x, y;
    do {
        x = -log(simulate_uniform(source)) / TAIL;
        y = -log(simulate_uniform(source));
    } while (2 * y < x * x);
    return TAIL + x;
}

double simulate_normal(simulate_source *source)
{
    if (edge[0] == 0) build_ziggurat();
    for (;;) {
        const uint64_t bits = next(source);
        const size_t layer = bits & (LAYERS - 1);
        const double sign = bits & LAYERS ? -1 : 1;
        const double x = ((double)(bits >> 12) + 0.5) * 0x1p-52 * edge[layer];
        if (x < edge[layer + 1]) return sign * x;
        if (layer == 0) return sign * beyond_tail(source);
        if (height[layer] + simulate_uniform(source) * (height[layer + 1] - height[layer]) <
            exp(-0.5 * x * x))
            return sign * x;
    }
}

/* Marsaglia and Tsang (2000), shape >= 1 after the usual boost. */
static double simulate_gamma(simulate_source *source, double shape)
{
    if (shape < 1)
        return simulate_gamma(source, shape + 1) * pow(simulate_uniform(source), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = simulate_normal(source), t = 1 + c * x, v = t * t * t;
        if (v > 0 && log(simulate_uniform(source)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* In the upper triangle. */
static void add_outer(const double *restrict row, size_t blocks, size_t first,
                      double *restrict gram)
{
    for (size_t p = first; p < blocks; p++)
        for (size_t q = p; q < blocks; q++) gram[p * blocks + q] += row[p] * row[q];
}

void simulate_other_coordinates(simulate_source *source, const double *deviation, size_t blocks,
                                size_t coordinates, double *gram)
{
    double column[MOST_BLOCKS];
    if (blocks > MOST_BLOCKS) abort();
    const size_t columns = coordinates < blocks ? coordinates : blocks;
    for (size_t j = 0; j < columns; j++) {
        /* Column j of L is zero above the diagonal, chi with coordinates - j degrees on it, normal
         * below. */
        const size_t first = columns < blocks || coordinates == columns ? 0 : j;
        for (size_t p = first; p < blocks; p++) column[p] = deviation[p] * simulate_normal(source);
        if (coordinates > blocks)
            column[j] =
                deviation[j] * sqrt(2 * simulate_gamma(source, 0.5 * (double)(coordinates - j)));
        add_outer(column, blocks, first, gram);
    }
    for (size_t p = 0; p < blocks; p++)
        for (size_t q = 0; q < p; q++) gram[p * blocks + q] = gram[q * blocks + p];
}

double simulate_at_least(uint64_t k, uint64_t n, double p)
{
    return k > n ? 0 : cr_binomial_cdf(n - k, n, 1 - p);
}

uint64_t simulate_most_misses(uint64_t trials, double nominal, double level)
{
    uint64_t most = (uint64_t)(nominal * (double)trials);
    while (simulate_at_least(most + 1, trials, nominal) > level) most++;
    return most;
}
