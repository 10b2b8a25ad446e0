/* How far off the functions of libm are that certificates use, over the ranges in which they use
 * them, and at their edges: against those of long double, which has 11 bits more at least. */
#include "platforms/platform.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
_Static_assert(LDBL_MANT_DIG >= 64, "long double has to know what is rounded to double");

enum { POINTS = 20000 };
static uint64_t state;
static double worst, worst_at[2];

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

static void take(double x, double y, double got, long double want)
{
    const double near = (double)want;
    int exponent;
    double off = got == near ? 0 : INFINITY;
    (void)frexp(near, &exponent);
    if (isfinite(got) && isfinite(near))
        off = (double)(fabsl((long double)got - want) /
                       ldexpl(1, exponent - 53 > -1074 ? exponent - 53 : -1074));
    if (!(off <= worst)) worst = off, worst_at[0] = x, worst_at[1] = y;
}

typedef long double exact(long double);

static void one(double (*f)(double), exact *to, double from, double end)
{
    for (int i = 0; i < POINTS; i++) {
        const double middle = 0.5 * (from + end);
        const double x = i == 0 ? from : i == 1 ? end : i == 2 ? middle : uniform(from, end);
        take(x, 0, f(x), to((long double)x));
    }
}

static void small(double (*f)(double), exact *to, double most, int negative)
{
    for (int i = 0; i < POINTS; i++) {
        const double x = of_all_sizes(1e-300, most), at = negative ? x : fabs(x);
        take(at, 0, f(at), to((long double)at));
    }
}

static void two(double (*f)(double, double), long double (*to)(long double, long double),
                int positive)
{
    for (int i = 0; i < POINTS; i++) {
        const double x = of_all_sizes(1e-12, 1e12), y = uniform(positive ? -3 : -1e3, 1e3);
        const double at = positive ? fabs(x) : x, by = positive ? fmod(y, 3) : y;
        take(at, by, f(at, by), to((long double)at, (long double)by));
    }
}

/* Whether the function is off by more than certificates have margin for. */
static int tell(const char *name, double most)
{
    const int failed = !(worst <= most);
    printf("%s%s %.2f, at %a %a\n", failed ? "not ok " : "", name, worst, worst_at[0], worst_at[1]);
    worst = 0;
    return failed;
}

int platform_libm(void)
{
    int failed = 0;
    one(erfc, erfcl, -6, 6), one(erfc, erfcl, 0.8, 1.3), one(erfc, erfcl, 6, 26.5);
    failed += tell("erfc", 4);
    one(erf, erfl, -3, 3), small(erf, erfl, 1, 1), failed += tell("erf", 4);
    one(exp, expl, -708, 709), one(exp, expl, -1, 1), one(exp, expl, -745, -708);
    failed += tell("exp", 1);
    one(expm1, expm1l, -40, 700), one(expm1, expm1l, -1, 1), small(expm1, expm1l, 1, 1);
    failed += tell("expm1", 1);
    one(log, logl, 0.5, 2), one(log, logl, 1 - 1e-3, 1 + 1e-3), small(log, logl, 1e300, 0);
    failed += tell("log", 1);
    one(log1p, log1pl, -0.999, 3), small(log1p, log1pl, 0.9, 1), small(log1p, log1pl, 1e18, 0);
    failed += tell("log1p", 1);
    one(cbrt, cbrtl, -2, 2), small(cbrt, cbrtl, 1e100, 1), failed += tell("cbrt", 4);
    one(sin, sinl, -7, 7), small(sin, sinl, 100, 1), failed += tell("sin", 4);
    one(cos, cosl, -7, 7), failed += tell("cos", 4);
    one(asin, asinl, -1, 1), failed += tell("asin", 4);
    one(exp2, exp2l, -1000, 1000), one(exp2, exp2l, -3, 3), failed += tell("exp2", 4);
    two(pow, powl, 1), failed += tell("pow", 4);
    two(atan2, atan2l, 0), failed += tell("atan2", 4);
    two(hypot, hypotl, 0), failed += tell("hypot", 4);
    return failed != 0;
}
