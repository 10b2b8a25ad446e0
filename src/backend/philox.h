/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC'11): maps a counter to four independent 32-bit
 * words. It has no state, so that any thread or device can compute any part of the noise. This is
 * the host's code: devices use cuRAND's (noise_stream.h). */
#ifndef CR_BACKEND_PHILOX_H
#define CR_BACKEND_PHILOX_H
#include <stdint.h>

#if defined(__CUDACC__)
#define CR_INLINE static __forceinline__ __host__ __device__
/* Code that rarely runs, kept out of the loops that call it. */
#define CR_RARE static __noinline__ __host__ __device__ __attribute__((unused))
#else
#define CR_INLINE static inline
#define CR_ALWAYS_INLINE static inline __attribute__((always_inline))
#define CR_RARE static __attribute__((noinline, cold, unused))
#endif

#define CR_PHILOX_ROUNDS 10
#define CR_PHILOX_MULTIPLIER_0 0xD2511F53u
#define CR_PHILOX_MULTIPLIER_1 0xCD9E8D57u
#define CR_PHILOX_STEP_0 0x9E3779B9u /* golden ratio */
#define CR_PHILOX_STEP_1 0xBB67AE85u /* sqrt(3) - 1 */

/* Sets the keys of all rounds, two for each round. */
CR_INLINE void cr_philox_keys(uint64_t seed, uint32_t keys[2 * CR_PHILOX_ROUNDS])
{
    for (uint32_t round = 0; round < CR_PHILOX_ROUNDS; round++) {
        keys[2 * round] = (uint32_t)seed + round * CR_PHILOX_STEP_0;
        keys[2 * round + 1] = (uint32_t)(seed >> 32) + round * CR_PHILOX_STEP_1;
    }
}

/* Splits the 64-bit product a b. */
CR_INLINE void cr_philox_multiply(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low)
{
    const uint64_t both = (uint64_t)a * b;
    *high = (uint32_t)(both >> 32);
    *low = (uint32_t)both;
}

/* Replaces the counter with the four random words. */
CR_INLINE void cr_philox_words(uint32_t counter[4], const uint32_t keys[2 * CR_PHILOX_ROUNDS])
{
    for (int round = 0; round < CR_PHILOX_ROUNDS; round++) {
        uint32_t high[2], low[2];
        cr_philox_multiply(CR_PHILOX_MULTIPLIER_0, counter[0], high, low);
        cr_philox_multiply(CR_PHILOX_MULTIPLIER_1, counter[2], high + 1, low + 1);
        counter[0] = high[1] ^ counter[1] ^ keys[2 * round];
        counter[2] = high[0] ^ counter[3] ^ keys[2 * round + 1];
        counter[1] = low[1];
        counter[3] = low[0];
    }
}

/* Computes block `index` of a stream in the layout of cuRAND's device generator: key = seed,
 * counter = (index, stream), low words first. */
CR_INLINE void cr_philox_at(const uint32_t keys[2 * CR_PHILOX_ROUNDS], uint64_t stream,
                            uint64_t index, uint32_t words[4])
{
    words[0] = (uint32_t)index;
    words[1] = (uint32_t)(index >> 32);
    words[2] = (uint32_t)stream;
    words[3] = (uint32_t)(stream >> 32);
    cr_philox_words(words, keys);
}

#endif
