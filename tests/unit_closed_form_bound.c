/* Closed forms of the worst case (theory 3.3) against long double: they are rounded up, by little.
 */
#include "solver/solver.h"
#include "support/random_problems.h"
#include "support/suite.h"

enum { PROBLEMS = 4000, AXES = 2 };

/* ---- the same without rounding, as far as anybody could tell */
static long double norm(int order, double radius)
{
    const long double x = (long double)radius * (long double)radius;
    long double term = x, sum = 0;
    for (int j = 1; j < 400; j++, term *= x / (long double)j)
        if (j > order) sum += term;
    return sqrtl(sum);
}

typedef struct form { /* sum of weight*y + rest*spread, on a ball of squared radius `all` */
    int count;
    long double weight[AXES], low[AXES], high[AXES], rest, all;
} form;

static long double value_at(const form *f, long double x, long double *left)
{
    long double sum = 0;
    *left = f->all;
    for (int j = 0; j < f->count; j++) {
        const long double y = fminl(fmaxl(x * f->weight[j], f->low[j]), f->high[j]);
        *left -= y * y;
        sum += f->weight[j] * y;
    }
    return sum + f->rest * sqrtl(fmaxl(0, *left));
}

/* Where what x allows fills the ball. Every feasible point is at most the supremum, and this one
 * is the supremum but for the digits of x. */
static long double greatest(const form *f)
{
    long double low = 0, high = 1, left, value;
    do value_at(f, high *= 2, &left);
    while (left - high * high * f->rest * f->rest > 0 && high < 1e300L);
    for (int i = 0; i < 300; i++) {
        const long double x = 0.5L * (low + high);
        value = value_at(f, x, &left);
        if (left > x * x * f->rest * f->rest) low = x;
        else high = x;
    }
    value = value_at(f, low, &left);
    return value;
}

/* ---- promises */
TEST_TIMES(ratio_norm_is_rounded_up, 2)
{
    dice d = dice_of(31);
    for (int i = 0; i < PROBLEMS; i++) {
        const double r = exp(dice_between(&d, log(1e-3), log(6)));
        const long double exact = norm(_i, r), got = cr_ratio_norm_up(_i, r);
        ck_assert_msg(got >= exact && got <= exact * (1 + 1e-14L), "order %d, r %.17g: %.3Lg", _i,
                      r, got / exact - 1);
    }
}

static double near_one(dice *d)
{
    return 1 - exp(dice_between(d, log(1e-16), 0));
}

static cr_one_sided random_rise(dice *d, cr_evaluation_budget *budget)
{
    const double variance = exp(dice_between(d, -5, 5)), root = sqrt(variance);
    return (cr_one_sided){.r = exp(dice_between(d, log(1e-3), log(5))),
                          .mean_lo = 0,
                          .mean_hi = 0,
                          .range_lo = -INFINITY,
                          .range_hi = INFINITY,
                          .variance = variance,
                          .gradient_lo = 0,
                          .gradient_hi = root * near_one(d),
                          .moment = INFINITY,
                          .budget = budget};
}

/* What rounding may take off the ball is far more beneath the root. */
static void expect_above(const cr_one_sided *rise, double weight, long double exact)
{
    double growth;
    const double got = cr_closed_form_bound(rise, weight, &growth),
                 all = fmin(rise->variance, rise->moment);
    const long double most = exact * (1 + 1e-13L) + norm(1, rise->r) * 1e-7L * sqrtl(all);
    ck_assert_msg((long double)got >= exact && (long double)got <= most,
                  "r %.17g gradient %.17g of %.17g: %.17g, by %.3Lg", rise->r, rise->gradient_hi,
                  rise->variance, got, (long double)got - exact);
}

TEST(closed_form_bound_without_a_range_is_rounded_up)
{
    dice d = dice_of(32);
    cr_evaluation_budget budget = {0};
    for (int i = 0; i < PROBLEMS; i++) {
        const cr_one_sided rise = random_rise(&d, &budget);
        expect_above(&rise, 0,
                     greatest(&(form){.count = 1,
                                      .weight = {rise.r},
                                      .high = {rise.gradient_hi},
                                      .rest = norm(1, rise.r),
                                      .all = rise.variance}));
    }
}

/* The mean takes its part of the moment. */
TEST(closed_form_bound_of_the_mean_by_the_moment_is_rounded_up)
{
    dice d = dice_of(34);
    cr_evaluation_budget budget = {0};
    for (int i = 0; i < PROBLEMS; i++) {
        cr_one_sided rise = random_rise(&d, &budget);
        const double root = sqrt(rise.variance);
        rise.moment = rise.variance, rise.variance = INFINITY;
        rise.mean_hi = root * near_one(&d), rise.mean_lo = rise.mean_hi * near_one(&d);
        rise.gradient_hi = 0.5 * sqrt(rise.moment - rise.mean_hi * rise.mean_hi);
        expect_above(&rise, 1,
                     greatest(&(form){.count = 2,
                                      .weight = {rise.r, 1},
                                      .low = {0, rise.mean_lo},
                                      .high = {rise.gradient_hi, rise.mean_hi},
                                      .rest = norm(1, rise.r),
                                      .all = rise.moment}));
    }
}

TEST(closed_form_bound_that_underflows_is_not_zero)
{
    double growth;
    cr_evaluation_budget budget = {0};
    dice d = dice_of(35);
    cr_one_sided rise = random_rise(&d, &budget);
    rise.r = 1e-100, rise.variance = 1e-290, rise.gradient_hi = 0;
    ck_assert_double_gt(cr_closed_form_bound(&rise, 0, &growth), 0);
}

TEST_MAIN("closed_form_bound")
