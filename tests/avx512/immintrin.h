/* In the place of the compiler's immintrin.h: the operations of simd_avx512.h, lane by lane in
 * plain C, after Intel's descriptions. So the AVX-512 kernels run on every processor. This tests
 * their code, and neither the compiler's instructions for it nor a processor. */
#ifndef TESTS_AVX512_IMMINTRIN_H
#define TESTS_AVX512_IMMINTRIN_H
#include <math.h>
#include <stdint.h>
#include <string.h>

/* One type for all: the kernels compile with the real types as well, which differ. */
typedef union m512 {
    float f[16];
    uint32_t u[16];
    uint64_t w[8];
} __m512, __m512i, __m512d;
typedef uint16_t __mmask16;
enum {
    _MM_FROUND_TO_NEAREST_INT = 0,
    _MM_FROUND_NO_EXC = 8,
    _CMP_NEQ_UQ = 4,
    _CMP_NLE_UQ = 6,
    _MM_PERM_DDBB = 0xF5
};

/* A function with the value of each lane, or with a mask of the lanes that meet a condition. */
#define OF_LANES(name, arguments, member, count, value)        \
    static inline __m512 name arguments                        \
    {                                                          \
        __m512 r;                                              \
        for (int i = 0; i < count; i++) r.member[i] = (value); \
        return r;                                              \
    }
#define FLOATS(name, arguments, value) OF_LANES(name, arguments, f, 16, value)
#define WORDS(name, arguments, value) OF_LANES(name, arguments, u, 16, value)
#define LONGS(name, arguments, value) OF_LANES(name, arguments, w, 8, value)
#define MASK(name, arguments, condition)                                 \
    static inline __mmask16 name arguments                               \
    {                                                                    \
        unsigned mask = 0;                                               \
        for (int i = 0; i < 16; i++) mask |= (condition) ? 1u << i : 0u; \
        return (__mmask16)mask;                                          \
    }

FLOATS(_mm512_set1_ps, (float a), a)
FLOATS(_mm512_setzero_ps, (void), 0)
WORDS(_mm512_set1_epi32, (int a), (uint32_t)a)
LONGS(_mm512_set1_epi64, (long long a), (uint64_t)a)
FLOATS(_mm512_cvtepu32_ps, (__m512i a), (float)a.u[i])
FLOATS(_mm512_cvtepi32_ps, (__m512i a), (float)(int32_t)a.u[i])
FLOATS(_mm512_mul_ps, (__m512 a, __m512 b), a.f[i] * b.f[i])
FLOATS(_mm512_sub_ps, (__m512 a, __m512 b), a.f[i] - b.f[i])
FLOATS(_mm512_fmadd_ps, (__m512 a, __m512 b, __m512 c), fmaf(a.f[i], b.f[i], c.f[i]))
FLOATS(_mm512_sqrt_ps, (__m512 a), sqrtf(a.f[i]))
FLOATS(_mm512_roundscale_ps, (__m512 a, int how), how == _MM_FROUND_NO_EXC ? rintf(a.f[i]) : NAN)
WORDS(_mm512_add_epi32, (__m512i a, __m512i b), a.u[i] + b.u[i])
WORDS(_mm512_sub_epi32, (__m512i a, __m512i b), a.u[i] - b.u[i])
LONGS(_mm512_add_epi64, (__m512i a, __m512i b), a.w[i] + b.w[i])
LONGS(_mm512_mul_epu32, (__m512i a, __m512i b), (a.w[i] & UINT32_MAX) * (b.w[i] & UINT32_MAX))
WORDS(_mm512_or_si512, (__m512i a, __m512i b), a.u[i] | b.u[i])
WORDS(_mm512_and_si512, (__m512i a, __m512i b), a.u[i] & b.u[i])
WORDS(_mm512_slli_epi32, (__m512i a, unsigned n), a.u[i] << n)
WORDS(_mm512_srai_epi32, (__m512i a, unsigned n), (uint32_t)((int32_t)a.u[i] >> n))
LONGS(_mm512_slli_epi64, (__m512i a, unsigned n), a.w[i] << n)
LONGS(_mm512_srli_epi64, (__m512i a, unsigned n), a.w[i] >> n)
FLOATS(_mm512_mask_blend_ps, (__mmask16 k, __m512 a, __m512 b), k >> i & 1 ? b.f[i] : a.f[i])
FLOATS(_mm512_mask_mov_ps, (__m512 a, __mmask16 k, __m512 b), k >> i & 1 ? b.f[i] : a.f[i])
WORDS(_mm512_mask_blend_epi32, (__mmask16 k, __m512i a, __m512i b), k >> i & 1 ? b.u[i] : a.u[i])
MASK(_mm512_test_epi32_mask, (__m512i a, __m512i b), a.u[i] & b.u[i])
MASK(_mm512_movepi32_mask, (__m512i a), a.u[i] >> 31)
MASK(_mm512_cmplt_epu32_mask, (__m512i a, __m512i b), a.u[i] < b.u[i])
MASK(_mm512_cmp_ps_mask, (__m512 a, __m512 b, int how),
     how == _CMP_NEQ_UQ ? a.f[i] != b.f[i] : !(a.f[i] <= b.f[i]))
/* In each group of four. */
WORDS(_mm512_shuffle_epi32, (__m512i a, int how), a.u[(i & ~3) + (how >> 2 * (i & 3) & 3)])
FLOATS(_mm512_unpacklo_ps, (__m512 a, __m512 b), (i & 1 ? b : a).f[(i & ~3) + (i & 3) / 2])
FLOATS(_mm512_unpackhi_ps, (__m512 a, __m512 b), (i & 1 ? b : a).f[(i & ~3) + 2 + (i & 3) / 2])
LONGS(_mm512_unpacklo_pd, (__m512d a, __m512d b), (i & 1 ? b : a).w[i & ~1])
LONGS(_mm512_unpackhi_pd, (__m512d a, __m512d b), (i & 1 ? b : a).w[i | 1])

/* The bits of a, b and c choose a bit of the table. */
static inline uint64_t ternary_logic(uint64_t a, uint64_t b, uint64_t c, int table)
{
    uint64_t bits = 0;
    for (int row = 0; row < 8; row++)
        if (table >> row & 1) bits |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return bits;
}
LONGS(_mm512_ternarylogic_epi64, (__m512i a, __m512i b, __m512i c, int table),
      ternary_logic(a.w[i], b.w[i], c.w[i], table))
#define _mm512_ternarylogic_epi32 _mm512_ternarylogic_epi64

static inline __m512i _mm512_setr_epi64(long long a, long long b, long long c, long long d,
                                        long long e, long long f, long long g, long long h)
{
    const long long all[8] = {a, b, c, d, e, f, g, h};
    __m512i r;
    memcpy(&r, all, sizeof r);
    return r;
}

static inline __m512 _mm512_loadu_ps(const void *from)
{
    __m512 r;
    memcpy(&r, from, sizeof r);
    return r;
}

static inline void _mm512_storeu_ps(void *to, __m512 a)
{
    memcpy(to, &a, sizeof a);
}

#define _mm512_castps_si512(a) (a)
#define _mm512_castsi512_ps(a) (a)
#define _mm512_castpd_ps(a) (a)
#define _mm512_castps_pd(a) (a)

#endif
