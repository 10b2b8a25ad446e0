/* Sixteen lanes: AVX-512 F, DQ, BW, VL. simd_scalar.h defines the operations. */
#ifndef CR_BACKEND_SIMD_AVX512_H
#define CR_BACKEND_SIMD_AVX512_H
#include "backend/philox.h"
#include <immintrin.h>

#define V_LANES 16
typedef __m512 vf;
typedef __m512i vu;

#define v_set _mm512_set1_ps
#define v_set_u(a) _mm512_set1_epi32((int)(a))
#define v_float _mm512_cvtepu32_ps
#define v_float_signed _mm512_cvtepi32_ps
#define v_add_u _mm512_add_epi32
#define v_sub_u _mm512_sub_epi32
#define v_or_u _mm512_or_si512
#define v_and_u _mm512_and_si512
#define v_shl(a, bits) _mm512_slli_epi32(a, bits)
#define v_sar(a, bits) _mm512_srai_epi32(a, bits)
#define v_bits _mm512_castps_si512
#define v_from_bits _mm512_castsi512_ps
#define v_mul _mm512_mul_ps
#define v_sub _mm512_sub_ps
#define v_fma _mm512_fmadd_ps
#define v_sqrt _mm512_sqrt_ps
#define v_fma_loose v_fma
#define v_round(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define v_load _mm512_loadu_ps
#define v_store _mm512_storeu_ps

static inline vf v_pick_30(vu selector, vf a, vf b)
{
    return _mm512_mask_blend_ps(_mm512_test_epi32_mask(selector, v_set_u(0x40000000u)), a, b);
}

static inline vf v_pick_31(vu selector, vf a, vf b)
{
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(selector), a, b);
}

static inline vf v_nan_outside(vf a, vu x, uint32_t first, uint32_t count)
{
    const __mmask16 inside = _mm512_cmplt_epu32_mask(v_sub_u(x, v_set_u(first)), v_set_u(count));
    return _mm512_mask_mov_ps(v_from_bits(v_set_u(UINT32_MAX)), inside, a);
}

static inline unsigned v_not_within(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
}

static inline vf v_flip_31(vf a, vu selector) /* 0x78: a xor (selector and sign) */
{
    return v_from_bits(_mm512_ternarylogic_epi32(v_bits(a), selector, v_set_u(0x80000000u), 0x78));
}

static inline vf v_unless_zero(vf selector, vf a, vf b)
{
    return _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(selector, _mm512_setzero_ps(), _CMP_NEQ_UQ), b);
}

/* Moves high halves into low halves. Why not a shift: shifts use the port of multiplications. */
static inline __m512i v_high(__m512i a)
{
    return _mm512_shuffle_epi32(a, _MM_PERM_DDBB);
}

/* One round on eight blocks, a 64-bit lane for each block: only the low halves count, so that a
 * product needs no repacking. */
static inline void v_philox_round(__m512i c[4], const uint32_t key[2])
{
    const __m512i p = _mm512_mul_epu32(c[0], v_set_u(CR_PHILOX_MULTIPLIER_0));
    const __m512i q = _mm512_mul_epu32(c[2], v_set_u(CR_PHILOX_MULTIPLIER_1));
    c[0] = _mm512_ternarylogic_epi64(v_high(q), c[1], v_set_u(key[0]), 0x96); /* xor of three */
    c[2] = _mm512_ternarylogic_epi64(v_high(p), c[3], v_set_u(key[1]), 0x96);
    c[1] = q;
    c[3] = p;
}

static inline void v_philox_start(__m512i c[4], __m512i index, uint64_t stream)
{
    c[0] = index;
    c[1] = _mm512_srli_epi64(index, 32);
    c[2] = v_set_u((uint32_t)stream);
    c[3] = v_set_u((uint32_t)(stream >> 32));
}

/* Words of blocks first .. first+15. Lane p has block 4(p % 4) + p / 4, an order that v_store4
 * undoes at no cost. */
CR_ALWAYS_INLINE void v_philox(const uint32_t keys[2 * CR_PHILOX_ROUNDS], uint64_t stream,
                               uint64_t first, vu words[4])
{
    const __m512i base = _mm512_set1_epi64((long long)first);
    __m512i even[4], odd[4];
    v_philox_start(even, _mm512_add_epi64(base, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11)),
                   stream);
    v_philox_start(odd, _mm512_add_epi64(base, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15)),
                   stream);
#pragma GCC unroll 10
    for (int round = 0; round < CR_PHILOX_ROUNDS; round++) {
        v_philox_round(even, keys + 2 * round);
        v_philox_round(odd, keys + 2 * round);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        words[i] = _mm512_mask_blend_epi32(0xAAAA, even[i], _mm512_slli_epi64(odd[i], 32));
}

/* Transposes 4x4 in each 128-bit part and writes 64 normals in the order of their blocks. */
static inline void v_store4(float *to, const vf e[4])
{
    const __m512d ab_lo = _mm512_castps_pd(_mm512_unpacklo_ps(e[0], e[1])),
                  ab_hi = _mm512_castps_pd(_mm512_unpackhi_ps(e[0], e[1]));
    const __m512d cd_lo = _mm512_castps_pd(_mm512_unpacklo_ps(e[2], e[3])),
                  cd_hi = _mm512_castps_pd(_mm512_unpackhi_ps(e[2], e[3]));
    v_store(to, _mm512_castpd_ps(_mm512_unpacklo_pd(ab_lo, cd_lo)));
    v_store(to + 16, _mm512_castpd_ps(_mm512_unpackhi_pd(ab_lo, cd_lo)));
    v_store(to + 32, _mm512_castpd_ps(_mm512_unpacklo_pd(ab_hi, cd_hi)));
    v_store(to + 48, _mm512_castpd_ps(_mm512_unpackhi_pd(ab_hi, cd_hi)));
}

#endif
