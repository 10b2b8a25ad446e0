/* Scores along a direction, to the last bit: which outputs are out, and their range. */
#include "statistics/direction_net.h"
#include "statistics/score.h"
#include "support/suite.h"

static double random_number(void)
{
    return 2 * ((double)rand() / RAND_MAX) - 1;
}

static cr_score along(enum cr_score_kind kind, int32_t side, const double *center, double tolerance)
{
    const cr_direction d = cr_direction_net_direction(CR_NET_MEANS, 3, (size_t)rand() % 46);
    cr_score s = {
        .kind = kind, .side = side, .tolerance = tolerance, .center = center, .outputs = 3};
    for (int k = 0; k < 3; k++) s.unit_vector[k] = d.unit_vector[k];
    return s;
}

/* t of an output in long double, before the side. */
static long double place_of(const cr_score *s, const float *y)
{
    long double t = 0;
    for (int k = 0; k < 3; k++)
        t += (long double)s->unit_vector[k] * ((long double)y[k] - (long double)s->center[k]);
    return s->side * t;
}

/* Outputs with large parts that cancel: no rounding lets in what is out, whether they lie next to
 * the end of the interval, or beyond it by less than the last bit of the tolerance. */
TEST(score_along_a_direction_is_never_in_beyond_the_tolerance)
{
    size_t in = 0, tried = 0;
    srand(3);
    for (int i = 0; i < 200000; i++) {
        const double center[3] = {random_number() * 100, random_number(), random_number()};
        cr_score s = along(CR_SCORE_SIGN, i % 2 ? 1 : -1, center, 1e-3);
        const float y[3] = {(float)(center[0] + random_number() * 0.01),
                            (float)(center[1] + random_number() * 1e-3), (float)center[2]};
        const long double t = place_of(&s, y);
        const int is_in = cr_score_value(&s, y) > 0;
        if (is_in) ck_assert(t > -(long double)s.tolerance);
        else ck_assert(t < -(long double)s.tolerance * (1 - 1e-9L));
        in += is_in != 0;
        if (t > -1e-5L) continue;
        s.tolerance = (double)-t;
        while (-(long double)s.tolerance <= t) s.tolerance = nextafter(s.tolerance, 0);
        ck_assert_double_eq(cr_score_value(&s, y), -1);
        tried++;
    }
    ck_assert(in > 20000 && in < 180000 && tried > 20000);
}

/* Exactly at the end in real arithmetic: out, on both sides. */
TEST(score_along_a_direction_is_out_at_the_end)
{
    const double center[2] = {0, 0};
    for (int side = -1; side <= 1; side += 2) {
        const cr_score s = {.kind = CR_SCORE_SIGN,
                            .side = side,
                            .tolerance = 0.25,
                            .center = center,
                            .outputs = 2,
                            .unit_vector = {0.5, 0.86602540378443865}};
        ck_assert_double_eq(cr_score_value(&s, (float[]){-0.5f * (float)side, 0}), -1);
        ck_assert_double_eq(cr_score_value(&s, (float[]){-0.4999f * (float)side, 0}), 1);
        ck_assert_double_eq(cr_score_value(&s, (float[]){NAN, 0}), -1);
        ck_assert_double_eq(cr_score_value(&s, (float[]){0, NAN}), -1);
    }
}

TEST(score_range_contains_linear_scores)
{
    srand(4);
    for (int i = 0; i < 100000; i++) {
        const double center[3] = {random_number(), random_number(), random_number()};
        double lo[3], hi[3], least, greatest;
        float y[3];
        for (int k = 0; k < 3; k++) {
            const float a = (float)(random_number() * 5), b = (float)(random_number() * 5);
            lo[k] = (double)fminf(a, b), hi[k] = (double)fmaxf(a, b);
            y[k] = rand() % 2 ? a : b; /* corners of the box, where the ends are attained */
        }
        const cr_score s = along(i % 2 ? CR_SCORE_LINEAR : CR_SCORE_OUTPUT, i % 4 < 2 ? 1 : -1,
                                 i % 2 ? center : NULL, 0.3);
        cr_score_range(&s, lo, hi, &least, &greatest);
        const double u = cr_score_value(&s, y);
        ck_assert(u >= least && u <= greatest);
        ck_assert_double_gt(cr_score_rounding_error(&s, lo, hi), 0);
        ck_assert_double_lt(cr_score_rounding_error(&s, lo, hi), 1e-13);
    }
}

/* What rounding may change is measured at the farther end of the range. */
TEST(score_rounding_error_counts_the_end_far_from_the_center)
{
    const double lo[3] = {-1, -1, -1}, hi[3] = {1e6, 1, 1}, mirrored[3] = {-1e6, -1, -1},
                 center[3] = {0}, ones[3] = {1, 1, 1};
    cr_score s = {.kind = CR_SCORE_LINEAR, .side = 1, .outputs = 3, .unit_vector = {0.6, 0, 0.8}};
    s.center = center;
    ck_assert_double_ge(cr_score_rounding_error(&s, lo, hi), 0.6e6 * DBL_EPSILON);
    ck_assert_double_ge(cr_score_rounding_error(&s, mirrored, ones), 0.6e6 * DBL_EPSILON);
}

TEST(score_range_of_zero_times_an_infinite_end_is_zero)
{
    const double lo[3] = {-INFINITY, -1, -2}, hi[3] = {INFINITY, 3, 5};
    cr_score s = {.kind = CR_SCORE_OUTPUT, .side = 1, .outputs = 3, .unit_vector = {0, 0.6, -0.8}};
    double least, greatest;
    cr_score_range(&s, lo, hi, &least, &greatest);
    ck_assert_double_eq_tol(least, -0.6 - 4, 1e-13);
    ck_assert_double_eq_tol(greatest, 1.8 + 1.6, 1e-13);
    s.unit_vector[0] = 1e-300;
    cr_score_range(&s, lo, hi, &least, &greatest);
    ck_assert(least == -INFINITY && greatest == INFINITY);
    ck_assert_double_eq(cr_score_rounding_error(&s, lo, hi), 0);
}

TEST_MAIN("score")
