/* The binomial distribution, and the incomplete beta function behind it with Student's quantiles,
 * against known answers (tests/data/make_binomial.py). */
#include "statistics/binomial.h"
#include "statistics/binomial.h"
#include "data/binomial.inc"
#include "support/suite.h"

static double relative(double got, double want)
{
    return fabs(got - want) / fmax(fabs(want), DBL_MIN);
}

TEST(binomial_cdf_agrees_with_sixty_digits_and_tails_add_to_one)
{
    for (int i = 0; i < KIT_ROWS(cdf_rows); i++) {
        const uint64_t k = cdf_rows[i].k, n = cdf_rows[i].n;
        const double p = cdf_rows[i].p, got = cr_binomial_cdf(k, n, p),
                     sum = got + cr_binomial_cdf(n - k - 1, n, 1 - p),
                     loss = 1e-14 * sqrt((double)n);
        ck_assert_msg(relative(got, cdf_rows[i].cdf) < 1e-13 + loss, "row %d: %.17g, want %.17g", i,
                      got, cdf_rows[i].cdf);
        ck_assert_double_eq_tol(sum, 1, 1e-12 + loss);
    }
}

/* What exceeds a lower bound of the successes lies below an upper one of the failures. A bound's
 * tail may be off by 1e-13 + 1e-14 sqrt(n) of itself; how far that moves the bound depends on its
 * slope, at least min(k, n - k) + 1 over the bound, or over its complement. */
TEST(binomial_upper_is_outside_the_true_bound_within_its_margin)
{
    for (int i = 0; i < KIT_ROWS(bound_rows); i++) {
        const uint64_t k = bound_rows[i].k, n = bound_rows[i].n;
        const double upper = bound_rows[i].upper, lower = bound_rows[i].lower,
                     high = cr_binomial_upper(k, n, bound_rows[i].alpha),
                     failures = cr_binomial_upper(n - k, n, bound_rows[i].alpha),
                     allowed = 4 * (1e-13 + 1e-14 * sqrt((double)n));
        ck_assert_msg(high >= upper && failures >= 1 - lower, "row %d: %.17g, want %.17g", i, high,
                      upper);
        ck_assert_msg(high <= upper * (1 + allowed) + 2 * DBL_EPSILON * (high > 0.5),
                      "row %d: %.17g, want %.17g", i, high, upper);
        ck_assert_msg(1 - failures >= lower * (1 - allowed) - 2 * DBL_EPSILON,
                      "row %d: %.17g, want %.17g", i, 1 - failures, lower);
    }
}

/* Without a success the chance of none, in closed form, is at most alpha. */
TEST(binomial_upper_holds_at_levels_next_to_nothing)
{
    for (uint64_t n = 1; n <= 300; n++)
        for (int digits = 1; digits < 300; digits += 3) {
            const double alpha = pow(10, -digits), p = cr_binomial_upper(0, n, alpha);
            ck_assert_msg(powl(1 - (long double)p, (long double)n) <= alpha, "%d of 1e-%d: %.17g",
                          (int)n, digits, p);
        }
}

TEST(beta_lower_and_student_agree_with_sixty_digits)
{
    for (int i = 0; i < KIT_ROWS(student_rows); i++) {
        const double got = cr_student_quantile(student_rows[i].q, student_rows[i].degrees);
        ck_assert_msg(relative(got, student_rows[i].t) < 1e-12, "row %d: %.17g, want %.17g", i, got,
                      student_rows[i].t);
    }
    for (int i = 0; i < KIT_ROWS(beta_rows); i++) {
        const double got =
            cr_beta_cdf(beta_rows[i].a, beta_rows[i].b, beta_rows[i].x, 1 - beta_rows[i].x);
        ck_assert_msg(relative(got, beta_rows[i].value) < 1e-12, "row %d: %.17g, want %.17g", i,
                      got, beta_rows[i].value);
    }
}

