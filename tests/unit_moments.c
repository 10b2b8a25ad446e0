/* Moments and their asymptotic interval: exact sums on small tables, limits, and what abstains. */
#include "statistics/normal.h"
#include "statistics/moments.h"
#include "support/suite.h"
#include <certreg/solver.h>

/* 1, 2, 4, 9: mean 4, squares about it 9, 4, 0, 25. */
static const double table[] = {1, 2, 4, 9};

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
    const cr_moments m = moments_of(table, 4, 4, centers[_i]);
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
    return b;
}

TEST(moments_asymptotic_is_the_mean_and_its_standard_errors)
{
    /* Symmetric about the mean, so nothing is corrected for skewness of u. */
    const cr_moments m = MOMENTS(2000, 0, 1.5, 0.75, -0.5, 0.25);
    const certreg_bounds b = interval(&m, -INFINITY, INFINITY, 0.0125, CR_MOMENTS_OK);
    const double error = sqrt(cr_moments_variance(&m) / 2000), z = cr_normal_quantile_sf(0.0125);
    ck_assert_double_eq_tol(b.mean_lo, 0.5 - z * error, 1e-12);
    ck_assert_double_eq_tol(b.mean_hi, 0.5 + z * error, 1e-12);
    const double second = cr_moments_second(&m),
                 wobble = sqrt((cr_moments_fourth(&m) - second * second) / 2000),
                 plain = second + z * z * error * error + cr_normal_quantile_sf(0.025) * wobble;
    ck_assert(b.variance_hi >= plain && b.variance_hi <= plain * 1.01);
    ck_assert_uint_eq(b.constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE);
    ck_assert(b.sigma == 3 && b.gradient_hi == 7); /* not its affair */
}

/* At values near 4e6 a deviation of 1e-9 is less than their ulp, and so is the interval. */
TEST(moments_asymptotic_is_rounded_outward)
{
    const double ulp = 0x1p-31, base = 4e6, third = ulp / 3; /* the sample mean: base + third */
    const cr_moments m = MOMENTS(300, base, base + ulp, base, base);
    const certreg_bounds b = interval(&m, -INFINITY, INFINITY, 0.01, CR_MOMENTS_OK);
    ck_assert_double_le(b.mean_lo - base, third - sqrt(2.0 / 9 / 300) * ulp);
    ck_assert_double_ge(b.mean_hi - base, third + sqrt(2.0 / 9 / 300) * ulp);
    ck_assert_double_ge(b.mean_lo - base, -8 * ulp);
    ck_assert_double_le(b.mean_hi - base, 8 * ulp);
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
        ck_assert_double_ge(z, last - 1e-12);
        ck_assert(isfinite(z));
        last = z;
    }
    /* no sample is more skewed */
    ck_assert_double_gt(cr_moments_skewed_quantile(2, sqrt(1000), 1000), 6);
    /* first order of Cornish and Fisher: z + skewness (2 z^2 + 1)/(6 sqrt n) */
    ck_assert_double_eq_tol(cr_moments_skewed_quantile(2, 1, 1e8), 2 + 9 / 6e4, 1e-7);
    ck_assert_double_eq(cr_moments_skewed_quantile(INFINITY, 1, 100), INFINITY);
}

/* ---- limits */
static const double equals[] = {0, 0.1, -3.7, 1e8};

TEST_ROWS(moments_asymptotic_of_equal_outputs_abstains, equals)
{
    const cr_moments m = MOMENTS(777, 0.3, equals[_i]);
    const certreg_bounds b = interval(&m, -INFINITY, INFINITY, 0.01, CR_MOMENTS_ABSTAINED);
    ck_assert(cr_moments_variance(&m) == 0 && cr_moments_mean(&m) == equals[_i]);
    ck_assert(b.mean_lo == -INFINITY && b.mean_hi == INFINITY && b.variance_hi == INFINITY);
}

TEST(moments_variance_of_two_nearly_equal_values_is_positive)
{
    const cr_moments m = MOMENTS(2, 0, 1e6, 1e6 + 1e-7);
    ck_assert_double_gt(cr_moments_variance(&m), 0);
    ck_assert_double_ge(interval(&m, -INFINITY, INFINITY, 0.01, CR_MOMENTS_OK).variance_hi,
                        2.5e-15);
}

TEST(moments_asymptotic_of_fewer_than_two_or_nan_abstains)
{
    const cr_moments none = MOMENTS(0, 1, 0), one = MOMENTS(1, 1, 0.5),
                     no_number = MOMENTS(10, 0, 0, 1, 2, (double)NAN);
    interval(&none, -1, 1, 0.01, CR_MOMENTS_ABSTAINED);
    const certreg_bounds b = interval(&one, -1, 1, 0.01, CR_MOMENTS_ABSTAINED);
    ck_assert(b.mean_lo == -1 && b.mean_hi == 1 && b.variance_hi == 1);
    ck_assert_double_eq(
        interval(&no_number, -INFINITY, INFINITY, 0.01, CR_MOMENTS_ABSTAINED).variance_hi,
        INFINITY);
}

TEST_MAIN("moments")
