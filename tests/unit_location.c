/* Locations against sorting and by hand, on the line and on the circle. */
#include "statistics/location.h"
#include "support/simulate.h"
#include "support/suite.h"

#define MOST 400
#define PI 3.14159265358979323846

/* Values of wildly different size and sign, with ties, in column 1 of 3; the failed ones are
 * left out of `sorted`. */
static size_t wild_values(uint64_t seed, size_t count, float *y, double *sorted)
{
    simulate_source source;
    simulate_seed(&source, seed);
    size_t usable = 0;
    for (size_t i = 0; i < count; i++) {
        const double u = simulate_uniform(&source), x = simulate_normal(&source);
        float value = (float)(x * pow(10, 60 * u - 30));
        if (u < 0.1) value = NAN;
        else if (u < 0.15) value = -INFINITY;
        else if (u < 0.3) value = x > 0 ? 0.f : -0.f;
        else if (u < 0.5) value = (float)round(x);
        y[3 * i + 1] = value;
        if (isfinite(value)) sorted[usable++] = (double)value;
    }
    kit_sort(sorted, usable);
    return usable;
}

TEST_TIMES(location_order_and_median_agree_with_sorting, 11)
{
    static float y[3 * MOST];
    static double sorted[MOST];
    const size_t count = 1 + (size_t)_i * 37;
    const size_t usable = wild_values((uint64_t)_i, count, y, sorted);
    const cr_values values = {.y = y + 1, .count = count, .stride = 3, .origin = 5};
    ck_assert_uint_eq(cr_location_count(&values), usable);
    for (size_t rank = 0; rank < usable; rank++)
        ck_assert_double_eq(cr_location_order(&values, rank), sorted[rank]);
    ck_assert_double_nan(cr_location_order(&values, usable));
    if (usable == 0) return;
    const double middle = 0.5 * (sorted[(usable - 1) / 2] + sorted[usable / 2]);
    ck_assert_double_eq_tol(cr_location_median(&values), middle, 1e-15 * fabs(middle) + DBL_MIN);
}

TEST(location_mean_skips_failed_outputs)
{
    const float y[] = {1, NAN, 2, INFINITY, 6};
    const cr_values values = {.y = y, .count = 5, .stride = 1};
    ck_assert_double_eq(cr_location_mean(&values), 3);
    ck_assert_uint_eq(cr_location_count(&values), 3);
}

TEST(location_huber_lies_between_median_and_mean)
{
    const float y[] = {0, 1, 2, 3, 100};
    const cr_values values = {.y = y, .count = 5, .stride = 1};
    ck_assert_double_eq_tol(cr_location_huber(&values, 1e6), cr_location_mean(&values), 1e-6);
    ck_assert_double_eq_tol(cr_location_huber(&values, 1e-3), 2, 2e-3);
    /* width 1: scores -1, clip(1 - t), clip(2 - t), clip(3 - t), 1 vanish at t = 2 */
    ck_assert_double_eq_tol(cr_location_huber(&values, 1), 2, 1e-9);
    /* width 2: -1 + (1-t)/2 + (2-t)/2 + (3-t)/2 + 1 = 0 at t = 2 as well; with 0 moved to 1.5:
     * (1.5+1+2+3-4t)/2 + 1 = 0 */
    const float moved[] = {1.5f, 1, 2, 3, 100};
    const cr_values other = {.y = moved, .count = 5, .stride = 1};
    ck_assert_double_eq_tol(cr_location_huber(&other, 2), 9.5 / 4, 1e-9);
}

/* Halvings of the whole range end far from the root. */
TEST_TIMES(location_huber_is_exact_beside_huge_values, 3)
{
    const float huge[] = {1e14f, 1e30f, -FLT_MAX};
    float y[101];
    for (int i = 0; i < 101; i++) y[i] = i % 2 ? 0.01f : -0.01f;
    y[100] = huge[_i];
    const cr_values values = {.y = y, .count = 101, .stride = 1};
    const double root = 0.02 / 100 * (_i < 2 ? 1 : -1); /* -100 theta / 0.02 + or - 1 = 0 */
    ck_assert_double_eq_tol(cr_location_huber(&values, 0.02), root, 1e-9);
    y[99] = y[100]; /* an even number of values, the middle ones of which are equal */
    const cr_values even = {.y = y, .count = 100, .stride = 1};
    ck_assert_double_lt(fabs(cr_location_huber(&even, 0.02)), 0.01);
}

static void sign_of(double t[CR_LOCATION_CHUNK], const void *setting)
{
    (void)setting;
    for (int k = 0; k < CR_LOCATION_CHUNK; k++) t[k] = (t[k] > 0) - (t[k] < 0);
}

TEST(location_root_of_a_flat_stretch_is_its_midpoint)
{
    const float y[] = {0, 1, 4, 9};
    const cr_values values = {.y = y, .count = 4, .stride = 1};
    ck_assert_double_eq_tol(cr_location_root(&values, sign_of, NULL, -10, 10), 2.5, 1e-9);
    /* a flat bracket */
    ck_assert_double_eq_tol(cr_location_root(&values, sign_of, NULL, 2, 3), 2.5, 1e-9);
    ck_assert_double_eq(cr_location_root(&values, sign_of, NULL, 5, 6), 5);
    ck_assert_double_eq(cr_location_root(&values, sign_of, NULL, -2, -1), -1);
}

