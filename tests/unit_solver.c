/* The worst shift: known values, closed forms and how they are rounded, families of constraints,
 * symmetry, limits, and constraints that once broke the solver. What holds of random constraints is
 * in prop_solver.c. */
#include <certreg/solver.h>
#include "solver/solver.h"
#include "statistics/normal.h"
#include "support/random_problems.h"
#include "support/solver_fixture.h"

/* ---- known values: a dual bound and a function that has the constraints agree on these digits, by
 * long doubles, without the library */
static const struct {
    double m, C, kappa, r, half, up, down; /* mean, variance, gradient, radius, range, changes */
} known_values[] = {
    {0, 0.07, 0.2, 0.5, 3.14159265358979324, 0.13187827, 0.13187827},
    {2.5, 0.07, 0.15, 0.7, 3.14159265358979324, 0.16034799, 0.18709193},
    {2.9, 0.6, 0.3, 0.5, 3.14159265358979324, 0.12675903, 0.27246951},
    {1, 2, 0.8, 0.4, 3.14159265358979324, 0.39511393, 0.43511337},
    {30, 100, 5, 1, 116, 11.76541581, 12.13015388},
    {30, 100, 5, 2, 116, 39.09198428, 46.7894376},
    {0, 0.9, 0.7, 1.5, 1, 0.85196477, 0.85196477},
};

TEST_ROWS(worst_case_has_known_values_to_their_last_digit, known_values)
{
    const double up = known_values[_i].up, down = known_values[_i].down, last = 0.5e-8,
                 half = known_values[_i].half;
    const certreg_bounds bounds =
        known(ALL, known_values[_i].m, known_values[_i].C, known_values[_i].kappa, -half, half);
    const certreg_mean_change got = shift_of(&bounds, known_values[_i].r);
    ck_assert_double_eq_tol(got.rise, up, last + 1e-8 * up);
    ck_assert_double_eq_tol(got.drop, down, last + 1e-8 * down);
    ck_assert_double_eq_tol(got.mean_greatest, bounds.mean_hi + got.rise, 1e-13);
    ck_assert_double_eq_tol(got.mean_least, bounds.mean_lo - got.drop, 1e-13);
    ck_assert_uint_eq(got.constraints, ALL);
}

/* ---- closed forms */
/* The indicator of a half-space is the worst function for its own constraints, with and without its
 * gradient. */
static const struct {
    double p, r;
} half_spaces[] = {
    {0.5, 1e-4}, {0.5, 0.5}, {0.5, 3},  {0.9, 0.01}, {0.9, 1},      {0.1, 1}, {0.1, 3},
    {0.99, 2},   {0.01, 2},  {1e-6, 1}, {1e-6, 5},   {0.999999, 1}, {0.3, 6},
};

TEST_ROWS(worst_case_of_a_half_space_is_that_of_neyman_and_pearson, half_spaces)
{
    const double p = half_spaces[_i].p, r = half_spaces[_i].r, q = cr_normal_quantile(p),
                 up = cr_normal_cdf(q + r) - p, down = p - cr_normal_cdf(q - r),
                 lost = 8 * DBL_EPSILON * fmax(p, 1 - p); /* of the difference that is wanted */
    static const uint32_t families[] = {M | R, M | R | G, M | V | R, M | V | G | R};
    for (int i = 0; i < KIT_ROWS(families); i++) {
        /* The gradient is at most the half-space's: the exact number would admit nothing if it
         * were rounded up. */
        const certreg_bounds bounds =
            given(families[i], p, p, p * (1 - p), 0, cr_normal_pdf(q), 0, 1);
        const certreg_mean_change got = shift_of(&bounds, r);
        ck_assert_msg(got.rise >= up - lost && got.rise <= up * (1 + 2e-9) + lost,
                      "constraints %u: rise %.17g, want %.17g", families[i], got.rise, up);
        ck_assert_msg(got.drop >= down - lost && got.drop <= down * (1 + 2e-9) + lost,
                      "constraints %u: drop %.17g, want %.17g", families[i], got.drop, down);
    }
}

static const double radii[] = {1e-8, 1e-4, 0.01, 0.3, 1, 3, 6};

