/* One lane: the operations of grid_rounding.h and cpu_kernels.h in plain C and CUDA. Each further
 * simd_*.h defines them for a register of lanes; a translation unit includes exactly one simd_*.h.
 * Every operation except v_fma_loose is exact or rounded once to nearest, so that all files give
 * the same bits. */
#ifndef CR_BACKEND_SIMD_SCALAR_H
#define CR_BACKEND_SIMD_SCALAR_H
#include "backend/philox.h"
#include <math.h>
#include <string.h>

#define V_LANES 1
typedef float vf;
typedef uint32_t vu;

CR_INLINE vf v_set(float a)
{
    return a;
}
CR_INLINE vu v_set_u(uint32_t a)
{
    return a;
}
CR_INLINE vf v_float(vu a)
{
    return (float)a;
}
CR_INLINE vf v_float_signed(vu a)
{
    return (float)(int32_t)a;
}
CR_INLINE vu v_add_u(vu a, vu b)
{
    return a + b;
}
CR_INLINE vu v_sub_u(vu a, vu b)
{
    return a - b;
}
CR_INLINE vu v_or_u(vu a, vu b)
{
    return a | b;
}
CR_INLINE vu v_and_u(vu a, vu b)
{
    return a & b;
}
#define v_shl(a, bits) ((vu)((a) << (bits)))
#define v_sar(a, bits) ((vu)((int32_t)(a) >> (bits)))

CR_INLINE vu v_bits(vf a)
{
    vu bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

CR_INLINE vf v_from_bits(vu bits)
{
    vf a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

#if defined(__CUDA_ARCH__)
CR_INLINE vf v_mul(vf a, vf b)
{
    return __fmul_rn(a, b);
}
CR_INLINE vf v_sub(vf a, vf b)
{
    return __fsub_rn(a, b);
}
CR_INLINE vf v_fma(vf a, vf b, vf c)
{
    return __fmaf_rn(a, b, c);
}
/* Returns the root of 0 or of a number in [2^-100, 2^100]. Why not sqrtf: nvcc's steps for this
 * range round correctly, and without its branch for further numbers two roots overlap. */
CR_INLINE vf v_sqrt(vf a)
{
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaxf(a, 0x1p-100f)));
    const float root = __fmul_rn(a, inverse), half = __fmul_rn(inverse, 0.5f);
    return __fmaf_rn(__fmaf_rn(-root, root, a), half, root);
}
#else
CR_INLINE vf v_mul(vf a, vf b)
{
    return a * b;
}
CR_INLINE vf v_sub(vf a, vf b)
{
    return a - b;
}
CR_INLINE vf v_fma(vf a, vf b, vf c)
{
    return fmaf(a, b, c);
}
CR_INLINE vf v_sqrt(vf a)
{
    return sqrtf(a);
}
#endif
/* Returns a b + c, rounded once or twice. */
CR_INLINE vf v_fma_loose(vf a, vf b, vf c)
{
    return a * b + c;
}
/* Rounds to the nearest integer, ties to even. */
CR_INLINE vf v_round(vf a)
{
    return rintf(a);
}

/* Returns b if bit 30 of the selector is set, else a. */
CR_INLINE vf v_pick_30(vu selector, vf a, vf b)
{
    return selector & 0x40000000u ? b : a;
}
/* Returns b if bit 31 of the selector is set, else a. */
CR_INLINE vf v_pick_31(vu selector, vf a, vf b)
{
    return selector & 0x80000000u ? b : a;
}
/* Returns a if x is in first .. first + count - 1, else NaN. */
CR_INLINE vf v_nan_outside(vf a, vu x, uint32_t first, uint32_t count)
{
    return x - first < count ? a : NAN;
}
/* Returns a bit for each lane with !(a <= b). */
CR_INLINE unsigned v_not_within(vf a, vf b)
{
    return !(a <= b);
}
/* Returns -a if bit 31 of the selector is set, else a. */
CR_INLINE vf v_flip_31(vf a, vu selector)
{
    return v_from_bits(v_bits(a) ^ (selector & 0x80000000u));
}

CR_INLINE vf v_load(const float *a)
{
    return *a;
}
CR_INLINE void v_store(float *to, vf a)
{
    *to = a;
}
/* Returns a if `selector` is zero, else b. */
CR_INLINE vf v_unless_zero(vf selector, vf a, vf b)
{
    return selector != 0.0f ? b : a;
}

/* Computes the words of V_LANES blocks, in an order that v_store4 undoes, from the keys of all
 * rounds (cr_philox_keys). */
CR_INLINE void v_philox(const uint32_t keys[2 * CR_PHILOX_ROUNDS], uint64_t stream, uint64_t first,
                        vu words[4])
{
    cr_philox_at(keys, stream, first, words);
}

/* Writes the normals of V_LANES blocks in the order of the blocks. */
CR_INLINE void v_store4(float *to, const vf e[4])
{
    for (int i = 0; i < 4; i++) to[i] = e[i];
}

#endif
