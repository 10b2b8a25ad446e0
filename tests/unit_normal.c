/* The normal distribution against known answers (tests/data/make_normal.py). */
#include "statistics/normal.h"
#include "data/normal.inc"
#include "support/suite.h"

static double ulps(double got, double want)
{
    if (got == want) return 0;
    return fabs(got - want) / (fabs(want) > DBL_MIN ? fabs(want) * DBL_EPSILON : DBL_TRUE_MIN);
}

static void expect(const char *what, double at, double got, double want, double most)
{
    ck_assert_msg(ulps(got, want) <= most, "%s at %.17g: %.17g, want %.17g", what, at, got, want);
}

TEST(normal_density_and_tails_agree_with_sixty_digits)
{
    for (int i = 0; i < KIT_ROWS(point_rows); i++) {
        const double x = point_rows[i].x;
        expect("density", x, cr_normal_pdf(x), point_rows[i].pdf, 4);
        expect("cdf", x, cr_normal_cdf(x), point_rows[i].cdf, 8);
        expect("upper tail", x, cr_normal_sf(x), point_rows[i].sf, 8);
    }
}

TEST(normal_quantile_agrees_with_sixty_digits_on_both_sides)
{
    for (int i = 0; i < KIT_ROWS(quantile_rows); i++) {
        const double p = quantile_rows[i].p;
        expect("quantile", p, cr_normal_quantile(p), quantile_rows[i].x, 8);
        ck_assert_double_eq(cr_normal_quantile_sf(p), -cr_normal_quantile(p));
    }
}

TEST(normal_quantile_undoes_the_cdf)
{
    for (double x = -37; x < 6.9; x += 0.0731) {
        const double p = cr_normal_cdf(x),
                     /* near 1 a double no longer tells the points apart */
            lost = p > 0.5 ? DBL_EPSILON / cr_normal_pdf(x) : 0;
        ck_assert_double_eq_tol(cr_normal_quantile(p), x, 1e-13 * fmax(1, fabs(x)) + lost);
    }
}

TEST(normal_cdf_never_falls)
{
    for (double x = -41; x < 41; x += 0.003)
        ck_assert_msg(cr_normal_cdf(x + 0.003) >= cr_normal_cdf(x), "at %g", x);
}

TEST(normal_functions_are_exact_at_the_ends)
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

TEST(normal_functions_of_nan_or_no_probability_are_nan)
{
    static const double wrong[] = {-1e-300, -1, 1 + DBL_EPSILON, 2, INFINITY, -INFINITY, NAN};
    for (int i = 0; i < KIT_ROWS(wrong); i++) {
        ck_assert_double_nan(cr_normal_quantile(wrong[i]));
        ck_assert_double_nan(cr_normal_quantile_sf(wrong[i]));
    }
    ck_assert_double_nan(cr_normal_pdf(NAN));
    ck_assert_double_nan(cr_normal_cdf(NAN));
    ck_assert_double_nan(cr_normal_sf(NAN));
}

TEST_MAIN("normal")