/* Norm of the likelihood ratio without its parts of order 0 to `order`. */
static long double norm_beyond(int order, double r)
{
    const long double x = (long double)r * (long double)r;
    long double term = 1, sum = 0;
    for (int j = 1; j < 400; j++) {
        term *= x / (long double)j;
        if (j > order) sum += term;
    }
    return sqrtl(sum);
}

TEST_ROWS(worst_case_by_the_moment_alone_has_a_closed_form, radii)
{
    const double r = radii[_i], root = sqrt(0.22), change = root * (double)norm_beyond(0, r);
    const certreg_bounds bounds = of_kinds(Q);
    const certreg_mean_change got = shift_of(&bounds, r);
    assert_tight(got.rise, change, 1e-13);
    assert_tight(got.drop, change, 1e-13);
    /* 1 + norm^2 = exp(r^2) */
    assert_tight(got.mean_greatest - 0.25, root * exp(0.5 * r * r), 1e-12);
    assert_tight(0.25 - got.mean_least, root * exp(0.5 * r * r), 1e-12);
}

/* The same without a range for random constraints, rounded up: against long double. */
typedef struct form { /* sum of weight*y + rest*spread, on a ball of squared radius `all` */
    int count;
    long double weight[2], low[2], high[2], rest, all;
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

/* Where what x allows fills the ball. Every feasible point is at most the supremum, and this one is
 * the supremum but for the digits of x. */
static long double greatest(const form *f)
{
    long double low = 0, high = 1, left;
    do value_at(f, high *= 2, &left);
    while (left - high * high * f->rest * f->rest > 0 && high < 1e300L);
    for (int i = 0; i < 300; i++) {
        const long double x = 0.5L * (low + high);
        value_at(f, x, &left);
        *(left > x * x * f->rest * f->rest ? &low : &high) = x;
    }
    return value_at(f, low, &left);
}

static double near_one(dice *d)
{
    return 1 - exp(dice_between(d, log(1e-16), 0));
}

/* By the variance, or by the moment, of which the mean takes its part. What rounding may take off
 * the ball is far more beneath the root. */
TEST_TIMES(closed_form_bound_is_rounded_up, 2)
{
    dice d = dice_of(32);
    cr_evaluation_budget budget = {0};
    for (int i = 0; i < 4000; i++) {
        const double all = exp(dice_between(&d, -5, 5)), root = sqrt(all),
                     r = exp(dice_between(&d, log(1e-3), log(5)));
        cr_one_sided rise = {.r = r,
                             .range_lo = -INFINITY,
                             .range_hi = INFINITY,
                             .variance = all,
                             .gradient_hi = root * near_one(&d),
                             .moment = INFINITY,
                             .budget = &budget};
        if (_i) {
            rise.moment = all, rise.variance = INFINITY;
            rise.mean_hi = root * near_one(&d), rise.mean_lo = rise.mean_hi * near_one(&d);
            rise.gradient_hi = 0.5 * sqrt(all - rise.mean_hi * rise.mean_hi);
        }
        const long double rest = norm_beyond(1, r),
                          exact = greatest(&(form){.count = 1 + _i,
                                                   .weight = {r, 1},
                                                   .low = {0, rise.mean_lo},
                                                   .high = {rise.gradient_hi, rise.mean_hi},
                                                   .rest = rest,
                                                   .all = all});
        double growth;
        const long double got = cr_closed_form_bound(&rise, _i, &growth),
                          norm = cr_ratio_norm_up(_i, r), least = norm_beyond(_i, r);
        ck_assert_msg(got >= exact && got <= exact * (1 + 1e-13L) + rest * 1e-7L * root,
                      "r %.17g gradient %.17g of %.17g: %.17Lg, by %.3Lg", r, rise.gradient_hi, all,
                      got, got - exact);
        ck_assert_msg(norm >= least && norm <= least * (1 + 1e-14L), "norm at %.17g: %.3Lg", r,
                      norm / least - 1);
    }
}

TEST(worst_case_by_the_range_alone_is_a_central_half_space)
{
    const certreg_bounds bounds = known(R, 0, 0, 0, -1, 2);
    const certreg_mean_change tiny = shift_of(&bounds, 0.01), huge = shift_of(&bounds, 20);
    assert_tight(tiny.rise, 3 * (2 * cr_normal_cdf(0.005) - 1), 1e-9);
    ck_assert_double_eq_tol(huge.rise, 3, 1e-12);
    ck_assert_double_eq_tol(huge.drop, 3, 1e-12);
}

TEST(worst_case_of_the_mean_in_a_box_is_tighter_than_its_parts)
{
    const certreg_bounds bounds = given(M | R, -0.5, 0.8, 0, 0, 0, -1, 1),
                         touching = given(M | R, 0.9, 1, 0, 0, 0, -1, 1);
    const certreg_mean_change got = shift_of(&bounds, 1), at_end = shift_of(&touching, 1);
    const double high = cr_normal_quantile(0.9), low = cr_normal_quantile(0.25);
    assert_tight(got.mean_greatest, 2 * cr_normal_cdf(high + 1) - 1, 1e-12);
    ck_assert_double_eq_tol(got.mean_least, 2 * cr_normal_cdf(low - 1) - 1, 1e-12);
    ck_assert(got.mean_greatest < bounds.mean_hi + got.rise - 0.1 &&
              got.mean_least > bounds.mean_lo - got.drop + 0.1);
    assert_tight(at_end.rise, 2 * (cr_normal_cdf(cr_normal_quantile(0.95) + 1) - 0.95), 1e-9);
    ck_assert_double_eq(at_end.mean_greatest, 1);
}

/* At the edge of what is feasible (the infeasible side is in unit_solver_refusals.c). */
TEST(worst_case_of_functions_that_only_just_exist)
{
    const certreg_bounds affine = known(M | V | G, 0, 0.25, 0.5, 0, 0),
                         unbounded = known(ALL, 0, 0.25, 0.5, -INFINITY, INFINITY),
                         half_space = known(M | G | R, 0.6, 0, 0.55992384 * (1 - 1e-6), -1, 1),
                         some_mean = given(M | G | R, 0.5, 0.6, 0, 0.55993, 0.55993, -1, 1),
                         cut = given(ALL, 0, 0, 0.25, 0.1, 0.6, -1, 1);
    assert_tight(shift_of(&affine, 1.5).rise, 0.75, 1e-12);
    assert_tight(shift_of(&unbounded, 1.5).rise, 0.75, 1e-12);
    ck_assert_double_eq_tol(shift_of(&half_space, 1).rise,
                            2 * (cr_normal_cdf(cr_normal_quantile(0.8) + 1) - 0.8), 1e-6);
    ck_assert_double_gt(shift_of(&some_mean, 1).rise, 0);
    ck_assert_double_gt(shift_of(&cut, 1).rise, 0); /* the upper end of the gradient is cut */
}

/* ---- families */
/* But for searches that are not sure of their end. */
TEST_RANGE(worst_case_drop_is_the_rise_of_the_mirror_image, 1, SETS + 1)
{
    static const double shifts[] = {1e-8, 0.01, 0.7, 3};
    const certreg_bounds bounds = of_kinds(kinds_of((uint32_t)_i));
    certreg_bounds mirror = bounds;
    mirror.mean_lo = -bounds.mean_hi, mirror.mean_hi = -bounds.mean_lo;
    mirror.range_lo = -bounds.range_hi, mirror.range_hi = -bounds.range_lo;
    mirror.moment_center = -bounds.moment_center;
    for (int i = 0; i < KIT_ROWS(shifts); i++) {
        const certreg_mean_change got = shift_of(&bounds, shifts[i]);
        const uint32_t unsure = solver_info(solver).loose;
        const certreg_mean_change other = shift_of(&mirror, shifts[i]);
        if (unsure || solver_info(solver).loose) continue;
        ck_assert_double_eq(got.drop, other.rise);
        ck_assert_double_eq(got.rise, other.drop);
        ck_assert_double_eq(got.mean_least, -other.mean_greatest);
    }
}

/* The moment is also used where mean and variance are: it bounds the two together. A mean that is
 * given limits the box in every family. */
TEST_RANGE(worst_case_family_leaves_out_constraints, 1, ALL + 1)
{
    const uint32_t family = (uint32_t)_i, both = M | V;
    for (int moment = 0; moment < 2; moment++) {
        const certreg_bounds all = of_kinds(moment ? ALL | Q : ALL);
        const uint32_t used = family | (moment && (family & both) == both ? (uint32_t)Q : 0);
        certreg_bounds only = all;
        only.constraints = used | M;
        const certreg_mean_change got = shift_by(&all, family, 0.7, 0), want = shift_of(&only, 0.7);
        ck_assert_uint_eq(got.constraints, used);
        ck_assert_double_eq(got.rise, want.rise);
        ck_assert_double_eq(got.drop, want.drop);
    }
    const certreg_bounds every = of_kinds(EVERY_KIND);
    ck_assert_uint_eq(shift_of(&every, 0.7).constraints, EVERY_KIND);
}

/* ---- limits */
TEST_RANGE(worst_case_at_radius_zero_is_zero, 1, SETS + 1)
{
    const uint32_t constraints = kinds_of((uint32_t)_i);
    if (!(constraints & (V | R | Q))) return; /* nothing bounds the function: see below */
    const certreg_bounds bounds = of_kinds(constraints);
    const certreg_mean_change got = shift_of(&bounds, 0);
    ck_assert(got.rise == 0 && got.drop == 0);
    if (constraints & M) ck_assert(got.mean_least == 0.2 && got.mean_greatest == 0.3);
    if (constraints == Q) ck_assert_double_eq_tol(got.mean_greatest, 0.25 + sqrt(0.22), 1e-15);
}

static const struct {
    uint32_t constraints;
    double mean, variance, radius;
} unvarying[] = {
    /* constraints, mean, variance, radius: nothing varies, or the mean is an end of the range */
    {V, 0.25, 0, 2},     {M | V, 0.25, 0, 2},    {M | V | R, 0.25, 0, 2},
    {V | G, 0.25, 0, 2}, {ALL, 0.25, 0, 2},      {Q, 0.25, 0, 2},
    {Q | R, 0.25, 0, 2}, {M | V | R, 1, 0.5, 3}, {M | V | R, -1, 0.5, 3},
};

TEST_ROWS(worst_case_of_what_cannot_vary_is_zero, unvarying)
{
    const double mean = unvarying[_i].mean;
    certreg_bounds bounds =
        known(unvarying[_i].constraints, mean, unvarying[_i].variance, 0, -1, 1);
    bounds.moment_center = mean;
    const certreg_mean_change got = shift_of(&bounds, unvarying[_i].radius);
    ck_assert(got.rise == 0 && got.drop == 0);
    if (bounds.constraints & Q) ck_assert(got.mean_least == mean && got.mean_greatest == mean);
}

/* All of the moment is the square of the distance: what is left of the variance is rounding, and
 * is not taken for nothing. */
TEST_TIMES(worst_case_of_a_mean_at_the_end_of_the_moment_is_tiny, 2)
{
    certreg_bounds bounds = known(Q | M | (_i ? (uint32_t)R : 0), 0.25 + 0.6, 0, 0, -1, 1.5);
    bounds.moment_center = 0.25, bounds.moment_hi = 0.36;
    const certreg_mean_change got = shift_of(&bounds, 1);
    ck_assert(got.rise >= 0 && got.rise < 1e-7 && got.drop >= 0 && got.drop < 1e-7);
}

static const uint32_t boundless[] = {0, M, G, M | G};

TEST_ROWS(worst_case_is_infinite_if_nothing_is_bounded, boundless)
{
    const certreg_bounds bounds = known(boundless[_i], 0.2, 0.5, 0.1, 0, 0);
    const certreg_mean_change got = shift_of(&bounds, 1e-3);
    ck_assert(got.rise == INFINITY && got.drop == INFINITY);
    ck_assert(got.mean_least == -INFINITY && got.mean_greatest == INFINITY);
}

TEST(worst_case_is_infinite_on_the_open_side_of_the_range)
{
    const certreg_bounds above = known(M | R, 0.2, 0, 0, 0, INFINITY),
                         below = known(M | R, 0.2, 0, 0, -INFINITY, 1);
    const certreg_mean_change up = shift_of(&above, 0.5), down = shift_of(&below, 0.5);
    ck_assert(up.rise == INFINITY && up.mean_least >= 0 && down.drop == INFINITY);
    ck_assert_double_eq_tol(up.drop, 0.2, 1e-15);
    ck_assert_double_eq_tol(down.rise, 0.8, 1e-15);
}

static const double far_radii[] = {9, 14, 25.9, 26.1, 1e3, 1e300, INFINITY};

TEST_ROWS(worst_case_at_huge_radii_leaves_the_range, far_radii)
{
    certreg_bounds bounds = given(ALL, 0.1, 0.3, 0.2, 0.15, 0.15, -1, 1.5);
    const certreg_mean_change got = shift_of(&bounds, far_radii[_i]);
    ck_assert(got.rise > 1 && got.rise <= 1.4 * (1 + DBL_EPSILON));
    ck_assert(got.drop > 1 && got.drop <= 1.3 * (1 + DBL_EPSILON));
    ck_assert(got.mean_greatest <= 1.5 && got.mean_least >= -1);
    bounds.constraints = V;
    ck_assert(shift_of(&bounds, far_radii[_i]).rise > 1e15);
}

TEST(worst_case_of_extreme_moments_neither_overflows_nor_vanishes)
{
    static const double hi[] = {5e-324, 1e-300, 1e-200, 1e200, 1e300, DBL_MAX},
                        center[] = {0, 1e-160, 1, 1e150, -1e300, DBL_MAX};
    for (int i = 0; i < KIT_ROWS(hi); i++)
        for (int j = 0; j < KIT_ROWS(center); j++) {
            certreg_bounds bounds = of_kinds(Q);
            bounds.moment_hi = hi[i], bounds.moment_center = center[j];
            const certreg_mean_change got = shift_of(&bounds, 1);
            ck_assert(got.rise >= sqrt(hi[i]) * sqrt(expm1(1)) * (1 - 1e-15));
            ck_assert(got.mean_greatest >= center[j] + sqrt(hi[i]));
        }
}

/* ---- inputs that once broke it */
TEST(worst_case_of_the_least_variances_of_a_double)
{
    const certreg_bounds least = given(V, 0, 0, 1e-307, 0, 0, 0, 0),
                         far = given(V, 0, 0, 1e-290, 0, 0, 0, 0);
    ck_assert_double_eq_tol(within(&least, 1.685e-154).radius, 0.5, 1e-3);
    ck_assert_double_ge(shift_of(&far, 9).drop, 1e-145 * exp(40.5) * (1 - 1e-12));
}

TEST(worst_case_loses_nothing_by_rounding_of_the_radius)
{
    certreg_bounds b = given(V, 0, 0, 1638.7059222015382, 0, 0, 0, 0);
    b.sigma = 0.19978451350590259;
    const long double r = 4.728467421933324L / (long double)b.sigma;
    ck_assert((long double)shift_of(&b, 4.728467421933324).rise >=
              sqrtl((long double)b.variance_hi * expm1l(r * r)));
}

TEST(worst_case_at_the_least_radii_is_positive)
{
    const certreg_bounds b = given(ALL, 0.1, 0.1, 0.2, 0.15, 0.15, -1, 1);
    certreg_bounds coarse = b;
    coarse.sigma = 1e300;
    ck_assert_double_gt(shift_of(&coarse, 1e-300).rise, 0);
    ck_assert_double_gt(shift_of(&b, 1e-300).rise, 1.4e-301);
}

TEST(worst_case_is_not_enlarged_by_a_gradient)
{
    const double m = -0.046892412913494864, r = 0.063455700633618509;
    const certreg_bounds all = given(ALL, m, m, 0.00015672592732602551, 0.0012004993641987463,
                                     1.2004993641987463, -0.047241663060180655,
                                     0.40399393403227613);
    certreg_bounds fewer = all;
    fewer.constraints = M | V | R;
    ck_assert_double_le(shift_of(&all, r).rise, shift_of(&fewer, r).rise * (1 + 1e-9));
    ck_assert_double_le(shift_of(&all, r).drop, shift_of(&fewer, r).drop * (1 + 1e-9));
}

/* ---- places far away, and at the edge of what is feasible */
typedef struct place {
    certreg_bounds bounds;
    double radius, rise, drop; /* what a function with these constraints reaches; 0: it exists */
    double mean_greatest, mean_least;
} place;

#define LISTED(mask, unit, m0, m1, c, g0, g1, lo, hi, at, m2)                                     \
    {                                                                                             \
        .struct_size = sizeof(certreg_bounds), .constraints = mask, .sigma = unit, .mean_lo = m0, \
        .mean_hi = m1, .variance_hi = c, .gradient_lo = g0, .gradient_hi = g1, .range_lo = lo,    \
        .range_hi = hi, .moment_center = at, .moment_hi = m2                                      \
    }
#define ANYWHERE -INFINITY, INFINITY

static const place places[] = {
    {LISTED(EVERY_KIND, 0.87504802679147153, -1081223.0786552636, INFINITY, 0.070470359242503694,
            0.14340744864851224, 0.1437092491318627, -1081224.0023548061, -1081223.0023548061,
            -1081223.0786454235, 0.070470362223892788),
     28.39228775894108, 0, 0.9237093826539346, ANYWHERE},
    {LISTED(M | V | G | Q, 1, -1.7976931348623157e+308, -8.8994338142219541e-68,
            1.2723705290714766e-135, 0, 2.2878021162324993e-68, 0, 0, -8.899433814801131e-68,
            1.2723697534395478e-135),
     1.9128465397751284e-129, 1e-197, 1e-197, ANYWHERE},
    {LISTED(ALL, 1, -5.7519772435631197e-129, 1.7976931348623157e+308, 1.1215384750196276e-61,
            6.0741123789384787e-131, 6.0741123856769538e-131, -5.7706116382114285e-129,
            4.9259626215052284e-140, 0, 0),
     25.407475460081905, 5.75e-129, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 17592186044416, -4.6667370513179343, 6.7983439653004449,
            0.77495467151946151, 0.71137782413227479, 0.71138370677259799, -7.859837943755787,
            -1.0218075901228578, -3.9901330545914711, 6.9588725856974749),
     18185978184682.789, 0, 1.164712952348565, -1.2598904837075191, INFINITY},
    /* means at an end of the range, between two neighbouring doubles, and at an open end */
    {LISTED(M | G | R, 1, -0.97000990550163402, -0.97000983103561056, 0, 4.579677425256509e-11,
            4.5796790817065048e-11, -0.97000983104217109, 0.68898101074825258, 0, 0),
     1, 0, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 1, 0.65558791061610611, INFINITY, 0.015927288195311574,
            0.074190203870388521, 0.074190203870388549, -0.070994163397230525, 0.9145633044176209,
            0.9145633044176209, 0.082995542789961199),
     8.9530884393978667, 0, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 2.3283064365386963e-10, 0.26487909022547912, 0.26487909022547923,
            3.876812072890337e-135, 3.628144743520849e-133, 3.6281447435208498e-133,
            -0.38256188173875955, 0.26487909022547917, 0.26487909022547917, 3.876812072890337e-135),
     2.9743654603103911e-13, 0, 0, ANYWHERE},
};

