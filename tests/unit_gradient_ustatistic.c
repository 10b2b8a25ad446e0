/* The block gradient statistics against their definition, sums over distinct indices, and the
 * ends of the interval. */
#include "statistics/binomial.h"
#include "statistics/moments.h"
#include "support/simulate.h"
#include "support/suite.h"

#define MOST 9

static void random_gram(uint64_t seed, size_t blocks, size_t inputs, double mean, double *gram)
{
    double rows[MOST][16];
    simulate_source source;
    simulate_seed(&source, seed);
    for (size_t p = 0; p < blocks; p++)
        for (size_t j = 0; j < inputs; j++) rows[p][j] = mean + simulate_normal(&source);
    for (size_t p = 0; p < blocks; p++)
        for (size_t q = 0; q < blocks; q++) {
            gram[p * blocks + q] = 0;
            for (size_t j = 0; j < inputs; j++) gram[p * blocks + q] += rows[p][j] * rows[q][j];
        }
}

static void find_interval(const double *gram, size_t blocks, double dimension, double kurtosis,
                          double tail_lo, double tail_hi, double *lo, double *hi)
{
    cr_gradient_statistics g;
    cr_gradient_estimate(gram, blocks, &g);
    *lo = cr_gradient_lower(&g, tail_lo);
    *hi = cr_gradient_upper(&g, dimension, kurtosis, tail_hi);
}

/* Means over distinct ordered indices of K12, K12 K13, K12 K34 and K12^2: what U, c1, f1 and Q
 * stand for. */
static void by_definition(const double *k, size_t b, double mean[4])
{
    double sum[4] = {0}, count[4] = {0};
    for (size_t p = 0; p < b; p++)
        for (size_t q = 0; q < b; q++) {
            if (q == p) continue;
            const double pq = k[p * b + q];
            sum[0] += pq, count[0]++;
            sum[3] += pq * pq, count[3]++;
            for (size_t r = 0; r < b; r++) {
                if (r == p || r == q) continue;
                sum[1] += pq * k[p * b + r], count[1]++;
                for (size_t s = 0; s < b; s++)
                    if (s != p && s != q && s != r) sum[2] += pq * k[r * b + s], count[2]++;
            }
        }
    for (int i = 0; i < 4; i++) mean[i] = sum[i] / count[i];
}

TEST_TIMES(gradient_estimates_are_means_over_distinct_blocks, 30)
{
    const size_t blocks = 4 + (size_t)_i % 6, inputs = 1 + (size_t)_i % 5;
    double gram[MOST * MOST], mean[4];
    random_gram((uint64_t)_i, blocks, inputs, 0.5 * (_i % 3), gram);
    cr_gradient_statistics g;
    cr_gradient_estimate(gram, blocks, &g);
    by_definition(gram, blocks, mean);
    ck_assert_double_eq_tol(g.square, mean[0], 1e-12);
    ck_assert_double_eq_tol(g.projection, fmax(0, mean[1] - mean[2]), 1e-11);
    ck_assert_double_eq_tol(g.energy, fmax(0, mean[3] - 2 * mean[1] + mean[2]), 1e-11);
    ck_assert_double_eq_tol(g.degenerate, 2 * g.energy / (double)(blocks * (blocks - 1)), 1e-12);
}

TEST(gradient_interval_ends_solve_their_equations)
{
    double gram[MOST * MOST], lo, hi;
    random_gram(5, MOST, 4, 1, gram);
    cr_gradient_statistics g;
    cr_gradient_estimate(gram, MOST, &g);
    find_interval(gram, MOST, 4, INFINITY, 0.05, 0.05, &lo, &hi);
    const double q = cr_student_quantile(0.05, MOST - 1);
    ck_assert_double_lt(lo * lo, g.square);
    ck_assert_double_gt(hi * hi, g.square);
    ck_assert_double_eq_tol(
        lo * lo, fmax(0, g.square - q * sqrt(4 * g.projection / MOST + g.degenerate)), 1e-12);
    /* a clear gradient: v = max(average, zeta/U) */
    ck_assert_double_gt(g.square, 2 * sqrt(g.degenerate));
    const double v = fmax((g.self - g.square) / 4, g.projection / g.square);
    ck_assert_double_ge(hi * hi - g.square,
                        q * sqrt(4 * hi * hi * v / MOST + g.degenerate) - 1e-12);
}

