/* Turns four random words into four standard normals in float: the Box-Muller transform in cuRAND's
 * order, with its own logarithm, sine and cosine. Include one simd_*.h before this file.
 *
 * A pair of words (x, y) stands for u in [x, x + 1) 2^-32 and an angle in [y, y + 1) 2^-32 turns.
 * With r = sqrt(-2 log u), the normals are (r sin angle, r cos angle). Theory 0 bounds the distance
 * of the float normals from the normals of all (u, angle) in these intervals; tests/proof/normals.c
 * proves it over all words. Near u = 1 the radius is taken at the right end of the interval,
 * elsewhere at its middle. The angle is the middle's, reduced in integers and therefore exact, so
 * that the normals of opposite words are opposite bit by bit. */
#ifndef CR_BACKEND_GRID_ROUNDING_H
#define CR_BACKEND_GRID_ROUNDING_H
#include "backend/double_double.h"
#include "backend/noise_stream.h"

/* Returns r. u = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2); -2 log(1 + f) = -2f + f^2 (1 + f
 * q(f)), q a minimax polynomial (error 3e-8 relative to the logarithm). If k is 0, f = -(2^32 - 1 -
 * x) 2^-32 keeps the bits that u loses when it is rounded to float. */
CR_INLINE vf cr_normal4_radius(vu x)
{
    const vf u = v_fma_loose(v_float(x), v_set(0x1p-32f), v_set(0x1p-33f));
    const vu k = v_sar(v_sub_u(v_bits(u), v_set_u(0x3F3504F3u)), 23);
    const vf near_one = v_fma_loose(v_float_signed(x), v_set(0x1p-32f), v_set(0x1p-32f)),
             elsewhere = v_sub(v_from_bits(v_sub_u(v_bits(u), v_shl(k, 23))), v_set(1.0f)),
             f = v_pick_31(k, near_one, elsewhere);
    vf q = v_fma(f, v_set(-0.174008712f), v_set(0.285349727f));
    q = v_fma(f, q, v_set(-0.298295349f));
    q = v_fma(f, q, v_set(0.331551701f));
    q = v_fma(f, q, v_set(-0.399261266f));
    q = v_fma(f, q, v_set(0.500026762f));
    q = v_fma(f, q, v_set(-0.66667819f));
    q = v_fma(f, q, v_set(1.0f));
    q = v_fma(v_mul(f, f), q, v_mul(f, v_set(-2.0f)));
    return v_sqrt(v_fma(v_float_signed(k), v_set(-1.38629436f), q));
}

/* Computes sine and cosine of (y + 1/2) 2^-32 turns. The two top bits of y + 2^29 are the nearest
 * quarter turn. The remainder, times 4 and as a signed integer, is 2^31 t, with t in [-1, 1] in
 * eighths of a turn. */
CR_INLINE void cr_normal4_sincos(vu y, vf *sine, vf *cosine)
{
    const vu quarter = v_add_u(y, v_set_u(0x20000000u));
    const vf t = v_mul(v_float_signed(v_or_u(v_shl(y, 2), v_set_u(2u))), v_set(0x1p-31f));
    const vf tt = v_mul(t, t);
    vf s = v_fma(tt, v_set(-3.59545083e-05f), v_set(0.00249000709f));
    s = v_fma(tt, s, v_set(-0.0807454363f));
    /* The last constant corrects the rounding of 0.785398185f. */
    s = v_fma(t, v_set(0.785398185f), v_mul(t, v_fma(tt, s, v_set(-2.43e-8f))));
    vf c = v_fma(tt, v_set(3.53133464e-06f), v_set(-0.000325942005f));
    c = v_fma(tt, c, v_set(0.015854327f));
    c = v_fma(tt, c, v_set(-0.308425128f));
    c = v_fma(tt, c, v_set(1.0f));
    *sine = v_flip_31(v_pick_30(quarter, s, c), quarter);
    *cosine = v_flip_31(v_pick_30(quarter, c, s), v_add_u(quarter, v_set_u(0x40000000u)));
}

