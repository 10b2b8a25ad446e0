/* The normals against the Box-Muller formula in double, and against the distribution that they
 * claim. */
#include "backend/lanes_scalar.h"
/* after the lanes */
#include "backend/backend.h"
#include "backend/normal4.h"
#include "support/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define RADIUS_ERROR 1.1e-7 /* relative */
#define ANGLE_ERROR 7.6e-8  /* absolute, of sine and cosine */
#define NORMAL_ERROR 2e-7   /* times the radius: what normal4.h promises */

/* ---- accuracy */

enum { SWEEPS = 6, SWEEP = 1 << 18 };

/* Word n of a sweep: both ends, the middle of the range, around powers of two, and all of the
 * range evenly, twice. */
static uint32_t word(int sweep, uint32_t n)
{
    if (sweep == 0) return n;
    if (sweep == 1) return UINT32_MAX - n;
    if (sweep == 2) return 0x80000000u - SWEEP / 2 + n;
    if (sweep == 3) return (1u << n % 32) + (n / 32) % 64 - 32;
    return n * (UINT32_MAX / SWEEP) + (sweep == 4 ? 0 : 4099);
}

static float uniform(uint32_t x)
{
    return fmaf((float)x, 0x1p-32f, 0x1p-33f);
}
static double radius_of(uint32_t x)
{
    return sqrt(-2.0 * log((double)uniform(x)));
}
static double angle_of(uint32_t y)
{
    return ((double)y + 0.5) * 0x1p-32 * 2.0 * PI;
}

START_TEST(radius_is_right_to_an_ulp)
{
    for (uint32_t n = 0; n < SWEEP; n++) {
        const uint32_t x = word(_i, n);
        const double exact = radius_of(x), ours = (double)cr_normal4_radius(uniform(x));
        ck_assert_msg(fabs(ours - exact) <= RADIUS_ERROR * exact, "x = %08x: %.9g, not %.9g", x,
                      ours, exact);
    }
}
END_TEST

START_TEST(sine_and_cosine_are_right_to_an_ulp)
{
    for (uint32_t n = 0; n < SWEEP; n++) {
        const uint32_t y = word(_i, n);
        float sine, cosine;
        cr_normal4_sincos(y, &sine, &cosine);
        ck_assert_msg(fabs((double)sine - sin(angle_of(y))) <= ANGLE_ERROR, "sine of %08x is %.9g",
                      y, (double)sine);
        ck_assert_msg(fabs((double)cosine - cos(angle_of(y))) <= ANGLE_ERROR,
                      "cosine of %08x is %.9g", y, (double)cosine);
    }
}
END_TEST

START_TEST(normals_are_right_to_the_stated_error)
{
    for (uint32_t n = 0; n < SWEEP; n++) {
        const uint32_t words[4] = {word(_i, n), n * 2654435761u, n * 2246822519u, word(_i, n)};
        float e[4];
        cr_normal4_from(words, e);
        for (int k = 0; k < 4; k++) {
            const double r = radius_of(words[k & 2]), angle = angle_of(words[k | 1]);
            const double exact = r * (k % 2 ? cos(angle) : sin(angle));
            const double allowed = fmin(NORMAL_ERROR * r, r <= 4 ? 6e-7 : 1e-6);
            ck_assert_msg(fabs((double)e[k] - exact) <= allowed, "%08x %08x: %.9g, not %.9g",
                          words[k & 2], words[k | 1], (double)e[k], exact);
        }
    }
}
END_TEST

static const uint32_t extremes[] = {
    0,           1,           2,           0x1FFFFFFFu, 0x20000000u, 0x3FFFFFFFu, 0x40000000u,
    0x5FFFFFFFu, 0x60000000u, 0x7FFFFFFFu, 0x80000000u, 0x9FFFFFFFu, 0xA0000000u, 0xBFFFFFFFu,
    0xC0000000u, 0xE0000000u, 0xFFFFFF7Fu, 0xFFFFFF80u, 0xFFFFFFFEu, 0xFFFFFFFFu};
enum { EXTREMES = sizeof extremes / sizeof *extremes };

START_TEST(extreme_words_give_finite_normals)
{
    for (int i = 0; i < EXTREMES; i++) {
        float e[2];
        cr_normal4_pair(extremes[_i], extremes[i], e);
        ck_assert_msg(fabsf(e[0]) < 6.77f && fabsf(e[1]) < 6.77f, "%08x %08x: %g %g", extremes[_i],
                      extremes[i], (double)e[0], (double)e[1]);
    }
}
END_TEST

START_TEST(ends_of_the_range_are_the_ends_of_the_radius)
{
    ck_assert(cr_normal4_radius(uniform(UINT32_MAX)) == 0.0f);
    ck_assert(!signbit(cr_normal4_radius(uniform(UINT32_MAX))));
    ck_assert_double_eq_tol((double)cr_normal4_radius(uniform(0)), sqrt(66.0 * log(2.0)), 4e-7);
}
END_TEST

