/* Moments and their asymptotic interval, by exact sums on small tables; the block gradient
 * statistics against their definition, sums over distinct indices; and the paper's interval against
 * a double loop over all pairs. */
#include "statistics/binomial.h"
#include "statistics/moments.h"
#include "statistics/normal.h"
#include "support/simulate.h"
#include "support/suite.h"
#include <certreg/solver.h>

/* ======== moments */
/* The moments of `count` values, which repeat with this period. */
static cr_moments moments_of(const double *values, int period, int count, double center)
{
    cr_moments m;
    cr_moments_init(&m, center);
    for (int i = 0; i < count; i++) cr_moments_add(&m, values[i % period]);
    return m;
}
#define MOMENTS(count, center, ...)           \
    moments_of((const double[]){__VA_ARGS__}, \
               (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), count, center)

static const double centers[] = {0, 4, -3, 9, 1000};

TEST_ROWS(moments_do_not_depend_on_the_center, centers)
{
    const cr_moments m = MOMENTS(4, centers[_i], 1, 2, 4, 9); /* squares about 4: 9, 4, 0, 25 */
    ck_assert_double_eq_tol(cr_moments_mean(&m), 4, 1e-12);
    ck_assert_double_eq_tol(cr_moments_second(&m), 9.5, 1e-9);
    ck_assert_double_eq_tol(cr_moments_variance(&m), 38.0 / 3, 1e-9);
    if (centers[_i] > 100) return; /* higher powers have lost their digits by then */
    ck_assert_double_eq_tol(cr_moments_fourth(&m), (81 + 16 + 0 + 625) / 4.0, 1e-8);
    ck_assert_double_eq_tol(cr_moments_skewness(&m), (-27 - 8 + 0 + 125) / 4.0 / pow(9.5, 1.5),
                            1e-9);
    const double squares[] = {9, 4, 0, 25};
    double second = 0, third = 0;
    for (int i = 0; i < 4; i++)
        second += pow(squares[i] - 9.5, 2) / 4, third += pow(squares[i] - 9.5, 3) / 4;
    ck_assert_double_eq_tol(cr_moments_square_skewness(&m), third / pow(second, 1.5), 1e-7);
}

TEST(moments_mean_keeps_small_terms_beside_large_ones)
{
    cr_moments m;
    cr_moments_init(&m, 0);
    cr_moments_add(&m, 1e16);
    for (int i = 0; i < 1000; i++) cr_moments_add(&m, 1);
    cr_moments_add(&m, -1e16);
    ck_assert_double_eq_tol(cr_moments_mean(&m) * 1002, 1000, 1e-9);
}

/* ---- the interval */
/* At tails of `tail` for each end of the mean, and of twice that for the variance. */
static certreg_bounds interval(const cr_moments *m, double lo, double hi, double tail, int32_t want)
{
    certreg_bounds b = {.sigma = 3, .gradient_hi = 7};
    const cr_moments_tails tails = {tail, tail, 2 * tail};
    ck_assert_int_eq(cr_moments_asymptotic(m, lo, hi, &tails, &b), want);
    ck_assert(b.sigma == 3 && b.gradient_hi == 7); /* not its affair */
    return b;
}

/* ---- of values that are symmetric about the mean, and of skewed ones: by 1 to 7 standard errors
 * more on the side of the long tail */
