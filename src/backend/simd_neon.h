/* Four lanes: NEON, which every AArch64 has. simd_scalar.h defines the operations. */
#ifndef CR_BACKEND_SIMD_NEON_H
#define CR_BACKEND_SIMD_NEON_H
#include "backend/philox.h"
#include <arm_neon.h>

#define V_LANES 4
typedef float32x4_t vf;
typedef uint32x4_t vu;

#define v_set vdupq_n_f32
#define v_set_u vdupq_n_u32
#define v_float vcvtq_f32_u32
#define v_float_signed(a) vcvtq_f32_s32(vreinterpretq_s32_u32(a))
#define v_add_u vaddq_u32
#define v_sub_u vsubq_u32
#define v_or_u vorrq_u32
#define v_and_u vandq_u32
#define v_shl(a, bits) vshlq_n_u32(a, bits)
#define v_sar(a, bits) vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(a), bits))
#define v_bits vreinterpretq_u32_f32
#define v_from_bits vreinterpretq_f32_u32
#define v_mul vmulq_f32
#define v_sub vsubq_f32
#define v_fma(a, b, c) vfmaq_f32(c, a, b)
#define v_sqrt vsqrtq_f32
#define v_fma_loose v_fma
#define v_round vrndnq_f32
#define v_load vld1q_f32
#define v_store vst1q_f32

static inline vf v_pick_30(vu selector, vf a, vf b)
{
    return vbslq_f32(vtstq_u32(selector, v_set_u(0x40000000u)), b, a);
}

static inline vf v_pick_31(vu selector, vf a, vf b)
{
    return vbslq_f32(vcltzq_s32(vreinterpretq_s32_u32(selector)), b, a);
}

static inline vf v_nan_outside(vf a, vu x, uint32_t first, uint32_t count)
{
    const vu outside = vcgeq_u32(v_sub_u(x, v_set_u(first)), v_set_u(count));
    return v_from_bits(v_or_u(v_bits(a), outside));
}

static inline unsigned v_not_within(vf a, vf b)
{
    const vu bit = {1, 2, 4, 8};
    return vaddvq_u32(vbicq_u32(bit, vcleq_f32(a, b)));
}

static inline vf v_flip_31(vf a, vu selector)
{
    return v_from_bits(veorq_u32(v_bits(a), v_and_u(selector, v_set_u(0x80000000u))));
}

static inline vf v_unless_zero(vf selector, vf a, vf b)
{
    return vbslq_f32(vceqzq_f32(selector), a, b);
}

/* One round on four blocks, a lane for each. */
static inline void v_philox_round(vu c[4], const uint32_t key[2])
{
    const uint32x2_t first = vdup_n_u32(CR_PHILOX_MULTIPLIER_0),
                     second = vdup_n_u32(CR_PHILOX_MULTIPLIER_1);
    const vu p_low = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(c[0]), first)),
             p_high = vreinterpretq_u32_u64(vmull_high_u32(c[0], v_set_u(CR_PHILOX_MULTIPLIER_0))),
             q_low = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(c[2]), second)),
             q_high = vreinterpretq_u32_u64(vmull_high_u32(c[2], v_set_u(CR_PHILOX_MULTIPLIER_1)));
    c[0] = veorq_u32(vuzp2q_u32(q_low, q_high), veorq_u32(c[1], v_set_u(key[0])));
    c[2] = veorq_u32(vuzp2q_u32(p_low, p_high), veorq_u32(c[3], v_set_u(key[1])));
    c[1] = vuzp1q_u32(q_low, q_high);
    c[3] = vuzp1q_u32(p_low, p_high);
}

/* Lane p of the words has block first + p. */
CR_ALWAYS_INLINE void v_philox(const uint32_t keys[2 * CR_PHILOX_ROUNDS], uint64_t stream,
                               uint64_t first, vu words[4])
{
    const uint64x2_t base = vdupq_n_u64(first), zero_one = {0, 1}, two_three = {2, 3};
    const vu low = vreinterpretq_u32_u64(vaddq_u64(base, zero_one)),
             high = vreinterpretq_u32_u64(vaddq_u64(base, two_three));
    words[0] = vuzp1q_u32(low, high);
    words[1] = vuzp2q_u32(low, high);
    words[2] = v_set_u((uint32_t)stream);
    words[3] = v_set_u((uint32_t)(stream >> 32));
#pragma GCC unroll 10
    for (int round = 0; round < CR_PHILOX_ROUNDS; round++) v_philox_round(words, keys + 2 * round);
}

static inline void v_store4(float *to, const vf e[4])
{
    /* a variable, since vst4q_f32 may be a macro, to which a braced list is several arguments */
    const float32x4x4_t rows = {{e[0], e[1], e[2], e[3]}};
    vst4q_f32(to, rows);
}

#endif