/* By how much the sum of scores exceeds what counts as level; below it, negative. */
static double excess_at(const float *y, size_t count, double width, double theta, double level)
{
    double sum = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        const double score = fmax(-1, fmin(((double)y[i] - theta) / width, 1));
        sum += score, size += fabs(score);
    }
    return sum - level * size;
}

/* What is sure without a sum leaves the bits as they are. */
TEST_TIMES(location_huber_is_where_bisection_ends, 60)
{
    float y[MOST];
    simulate_source source;
    const size_t count = 2 + (size_t)_i * 6;
    const double width = exp2(_i % 12 - 8);
    double lo = 9, hi = -9;
    simulate_seed(&source, (uint64_t)_i);
    for (size_t i = 0; i < count; i++) {
        y[i] = (float)simulate_normal(&source);
        lo = fmin(lo, (double)y[i]), hi = fmax(hi, (double)y[i]);
    }
    const double span = hi - lo, found = cr_location_huber(
                                     &(cr_values){.y = y, .count = count, .stride = 1}, width);
    for (int i = 0; i < 48; i++) {
        const double middle = lo + 0.5 * (hi - lo);
        if (excess_at(y, count, width, middle, 1e-13) > 0) lo = middle;
        else hi = middle;
    }
    const double first = lo + 0.5 * (hi - lo);
    if (excess_at(y, count, width, first + ldexp(span, -44), -1e-13) < 0)
        ck_assert_double_eq(found, first);
    else ck_assert_double_ge(found, first); /* the middle of a flat stretch */
}

TEST_TIMES(locations_move_with_the_circle, 9)
{
    /* about the cut of (-pi, pi]: turned by any angle, every location turns with them */
    const double turn = 0.7 * _i;
    float y[5];
    const double gaps[] = {-0.4, -0.1, 0, 0.2, 0.5};
    for (int i = 0; i < 5; i++) y[i] = (float)remainder(gaps[i] + turn, 2 * PI);
    const cr_values values = {
        .y = y, .count = 5, .stride = 1, .origin = remainder(turn, 2 * PI), .period = 2 * PI};
    ck_assert_double_eq_tol(cr_location_median(&values), 0, 1e-6);
    ck_assert_double_eq_tol(cr_location_mean(&values), 0.04, 1e-6);
    ck_assert_double_eq_tol(cr_location_huber(&values, 10), 0.04, 1e-6);
    double cosines = 0, sines = 0;
    for (int i = 0; i < 5; i++) cosines += cos(gaps[i]), sines += sin(gaps[i]);
    const double mean = cr_location_circular_mean(&values);
    ck_assert_double_eq_tol(remainder(mean - turn - atan2(sines, cosines), 2 * PI), 0, 1e-6);
}

static double mean_of_degrees(const float *y, size_t count)
{
    const cr_values values = {.y = y, .count = count, .stride = 1, .period = 360};
    return cr_location_circular_mean(&values);
}

TEST(location_circular_mean_keeps_the_unit_of_the_period)
{
    const float degrees[] = {350, 10, 30};
    ck_assert_double_eq_tol(mean_of_degrees(degrees, 3), 10, 1e-9);
    const float opposite[] = {0, NAN, 180};
    ck_assert(fabs(mean_of_degrees(opposite, 2)) < 1e-9);
    ck_assert_double_nan(mean_of_degrees(opposite + 1, 1));
}

TEST(location_of_equal_values_is_their_value)
{
    const float y[] = {-7.25f, -7.25f, -7.25f, -7.25f};
    const cr_values values = {.y = y, .count = 4, .stride = 1};
    ck_assert_double_eq(cr_location_median(&values), -7.25);
    ck_assert_double_eq(cr_location_mean(&values), -7.25);
    ck_assert_double_eq(cr_location_huber(&values, 0.1), -7.25);
}

TEST(location_order_of_extreme_floats)
{
    const float y[] = {FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -FLT_TRUE_MIN, 0};
    const cr_values values = {.y = y, .count = 5, .stride = 1};
    ck_assert_double_eq(cr_location_order(&values, 0), -(double)FLT_MAX);
    ck_assert_double_eq(cr_location_order(&values, 1), -(double)FLT_TRUE_MIN);
    ck_assert_double_eq(cr_location_order(&values, 2), 0);
    ck_assert_double_eq(cr_location_order(&values, 4), (double)FLT_MAX);
    ck_assert_double_eq(cr_location_median(&values), 0);
}

TEST(location_of_nothing_is_nan)
{
    const float y[] = {NAN, INFINITY};
    const cr_values failed = {.y = y, .count = 2, .stride = 1},
                    empty = {.y = y, .count = 0, .stride = 1};
    const cr_values *const cases[] = {&failed, &empty};
    for (int i = 0; i < 2; i++) {
        ck_assert_double_nan(cr_location_median(cases[i]));
        ck_assert_double_nan(cr_location_mean(cases[i]));
        ck_assert_double_nan(cr_location_huber(cases[i], 1));
        ck_assert_double_nan(cr_location_order(cases[i], 0));
    }
    const float one[] = {1};
    const cr_values single = {.y = one, .count = 1, .stride = 1};
    ck_assert_double_nan(cr_location_huber(&single, 0));
    ck_assert_double_nan(cr_location_huber(&single, NAN));
}

TEST_MAIN("location")