/* The range of x, for u in [2^-14, 1 - 2^-16), in which theory 0 bounds that distance. */
#define CR_NORMAL4_FIRST 0x40000u
#define CR_NORMAL4_COUNT (0xFFFF0000u - CR_NORMAL4_FIRST)

/* Computes the normals of a pair of words. strict: NaN if x is outside of the range. */
CR_INLINE void cr_normal4_pair(vu x, vu y, int strict, vf normals[2])
{
    vf radius = cr_normal4_radius(x), sine, cosine;
    if (strict) radius = v_nan_outside(radius, x, CR_NORMAL4_FIRST, CR_NORMAL4_COUNT);
    cr_normal4_sincos(y, &sine, &cosine);
    normals[0] = v_mul(radius, sine);
    normals[1] = v_mul(radius, cosine);
}

/* Computes the four normals of a block. */
CR_INLINE void cr_normal4_from(const vu words[4], int strict, vf normals[4])
{
    cr_normal4_pair(words[0], words[1], strict, normals);
    cr_normal4_pair(words[2], words[3], strict, normals + 2);
}

/* ---- The grid cell of a noisy feature under exact Gaussian noise (theory 0). Float arithmetic
 * decides it nearly always. In doubt, more bits of the pair's words come from a reserved part of
 * the stream, and double arithmetic decides, or finally double-double. The cell does not depend
 * on rounding as long as the stated error bounds hold. Include one simd_*.h before this file. */
/* |y' - y| <= CR_CELL_RELATIVE_ERROR |y'| + CR_CELL_ABSOLUTE_ERROR |s/h|: y' is the float value of
 * a strict normal, y the exact value at any (u, angle) in the intervals of its words;
 * tests/proof/normals.c proves it. */
#define CR_CELL_RELATIVE_ERROR 0x1.f4p-22f /* 4.66e-7 */
#define CR_CELL_ABSOLUTE_ERROR 0x1.9p-25f  /* 4.66e-8 */
#define CR_CELL_DOUBLE 0x1p-44 /* relative error of a normal in double; libm's is 2^-51 */
/* Block b | CR_CELL_... continues the words of block b. Levels end below (backend.h). */
#define CR_CELL_SECOND (UINT64_C(1) << 63)
#define CR_CELL_THIRD (UINT64_C(1) << 62)

/* The grid of a feature with step s: x = base + n h, with n the integer nearest to y = offset +
 * factor e, and h the power of two in (|s| 2^-9, |s| 2^-8]. All numbers are exact. */
typedef struct cr_cell {
    vf h, base;        /* base: the multiple of h next to z. Without noise: h = -0, base = z */
    vf factor, offset; /* s/h (negative for opposite noise); (z - base)/h */
    vf margin;         /* 1/2 - CR_CELL_ABSOLUTE_ERROR |factor|, less a margin for rounding */
} cr_cell;

/* Returns |a|. */
CR_INLINE vf v_abs(vf a)
{
    return v_from_bits(v_and_u(v_bits(a), v_set_u(0x7FFFFFFFu)));
}

/* Returns the grid; |z| < 2^24 h; s is 0, or |s| in [2^-118, 2^112). Why h is -0 without noise: n
 * is +0, n h is -0, and z + -0 has the bits of z, also for z = -0. */
CR_INLINE cr_cell cr_cell_of(vf z, vf s)
{
    const vf zero = v_set(0.0f);
    const vu power =
        v_sub_u(v_and_u(v_bits(s), v_set_u(0x7F800000u)), v_set_u((uint32_t)CR_GRID_BITS << 23));
    const vf inverse_power =
        v_unless_zero(s, zero, v_from_bits(v_sub_u(v_set_u(254u << 23), power)));
    const vf scaled = v_mul(z, inverse_power), integer = v_round(scaled);
    cr_cell c;
    c.h = v_unless_zero(s, v_set(-0.0f), v_from_bits(power));
    c.base = v_unless_zero(s, z, v_fma_loose(integer, c.h, zero)); /* adds 0: never -0 */
    c.factor = v_mul(s, inverse_power);
    c.offset = v_sub(scaled, integer);
    c.margin = v_fma(v_abs(c.factor), v_set(-CR_CELL_ABSOLUTE_ERROR), v_set(0.5f - 0x1p-20f));
    return c;
}

