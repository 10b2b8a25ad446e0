/* The normals of whole blocks against the Box-Muller formula, and against the distribution that
 * they claim. Radius, sine and cosine of all words are tests/proof/normals.c. */
#include "backend/lanes_scalar.h"
/* after the lanes */
#include "backend/cpu.h"
#include "backend/normal4.h"
#include "support/suite.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---- words */
/* Word n: the ends of the range and of quarter turns, the ends of what is strict, and others. */
static uint32_t word(uint32_t n)
{
    static const uint32_t ends[] = {
        0x20000000u, 0x40000000u,      0x80000000u,
        0xC0000000u, CR_NORMAL4_FIRST, CR_NORMAL4_FIRST + CR_NORMAL4_COUNT,
        0,           UINT32_MAX};
    return n < 64 ? ends[n / 8] + n % 8 - 4 : n * 2654435761u;
}
enum { WORDS = 512 };

/* The first of a pair is the sine; words are taken in order, and strict ones change nothing but
 * what they leave out. */
START_TEST(normals_of_a_block_are_those_of_its_words)
{
    for (uint32_t n = 0; n < WORDS * WORDS; n++) {
        const uint32_t words[4] = {word(n / WORDS), word(n % WORDS), word(n % WORDS),
                                   word(n / WORDS)};
        float e[4], strict[4];
        cr_normal4_from(words, 0, e);
        cr_normal4_from(words, 1, strict);
        for (int k = 0; k < 4; k++) {
            const uint32_t x = words[k & 2];
            const double u = (x + 0.5) * 0x1p-32, angle = (words[k | 1] + 0.5) * 0x1p-31 * PI,
                         r = sqrt(-2.0 * log(u)), exact = r * (k % 2 ? cos(angle) : sin(angle));
            const int near_ends = x < CR_NORMAL4_FIRST || x >= UINT32_MAX - 0xFFFFu;
            /* near u = 1 the radius is that of the right end */
            ck_assert_msg(fabs((double)e[k] - exact) <= 3e-7 * r + 0x1p-32 / r,
                          "%08x %08x: %.9g, not %.9g", x, words[k | 1], (double)e[k], exact);
            ck_assert(near_ends ? isnan(strict[k]) : strict[k] == e[k]);
        }
    }
}
END_TEST

/* ---- distribution */

enum { INPUTS = 1024, SAMPLES = 4096, COUNT = INPUTS * SAMPLES };
static float *e; /* COUNT normals of seed 2024, stream 5 */

static void setup(void)
{
    const cr_noise noise = {.seed = 2024, .noise_id = 5, .inputs = INPUTS};
    e = malloc(COUNT * sizeof *e);
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(cr_cpu_normals(cr_backend_default(), &noise, 0, SAMPLES, e), CERTREG_OK);
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
    tcase_add_test(kit_case(suite, "words"), normals_of_a_block_are_those_of_its_words);
    tcase_add_loop_test(typical, moments_are_those_of_the_normal, 1, 7);
    tcase_add_loop_test(typical, tails_are_those_of_the_normal, 0, 11);
    tcase_add_loop_test(typical, kolmogorov_smirnov_finds_no_difference, 0, 4);
    tcase_add_loop_test(typical, neighbours_are_uncorrelated, 0, LAGS);
    return kit_run(suite);
}
