/* The size of the pilot and the prediction chosen from it. */
#include "statistics/location.h"
#include "support/simulate.h"
#include "support/suite.h"

#define PI 3.14159265358979323846

static double location(const float *y, size_t count, size_t step, double tolerance, double softness,
                       double origin, double period)
{
    const cr_values pilot = {
        .y = y, .count = count, .stride = step, .origin = origin, .period = period};
    return cr_pilot_location(&pilot, tolerance, softness);
}

static double prediction_of(const float *y, size_t count, size_t step, double tolerance,
                            size_t budget, double noise_free, double period)
{
    const cr_values pilot = {.y = y, .count = count, .stride = step, .period = period};
    return cr_pilot_prediction(&pilot, tolerance, budget, noise_free);
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

TEST(pilot_samples_of_almost_nothing_leave_a_sample)
{
    ck_assert_uint_eq(cr_pilot_samples(0, 64), 0);
    ck_assert_uint_eq(cr_pilot_samples(1, 64), 0);
    ck_assert_uint_eq(cr_pilot_samples(2, 64), 1);
    ck_assert_uint_eq(cr_pilot_samples(3, 0), 1);
    ck_assert_uint_eq(cr_pilot_samples(4, 1), 1);
    ck_assert_uint_eq(cr_pilot_samples(10000, 64), 1488);
    ck_assert_uint_eq(cr_pilot_samples(256, 64), 64);
    ck_assert_uint_eq(cr_pilot_samples(261, 64), 36); /* not 5 */
    ck_assert_uint_lt(cr_pilot_samples(SIZE_MAX, 64), SIZE_MAX);
}

/* Six values about 1 within the tolerance of 2, and two far out on one side: the score of those
 * stops growing. */
TEST(pilot_location_balances_the_tails)
{
    const float even[] = {-3, -1, 0, 1, 3};
    ck_assert_double_eq_tol(location(even, 5, 1, 2, 0.5, 0.1, 0), 0, 1e-9);
    /* One of nine lies 1.5 beyond the tolerance: the location moves towards it, to where it costs
     * least. */
    const float skewed[] = {0, 0, 0, 0, 0, 0, 0, 0, 3.5f};
    const double moved = location(skewed, 9, 1, 2, 0.5, 0, 0);
    ck_assert_double_gt(moved, 0.5);
    ck_assert_double_lt(moved, 2);
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
    const double theta = location(y, 31, 1, tolerance, h, 0.2, 0);
    double sum[3] = {0};
    for (int side = -1; side <= 1; side++)
        for (int i = 0; i < 31; i++) {
            const double t = (double)y[i] - theta - side * 1e-6, a = fabs(t) / tolerance;
            sum[side + 1] +=
                copysign(fmax(0, fmin((a - 1 + h) / (2 * h), 1)) + 0.05 * fmin(a, 1), t);
        }
    ck_assert_double_gt(sum[0], 0);
    ck_assert_double_lt(sum[2], 0);
    ck_assert_double_eq_tol(sum[1], 0, 1e-8);
}

TEST(pilot_prediction_shrinks_few_samples_to_the_clean_output)
{
    float y[90];
    for (int i = 0; i < 90; i++) y[i] = 1;
    ck_assert_double_eq_tol(prediction_of(y, 10, 1, 2, 100, 0, 0), 10 / 15.0, 1e-9);
    ck_assert_double_eq_tol(prediction_of(y, 90, 1, 2, 600, 0, 0), 90 / 95.0, 1e-9);
    ck_assert_double_eq_tol(prediction_of(y, 10, 1, 2, 100, NAN, 0), 1, 1e-9);
    ck_assert_double_eq(prediction_of(y, 0, 1, 2, 100, 0.25, 0), 0.25);
}

/* The output without noise is one of a kind that hardly any noisy one is. */
TEST(pilot_prediction_ignores_a_noise_free_output_far_away)
{
    float y[60];
    for (int i = 0; i < 60; i++) y[i] = i % 20 ? 0.01f * (float)(i % 7) : 5;
    const double prediction = prediction_of(y, 60, 1, 1, 400, 5, 0);
    ck_assert_double_eq(prediction, prediction_of(y, 60, 1, 1, 400, NAN, 0));
    ck_assert_double_lt(fabs(prediction), 1);
    const double turned = prediction_of(y, 60, 1, 1, 400, 5, 12);
    ck_assert_double_eq_tol(turned, prediction_of(y, 60, 1, 1, 400, NAN, 12), 1e-12);
    ck_assert_double_lt(fabs(turned), 1);
    /* Within two tolerances it counts. */
    ck_assert_double_gt(prediction_of(y, 10, 1, 4, 400, 5, 0), 1.5);
}

TEST(pilot_prediction_of_angles_works_across_the_cut)
{
    for (int turn = -6; turn <= 6; turn++) {
        const double origin = remainder(0.5 * turn, 2 * PI);
        float y[40];
        for (int i = 0; i < 40; i++)
            y[i] = (float)remainder(origin + 0.1 + 0.01 * (i - 19.5), 2 * PI);
        const double with = prediction_of(y, 40, 1, 0.3, 300, origin, 2 * PI);
        ck_assert_double_eq_tol(remainder(with - origin - 0.1 * 40 / 45, 2 * PI), 0, 1e-5);
        const double without = prediction_of(y, 40, 1, 0.3, 300, NAN, 2 * PI);
        ck_assert_double_eq_tol(remainder(without - origin - 0.1, 2 * PI), 0, 1e-5);
        ck_assert_double_le(fabs(with), PI);
        ck_assert_double_le(fabs(without), PI);
    }
}

TEST(pilot_prediction_skips_failed_outputs)
{
    float y[40];
    for (int i = 0; i < 40; i++) y[i] = i % 2 ? 1 : (i % 4 ? (float)NAN : (float)INFINITY);
    ck_assert_double_eq_tol(prediction_of(y, 40, 1, 2, 300, 0, 0), 20 / 25.0, 1e-9);
    /* every other one: all failed */
    ck_assert_double_eq_tol(prediction_of(y, 20, 2, 2, 300, 0.5, 0), 0.5, 1e-9);
    ck_assert_double_nan(prediction_of(y, 20, 2, 2, 300, NAN, 0));
    ck_assert_double_nan(prediction_of(y, 0, 1, 2, 300, NAN, 2 * PI));
    ck_assert_double_eq(prediction_of(y, 0, 1, 2, 300, INFINITY, 0) > 0, 0);
}

TEST_MAIN("prediction")
