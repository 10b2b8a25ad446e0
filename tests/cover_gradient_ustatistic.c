/* Simulated coverage of the block gradient interval (theory 5.1), 5 % to each end, in dimensions 1
 * to 784.
 *
 * A law reads one or two coordinates of the noise; those are drawn sample by sample. The other
 * coordinates of a block sum are Gaussian given the weights, and support/simulate.h draws their
 * Gram matrix at once, exactly. Only ||x||^2 needs every coordinate of every sample: it is drawn in
 * full, with fewer repetitions. */
#include "backend/backend.h"
#include "statistics/moments.h"
#include "statistics/moments.h"
#include "support/coverage.h"
#include "support/laws.h"

#define BLOCKS 64
#define TAIL 0.05
#define SIZES 2
#define DIMENSIONS 5
#define WHOLE 5 /* rows of the law that is drawn in full */
#define LEVEL                                                                                     \
    (0.01 / (2 * (LAWS * SIZES * DIMENSIONS + WHOLE))) /* 1 % for all comparisons of this program \
                                                          together */

static const size_t sizes[SIZES] = {1000, 10000};
static const uint64_t trials[SIZES] = {1500, 600};
static const size_t dimensions[DIMENSIONS] = {1, 3, 10, 50, 784}; /* they rise */

typedef struct count {
    uint64_t trials, lower, upper;
    double mean_upper;
} count;

/* Adds one run's interval: the Gram matrix, the moments of the weights and the truth are given. */
static void judge(const double *gram, const cr_moments *weights, size_t dimension, double truth,
                  count *c)
{
    cr_gradient_statistics g;
    const double second = cr_moments_second(weights),
                 kurtosis = cr_moments_fourth(weights) / (second * second);
    cr_gradient_estimate(gram, BLOCKS, &g);
    const double hi = cr_gradient_upper(&g, (double)dimension, kurtosis, TAIL);
    c->trials++;
    c->lower += cr_gradient_lower(&g, TAIL) > truth;
    c->upper += hi < truth;
    c->mean_upper += hi;
}

static double pilot_mean(const law *l, size_t n, simulate_source *source)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double s[2] = {simulate_normal(source), 0};
        if (l->coordinates > 1) s[1] = simulate_normal(source);
        sum += l->value(s);
    }
    return sum / (double)n;
}

/* One run in every dimension: the weights are the same, and each dimension has the coordinates of
 * those before it and more. */
static void run_law(const law *l, size_t n, simulate_source *source, count c[DIMENSIONS])
{
    const double center = pilot_mean(l, n * 15 / 85, source), length = (double)(n / BLOCKS);
    double along[2][BLOCKS] = {{0}}, deviation[BLOCKS], gram[BLOCKS * BLOCKS];
    cr_moments weights;
    cr_moments_init(&weights, 0);
    for (size_t b = 0; b < BLOCKS; b++) {
        double squares = 0;
        for (size_t i = 0; i < n / BLOCKS; i++) {
            double s[2] = {simulate_normal(source), 0};
            if (l->coordinates > 1) s[1] = simulate_normal(source);
            const double weight = l->value(s) - center;
            cr_moments_add(&weights, weight);
            squares += weight * weight;
            along[0][b] += weight * s[0] / length;
            along[1][b] += weight * s[1] / length;
        }
        deviation[b] = sqrt(squares) / length;
    }
    for (size_t p = 0; p < BLOCKS; p++)
        for (size_t q = 0; q < BLOCKS; q++)
            gram[p * BLOCKS + q] = along[0][p] * along[0][q] + along[1][p] * along[1][q];
    size_t known = l->coordinates;
    for (size_t k = 0; k < DIMENSIONS; k++) {
        if (dimensions[k] < known) continue;
        simulate_other_coordinates(source, deviation, BLOCKS, dimensions[k] - known, gram);
        known = dimensions[k];
        judge(gram, &weights, known, l->gradient, c + k);
    }
}

static void check(const char *name, size_t n, size_t dimension, double truth, const count *c)
{
    printf("%s, n %zu, d %zu, mean of gradient_hi %.2f of the truth\n", name, n, dimension,
           c->mean_upper / (double)c->trials / truth);
    coverage_check("    gradient_lo", c->lower, c->trials, TAIL, LEVEL, 0);
    coverage_check("    gradient_hi", c->upper, c->trials, TAIL, LEVEL, 0);
}

TEST_TIMES(gradient_bounds_miss_with_at_most_their_tails, LAWS *SIZES)
{
    const int size = _i % SIZES;
    const law l = laws_get((size_t)(_i / SIZES));
    count c[DIMENSIONS] = {{0, 0, 0, 0}};
    simulate_source source;
    simulate_seed(&source, 5000 + (uint64_t)_i);
    for (uint64_t t = 0; t < trials[size]; t++) run_law(&l, sizes[size], &source, c);
    for (int k = 0; k < DIMENSIONS; k++) {
        if (!c[k].trials) continue;
        check(l.name, sizes[size], dimensions[k], l.gradient, c + k);
    }
}

static void gram_of_means(const double *sums, size_t d, size_t length, double *gram)
{
    const double scale = 1 / (double)length;
    cr_backend_default()->ops->gram(cr_backend_default(), sums, d, BLOCKS, d, gram);
    for (size_t p = 0; p < BLOCKS; p++)
        for (size_t q = p; q < BLOCKS; q++)
            gram[q * BLOCKS + p] = gram[p * BLOCKS + q] *= scale * scale;
}

/* u = a e_1 + (||e||^2 - d)/sqrt(2 d): the weights depend on all coordinates. */
static void run_whole(size_t n, size_t d, double a, simulate_source *source, double *sums,
                      double *e, count *c)
{
    double gram[BLOCKS * BLOCKS];
    cr_moments weights;
    cr_moments_init(&weights, 0);
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t j = 0; j < d; j++) sums[b * d + j] = 0;
        for (size_t i = 0; i < n / BLOCKS; i++) {
            double norm = 0;
            for (size_t j = 0; j < d; j++) {
                e[j] = simulate_normal(source);
                norm += e[j] * e[j];
            }
            const double u = a * e[0] + (norm - (double)d) / sqrt(2 * (double)d);
            cr_moments_add(&weights, u);
            for (size_t j = 0; j < d; j++) sums[b * d + j] += u * e[j];
        }
    }
    gram_of_means(sums, d, n / BLOCKS, gram);
    judge(gram, &weights, d, a, c);
}

TEST_TIMES(gradient_bounds_of_weights_of_all_coordinates, WHOLE)
{
    static const struct {
        size_t n, d;
        uint64_t trials;
    } rows[WHOLE] = {
        {1000, 3, 1500}, {1000, 10, 1500}, {1000, 50, 1000}, {10000, 10, 400}, {1000, 300, 150}};
    const size_t d = rows[_i].d;
    double *sums = malloc(BLOCKS * d * sizeof *sums), *e = malloc(d * sizeof *e);
    simulate_source source;
    count c = {0, 0, 0, 0};
    simulate_seed(&source, 9000 + (uint64_t)_i);
    for (uint64_t t = 0; t < rows[_i].trials; t++)
        run_whole(rows[_i].n, d, 0.3, &source, sums, e, &c);
    check("||x||^2", rows[_i].n, d, 0.3, &c);
    free(e);
    free(sums);
}

TEST_MAIN("gradient_ustatistic")