TEST(beta_student_is_symmetric)
{
    ck_assert_double_eq(cr_student_quantile(0.5, 63), 0);
    ck_assert_double_eq_tol(cr_student_quantile(0.975, 63), -cr_student_quantile(0.025, 63), 1e-12);
    ck_assert_double_eq_tol(cr_student_quantile(0.75, 5), -cr_student_quantile(0.25, 5), 1e-12);
}

TEST_TIMES(binomial_critical_is_the_largest_count_within_the_level, 5)
{
    const uint64_t sizes[] = {1, 7, 64, 1000, 100000};
    const double shares[] = {0.02, 0.3, 0.5, 0.9}, levels[] = {0.3, 0.05, 1e-6};
    const uint64_t n = sizes[_i];
    for (int s = 0; s < 4; s++)
        for (int l = 0; l < 3; l++) {
            const int64_t k = cr_binomial_critical(n, shares[s], levels[l]);
            if (k >= 0) ck_assert_double_le(cr_binomial_cdf((uint64_t)k, n, shares[s]), levels[l]);
            ck_assert_double_gt(cr_binomial_cdf((uint64_t)(k + 1), n, shares[s]),
                                levels[l] * (1 - 1e-10));
        }
}

TEST(binomial_upper_of_all_or_no_successes_has_a_closed_form)
{
    ck_assert_double_eq(cr_binomial_upper(10, 10, 0.05), 1);
    ck_assert_double_eq_tol(cr_binomial_upper(0, 1000, 0.05), -expm1(log(0.05) / 1000), 1e-14);
    ck_assert_double_eq(cr_binomial_upper(0, 0, 0.05), 1);
}

TEST(binomial_cdf_of_certain_and_impossible_shares_is_exact)
{
    ck_assert_double_eq(cr_binomial_cdf(3, 10, 0), 1);
    ck_assert_double_eq(cr_binomial_cdf(3, 10, 1), 0);
    ck_assert_double_eq(cr_binomial_cdf(10, 10, 1), 1);
    ck_assert_double_eq(cr_beta_cdf(2, 3, 0, 1), 0);
    ck_assert_double_eq(cr_beta_cdf(2, 3, 1, 0), 1);
}

TEST(binomial_upper_grows_with_the_count_and_falls_with_alpha)
{
    for (uint64_t k = 0; k < 64; k++) {
        ck_assert_double_lt(cr_binomial_upper(k, 64, 0.05), cr_binomial_upper(k + 1, 64, 0.05));
        ck_assert_double_ge(cr_binomial_upper(k, 64, 0.01), cr_binomial_upper(k, 64, 0.05));
        ck_assert_double_gt(cr_binomial_upper(64 - k, 64, 0.05) + cr_binomial_upper(k, 64, 0.05),
                            1);
    }
}

TEST(binomial_upper_of_bad_numbers_promises_nothing)
{
    ck_assert_double_nan(cr_binomial_cdf(1, 10, -0.1));
    ck_assert_double_nan(cr_binomial_cdf(1, 10, NAN));
    ck_assert_double_nan(cr_binomial_cdf(1, 10, 1.5));
    ck_assert_double_eq(cr_binomial_upper(1, 10, 0), 1);
    ck_assert_double_eq(cr_binomial_upper(1, 10, 1), 1);
    ck_assert_double_eq(cr_binomial_upper(1, 10, NAN), 1);
    ck_assert_double_eq(cr_binomial_upper(1, 10, -1), 1);
    ck_assert_double_eq(cr_binomial_upper(11, 10, 0.1), 1);
    ck_assert_double_nan(cr_student_quantile(0, 5));
    ck_assert_double_nan(cr_student_quantile(0.1, 0));
    ck_assert_double_nan(cr_student_quantile(NAN, 5));
    ck_assert_double_nan(cr_beta_cdf(0, 1, 0.5, 0.5));
    ck_assert(cr_binomial_critical(10, 0.5, 1e-9) == -1);
    ck_assert(cr_binomial_critical(10, NAN, 0.1) == -1);
}

TEST_MAIN("binomial")
