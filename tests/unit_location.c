/* Locations on the line and on the circle, order statistics and sorting, against sorting, counting
 * and by hand; the size of the pilot, and the prediction chosen from it. */
#include "statistics/location.h"
#include "support/simulate.h"
#include "support/suite.h"

enum { MOST = 400 };
#define PI 3.14159265358979323846

#define VALUES(array) \
    ((cr_values){.y = array, .count = sizeof(array) / sizeof *(array), .stride = 1})

/* ======== order statistics */
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
        else if (u < 0.52) value = x > 0 ? FLT_MAX : -FLT_TRUE_MIN;
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

static double at(const void *values, size_t i)
{
    return ((const double *)values)[i];
}

static const size_t kinds[] = {1, 2, 300, 1200};

/* Many that are equal, or differ in their last bits only; some are infinite. */
TEST_ROWS(order_select_and_sort_of_ties_agree_with_sorting, kinds)
{
    double values[1200], sorted[1200];
    for (size_t i = 0; i < 1200; i++) {
        values[i] = 1 + DBL_EPSILON * (double)(i * 7919 % kinds[_i]);
        if (i % 7 == 3) values[i] = i % 2 ? INFINITY : -INFINITY;
    }
    memcpy(sorted, values, sizeof values);
    kit_sort(sorted, 1200);
    const cr_indexed_values order = {.value = at, .context = values, .count = 1200};
    for (size_t rank = 0; rank < 1200; rank += 1 + rank % 5)
        ck_assert_double_eq(cr_order_select(&order, rank), sorted[rank]);
    ck_assert_double_nan(cr_order_select(&order, 1200));
    for (size_t count = 0; count <= 1200; count = 1 + 3 * count) {
        double some[1200], expected[1200];
        memcpy(some, values, sizeof some), memcpy(expected, values, sizeof some);
        cr_order_sort(some, count), kit_sort(expected, count);
        ck_assert_mem_eq(some, expected, sizeof some);
    }
}

typedef struct weighted {
    double value[60], weight[60];
} weighted;

static double value_at(const void *of, size_t i)
{
    return ((const weighted *)of)->value[i];
}

static double weight_at(const void *of, size_t i)
{
    return ((const weighted *)of)->weight[i];
}

/* Weights are multiples of 1/8, so that no sum rounds. */
TEST(order_weighted_threshold_agrees_with_counting)
{
    simulate_source source;
    simulate_seed(&source, 4);
    for (int run = 0; run < 3000; run++) {
        weighted w;
        const size_t count = 1 + (size_t)(59 * simulate_uniform(&source));
        double all = 0;
        for (size_t i = 0; i < count; i++) {
            w.value[i] = i % 9 ? floor(40 * simulate_uniform(&source)) / 4 - 5 : INFINITY;
            all += w.weight[i] = (1 + floor(20 * simulate_uniform(&source))) / 8;
        }
        const double budget = floor(8 * all * simulate_uniform(&source)) / 8;
        const cr_indexed_values order = {.value = value_at, .context = &w, .count = count};
        const double q = cr_order_weighted_threshold(&order, weight_at, budget);
        double above = 0, from = 0;
        for (size_t i = 0; i < count; i++) {
            above += w.value[i] > q ? w.weight[i] : 0;
            from += w.value[i] >= q ? w.weight[i] : 0;
        }
        ck_assert(above <= budget && from > budget);
    }
}

/* ======== locations */
TEST(location_of_equal_failed_or_no_outputs)
{
    const float y[] = {1, NAN, 2, INFINITY, 6}, equal[] = {-7.25f, -7.25f, -7.25f, -7.25f},
                bad[] = {NAN, INFINITY};
    const cr_values some = VALUES(y), same = VALUES(equal);
    ck_assert_double_eq(cr_location_mean(&some), 3);
    ck_assert_uint_eq(cr_location_count(&some), 3);
    ck_assert(cr_location_median(&same) == -7.25 && cr_location_huber(&same, 0.1) == -7.25);
    ck_assert(isnan(cr_location_huber(&same, 0)) && isnan(cr_location_huber(&same, NAN)));
    for (size_t count = 0; count <= 2; count += 2) {
        const cr_values none = {.y = bad, .count = count, .stride = 1};
        ck_assert(isnan(cr_location_median(&none)) && isnan(cr_location_mean(&none)));
        ck_assert(isnan(cr_location_huber(&none, 1)) && isnan(cr_location_order(&none, 0)));
    }
}

static const float huge[] = {1e14f, 1e30f, -FLT_MAX};