/* What the root on devices asks (lanes_scalar.h): of every u above 1/2, where -2 log u is small. */
START_TEST(no_root_is_of_a_tiny_number_but_of_0)
{
    float least = 9, most = 0;
    for (uint32_t bits = v_bits(0.5f); bits < v_bits(1.0f); bits++) {
        const float radius = cr_normal4_radius(v_from_bits(bits));
        least = radius < least || isnan(radius) ? radius : least;
        most = radius > most ? radius : most;
    }
    ck_assert_float_ge(least, 0x1p-12f);
    ck_assert_float_lt(most, 2);
}
END_TEST

/* ---- distribution */

enum { INPUTS = 1024, SAMPLES = 4096, COUNT = INPUTS * SAMPLES };
static float *e; /* COUNT normals of seed 2024, stream 5 */

static void setup(void)
{
    static float zero[INPUTS], one[INPUTS];
    for (int j = 0; j < INPUTS; j++) one[j] = 1.0f;
    const cr_noise noise = {.seed = 2024, .noise_id = 5, .inputs = INPUTS};
    e = malloc(COUNT * sizeof *e);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(
        cr_backend_default()->ops->draw(cr_backend_default(), &noise, zero, one, 0, SAMPLES, e),
        CERTREG_OK);
}
static void teardown(void)
{
    free(e);
}

/* Moments of the normal; the standard deviation of a mean of e^p is sqrt((E e^2p - (E e^p)^2) /
 * COUNT). */
static const double moments[] = {1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395};

START_TEST(moments_are_those_of_the_normal)
{
    const int p = _i;
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) sum += pow((double)e[i], p);
    const double deviation = sqrt((moments[2 * p] - moments[p] * moments[p]) / COUNT);
    ck_assert_msg(fabs(sum / COUNT - moments[p]) < 4 * deviation, "moment %d is %g", p,
                  sum / COUNT);
}
END_TEST

START_TEST(tails_are_those_of_the_normal)
{
    const double t = 0.5 * _i;
    double above = 0, below = 0;
    for (size_t i = 0; i < COUNT; i++) {
        above += (double)e[i] > t;
        below += (double)e[i] < -t;
    }
    const double expected = COUNT * 0.5 * erfc(t / sqrt(2.0));
    ck_assert_msg(fabs(above - expected) < 4 * sqrt(expected) + 1, "above %g: %g, expected %g", t,
                  above, expected);
    ck_assert_msg(fabs(below - expected) < 4 * sqrt(expected) + 1, "below %g: %g, expected %g", -t,
                  below, expected);
}
END_TEST

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

START_TEST(kolmogorov_smirnov_finds_no_difference)
{
    enum { N = COUNT / 4 };
    const double root = sqrt((double)N);
    double largest = 0;
    float *part = e + (size_t)_i * N;
    qsort(part, N, sizeof *part, by_size);
    for (size_t i = 0; i < N; i++) {
        const double p = 0.5 * erfc(-(double)part[i] / sqrt(2.0));
        largest = fmax(largest, fmax(p - (double)i / N, (double)(i + 1) / N - p));
    }
    /* exceeded once in a thousand */
    ck_assert_msg(root * largest < 1.95, "statistic %g", root * largest);
}
END_TEST

/* Normals this far apart: the two of a pair, the pairs of a block, blocks, samples. */
static const size_t lags[] = {1, 2, 3, 4, 5, 8, 64, INPUTS, INPUTS + 1, 16 * INPUTS};
enum { LAGS = sizeof lags / sizeof *lags };

START_TEST(neighbours_are_uncorrelated)
{
    const size_t n = COUNT - lags[_i];
    double products = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double a = (double)e[i], b = (double)e[i + lags[_i]];
        products += a * b;
        squares += (a * a - 1) * (b * b - 1);
    }
    ck_assert_msg(fabs(products) < 4 * sqrt((double)n), "products: %g", products / sqrt((double)n));
    ck_assert_msg(fabs(squares) < 4 * 2 * sqrt((double)n), "squares: %g",
                  squares / (2 * sqrt((double)n)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("normal4");
    TCase *typical = kit_case_with(suite, "typical", setup, teardown);
    TCase *limits = kit_case(suite, "limits");
    tcase_add_loop_test(typical, moments_are_those_of_the_normal, 1, 7);
    tcase_add_loop_test(typical, tails_are_those_of_the_normal, 0, 11);
    tcase_add_loop_test(typical, kolmogorov_smirnov_finds_no_difference, 0, 4);
    tcase_add_loop_test(typical, neighbours_are_uncorrelated, 0, LAGS);
    tcase_add_loop_test(limits, radius_is_right_to_an_ulp, 0, SWEEPS);
    tcase_add_loop_test(limits, sine_and_cosine_are_right_to_an_ulp, 0, SWEEPS);
    tcase_add_loop_test(limits, normals_are_right_to_the_stated_error, 0, SWEEPS);
    tcase_add_loop_test(limits, extreme_words_give_finite_normals, 0, EXTREMES);
    tcase_add_test(limits, ends_of_the_range_are_the_ends_of_the_radius);
    tcase_add_test(limits, no_root_is_of_a_tiny_number_but_of_0);
    return kit_run(suite);
}
