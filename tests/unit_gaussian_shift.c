/* The effect of a shift of the noise, against long double and 50 digits. */
#include "support/api_kit.h"
#include "statistics/normal.h"

static long double above(long double x)
{
    return 0.5L * erfcl(x * 0.7071067811865475244008443621048490393L);
}

/* The x that has probability p above it. */
static long double place(long double p)
{
    long double lo = -40, hi = 40;
    for (int i = 0; i < 100; i++) {
        const long double x = 0.5L * (lo + hi);
        if (above(x) > p) lo = x;
        else hi = x;
    }
    return lo;
}

static const double shares[] = {1e-100, 1e-20, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.999};
static const double radii[] = {0, 1e-12, 0.01, 0.5, 1, 3, 6};

TEST_ROWS(shift_of_a_probability_is_just_below_the_true_one, shares)
{
    const double p = shares[_i], step = 1e-4, level = cr_shift_probit(p);
    for (int k = 0; k < KIT_ROWS(radii); k++) {
        const double r = radii[k], least = cr_shift_min_probability(p, nextafter(r, 0)),
                     nearer = (double)above(place(p) - (long double)r);
        const long double truth = above(place(p) + (long double)r);
        ck_assert_msg(least <= truth && least >= truth * (1 - 1e-10L), "%g for %Lg at p %g r %g",
                      least, truth, p, r);
        if (nearer < 0.9) ck_assert_double_eq_tol(cr_shift_radius(p, nearer), r, 1e-12 * (1 + r));
    }
    for (int k = 0; k < KIT_ROWS(shares); k++) {
        const double to = shares[k], r = cr_shift_max_radius(p, to, 10);
        const long double truth = place(p) - place(to);
        ck_assert_msg(r <= fmaxl(0, truth) && r >= fminl(truth * (1 - 1e-13L) - 1e-12L, 10),
                      "%g for %Lg from %g to %g", r, truth, p, to);
        ck_assert_double_eq(cr_shift_max_radius(p, to, r / 2), r / 2);
    }
    ck_assert_double_eq_tol(level, (double)-place(p), 1e-12 * (1 + fabs(level)));
    const long double slope = /* the derivative of p in the level */
        (above(place(p) - step) - above(place(p) + step)) / (2 * (long double)step);
    ck_assert_double_eq_tol(cr_shift_slope(p), (double)slope, 1e-5 * (double)slope);
}

TEST(shift_to_certainty_takes_no_radius_or_any)
{
    ck_assert_double_eq(cr_shift_max_radius(0.3, 1, 10), 10);
    ck_assert_double_eq(cr_shift_max_radius(1, 1, 10), 0);
    ck_assert_double_eq(cr_shift_max_radius(1, 1.5, 10), 10);
}

static const struct {
    double from, to;
    long double radius; /* by 50 digits */
} known[] = {
#include "data/shift.inc"
};

TEST(shift_max_radius_is_just_below_that_of_50_digits)
{
    for (int i = 0; i < KIT_ROWS(known); i++) {
        const double r = cr_shift_max_radius(known[i].from, known[i].to, INFINITY);
        const long double truth = known[i].radius;
        ck_assert_msg(r <= fmaxl(0, truth) && r >= truth * (1 - 1e-13L) - 1e-12L,
                      "%.17g for %.21Lg from %g to %g", r, truth, known[i].from, known[i].to);
    }
}

/* The likelihood ratio of a shift by r has variance e^(r^2) - 1: along it a mean falls fastest. */
TEST_ROWS(shift_radius_of_mean_has_the_closed_form, radii)
{
    const double variance = 0.3, r = radii[_i];
    const double drop = sqrt(variance * expm1(r * r));
    ck_assert_double_eq_tol(cr_shift_radius_of_mean(drop, variance), r, 1e-12 * (r + 1e-30));
}

TEST_MAIN("shift")