TEST_ROWS(worst_case_covers_functions_far_away_and_at_edges, places)
{
    const place *p = places + _i;
    const certreg_mean_change got = shift_of(&p->bounds, p->radius);
    ck_assert_double_ge(got.rise, p->rise);
    ck_assert_double_ge(got.drop, p->drop);
    ck_assert_double_ge(got.mean_greatest, p->mean_greatest);
    ck_assert_double_le(got.mean_least, p->mean_least);
}

/* Without an end in the way the worst function is a multiple of the likelihood ratio, which
 * stays above this lower end. */
TEST(worst_case_covers_an_open_range_at_large_radii)
{
    const double C = 4.4724997385795018e112, r = 16.504923567370735;
    const long double square = (long double)r * r;
    certreg_bounds b = given(ALL, 0.0030433896395022707, 0.0030433896395022711, C,
                             0.030263948667128348, 0.030263948667128351, -0.053825667221990531,
                             INFINITY);
    ck_assert((long double)shift_of(&b, r).rise >= sqrtl(C * expm1l(square)) * (1 - 1e-15L));
    b.constraints = 11;
    ck_assert((long double)shift_of(&b, r).rise >= sqrtl(C * expm1l(square)) * (1 - 1e-17L));
}

SOLVER_MAIN("solver")
