/* Four lanes: SSE2, which every x86-64 has. simd_scalar.h defines the operations. */
#ifndef CR_BACKEND_SIMD_SSE2_H
#define CR_BACKEND_SIMD_SSE2_H
#include "backend/philox.h"
#include <math.h>
#include <immintrin.h>

#define V_LANES 4
typedef float vf __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16))); /* a comparison gives 0 or all bits */
typedef uint64_t vw __attribute__((vector_size(16)));
typedef float v_unaligned __attribute__((vector_size(16), aligned(4), may_alias));

#define v_set(a) ((vf){a, a, a, a})
#define v_set_u(a) ((vu){a, a, a, a})
#define v_float(a) __builtin_convertvector(a, vf)
#define v_float_signed(a) __builtin_convertvector((vi)(a), vf)
#define v_add_u(a, b) ((a) + (b))
#define v_sub_u(a, b) ((a) - (b))
#define v_or_u(a, b) ((a) | (b))
#define v_and_u(a, b) ((a) & (b))
#define v_shl(a, bits) ((a) << (bits))
#define v_sar(a, bits) ((vu)((vi)(a) >> (bits)))
#define v_bits(a) ((vu)(a))
#define v_from_bits(a) ((vf)(a))
#define v_mul(a, b) ((a) * (b))
#define v_sub(a, b) ((a) - (b))
#define v_fma_loose(a, b, c) ((a) * (b) + (c))
#define v_load(a) ((vf)(*(const v_unaligned *)(a)))
#define v_store(to, a) ((void)(*(v_unaligned *)(to) = (a)))

/* Returns the bits of b at ones of the mask, else the bits of a. */
static inline vf v_pick(vu mask, vf a, vf b)
{
    return (vf)((v_bits(a) & ~mask) | (v_bits(b) & mask));
}
#define v_pick_31(selector, a, b) v_pick(v_sar(selector, 31), a, b)
#define v_pick_30(selector, a, b) v_pick_31(v_shl(selector, 1), a, b)
#define v_unless_zero(step, a, b) v_pick((vu)((step) != v_set(0.0f)), a, b)

static inline vf v_nan_outside(vf a, vu x, uint32_t first, uint32_t count)
{
    const vu moved = x + v_set_u(0x80000000u - first); /* as in AVX2 */
    return (vf)(v_bits(a) | (vu)((vi)moved > (vi)v_set_u(0x80000000u + (count - 1))));
}

static inline vf v_flip_31(vf a, vu selector)
{
    return (vf)(v_bits(a) ^ (selector & v_set_u(0x80000000u)));
}

#define v_sqrt _mm_sqrt_ps
/* for numbers below 2^31 */
#define v_round(a) ((vf)_mm_cvtepi32_ps(_mm_cvtps_epi32(a)))
#define v_not_within(a, b) ((unsigned)_mm_movemask_ps(_mm_cmpnle_ps(a, b)))
#define v_times(a, b) ((vw)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))

#if defined(__FMA__)
#define v_fma _mm_fmadd_ps
#else
CR_RARE vf v_fma_by_lane(vf a, vf b, vf c)
{
    for (int i = 0; i < V_LANES; i++) c[i] = fmaf(a[i], b[i], c[i]);
    return c;
}

/* SSE2 has no fma. In double, the product is exact and the sum is rounded to 29 more bits than
 * float has. Rounding it to float is correct unless these bits are exactly half of float's last
 * place, or the result may be subnormal in float; then fmaf decides. */
static inline vf v_fma(vf a, vf b, vf c)
{
    const __m128d low = _mm_cvtps_pd(a) * _mm_cvtps_pd(b) + _mm_cvtps_pd(c);
    const __m128d high = _mm_cvtps_pd(_mm_movehl_ps(a, a)) * _mm_cvtps_pd(_mm_movehl_ps(b, b)) +
                         _mm_cvtps_pd(_mm_movehl_ps(c, c));
    const vf sum = _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
    const vu last = (vu)_mm_shuffle_ps((__m128)low, (__m128)high, 0x88);
    const vi half = (vi)(last << 3) == (vi)v_set_u(0x80000000u);
    const vi small = (vi)((v_bits(sum) << 1) + v_set_u(0x7FFFFFFFu)) < (vi)v_set_u(0x81000000u);
    if (__builtin_expect(_mm_movemask_ps((__m128)(half | small)), 0)) return v_fma_by_lane(a, b, c);
    return sum;
}
#endif

static inline void v_store4(float *to, const vf e[4])
{
    vf a = e[0], b = e[1], c = e[2], d = e[3];
    _MM_TRANSPOSE4_PS(a, b, c, d);
    v_store(to, a);
    v_store(to + 4, b);
    v_store(to + 8, c);
    v_store(to + 12, d);
}
/* A 64-bit lane for each block, as in AVX2. Lane p of the words has block p. */
CR_ALWAYS_INLINE void v_philox(const uint32_t keys[2 * CR_PHILOX_ROUNDS], uint64_t stream,
                               uint64_t first, vu words[4])
{
    const vw index[2] = {{first, first + 2}, {first + 1, first + 3}};
    vw c[4][2];
    for (int i = 0; i < 2; i++) {
        c[0][i] = index[i];
        c[1][i] = index[i] >> 32;
        c[2][i] = (vw){stream, stream};
        c[3][i] = c[2][i] >> 32;
    }
#pragma GCC unroll 10
    for (int round = 0; round < CR_PHILOX_ROUNDS; round++)
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++) {
            const vw p = v_times(c[0][i], v_set_u(CR_PHILOX_MULTIPLIER_0)),
                     q = v_times(c[2][i], v_set_u(CR_PHILOX_MULTIPLIER_1));
            c[0][i] = (q >> 32) ^ (c[1][i] ^ (vw)v_set_u(keys[2 * round]));
            c[2][i] = (p >> 32) ^ (c[3][i] ^ (vw)v_set_u(keys[2 * round + 1]));
            c[1][i] = q;
            c[3][i] = p;
        }
    for (int i = 0; i < 4; i++) words[i] = (vu)((c[i][0] & 0xFFFFFFFFu) | c[i][1] << 32);
}

#endif
