/* Eight lanes: AVX2 and FMA. simd_scalar.h defines the operations. */
#ifndef CR_BACKEND_SIMD_AVX2_H
#define CR_BACKEND_SIMD_AVX2_H
#include "backend/philox.h"
#include <immintrin.h>

#define V_LANES 8
typedef __m256 vf;
typedef __m256i vu;

#define v_set _mm256_set1_ps
#define v_set_u(a) _mm256_set1_epi32((int)(a))
#define v_float_signed _mm256_cvtepi32_ps
#define v_add_u _mm256_add_epi32
#define v_sub_u _mm256_sub_epi32
#define v_or_u _mm256_or_si256
#define v_and_u _mm256_and_si256
#define v_shl(a, bits) _mm256_slli_epi32(a, bits)
#define v_sar(a, bits) _mm256_srai_epi32(a, bits)
#define v_bits _mm256_castps_si256
#define v_from_bits _mm256_castsi256_ps
#define v_mul _mm256_mul_ps
#define v_sub _mm256_sub_ps
#define v_fma _mm256_fmadd_ps
#define v_sqrt _mm256_sqrt_ps
#define v_fma_loose v_fma
#define v_round(a) _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define v_load _mm256_loadu_ps
#define v_store _mm256_storeu_ps

/* Why two halves: AVX2 converts only signed integers. Both are exact, and the fma rounds once. */
static inline vf v_float(vu a)
{
    const vf high = _mm256_cvtepi32_ps(_mm256_srli_epi32(a, 16));
    const vf low = _mm256_cvtepi32_ps(_mm256_and_si256(a, v_set_u(0xFFFFu)));
    return v_fma(high, v_set(65536.0f), low);
}

static inline vf v_pick_30(vu selector, vf a, vf b)
{
    return _mm256_blendv_ps(a, b, v_from_bits(v_shl(selector, 1)));
}

static inline vf v_pick_31(vu selector, vf a, vf b)
{
    return _mm256_blendv_ps(a, b, v_from_bits(selector));
}

/* AVX2 compares only signed integers: the range is moved to the lower end of the signed ones. */
static inline vf v_nan_outside(vf a, vu x, uint32_t first, uint32_t count)
{
    const vu moved = v_add_u(x, v_set_u(0x80000000u - first));
    const vu outside = _mm256_cmpgt_epi32(moved, v_set_u(0x80000000u + (count - 1)));
    return _mm256_or_ps(a, v_from_bits(outside));
}

static inline unsigned v_not_within(vf a, vf b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NLE_UQ));
}

static inline vf v_flip_31(vf a, vu selector)
{
    return _mm256_xor_ps(a, v_from_bits(_mm256_and_si256(selector, v_set_u(0x80000000u))));
}

static inline vf v_unless_zero(vf selector, vf a, vf b)
{
    return _mm256_blendv_ps(a, b, _mm256_cmp_ps(selector, _mm256_setzero_ps(), _CMP_NEQ_UQ));
}

/* One round on two groups of four blocks, a 64-bit lane for each block: only the low halves count,
 * so that a product needs no repacking. The two groups overlap; the steps of one cannot. */
static inline void v_philox_round(__m256i c[4][2], const uint32_t key[2])
{
    __m256i p[2], q[2];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        p[i] = _mm256_mul_epu32(c[0][i], v_set_u(CR_PHILOX_MULTIPLIER_0));
        q[i] = _mm256_mul_epu32(c[2][i], v_set_u(CR_PHILOX_MULTIPLIER_1));
        c[1][i] = _mm256_xor_si256(c[1][i], v_set_u(key[0]));
        c[3][i] = _mm256_xor_si256(c[3][i], v_set_u(key[1]));
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        c[0][i] = _mm256_xor_si256(_mm256_srli_epi64(q[i], 32), c[1][i]);
        c[2][i] = _mm256_xor_si256(_mm256_srli_epi64(p[i], 32), c[3][i]);
        c[1][i] = q[i];
        c[3][i] = p[i];
    }
}

/* Words of blocks first .. first+7. Lane p has block 2(p % 4) + p / 4, an order that v_store4
 * undoes at no cost. */
CR_ALWAYS_INLINE void v_philox(const uint32_t keys[2 * CR_PHILOX_ROUNDS], uint64_t stream,
                               uint64_t first, vu words[4])
{
    const __m256i base = _mm256_set1_epi64x((long long)first),
                  index[2] = {_mm256_add_epi64(base, _mm256_setr_epi64x(0, 4, 1, 5)),
                              _mm256_add_epi64(base, _mm256_setr_epi64x(2, 6, 3, 7))};
    __m256i c[4][2];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        c[0][i] = index[i];
        c[1][i] = _mm256_srli_epi64(index[i], 32);
        c[2][i] = v_set_u((uint32_t)stream);
        c[3][i] = v_set_u((uint32_t)(stream >> 32));
    }
#pragma GCC unroll 10
    for (int round = 0; round < CR_PHILOX_ROUNDS; round++) v_philox_round(c, keys + 2 * round);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        words[i] = _mm256_blend_epi32(c[i][0], _mm256_slli_epi64(c[i][1], 32), 0xAA);
}

/* Transposes 4x4 in each 128-bit part and writes 32 normals in the order of their blocks. */
static inline void v_store4(float *to, const vf e[4])
{
    const __m256d ab_lo = _mm256_castps_pd(_mm256_unpacklo_ps(e[0], e[1])),
                  ab_hi = _mm256_castps_pd(_mm256_unpackhi_ps(e[0], e[1]));
    const __m256d cd_lo = _mm256_castps_pd(_mm256_unpacklo_ps(e[2], e[3])),
                  cd_hi = _mm256_castps_pd(_mm256_unpackhi_ps(e[2], e[3]));
    v_store(to, _mm256_castpd_ps(_mm256_unpacklo_pd(ab_lo, cd_lo)));
    v_store(to + 8, _mm256_castpd_ps(_mm256_unpackhi_pd(ab_lo, cd_lo)));
    v_store(to + 16, _mm256_castpd_ps(_mm256_unpacklo_pd(ab_hi, cd_hi)));
    v_store(to + 24, _mm256_castpd_ps(_mm256_unpackhi_pd(ab_hi, cd_hi)));
}

#endif
