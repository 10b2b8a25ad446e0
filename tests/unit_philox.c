/* Philox4x32-10 against the known answers published with Random123, and its layout of seed,
 * stream and block. */
#include "backend/philox.h"
#include "support/philox_block.h"
#include "support/suite.h"

typedef struct known {
    uint32_t counter[4], key[2], words[4];
} known;

static const known answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};
enum { ANSWERS = sizeof answers / sizeof *answers };

static void same(const uint32_t ours[4], const uint32_t theirs[4])
{
    for (int i = 0; i < 4; i++)
        ck_assert_msg(ours[i] == theirs[i], "word %d is %08x, not %08x", i, ours[i], theirs[i]);
}

TEST_TIMES(words_are_the_published_ones, ANSWERS)
{
    uint32_t words[4];
    memcpy(words, answers[_i].counter, sizeof words);
    uint32_t keys[2 * CR_PHILOX_ROUNDS];
    cr_philox_keys((uint64_t)answers[_i].key[1] << 32 | answers[_i].key[0], keys);
    cr_philox_words(words, keys);
    same(words, answers[_i].words);
}

TEST_TIMES(block_puts_seed_stream_and_index_where_curand_does, ANSWERS)
{
    const known *a = &answers[_i];
    uint32_t words[4];
    philox_block((uint64_t)a->key[1] << 32 | a->key[0],
                 (uint64_t)a->counter[3] << 32 | a->counter[2],
                 (uint64_t)a->counter[1] << 32 | a->counter[0], words);
    same(words, a->words);
}

TEST_TIMES(every_bit_of_the_input_changes_about_half_of_the_output, 3 * 64)
{
    uint32_t plain[4], words[4];
    int changed = 0;
    const uint64_t bit = (uint64_t)1 << _i % 64;
    for (uint64_t index = 0; index < 64; index++) {
        philox_block(1, 2, index, plain);
        philox_block(1 ^ (_i / 64 == 0 ? bit : 0), 2 ^ (_i / 64 == 1 ? bit : 0),
                     index ^ (_i / 64 == 2 ? bit : 0), words);
        for (int i = 0; i < 4; i++) changed += __builtin_popcount(plain[i] ^ words[i]);
    }
    /* of 8192 bits; standard deviation 45 (64 where index pairs up) */
    ck_assert_int_gt(changed, 4096 - 6 * 45);
    ck_assert_int_lt(changed, 4096 + 6 * 45);
}

TEST(carry_reaches_the_upper_half_of_the_index)
{
    uint32_t low[4], high[4], expected[4] = {0, 1, 5, 0};
    philox_block(9, 5, 0xFFFFFFFFu, low);
    philox_block(9, 5, 0xFFFFFFFFu + (uint64_t)1, high);
    uint32_t keys[2 * CR_PHILOX_ROUNDS];
    cr_philox_keys(9, keys);
    cr_philox_words(expected, keys);
    same(high, expected);
    ck_assert(memcmp(low, high, sizeof low) != 0);
}

TEST_MAIN("philox")
