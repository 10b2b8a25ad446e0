/* Normals of 96-bit words in double-double arithmetic: a number is the sum of two doubles, the
 * second at most half a unit in the last place of the first. Relative errors are below 2^-102 for
 * sums and products (Joldes, Muller and Popescu 2017) and below 2^-96 for normals. Less than one
 * normal in 10^10 gets here, so the code is short rather than fast. */
#ifndef CR_BACKEND_DOUBLE_DOUBLE_H
#define CR_BACKEND_DOUBLE_DOUBLE_H
#include "backend/philox.h"
#include <math.h>

typedef struct cr_dd {
    double high, low;
} cr_dd;

/* Returns high + low; |low| must be at most half a unit in the last place of high. */
CR_INLINE cr_dd cr_dd_of(double high, double low)
{
    const cr_dd a = {high, low};
    return a;
}

/* Returns a + b exactly. */
CR_INLINE cr_dd cr_dd_sum(double a, double b)
{
    const double high = a + b, b_part = high - a;
    return cr_dd_of(high, (a - (high - b_part)) + (b - b_part));
}

/* Returns a + b. */
CR_INLINE cr_dd cr_dd_add(cr_dd a, cr_dd b)
{
    const cr_dd high = cr_dd_sum(a.high, b.high), low = cr_dd_sum(a.low, b.low);
    const cr_dd total = cr_dd_sum(high.high, high.low + low.high);
    return cr_dd_sum(total.high, total.low + low.low);
}

/* Returns a b. */
CR_INLINE cr_dd cr_dd_mul(cr_dd a, cr_dd b)
{
#if defined(__CUDA_ARCH__)
    const double high = __dmul_rn(a.high, b.high); /* nvcc may fuse a plain product and the sum */
#else
    const double high = a.high * b.high;
#endif
    return cr_dd_sum(high, fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
}

/* Returns a b for a double b. */
CR_INLINE cr_dd cr_dd_mul_double(cr_dd a, double b)
{
    return cr_dd_mul(a, cr_dd_of(b, 0.0));
}

/* Returns a / b: the quotient of the high parts, refined by two correction steps. */
CR_INLINE cr_dd cr_dd_div_double(cr_dd a, cr_dd b)
{
    cr_dd quotient = cr_dd_of(a.high / b.high, 0.0);
    for (int i = 0; i < 2; i++) {
        const cr_dd residual = cr_dd_add(a, cr_dd_mul_double(cr_dd_mul(b, quotient), -1.0));
        quotient = cr_dd_add(quotient, cr_dd_of(residual.high / b.high, 0.0));
    }
    return quotient;
}

/* Returns the root of a: the root of its high part, refined by one Newton step. */
CR_INLINE cr_dd cr_dd_sqrt(cr_dd a)
{
    const cr_dd root = cr_dd_of(sqrt(a.high), 0.0);
    const cr_dd residual = cr_dd_add(a, cr_dd_mul_double(cr_dd_mul(root, root), -1.0));
    return cr_dd_add(root, cr_dd_of(residual.high / (2.0 * root.high), 0.0));
}

/* Returns the middle of the interval of length 2^-96 of three words; exact. */
CR_INLINE cr_dd cr_dd_of_words(uint32_t a, uint32_t b, uint32_t c)
{
    const cr_dd low = cr_dd_sum((double)b * 0x1p-64, ((double)c + 0.5) * 0x1p-96);
    return cr_dd_add(cr_dd_of((double)a * 0x1p-32, 0.0), low);
}

/* Returns -2 log u with u = 2^power (1 + f) and 1 + f in [sqrt(1/2), sqrt 2]: log(1 + f) = 2
 * artanh(f/(2 + f)) by 24 terms of its series, an error below 2^-120. If power is 0, f comes from
 * the complements of the words. */
CR_INLINE cr_dd cr_dd_square_radius(const uint32_t x[3])
{
    const cr_dd ln2 = cr_dd_of(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
    cr_dd f = cr_dd_mul_double(cr_dd_of_words(~x[0], ~x[1], ~x[2]), -1.0);
    int power = 0;
    if (x[0] <= 0xB504F333u) {
        const cr_dd u = cr_dd_of_words(x[0], x[1], x[2]);
        frexp(u.high * 1.4142135623730951, &power);
        power--;
        f = cr_dd_add(cr_dd_of(ldexp(u.high, -power), ldexp(u.low, -power)), cr_dd_of(-1.0, 0.0));
    }
    const cr_dd z = cr_dd_div_double(f, cr_dd_add(cr_dd_of(2.0, 0.0), f)), zz = cr_dd_mul(z, z);
    cr_dd sum = cr_dd_of(0.0, 0.0);
    for (int k = 23; k >= 0; k--)
        sum = cr_dd_add(cr_dd_mul(sum, zz),
                        cr_dd_div_double(cr_dd_of(1.0, 0.0), cr_dd_of(2.0 * k + 1.0, 0.0)));
    return cr_dd_add(cr_dd_mul_double(cr_dd_mul(z, sum), -4.0),
                     cr_dd_mul_double(ln2, -2.0 * power));
}

/* Takes the middle of the interval of the words, subtracts *quarters quarter turns, and returns
 * sine or cosine of the remaining angle. */
CR_INLINE cr_dd cr_dd_sincos(const uint32_t y[3], unsigned cosine, unsigned *quarters)
{
    const cr_dd quarter = cr_dd_of(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54);
    const uint32_t rotated = y[0] + 0x20000000u; /* by half a quarter */
    *quarters = rotated >> 30;
    const cr_dd angle =
        cr_dd_add(cr_dd_of_words(rotated & 0x3FFFFFFFu, y[1], y[2]), cr_dd_of(-0.125, 0.0));
    const cr_dd a = cr_dd_mul(cr_dd_mul_double(angle, 4.0), quarter), aa = cr_dd_mul(a, a);
    const int is_sine = ((*quarters + cosine) & 1u) == 0; /* the sine has the odd powers */
    cr_dd sum = cr_dd_of(1.0, 0.0);
    for (int n = 28 + is_sine; n > 1; n -= 2) {
        const cr_dd term =
            cr_dd_div_double(cr_dd_mul(sum, aa), cr_dd_of(-(double)n * (n - 1), 0.0));
        sum = cr_dd_add(term, cr_dd_of(1.0, 0.0));
    }
    return is_sine ? cr_dd_mul(sum, a) : sum;
}

/* Returns r sin, or r cos (grid_rounding.h), from two words of 96 bits, the highest 32 first. */
CR_INLINE cr_dd cr_dd_normal(const uint32_t x[3], const uint32_t y[3], unsigned cosine)
{
    unsigned quarters;
    const cr_dd sine = cr_dd_sincos(y, cosine, &quarters),
                e = cr_dd_mul(cr_dd_sqrt(cr_dd_square_radius(x)), sine);
    return (quarters + cosine) & 2u ? cr_dd_mul_double(e, -1.0) : e;
}

/* Returns the integer nearest to factor e + offset. The high part of the sum decides, or the low
 * part if the high part is exactly between two integers. */
CR_INLINE double cr_dd_nearest(cr_dd e, double factor, double offset)
{
    const cr_dd value = cr_dd_add(cr_dd_mul_double(e, factor), cr_dd_of(offset, 0.0));
    const double nearest = rint(value.high), remainder = value.high - nearest;
    if (remainder == 0.5 && value.low > 0) return nearest + 1.0;
    return remainder == -0.5 && value.low < 0 ? nearest - 1.0 : nearest;
}

#endif
