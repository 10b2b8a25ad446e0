/* From a seed to normals: words by the published generator, normals of them, and levels that share
 * no words. That every path has the bits of the specification is in unit_cpu.c; the normals of all
 * words are in proof/normals.c. */
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/grid_rounding.h"
#include "support/cpu_setups.h"
#include "support/philox_block.h"

/* ---- words */
/* Known answers of Random123: counter, key, and their words. */
static const struct {
    uint32_t counter[4], key[2], words[4];
} published[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST_ROWS(philox_gives_the_published_words, published)
{
    const uint32_t *counter = published[_i].counter, *key = published[_i].key;
    uint32_t words[4];
    philox_block((uint64_t)key[1] << 32 | key[0], (uint64_t)counter[3] << 32 | counter[2],
                 (uint64_t)counter[1] << 32 | counter[0], words);
    ck_assert_mem_eq(words, published[_i].words, sizeof words);
}

TEST(philox_words_depend_on_every_bit_of_seed_stream_and_block)
{
    for (int i = 0; i < 3 * 64; i++) {
        const uint64_t bit = UINT64_C(1) << i % 64;
        int changed = 0;
        for (uint64_t block = 0; block < 64; block++) {
            uint32_t plain[4], words[4];
            philox_block(1, 2, block, plain);
            philox_block(1 ^ (i / 64 == 0 ? bit : 0), 2 ^ (i / 64 == 1 ? bit : 0),
                         block ^ (i / 64 == 2 ? bit : 0), words);
            for (int k = 0; k < 4; k++) changed += __builtin_popcount(plain[k] ^ words[k]);
        }
        /* of 8192 bits; standard deviation 45 (64 where blocks pair up) */
        ck_assert_msg(abs(changed - 4096) < 6 * 45, "bit %d changes %d", i, changed);
    }
}

/* ---- normals */
/* Word n: the ends of the range and of quarter turns, the ends of what is strict, and others. */
static uint32_t word(uint32_t n)
{
    static const uint32_t ends[] = {
        0x20000000u, 0x40000000u,      0x80000000u,
        0xC0000000u, CR_NORMAL4_FIRST, CR_NORMAL4_FIRST + CR_NORMAL4_COUNT,
        0,           UINT32_MAX};
    return n < 64 ? ends[n / 8] + n % 8 - 4 : n * 2654435761u;
}

/* The first of a pair is the sine; words are taken in order, and strict ones change nothing but
 * what they leave out. */
TEST(normal4_is_that_of_box_and_muller)
{
    enum { WORDS = 128 };
    for (uint32_t n = 0; n < WORDS * WORDS; n++) {
        const uint32_t a = word(n / WORDS), b = word(n % WORDS), words[4] = {a, b, b, a};
        float e[4], strict[4];
        cr_normal4_from(words, 0, e);
        cr_normal4_from(words, 1, strict);
        for (int k = 0; k < 4; k++) {
            const uint32_t x = words[k & 2];
            const double u = (x + 0.5) * 0x1p-32,
                         angle = (words[k | 1] + 0.5) * 0x1p-31 * 3.14159265358979324,
                         r = sqrt(-2.0 * log(u)), exact = r * (k % 2 ? cos(angle) : sin(angle));
            const int near_ends = x < CR_NORMAL4_FIRST || x >= UINT32_MAX - 0xFFFFu;
            /* near u = 1 the radius is that of the right end */
            ck_assert_msg(fabs((double)e[k] - exact) <= 3e-7 * r + 0x1p-32 / r,
                          "%08x %08x: %.9g, not %.9g", x, words[k | 1], (double)e[k], exact);
            ck_assert(near_ends ? isnan(strict[k]) : strict[k] == e[k]);
        }
    }
}

/* ---- levels */
/* Theory 5, Lemma 4b: the last block of the last sample that begin accepts is the last but at most
 * `row` of its level, and no level has a block that continues the words of another one. */
TEST(source_levels_share_no_blocks)
{
    static const size_t inputs[] = {1, 3, 4, 5, 1000, 1021, 150528, 67108865};
    static const uint64_t levels[] = {
        0, 1, (1 << 18) - 1, 1 << 18, (1 << 19) - 1, 1 << 19, CR_LEVELS - 2, CR_LEVELS - 1};
    ck_assert(CR_LEVELS << CR_LEVEL_BITS == CR_CELL_THIRD);
    for (int d = 0; d < KIT_ROWS(inputs); d++)
        for (int l = 0; l < KIT_ROWS(levels); l++) {
            const cr_noise noise = {.level = levels[l], .inputs = inputs[d]};
            const cr_noise_stream source = cr_noise_stream_of(&noise);
            const uint64_t most = (UINT64_C(1) << CR_LEVEL_BITS) / source.blocks_per_sample,
                           last = cr_noise_stream_block(&source, most - 1) +
                                  source.blocks_per_sample - 1,
                           next = (levels[l] + 1) << CR_LEVEL_BITS;
            ck_assert(cr_noise_stream_block(&source, 0) == levels[l] << CR_LEVEL_BITS);
            ck_assert((inputs[d] - 1) / 4 == source.blocks_per_sample - 1);
            ck_assert(last < next && next - last <= source.blocks_per_sample &&
                      next <= CR_CELL_THIRD);
            ck_assert((last | CR_CELL_THIRD) == last + CR_CELL_THIRD);
            ck_assert((last | CR_CELL_THIRD) < CR_CELL_SECOND);
            ck_assert((last | CR_CELL_SECOND) == last + CR_CELL_SECOND);
            ck_assert((last | CR_CELL_SECOND) > CR_CELL_SECOND);
        }
}

TEST_MAIN("noise_stream")