TEST(moments_asymptotic_is_the_mean_and_its_standard_errors)
{
    const cr_moments m = MOMENTS(2000, 0, 1.5, 0.75, -0.5, 0.25),
                     skewed = MOMENTS(2000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    const certreg_bounds b = interval(&m, -INFINITY, INFINITY, 0.0125, CR_MOMENTS_OK),
                         s = interval(&skewed, -INFINITY, INFINITY, 0.0125, CR_MOMENTS_OK);
    const double error = sqrt(cr_moments_variance(&m) / 2000), z = cr_normal_quantile_sf(0.0125);
    ck_assert_double_eq_tol(b.mean_lo, 0.5 - z * error, 1e-12);
    ck_assert_double_eq_tol(b.mean_hi, 0.5 + z * error, 1e-12);
    ck_assert_double_gt(s.mean_hi - 0.1, 1.02 * z * sqrt(0.09 / 2000));
    ck_assert_double_lt(0.1 - s.mean_lo, s.mean_hi - 0.1);
    const double second = cr_moments_second(&m),
                 wobble = sqrt((cr_moments_fourth(&m) - second * second) / 2000),
                 plain = second + z * z * error * error + cr_normal_quantile_sf(0.025) * wobble;
    ck_assert(b.variance_hi >= plain && b.variance_hi <= plain * 1.01);
    ck_assert_uint_eq(b.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE);
}

/* At values near 4e6 a deviation of 1e-9 is less than their ulp, and so is the interval. */
TEST(moments_asymptotic_is_rounded_outward)
{
    const double ulp = 0x1p-31, base = 4e6, third = ulp / 3; /* the sample mean: base + third */
    const cr_moments m = MOMENTS(300, base, base + ulp, base, base);
    const certreg_bounds b = interval(&m, -INFINITY, INFINITY, 0.01, CR_MOMENTS_OK);
    const double error = sqrt(2.0 / 9 / 300) * ulp;
    ck_assert(b.mean_lo - base <= third - error && b.mean_lo - base >= -8 * ulp);
    ck_assert(b.mean_hi - base >= third + error && b.mean_hi - base <= 8 * ulp);
}

TEST(moments_asymptotic_keeps_the_range_at_an_end_without_tail)
{
    const cr_moments m = MOMENTS(1000, 0, -0.5, 0.5, 0.5, 0.5);
    certreg_bounds b = {0};
    const cr_moments_tails tails = {0.025, 0, 0.025};
    ck_assert_int_eq(cr_moments_asymptotic(&m, -1, 1, &tails, &b), CR_MOMENTS_OK);
    ck_assert(b.mean_hi == 1 && b.mean_lo > 0.2 && b.mean_lo < 0.25);
    ck_assert_uint_eq(b.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                         CERTREG_CONSTRAINT_RANGE);
}

/* Half of the outputs at each end: the variance is all that the range allows, and no less. */
TEST(moments_variance_is_capped_by_range_and_mean)
{
    const cr_moments rare = MOMENTS(100, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                     full = MOMENTS(100, 0, -1, 1);
    const certreg_bounds b = interval(&rare, 0, 1, 0.0125, CR_MOMENTS_OK),
                         most = interval(&full, -1, 1, 0.01, CR_MOMENTS_OK);
    ck_assert_double_le(b.variance_hi, b.mean_hi * (1 - b.mean_hi) + 1e-15);
    ck_assert(most.variance_hi >= 1 && most.variance_hi < 1 + 1e-14);
    ck_assert_double_eq(cr_moments_max_variance(-1, 3, 0, 2), 4);
    ck_assert_double_eq(cr_moments_max_variance(-1, 3, 2, 2.5), 3);
    ck_assert_double_eq(cr_moments_max_variance(-1, INFINITY, 0, 0), INFINITY);
    ck_assert_double_eq(cr_moments_max_variance(0, 1, 1, 1), 0);
}

TEST(moments_skewed_quantile_grows_with_skewness)
{
    double last = 2;
    for (double skewness = -4; skewness < 16; skewness += 0.5) {
        const double z = cr_moments_skewed_quantile(2, skewness, 1000);
        ck_assert(isfinite(z) && z >= last - 1e-12);
        last = z;
    }
    /* no sample is more skewed */
    ck_assert_double_gt(cr_moments_skewed_quantile(2, sqrt(1000), 1000), 6);
    /* first order of Cornish and Fisher: z + skewness (2 z^2 + 1)/(6 sqrt n) */
    ck_assert_double_eq_tol(cr_moments_skewed_quantile(2, 1, 1e8), 2 + 9 / 6e4, 1e-7);
    ck_assert_double_eq(cr_moments_skewed_quantile(INFINITY, 1, 100), INFINITY);
}

static const double equals[] = {0, 0.1, -3.7, 1e8};

TEST_ROWS(moments_asymptotic_of_equal_outputs_abstains, equals)
{
    const cr_moments m = MOMENTS(777, 0.3, equals[_i]);
    const certreg_bounds b = interval(&m, -INFINITY, INFINITY, 0.01, CR_MOMENTS_ABSTAINED);
    ck_assert(cr_moments_variance(&m) == 0 && cr_moments_mean(&m) == equals[_i]);
    ck_assert(b.mean_lo == -INFINITY && b.mean_hi == INFINITY && b.variance_hi == INFINITY);
}

TEST(moments_asymptotic_of_fewer_than_two_or_nan_abstains)
{
    const cr_moments none = MOMENTS(0, 1, 0), one = MOMENTS(1, 1, 0.5),
                     no_number = MOMENTS(10, 0, 0, 1, 2, (double)NAN),
                     near = MOMENTS(2, 0, 1e6, 1e6 + 1e-7);
    interval(&none, -1, 1, 0.01, CR_MOMENTS_ABSTAINED);
    const certreg_bounds b = interval(&one, -1, 1, 0.01, CR_MOMENTS_ABSTAINED);
    ck_assert(b.mean_lo == -1 && b.mean_hi == 1 && b.variance_hi == 1);
    ck_assert_double_eq(
        interval(&no_number, -INFINITY, INFINITY, 0.01, CR_MOMENTS_ABSTAINED).variance_hi,
        INFINITY);
    ck_assert_double_gt(cr_moments_variance(&near), 0); /* nearly equal are not equal */
    ck_assert_double_ge(interval(&near, -INFINITY, INFINITY, 0.01, CR_MOMENTS_OK).variance_hi,
                        2.5e-15);
}

/* ======== the gradient from blocks */
enum { MOST = 9 };

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

typedef struct ends {
    double lo, hi;
} ends;

static ends interval_of(const double *gram, size_t blocks, double dimension, double kurtosis,
                        double tail_lo, double tail_hi)
{
    cr_gradient_statistics g;
    cr_gradient_estimate(gram, blocks, &g);
    return (ends){cr_gradient_lower(&g, tail_lo),
                  cr_gradient_upper(&g, dimension, kurtosis, tail_hi)};
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
    double gram[MOST * MOST];
    random_gram(5, MOST, 4, 1, gram);
    cr_gradient_statistics g;
    cr_gradient_estimate(gram, MOST, &g);
    const ends e = interval_of(gram, MOST, 4, INFINITY, 0.05, 0.05);
    const double q = cr_student_quantile(0.05, MOST - 1), lo = e.lo * e.lo, hi = e.hi * e.hi;
    ck_assert_double_gt(hi, g.square);
    ck_assert_double_eq_tol(
        lo, fmax(0, g.square - q * sqrt(4 * g.projection / MOST + g.degenerate)), 1e-12);
    /* a clear gradient: v = max(average, zeta/U) */
    ck_assert_double_gt(g.square, 2 * sqrt(g.degenerate));
    const double v = fmax((g.self - g.square) / 4, g.projection / g.square);
    ck_assert_double_ge(hi - g.square, q * sqrt(4 * hi * v / MOST + g.degenerate) - 1e-12);
}

/* Where nothing shows a direction, all of the variance may lie along one: the upper end is that of
 * a plane as of any space, and only on a line is the average the variance. */
TEST_TIMES(gradient_upper_if_unclear_allows_more_than_average_variance, 20)
{
    double gram[MOST * MOST];
    cr_gradient_statistics g;
    random_gram((uint64_t)_i / 2 + 20, MOST, 2, 0, gram);
    cr_gradient_estimate(gram, MOST, &g);
    if (g.square > 2 * sqrt(g.degenerate)) return;
    const double dimension = 2 + _i % 2, average = fmax(0, (g.self - g.square) / dimension),
                 q = cr_student_quantile(0.05, MOST - 1),
                 hi = interval_of(gram, MOST, dimension, INFINITY, 0, 0.05).hi,
                 v = average + sqrt(2 * q * g.energy / MOST);
    ck_assert_double_ge(hi * hi - fmax(g.square, 0),
                        q * sqrt(4 * hi * hi * v / MOST + g.degenerate) * (1 - 1e-9));
    ck_assert_double_le(interval_of(gram, MOST, dimension, 1.5, 0, 0.05).hi, hi); /* kurtosis */
}

TEST(gradient_interval_widens_with_smaller_tails)
{
    double gram[MOST * MOST];
    random_gram(11, MOST, 3, 2, gram);
    ends last = {INFINITY, 0};
    for (double tail = 0.4; tail > 1e-20; tail /= 10) {
        const ends e = interval_of(gram, MOST, 3, INFINITY, tail, tail);
        ck_assert(e.lo <= last.lo && e.hi >= last.hi && isfinite(e.hi));
        last = e;
    }
}

/* Without tails, of too few blocks, and of sums whose squares overflow; that of zeros is zero. */
TEST(gradient_interval_of_nothing_is_trivial)
{
    double gram[MOST * MOST], huge[MOST * MOST];
    const double zeros[MOST * MOST] = {0};
    cr_gradient_statistics g;
    random_gram(5, MOST, 4, 1, gram);
    for (int i = 0; i < MOST * MOST; i++) huge[i] = i % 3 ? 1e160 : 2e160;
    for (size_t blocks = 0; blocks < 6; blocks++) {
        const ends e = blocks < 4    ? interval_of(gram, blocks, 3, INFINITY, 0.05, 0.05)
                       : blocks == 4 ? interval_of(gram, MOST, 4, INFINITY, 0, 0)
                                     : interval_of(huge, 8, 5, 3, 0.05, 0.05);
        ck_assert(e.lo == 0 && e.hi == INFINITY);
        if (blocks < 4) ck_assert((cr_gradient_estimate(gram, blocks, &g), isnan(g.square)));
    }
    const ends e = interval_of(zeros, MOST, 3, INFINITY, 0.05, 0.05);
    ck_assert(e.lo == 0 && e.hi == 0);
}

/* ======== the paper's interval */
enum { N = 40, D = 5 };
static double noise[N][D], sum[D];
static float y[2 * N], mask[D], direction[D];
static cr_paper_sums paper;
static cr_moments moments;
static const cr_score output = {.kind = CR_SCORE_OUTPUT};

/* Outputs stand in the second of two columns; feature 3 is masked. */
static void fill(void)
{
    simulate_source source;
    simulate_seed(&source, 1);
    cr_moments_init(&moments, 1);
    for (int j = 0; j < D; j++) sum[j] = 0, mask[j] = j == 3 ? 0.f : 1.f;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) noise[i][j] = simulate_normal(&source);
        y[2 * i] = NAN;
        y[2 * i + 1] = (float)(1 + 0.8 * noise[i][0] + 0.2 * noise[i][1] * noise[i][1]);
        cr_moments_add(&moments, y[2 * i + 1]);
        for (int j = 0; j < D; j++) sum[j] += y[2 * i + 1] * noise[i][j];
    }
    double norm = 0, dots[N], norms[N];
    for (int j = 0; j < D; j++) norm += mask[j] * sum[j] * sum[j];
    norm = sqrt(norm);
    for (int j = 0; j < D; j++) direction[j] = (float)(mask[j] * sum[j] / norm);
    for (int i = 0; i < N; i++) {
        dots[i] = norms[i] = 0;
        for (int j = 0; j < D; j++) {
            dots[i] += direction[j] * noise[i][j];
            norms[i] += mask[j] * noise[i][j] * noise[i][j];
        }
    }
    const cr_samples samples = {.y = y + 1, .stride = 2, .count = N, .score = &output};
    paper = cr_paper_sums_of(&samples, norm, dots, norms);
}

