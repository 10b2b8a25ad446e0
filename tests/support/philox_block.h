/* One block of a stream of cuRAND's, by its number. */
#ifndef TESTS_PHILOX_BLOCK_H
#define TESTS_PHILOX_BLOCK_H
#include "backend/philox.h"

static inline void philox_block(uint64_t seed, uint64_t stream, uint64_t index, uint32_t words[4])
{
    uint32_t keys[2 * CR_PHILOX_ROUNDS];
    cr_philox_keys(seed, keys);
    cr_philox_at(keys, stream, index, words);
}

#endif
