/* Numbers as bytes, least significant byte first on every machine, and a hash of bytes. */
#ifndef CR_BASE_BYTES_H
#define CR_BASE_BYTES_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CR_HASH_START UINT64_C(0xcbf29ce484222325)
#define CR_HASH_ANTITHETIC UINT64_C(0x7061697273) /* hashed if noise comes in antithetic pairs */

/* Put and get: a number at unaligned bytes. */
static inline void cr_put32(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(v >> (8 * i));
}

static inline void cr_put64(unsigned char *at, uint64_t v)
{
    for (int i = 0; i < 8; i++) at[i] = (unsigned char)(v >> (8 * i));
}

static inline uint32_t cr_get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t cr_get64(const unsigned char *at)
{
    return (uint64_t)cr_get32(at) | (uint64_t)cr_get32(at + 4) << 32;
}

/* A number as its bits, and back. */
static inline uint32_t cr_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t cr_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float cr_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double cr_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* FNV-1a with a final avalanche: detects damage, not forgery. A hash starts with CR_HASH_START and
 * ends with cr_hash_end. */
static inline uint64_t cr_hash(uint64_t h, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

static inline uint64_t cr_hash32(uint64_t h, uint32_t v)
{
    unsigned char bytes[4];
    cr_put32(bytes, v);
    return cr_hash(h, bytes, sizeof bytes);
}

static inline uint64_t cr_hash64(uint64_t h, uint64_t v)
{
    unsigned char bytes[8];
    cr_put64(bytes, v);
    return cr_hash(h, bytes, sizeof bytes);
}

static inline uint64_t cr_hash_end(uint64_t h)
{
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}

#endif
