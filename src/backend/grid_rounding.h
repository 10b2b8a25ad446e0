/* The grid cell of a noisy feature under exact Gaussian noise (theory 0). Float arithmetic decides
 * it nearly always. In doubt, more bits of the pair's words come from a reserved part of the
 * stream, and double arithmetic decides, or finally double-double. The cell does not depend on
 * rounding as long as the stated error bounds hold. Include one simd_*.h before this file. */
#ifndef CR_BACKEND_GRID_ROUNDING_H
#define CR_BACKEND_GRID_ROUNDING_H
#include "backend/box_muller.h"
#include "backend/double_double.h"
#include "backend/noise_stream.h"

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
