/* The paper's interval: its all-pairs sums against a double loop, and what it abstains from. */
#include "statistics/normal.h"
#include "statistics/moments.h"
#include "support/simulate.h"
#include "support/suite.h"
#include <certreg/solver.h>

#define N 40
#define D 5

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

TEST(paper_square_is_the_mean_over_all_pairs)
{
    double pairs = 0;
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            if (a != b) pairs += product(a, b);
    ck_assert_double_eq_tol(cr_paper_gradient_square(&paper), pairs / (N * (N - 1)), 1e-10);
}

/* W_i = y_i e_i projected on the mean of all W, their own included. */
static double projection(int a)
{
    double along = 0;
    for (int b = 0; b < N; b++) along += product(a, b) / N;
    return along;
}

TEST(paper_variance_is_the_sample_variance_of_the_projections)
{
    double mean = 0, squares = 0;
    for (int a = 0; a < N; a++) mean += projection(a) / N;
    for (int a = 0; a < N; a++) squares += (projection(a) - mean) * (projection(a) - mean);
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

TEST(paper_bounds_of_equal_outputs_abstain)
{
    cr_moments same;
    certreg_bounds b = {0};
    cr_moments_init(&same, 0);
    for (int i = 0; i < N; i++) cr_moments_add(&same, 0.7);
    ck_assert_int_eq(cr_paper_bounds(&paper, &same, -1, 1, 0.1, &b), CR_MOMENTS_ABSTAINED);
    ck_assert_double_eq(b.mean_lo, -1);
    ck_assert_double_eq(b.variance_hi, 1);
    ck_assert_double_eq(b.gradient_lo, 0);
    ck_assert_double_eq(b.gradient_hi, 1);
}

TEST(paper_bounds_of_sums_of_different_samples_abstain)
{
    certreg_bounds b = {0};
    cr_paper_sums part = paper;
    part.count--;
    ck_assert_int_eq(cr_paper_bounds(&part, &moments, -INFINITY, INFINITY, 0.1, &b),
                     CR_MOMENTS_ABSTAINED);
    ck_assert_double_eq(b.gradient_hi, INFINITY);
}

FIXTURE(fill, NULL)
TEST_MAIN("paper")