static double product(int a, int b)
{
    double dot = 0;
    for (int j = 0; j < D; j++) dot += mask[j] * noise[a][j] * noise[b][j];
    return dot * y[2 * a + 1] * y[2 * b + 1];
}

/* W_i = y_i e_i: the mean over all pairs, and the sample variance of the projections of W_i on the
 * mean of all W, their own included. */
TEST(paper_square_and_variance_are_those_of_all_pairs)
{
    double pairs = 0, mean = 0, squares = 0, along[N] = {0};
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            along[a] += product(a, b) / N;
            if (a != b) pairs += product(a, b);
        }
    ck_assert_double_eq_tol(cr_paper_gradient_square(&paper), pairs / (N * (N - 1)), 1e-10);
    for (int a = 0; a < N; a++) mean += along[a] / N;
    for (int a = 0; a < N; a++) squares += (along[a] - mean) * (along[a] - mean);
    const double literal = 4 * squares / (N - 1) / N;
    ck_assert_double_eq_tol(cr_paper_square_variance(&paper), literal, 1e-6 * literal);
}

TEST(paper_bounds_are_two_sided_at_half_of_alpha_each)
{
    certreg_bounds b = {.sigma = 2};
    ck_assert_int_eq(cr_paper_bounds(&paper, &moments, -INFINITY, INFINITY, 0.1, &b),
                     CR_MOMENTS_OK);
    const double variance = cr_moments_variance(&moments), z = 1.95996398454005; /* of 1 - .1/4 */
    const double wobble = sqrt((cr_moments_fourth(&moments) - variance * variance) / N);
    ck_assert_double_eq(b.mean_lo, b.mean_hi);
    ck_assert_double_eq_tol(b.mean_lo, cr_moments_mean(&moments), 1e-12);
    ck_assert_double_eq_tol(b.variance_hi, variance + z * wobble, 1e-12);
    const double half = z * sqrt(cr_paper_square_variance(&paper)),
                 square = cr_paper_gradient_square(&paper);
    ck_assert_double_eq_tol(b.gradient_hi, sqrt(square + half), 1e-12);
    ck_assert_double_eq_tol(b.gradient_lo, sqrt(fmax(0, square - half)), 1e-12);
    ck_assert_uint_eq(b.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                         CERTREG_CONSTRAINT_GRADIENT);
    ck_assert_double_eq(b.sigma, 2);
    ck_assert_int_eq(cr_paper_bounds(NULL, &moments, -INFINITY, INFINITY, 0.1, &b), CR_MOMENTS_OK);
    const double whole = 1.64485362695147; /* of 1 - .1/2: without the gradient all of alpha */
    ck_assert_double_eq_tol(b.variance_hi, variance + whole * wobble, 1e-12);
}

TEST(paper_bounds_of_equal_outputs_or_other_samples_abstain)
{
    const cr_moments same = MOMENTS(N, 0, 0.7);
    certreg_bounds b = {0};
    ck_assert_int_eq(cr_paper_bounds(&paper, &same, -1, 1, 0.1, &b), CR_MOMENTS_ABSTAINED);
    ck_assert(b.mean_lo == -1 && b.variance_hi == 1 && b.gradient_lo == 0 && b.gradient_hi == 1);
    cr_paper_sums part = paper;
    part.count--;
    ck_assert_int_eq(cr_paper_bounds(&part, &moments, -INFINITY, INFINITY, 0.1, &b),
                     CR_MOMENTS_ABSTAINED);
    ck_assert_double_eq(b.gradient_hi, INFINITY);
}

FIXTURE(fill, NULL)
TEST_MAIN("moments")
