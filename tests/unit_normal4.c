/* The normals of whole blocks against the Box-Muller formula. Radius, sine and cosine of all words
 * are in tests/proof/normals.c, the law of what is drawn in tests/unit_noise_law.c. */
#include "backend/lanes_scalar.h"
/* after the lanes */
#include "backend/normal4.h"
#include "support/suite.h"

#define PI 3.14159265358979323846

/* Word n: the ends of the range and of quarter turns, the ends of what is strict, and others. */
static uint32_t word(uint32_t n)
{
    static const uint32_t ends[] = {
        0x20000000u, 0x40000000u,      0x80000000u,
        0xC0000000u, CR_NORMAL4_FIRST, CR_NORMAL4_FIRST + CR_NORMAL4_COUNT,
        0,           UINT32_MAX};
    return n < 64 ? ends[n / 8] + n % 8 - 4 : n * 2654435761u;
}
enum { WORDS = 128 };

/* The first of a pair is the sine; words are taken in order, and strict ones change nothing but
 * what they leave out. */
TEST(normals_of_a_block_are_those_of_its_words)
{
    for (uint32_t n = 0; n < WORDS * WORDS; n++) {
        const uint32_t words[4] = {word(n / WORDS), word(n % WORDS), word(n % WORDS),
                                   word(n / WORDS)};
        float e[4], strict[4];
        cr_normal4_from(words, 0, e);
        cr_normal4_from(words, 1, strict);
        for (int k = 0; k < 4; k++) {
            const uint32_t x = words[k & 2];
            const double u = (x + 0.5) * 0x1p-32, angle = (words[k | 1] + 0.5) * 0x1p-31 * PI,
                         r = sqrt(-2.0 * log(u)), exact = r * (k % 2 ? cos(angle) : sin(angle));
            const int near_ends = x < CR_NORMAL4_FIRST || x >= UINT32_MAX - 0xFFFFu;
            /* near u = 1 the radius is that of the right end */
            ck_assert_msg(fabs((double)e[k] - exact) <= 3e-7 * r + 0x1p-32 / r,
                          "%08x %08x: %.9g, not %.9g", x, words[k | 1], (double)e[k], exact);
            ck_assert(near_ends ? isnan(strict[k]) : strict[k] == e[k]);
        }
    }
}

TEST_MAIN("normal4")
