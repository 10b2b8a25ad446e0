/* Turns four random words into four standard normals in float: the Box-Muller transform in cuRAND's
 * order, with its own logarithm, sine and cosine. Include one simd_*.h before this file.
 *
 * A pair of words (x, y) stands for u in [x, x + 1) 2^-32 and an angle in [y, y + 1) 2^-32 turns.
 * With r = sqrt(-2 log u), the normals are (r sin angle, r cos angle). Theory 0 bounds the distance
 * of the float normals from the normals of all (u, angle) in these intervals; tests/proof/normals.c
 * proves it over all words. Near u = 1 the radius is taken at the right end of the interval,
 * elsewhere at its middle. The angle is the middle's, reduced in integers and therefore exact, so
 * that the normals of opposite words are opposite bit by bit. */
#ifndef CR_BACKEND_BOX_MULLER_H
#define CR_BACKEND_BOX_MULLER_H

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

#endif
