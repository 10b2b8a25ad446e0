/* Numbers in long double with a bound of what rounding did to them, and the normal distribution in
 * such numbers. */
#ifndef CR_TESTS_KNOWN_H
#define CR_TESTS_KNOWN_H
#include <math.h>

typedef struct known { /* a number within error of value */
    long double value, error;
} known;

/* A few units in the last place of a long double of 64 bits. */
#define KNOWN_UNIT 0x1p-61L

static inline known known_sum(known a, known b)
{
    const long double value = a.value + b.value;
    return (known){value, a.error + b.error + KNOWN_UNIT * fabsl(value)};
}

static inline known known_product(known a, known b)
{
    const long double value = a.value * b.value;
    return (known){value, fabsl(a.value) * b.error + fabsl(b.value) * a.error + a.error * b.error +
                              KNOWN_UNIT * fabsl(value)};
}

static inline known known_exactly(long double value)
{
    return (known){value, 0};
}

static inline known known_minus(known a)
{
    return (known){-a.value, a.error};
}

static inline known known_root(known a)
{
    const long double least = sqrtl(fmaxl(0, a.value - a.error)), value = sqrtl(fmaxl(0, a.value)),
                      most = sqrtl(fmaxl(0, a.value + a.error));
    return (known){value, most - least + KNOWN_UNIT * most};
}

/* ---- one variable. An argument t that is rounded changes a tail by a share of its square. */
static inline known known_rounded(long double value, long double t)
{
    return (known){value, isinf(t) ? 0 : KNOWN_UNIT * (1 + t * t) * fabsl(value)};
}

static inline known known_mass(long double from, long double to)
{
    const long double half = sqrtl(0.5L);
    const int right = from > 0;
    const long double near = right ? from : -to, far = right ? to : -from;
    return known_sum(known_rounded(0.5L * erfcl(near * half), near),
                     known_minus(known_rounded(0.5L * erfcl(far * half), far)));
}

static inline known known_density(long double t)
{
    return isinf(t) ? known_exactly(0)
                    : known_rounded(expl(-0.5L * t * t) / sqrtl(8 * atanl(1)), t);
}

#endif
