/* The functions of libm that certificates use, over the ranges in which they use them, and at their
 * edges. ulp.c measures how far off they are. */
#include "platforms/platform.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { POINTS = 20000 };
static uint64_t state;

static double uniform(double from, double to)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (to - from) * (double)(state >> 11) * 0x1p-53;
}

/* Both signs of powers of ten, where it matters how small an argument is. */
static double of_all_sizes(double least, double most)
{
    const double x = exp2(uniform(log2(least), log2(most)));
    return state >> 40 & 1 ? x : -x;
}

static void one(const char *name, double (*f)(double), double from, double to)
{
    for (int i = 0; i < POINTS; i++) {
        const double x = i < 3 ? (i == 0   ? from
                                  : i == 1 ? to
                                           : 0.5 * (from + to))
                               : uniform(from, to);
        printf("%s %a %a\n", name, x, f(x));
    }
}

static void small(const char *name, double (*f)(double), double most, int negative)
{
    for (int i = 0; i < POINTS; i++) {
        const double x = of_all_sizes(1e-300, most), at = negative ? x : fabs(x);
        printf("%s %a %a\n", name, at, f(at));
    }
}

static void two(const char *name, double (*f)(double, double), int positive)
{
    for (int i = 0; i < POINTS; i++) {
        const double x = of_all_sizes(1e-12, 1e12), y = uniform(positive ? -3 : -1e3, 1e3);
        const double at = positive ? fabs(x) : x, by = positive ? fmod(y, 3) : y;
        printf("%s %a %a %a\n", name, at, by, f(at, by));
    }
}

int platform_libm(void)
{
    one("erfc", erfc, -6, 6), one("erfc", erfc, 0.8, 1.3), one("erfc", erfc, 6, 26.5);
    one("erf", erf, -3, 3), small("erf", erf, 1, 1);
    one("exp", exp, -708, 709), one("exp", exp, -1, 1), one("exp", exp, -745, -708);
    one("expm1", expm1, -40, 700), one("expm1", expm1, -1, 1), small("expm1", expm1, 1, 1);
    one("log", log, 0.5, 2), one("log", log, 1 - 1e-3, 1 + 1e-3), small("log", log, 1e300, 0);
    one("log1p", log1p, -0.999, 3), small("log1p", log1p, 0.9, 1), small("log1p", log1p, 1e18, 0);
    one("cbrt", cbrt, -2, 2), small("cbrt", cbrt, 1e100, 1);
    one("sin", sin, -7, 7), one("cos", cos, -7, 7), small("sin", sin, 100, 1);
    one("asin", asin, -1, 1), one("exp2", exp2, -1000, 1000), one("exp2", exp2, -3, 3);
    two("pow", pow, 1), two("atan2", atan2, 0), two("hypot", hypot, 0);
    return 0;
}
