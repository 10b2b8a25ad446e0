/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC'11): a counter goes in, four independent 32-bit words come out. No state, so any
 * thread or device can compute any part of the noise. One source for host and CUDA. */
#ifndef CR_BACKEND_PHILOX_H
#define CR_BACKEND_PHILOX_H
#include <stdint.h>

#if defined(__CUDACC__)
#define CR_INLINE static __forceinline__ __host__ __device__
#else
#define CR_INLINE static inline
#endif

#define CR_PHILOX_ROUNDS 10
#define CR_PHILOX_MULTIPLIER_0 0xD2511F53u
#define CR_PHILOX_MULTIPLIER_1 0xCD9E8D57u
#define CR_PHILOX_STEP_0 0x9E3779B9u /* golden ratio */
#define CR_PHILOX_STEP_1 0xBB67AE85u /* sqrt(3) - 1 */

/* Replaces the counter by the four random words. */
CR_INLINE void cr_philox_words(uint32_t counter[4], uint32_t key_0, uint32_t key_1)
{
    for (int round = 0; round < CR_PHILOX_ROUNDS; round++) {
        const uint64_t p = (uint64_t)CR_PHILOX_MULTIPLIER_0 * counter[0];
        const uint64_t q = (uint64_t)CR_PHILOX_MULTIPLIER_1 * counter[2];
        counter[0] = (uint32_t)(q >> 32) ^ counter[1] ^ key_0;
        counter[2] = (uint32_t)(p >> 32) ^ counter[3] ^ key_1;
        counter[1] = (uint32_t)q;
        counter[3] = (uint32_t)p;
        key_0 += CR_PHILOX_STEP_0;
        key_1 += CR_PHILOX_STEP_1;
    }
}

/* Block `index` of a stream, laid out as cuRAND's device generator does: key = seed, counter = (index, stream), low words first. */
CR_INLINE void cr_philox_block(uint64_t seed, uint64_t stream, uint64_t index, uint32_t words[4])
{
    words[0] = (uint32_t)index;
    words[1] = (uint32_t)(index >> 32);
    words[2] = (uint32_t)stream;
    words[3] = (uint32_t)(stream >> 32);
    cr_philox_words(words, (uint32_t)seed, (uint32_t)(seed >> 32));
}

#endif