/* Halvings of the whole range end far from the root. */
TEST_ROWS(location_huber_is_exact_beside_huge_values, huge)
{
    float y[101];
    for (int i = 0; i < 101; i++) y[i] = i % 2 ? 0.01f : -0.01f;
    y[100] = huge[_i];
    const double root = copysign(0.02 / 100, (double)huge[_i]); /* -100 theta / 0.02 +- 1 = 0 */
    ck_assert_double_eq_tol(cr_location_huber(&VALUES(y), 0.02), root, 1e-9);
    y[99] = y[100]; /* an even number of values, the middle ones of which are equal */
    const cr_values even = {.y = y, .count = 100, .stride = 1};
    ck_assert_double_lt(fabs(cr_location_huber(&even, 0.02)), 0.01);
}

static void sign_of(double t[CR_LOCATION_CHUNK], const void *setting)
{
    (void)setting;
    for (int k = 0; k < CR_LOCATION_CHUNK; k++) t[k] = (t[k] > 0) - (t[k] < 0);
}

static const struct {
    double lo, hi, root;
} brackets[] = {{-10, 10, 2.5}, {2, 3, 2.5}, {5, 6, 5}, {-2, -1, -1}}; /* the second is flat */

TEST_ROWS(location_root_of_a_flat_stretch_is_its_midpoint, brackets)
{
    const float y[] = {0, 1, 4, 9};
    ck_assert_double_eq_tol(
        cr_location_root(&VALUES(y), sign_of, NULL, brackets[_i].lo, brackets[_i].hi),
        brackets[_i].root, 1e-9);
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

/* About the cut of (-pi, pi]: turned by any angle, every location turns with them. */
TEST_TIMES(locations_move_with_the_circle, 9)
{
    const double turn = 0.7 * _i, gaps[] = {-0.4, -0.1, 0, 0.2, 0.5};
    float y[5];
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
    const float degrees[] = {350, 10, 30}, opposite[] = {0, NAN, 180};
    ck_assert_double_eq_tol(mean_of_degrees(degrees, 3), 10, 1e-9);
    ck_assert_double_lt(fabs(mean_of_degrees(opposite, 2)), 1e-9);
    ck_assert_double_nan(mean_of_degrees(opposite + 1, 1));
}

/* ======== the pilot */
static double prediction_of(const float *y, size_t count, size_t step, double tolerance,
                            double noise_free, double period)
{
    const cr_values pilot = {.y = y, .count = count, .stride = step, .period = period};
    return cr_pilot_prediction(&pilot, tolerance, 600, noise_free);
}

TEST(pilot_samples_are_about_15_per_cent_and_leave_whole_blocks)
{
    for (size_t blocks = 0; blocks <= 128; blocks += 32)
        for (size_t max_samples = 2; max_samples < 20000; max_samples += 1 + max_samples / 50) {
            const size_t pilot = cr_pilot_samples(max_samples, blocks);
            ck_assert_uint_ge(pilot, 1);
            ck_assert_uint_lt(pilot, max_samples);
            const double n = (double)max_samples,
                         gap = fabs((double)pilot - 0.15 * n * n / (n + 20));
            if (blocks == 0 || max_samples < 4 * blocks) {
                ck_assert_double_le(gap, 1);
            } else if (gap > 1 || (max_samples - pilot) % blocks == 0) {
                ck_assert_uint_eq((max_samples - pilot) % blocks, 0);
                ck_assert_double_le(gap, 0.5 * (double)blocks + 1);
            } else { /* whole blocks would leave less than half */
                ck_assert_uint_lt((max_samples - 1) % blocks + 1, pilot / 2);
            }
        }
}

static const struct {
    size_t samples, blocks, pilot;
} few[] = {{0, 64, 0}, {1, 64, 0},    {2, 64, 1},    {3, 0, 1},
           {4, 1, 1},  {256, 64, 64}, {261, 64, 36}, {10000, 64, 1488}}; /* 36, not 5 */

TEST_ROWS(pilot_samples_of_almost_nothing_leave_a_sample, few)
{
    ck_assert_uint_eq(cr_pilot_samples(few[_i].samples, few[_i].blocks), few[_i].pilot);
    ck_assert_uint_lt(cr_pilot_samples(SIZE_MAX, 64), SIZE_MAX);
}

/* The root solves the equation that theory 6 writes down. */
TEST_TIMES(pilot_location_is_the_root_of_the_written_score, 10)
{
    const double tolerance = 0.8, h = _i % 2 ? 0.5 : 0.25;
    float y[31];
    simulate_source source;
    simulate_seed(&source, (uint64_t)_i);
    for (int i = 0; i < 31; i++)
        y[i] = (float)(0.3 + exp(0.5 * simulate_normal(&source)) * (i % 3 - 1));
    cr_values pilot = VALUES(y);
    pilot.origin = 0.2;
    const double theta = cr_pilot_location(&pilot, tolerance, h);
    double sum[3] = {0};
    for (int side = -1; side <= 1; side++)
        for (int i = 0; i < 31; i++) {
            const double t = (double)y[i] - theta - side * 1e-6, a = fabs(t) / tolerance;
            sum[side + 1] +=
                copysign(fmax(0, fmin((a - 1 + h) / (2 * h), 1)) + 0.05 * fmin(a, 1), t);
        }
    ck_assert(sum[0] > 0 && sum[2] < 0);
    ck_assert_double_eq_tol(sum[1], 0, 1e-8);
}

/* With f(z), far from it, without it; that of many samples has a narrower ramp. */
TEST(pilot_prediction_shrinks_few_samples_to_the_clean_output)
{
    float y[90], skewed[90];
    for (int i = 0; i < 90; i++) y[i] = 1, skewed[i] = i % 9 ? 0 : 3.5f;
    const cr_values pilot = VALUES(skewed);
    ck_assert_double_eq_tol(prediction_of(y, 10, 1, 2, 0, 0), 10 / 15.0, 1e-9);
    ck_assert_double_eq_tol(prediction_of(y, 90, 1, 2, 0, 0), 90 / 95.0, 1e-9);
    ck_assert_double_eq_tol(prediction_of(y, 10, 1, 2, NAN, 0), 1, 1e-9);
    ck_assert_double_eq(prediction_of(y, 0, 1, 2, 0.25, 0), 0.25);
    ck_assert_double_eq(cr_pilot_prediction(&pilot, 2, 1000, NAN),
                        cr_pilot_location(&pilot, 2, 0.5));
    ck_assert_double_eq(cr_pilot_prediction(&pilot, 2, 1001, NAN),
                        cr_pilot_location(&pilot, 2, 0.25));
}

/* The output without noise is one of a kind that hardly any noisy one is. */
TEST_TIMES(pilot_prediction_ignores_a_noise_free_output_far_away, 2)
{
    const double period = _i ? 12 : 0;
    float y[60];
    for (int i = 0; i < 60; i++) y[i] = i % 20 ? 0.01f * (float)(i % 7) : 5;
    const double prediction = prediction_of(y, 60, 1, 1, 5, period);
    ck_assert_double_eq_tol(prediction, prediction_of(y, 60, 1, 1, NAN, period), 1e-12);
    ck_assert_double_lt(fabs(prediction), 1);
    /* Within two tolerances it counts. */
    ck_assert_double_gt(prediction_of(y, 10, 1, 4, 5, period), 1.5);
}

TEST(pilot_prediction_of_angles_works_across_the_cut)
{
    for (int turn = -6; turn <= 6; turn++) {
        const double origin = remainder(0.5 * turn, 2 * PI);
        float y[40];
        for (int i = 0; i < 40; i++)
            y[i] = (float)remainder(origin + 0.1 + 0.01 * (i - 19.5), 2 * PI);
        const double with = prediction_of(y, 40, 1, 0.3, origin, 2 * PI),
                     without = prediction_of(y, 40, 1, 0.3, NAN, 2 * PI);
        ck_assert_double_eq_tol(remainder(with - origin - 0.1 * 40 / 45, 2 * PI), 0, 1e-5);
        ck_assert_double_eq_tol(remainder(without - origin - 0.1, 2 * PI), 0, 1e-5);
        ck_assert(fabs(with) <= PI && fabs(without) <= PI);
    }
    const float opposite[] = {(float)-PI / 2, (float)PI / 2}; /* without a mean direction */
    ck_assert(isfinite(prediction_of(opposite, 2, 1, 0.3, NAN, 2 * PI)));
}

TEST(pilot_prediction_skips_failed_outputs)
{
    float y[40];
    for (int i = 0; i < 40; i++) y[i] = i % 2 ? 1 : (i % 4 ? (float)NAN : (float)INFINITY);
    ck_assert_double_eq_tol(prediction_of(y, 40, 1, 2, 0, 0), 20 / 25.0, 1e-9);
    /* every other one: all failed */
    ck_assert_double_eq_tol(prediction_of(y, 20, 2, 2, 0.5, 0), 0.5, 1e-9);
    ck_assert_double_nan(prediction_of(y, 20, 2, 2, NAN, 0));
    ck_assert_double_nan(prediction_of(y, 0, 1, 2, NAN, 2 * PI));
    ck_assert_double_nan(prediction_of(y, 0, 1, 2, INFINITY, 0));
}

TEST_MAIN("locations, orders and the pilot")