/* Returns x for a normal, and a bit of *doubts for each lane in which x may be wrong. Adding and
 * subtracting 1.5 2^23 rounds numbers below 2^22 to integers. */
CR_INLINE vf cr_cell_at(const cr_cell *c, vf e, unsigned *doubts)
{
    const vf y = v_fma_loose(c->factor, e, c->offset),
             n = v_sub(v_sub(y, v_set(-0x1.8p23f)), v_set(0x1.8p23f));
    const vf margin = v_fma_loose(v_abs(y), v_set(-CR_CELL_RELATIVE_ERROR), c->margin);
    *doubts = v_not_within(v_abs(v_sub(y, n)), margin);
    return v_fma_loose(n, c->h, c->base); /* exact */
}

/* ---- one feature, with more bits */
typedef struct cr_normal {
    double value, error; /* error: for any (u, angle) in the intervals of the words */
} cr_normal;

/* Returns r sin, or r cos, for a pair (x, y) of words with 64 bits each. */
CR_INLINE cr_normal cr_cell_normal(uint64_t x, uint64_t y, unsigned cosine)
{
    const double u = ((double)x + 0.5) * 0x1p-64, complement = ((double)~x + 0.5) * 0x1p-64;
    const double r = sqrt(-2.0 * (x >> 63 ? log1p(-complement) : log(u)));
    /* as cr_normal4_sincos */
    const double angle = (double)(int64_t)(y << 2 | 2u) * 0x1p-63 * 0.78539816339744831;
    const unsigned quadrant = (unsigned)((y + (UINT64_C(1) << 61)) >> 62) + cosine;
    const double s = quadrant & 1 ? cos(angle) : sin(angle);
    const double e = quadrant & 2 ? -r * s : r * s;
    const cr_normal out = {e, fabs(e) * CR_CELL_DOUBLE + r * 0x1p-61 + 0x1p-62 / (u * r)};
    return out;
}

/* Returns n for normal k of a block. Double arithmetic has no error bound for x = 0, since the
 * interval of u reaches 0. Double-double arithmetic takes the nearest n without an error bound
 * (theory 0.2 bounds the probability of a wrong n). */
CR_RARE float cr_cell_resolve(const cr_noise_stream *source, uint64_t block, unsigned k,
                              float factor, float offset)
{
    uint32_t first[4], second[4], third[4];
    const unsigned pair = k & 2u;
    if (factor == 0.0f) return 0.0f;
    cr_noise_stream_words(source, block, first);
    cr_noise_stream_words(source, block | CR_CELL_SECOND, second);
    const uint64_t x = (uint64_t)first[pair] << 32 | second[pair],
                   y = (uint64_t)first[pair + 1] << 32 | second[pair + 1];
    const cr_normal e = cr_cell_normal(x, y, k & 1u);
    const double value = (double)factor * e.value + (double)offset, nearest = rint(value);
    const double error = fabs((double)factor) * e.error + fabs(value) * 0x1p-50;
    if (x != 0 && fabs(value - nearest) < 0.5 - error) return (float)nearest;
    cr_noise_stream_words(source, block | CR_CELL_THIRD, third);
    const uint32_t xs[3] = {first[pair], second[pair], third[pair]},
                   ys[3] = {first[pair + 1], second[pair + 1], third[pair + 1]};
    const cr_dd exact = cr_dd_normal(xs, ys, k & 1u);
    return (float)cr_dd_nearest(exact, (double)factor, (double)offset);
}

#endif
