/* The normal distribution against known answers (tests/data/make_normal.py). */
#include "statistics/normal.h"
#include "data/normal.inc"
#include "support/suite.h"

static double ulps(double got, double want)
{
    if (got == want) return 0;
    return fabs(got - want) / (fabs(want) > DBL_MIN ? fabs(want) * DBL_EPSILON : DBL_TRUE_MIN);
}

TEST_ROWS(density_agrees_with_sixty_digits, point_rows)
{
    const double got = cr_normal_pdf(point_rows[_i].x);
    ck_assert_msg(ulps(got, point_rows[_i].pdf) <= 4, "%.17g, want %.17g", got, point_rows[_i].pdf);
}

TEST_ROWS(cdf_agrees_with_sixty_digits, point_rows)
{
    const double got = cr_normal_cdf(point_rows[_i].x);
    ck_assert_msg(ulps(got, point_rows[_i].cdf) <= 8, "%.17g, want %.17g", got, point_rows[_i].cdf);
}

TEST_ROWS(upper_tail_agrees_with_sixty_digits, point_rows)
{
    const double got = cr_normal_sf(point_rows[_i].x);
    ck_assert_msg(ulps(got, point_rows[_i].sf) <= 8, "%.17g, want %.17g", got, point_rows[_i].sf);
}

TEST_ROWS(quantile_agrees_with_sixty_digits, quantile_rows)
{
    const double got = cr_normal_quantile(quantile_rows[_i].p);
    ck_assert_msg(ulps(got, quantile_rows[_i].x) <= 8, "%.17g, want %.17g", got,
                  quantile_rows[_i].x);
}

TEST_ROWS(quantile_of_the_upper_tail_is_the_mirror_image, quantile_rows)
{
    const double q = quantile_rows[_i].p;
    ck_assert_double_eq(cr_normal_quantile_sf(q), -cr_normal_quantile(q));
}

TEST_TIMES(quantile_undoes_the_cdf, 600)
{
    const double x = -37 + 0.0731 * _i, p = cr_normal_cdf(x);
    /* near 1 a double no longer tells the points apart */
    const double lost = p > 0.5 ? DBL_EPSILON / cr_normal_pdf(x) : 0;
    ck_assert_double_eq_tol(cr_normal_quantile(p), x, 1e-13 * fmax(1, fabs(x)) + lost);
}

TEST(cdf_never_falls)
{
    for (double x = -41; x < 41; x += 0.003)
        ck_assert_msg(cr_normal_cdf(x + 0.003) >= cr_normal_cdf(x), "at %g", x);
}

TEST(ends_of_the_line_are_exact)
{
    ck_assert_double_eq(cr_normal_cdf(-INFINITY), 0);
    ck_assert_double_eq(cr_normal_cdf(INFINITY), 1);
    ck_assert_double_eq(cr_normal_sf(-INFINITY), 1);
    ck_assert_double_eq(cr_normal_sf(INFINITY), 0);
    ck_assert_double_eq(cr_normal_cdf(-100), 0);
    ck_assert_double_eq(cr_normal_cdf(100), 1);
    ck_assert_double_eq(cr_normal_pdf(INFINITY), 0);
    ck_assert_double_eq(cr_normal_pdf(-100), 0);
    ck_assert_double_eq(cr_normal_quantile(0), -INFINITY);
    ck_assert_double_eq(cr_normal_quantile(1), INFINITY);
    ck_assert_double_eq(cr_normal_quantile(0.5), 0);
}

TEST_TIMES(no_probability_has_no_quantile, 7)
{
    static const double wrong[] = {-1e-300, -1, 1 + DBL_EPSILON, 2, INFINITY, -INFINITY, NAN};
    ck_assert_double_nan(cr_normal_quantile(wrong[_i]));
    ck_assert_double_nan(cr_normal_quantile_sf(wrong[_i]));
}

TEST(nan_stays_nan)
{
    ck_assert_double_nan(cr_normal_pdf(NAN));
    ck_assert_double_nan(cr_normal_cdf(NAN));
    ck_assert_double_nan(cr_normal_sf(NAN));
}

TEST_MAIN("normal")