/* Where nothing shows a direction, all of the variance may lie along one: the upper end is that of
 * a plane as of any space, and only on a line is the average the variance. */
TEST_TIMES(gradient_upper_if_unclear_allows_more_than_average_variance, 20)
{
    double gram[MOST * MOST], lo, hi;
    cr_gradient_statistics g;
    random_gram((uint64_t)_i / 2 + 20, MOST, 2, 0, gram);
    cr_gradient_estimate(gram, MOST, &g);
    if (g.square > 2 * sqrt(g.degenerate)) return;
    const double dimension = 2 + _i % 2, average = fmax(0, (g.self - g.square) / dimension),
                 q = cr_student_quantile(0.05, MOST - 1);
    find_interval(gram, MOST, dimension, INFINITY, 0, 0.05, &lo, &hi);
    const double v = average + sqrt(2 * q * g.energy / MOST);
    ck_assert_double_ge(hi * hi - fmax(g.square, 0),
                        q * sqrt(4 * hi * hi * v / MOST + g.degenerate) * (1 - 1e-9));
}

TEST(gradient_interval_without_tails_is_trivial)
{
    double gram[MOST * MOST], lo, hi;
    random_gram(5, MOST, 4, 1, gram);
    find_interval(gram, MOST, 4, INFINITY, 0, 0, &lo, &hi);
    ck_assert_double_eq(lo, 0);
    ck_assert_double_eq(hi, INFINITY);
}

TEST_TIMES(gradient_upper_is_never_loosened_by_known_kurtosis, 20)
{
    double gram[MOST * MOST], lo, plain, within;
    random_gram((uint64_t)_i, MOST, 8, 0, gram);
    find_interval(gram, MOST, 8, INFINITY, 0, 0.05, &lo, &plain);
    find_interval(gram, MOST, 8, 1.5, 0, 0.05, &lo, &within);
    ck_assert_double_le(within, plain);
}

TEST(gradient_interval_widens_with_smaller_tails)
{
    double gram[MOST * MOST], lo, hi, last_lo = INFINITY, last_hi = 0;
    random_gram(11, MOST, 3, 2, gram);
    for (double tail = 0.4; tail > 1e-20; tail /= 10) {
        find_interval(gram, MOST, 3, INFINITY, tail, tail, &lo, &hi);
        ck_assert_double_le(lo, last_lo);
        ck_assert_double_ge(hi, last_hi);
        ck_assert(isfinite(hi));
        last_lo = lo, last_hi = hi;
    }
}

TEST(gradient_interval_of_zeros_is_zero)
{
    double gram[MOST * MOST] = {0}, lo, hi;
    find_interval(gram, MOST, 3, INFINITY, 0.05, 0.05, &lo, &hi);
    ck_assert_double_eq(lo, 0);
    ck_assert_double_eq(hi, 0);
}

TEST(gradient_interval_of_too_few_blocks_is_trivial)
{
    double gram[9] = {1, 2, 3, 2, 5, 6, 3, 6, 9}, lo, hi;
    cr_gradient_statistics g;
    for (size_t blocks = 0; blocks < 4; blocks++) {
        find_interval(gram, blocks, 3, INFINITY, 0.05, 0.05, &lo, &hi);
        ck_assert_double_eq(lo, 0);
        ck_assert_double_eq(hi, INFINITY);
        cr_gradient_estimate(gram, blocks, &g);
        ck_assert_double_nan(g.square);
    }
}

/* Squares of sums overflow before the sums do. */
TEST(gradient_interval_of_sums_that_overflow_is_trivial)
{
    enum { BLOCKS = 8 };
    double gram[BLOCKS * BLOCKS], lo, hi;
    for (int i = 0; i < BLOCKS * BLOCKS; i++) gram[i] = i % 3 ? 1e160 : 2e160;
    find_interval(gram, BLOCKS, 5, 3, 0.05, 0.05, &lo, &hi);
    ck_assert_double_eq(lo, 0);
    ck_assert_double_eq(hi, INFINITY);
}

TEST_MAIN("gradient")
