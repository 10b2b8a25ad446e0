/* What fuzzers share. A fuzzer defines fuzz_one, which reads numbers from the bytes it is given,
 * calls the library with them, and says MUST(...) about what has to hold; a violation is a crash.
 * The same bytes always do the same: no clock, no random source, no state kept between inputs. */
#ifndef FUZZ_H
#define FUZZ_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One input. Once at the start of the program `prepare` is called. */
void fuzz_prepare(void);
void fuzz_one(const uint8_t *bytes, size_t size);
/* Most bytes of an input that are of use. */
extern const size_t fuzz_most_bytes;

#define MUST(condition, ...)                                                \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort();     \
        }                                                                   \
    } while (0)

/* ---- the bytes as numbers; after the last byte all of them are 0 */
typedef struct fuzz_bytes {
    const uint8_t *next;
    size_t left;
} fuzz_bytes;

static inline void fuzz_take(fuzz_bytes *b, void *out, size_t size)
{
    const size_t taken = size < b->left ? size : b->left;
    memset(out, 0, size);
    if (taken) memcpy(out, b->next, taken);
    b->next += taken, b->left -= taken;
}

static inline uint8_t fuzz_byte(fuzz_bytes *b)
{
    uint8_t x;
    fuzz_take(b, &x, sizeof x);
    return x;
}

static inline uint64_t fuzz_word(fuzz_bytes *b)
{
    uint8_t byte[8];
    uint64_t x = 0;
    fuzz_take(b, byte, sizeof byte);
    for (int i = 8; i--;) x = x << 8 | byte[i];
    return x;
}

/* 0 to count - 1. */
static inline uint32_t fuzz_below(fuzz_bytes *b, uint32_t count)
{
    return (fuzz_byte(b) | (uint32_t)fuzz_byte(b) << 8) % count;
}

/* Whether this is one of so many inputs, by all of its bytes: what is slow keeps its share of the
 * inputs, however much a fuzzer likes it. */
static inline int fuzz_one_of(uint32_t count, const uint8_t *bytes, size_t size)
{
    uint64_t mixed = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) mixed = (mixed ^ bytes[i]) * 0x100000001b3u;
    return (mixed >> 32 ^ mixed >> 48) % count == 0;
}

/* In [0, 1], with all ends. */
static inline double fuzz_share(fuzz_bytes *b)
{
    return (double)(fuzz_byte(b) | (uint32_t)fuzz_byte(b) << 8) / 65535;
}

/* Any double: one of those that go wrong, a plain one, or eight bytes as they are. */
static inline double fuzz_double(fuzz_bytes *b)
{
    static const double special[] = {
        0,    -0.0,    1,      -1,         0.5,      1e-300,    5e-324, 2.2250738585072014e-308,
        1e16, -1e16,   1e300,  -1e300,     INFINITY, -INFINITY, NAN,    1.7976931348623157e308,
        2,    0x1p-52, 0x1p53, 1 - 0x1p-53};
    const uint8_t kind = fuzz_byte(b);
    if (kind < 64) return special[kind % (sizeof special / sizeof *special)];
    if (kind < 192) return (fuzz_share(b) - 0.5) * (kind % 2 ? 4 : 200);
    const uint64_t bits = fuzz_word(b);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
