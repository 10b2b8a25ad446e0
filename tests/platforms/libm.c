/* The errors of libm's functions that certificates use, over the ranges in which they use them. One
 * program prints the values, on the platform that is measured, and another compares them with those
 * of long double, which has 11 bits more at least: emulators take hours for long doubles. Both make
 * the same arguments. */
#include "base/bytes.h"
#include "platforms/platform.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
_Static_assert(LDBL_MANT_DIG >= 64, "long double has to know what is rounded to double");

/* LINEAR: uniform arguments. SIZES: all sizes alike; SIGNED: with either sign. */
enum spread { LINEAR, SIZES, SIGNED };

#define ONE(name) #name, name, name##l, NULL, NULL
#define TWO(name) #name, NULL, NULL, name, name##l
static const struct range {
    const char *name;
    double (*one)(double);
    long double (*exact_one)(long double);
    double (*two)(double, double);
    long double (*exact_two)(long double, long double);
    double allowed; /* units in the last place */
    enum spread spread;
    double from, to;
    double second[2]; /* of the second argument, LINEAR */
} ranges[] = {
    {ONE(erfc), 4, LINEAR, -6, 6, {0}},
    {ONE(erfc), 4, LINEAR, 0.8, 1.3, {0}},
    {ONE(erfc), 4, LINEAR, 6, 26.5, {0}},
    {ONE(erf), 4, LINEAR, -3, 3, {0}},
    {ONE(erf), 4, SIGNED, 1e-300, 1, {0}},
    {ONE(exp), 1, LINEAR, -708, 709, {0}},
    {ONE(exp), 1, LINEAR, -1, 1, {0}},
    {ONE(exp), 1, LINEAR, -745, -708, {0}},
    {ONE(expm1), 1, LINEAR, -40, 700, {0}},
    {ONE(expm1), 1, LINEAR, -1, 1, {0}},
    {ONE(expm1), 1, SIGNED, 1e-300, 1, {0}},
    {ONE(log), 1, LINEAR, 0.5, 2, {0}},
    {ONE(log), 1, LINEAR, 1 - 1e-3, 1 + 1e-3, {0}},
    {ONE(log), 1, SIZES, 1e-300, 1e300, {0}},
    {ONE(log1p), 1, LINEAR, -0.999, 3, {0}},
    {ONE(log1p), 1, SIGNED, 1e-300, 0.9, {0}},
    {ONE(log1p), 1, SIZES, 1e-300, 1e18, {0}},
    {ONE(cbrt), 4, LINEAR, -2, 2, {0}},
    {ONE(cbrt), 4, SIGNED, 1e-300, 1e100, {0}},
    {ONE(sin), 4, LINEAR, -7, 7, {0}},
    {ONE(sin), 4, SIGNED, 1e-300, 100, {0}},
    {ONE(cos), 4, LINEAR, -7, 7, {0}},
    {ONE(asin), 4, LINEAR, -1, 1, {0}},
    {ONE(exp2), 4, LINEAR, -1000, 1000, {0}},
    {ONE(exp2), 4, LINEAR, -3, 3, {0}},
    {ONE(log2), 4, SIZES, 1e-300, 1e300, {0}},
    {ONE(log10), 4, SIZES, 1e-300, 1e300, {0}},
    {ONE(tanh), 4, SIGNED, 1e-300, 20, {0}},
    {TWO(pow), 4, SIZES, 1e-12, 1e12, {-3, 3}},
    {TWO(atan2), 4, SIGNED, 1e-12, 1e12, {-1e3, 1e3}},
    {TWO(hypot), 4, SIGNED, 1e-12, 1e12, {-1e3, 1e3}},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

static uint64_t state;

static double uniform(double from, double to)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (to - from) * (double)(state >> 11) * 0x1p-53;
}

/* Without libm, so that all platforms have the same arguments. */
static double argument(const struct range *r, long i)
{
    const double from = (double)cr_bits_of_double(r->from), to = (double)cr_bits_of_double(r->to);
    if (i < 3) return i == 0 ? r->from : i == 1 ? r->to : 0.5 * (r->from + r->to);
    if (r->spread == LINEAR) return uniform(r->from, r->to);
    const double x = cr_double_of_bits((uint64_t)uniform(from, to) | (state >> 20 & 0x7FF));
    return r->spread == SIGNED && state >> 40 & 1 ? -x : x;
}

static long arguments_of(const struct range *r, long count)
{
    long same = 0;
    for (int i = 0; i < RANGES; i++) same += !strcmp(ranges[i].name, r->name);
    return count / same;
}

int platform_libm_values(long count)
{
    unsigned char bytes[8];
    for (const struct range *r = ranges; r < ranges + RANGES; r++)
        for (long i = 0; i < arguments_of(r, count); i++) {
            const double x = argument(r, i), y = r->two ? uniform(r->second[0], r->second[1]) : 0;
            cr_put64(bytes, cr_bits_of_double(r->two ? r->two(x, y) : r->one(x)));
            if (fwrite(bytes, sizeof bytes, 1, stdout) != 1) return 1;
        }
    return 0;
}

/* In units of the last place of the nearest double. */
static double error_of(double got, long double exact)
{
    const double nearest = (double)exact;
    int exponent;
    if (got == nearest && !isfinite(nearest)) return 0;
    (void)frexp(nearest, &exponent);
    const long double unit = ldexpl(1, exponent - 53 > -1074 ? exponent - 53 : -1074);
    const double error = (double)(fabsl((long double)got - exact) / unit);
    return error >= 0 ? error : INFINITY; /* NaN */
}

int platform_libm_errors(long count)
{
    int failed = 0;
    double worst = 0;
    const char *separator = "";
    unsigned char bytes[8];
    for (const struct range *r = ranges; r < ranges + RANGES; r++) {
        for (long i = 0; i < arguments_of(r, count); i++) {
            const double x = argument(r, i), y = r->two ? uniform(r->second[0], r->second[1]) : 0;
            if (fread(bytes, sizeof bytes, 1, stdin) != 1) return puts("not ok too few values"), 1;
            const double error = error_of(cr_double_of_bits(cr_get64(bytes)),
                                          r->two ? r->exact_two((long double)x, (long double)y)
                                                 : r->exact_one((long double)x));
            if (error > worst) worst = error;
        }
        if (r + 1 < ranges + RANGES && !strcmp(r->name, r[1].name)) continue;
        printf("%s%s %.2f", separator, r->name, worst);
        if (worst > r->allowed) failed = printf(" (%g allowed)", r->allowed);
        worst = 0;
        separator = ", ";
    }
    puts("");
    return failed != 0;
}
