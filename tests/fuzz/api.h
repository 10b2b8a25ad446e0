/* What the fuzzers of the public interface share: structs between guards, of a size that the input
 * chooses, and what every refusal and every certificate has to look like. */
#ifndef FUZZ_API_H
#define FUZZ_API_H
#include "fuzz/fuzz.h"
#include <certreg/attack.h>
#include <certreg/interval.h>
#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_POISON 1
#endif
#endif
#ifdef FUZZ_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

/* ---- memory between guards: a write beyond it is found by every compiler, a read by ASan */
enum { FUZZ_GUARD = 64, FUZZ_ROOM = 8192, FUZZ_LARGEST = 512, FUZZ_BOXES = 24 };
typedef struct fuzz_box {
    _Alignas(64) unsigned char whole[FUZZ_ROOM + 2 * FUZZ_GUARD];
} fuzz_box;
static fuzz_box fuzz_boxes[FUZZ_BOXES];
static size_t fuzz_box_size[FUZZ_BOXES];
static int fuzz_boxes_used;

/* `size` bytes with some value; until fuzz_boxes_check. */
static inline unsigned char *fuzz_box_take(size_t size, int fill)
{
    MUST(size <= FUZZ_ROOM && fuzz_boxes_used < FUZZ_BOXES, "%zu bytes", size);
    unsigned char *whole = fuzz_boxes[fuzz_boxes_used].whole, *at = whole + FUZZ_GUARD;
    memset(whole, 0xa5, FUZZ_GUARD), memset(at + size, 0xa5, FUZZ_GUARD);
    memset(at, fill, size);
    ASAN_POISON_MEMORY_REGION(whole, FUZZ_GUARD);
    ASAN_POISON_MEMORY_REGION(at + size, FUZZ_GUARD);
    fuzz_box_size[fuzz_boxes_used++] = size;
    return at;
}

static inline void fuzz_boxes_check(void)
{
    for (int i = 0; i < fuzz_boxes_used; i++) {
        const unsigned char *whole = fuzz_boxes[i].whole;
        const unsigned char *behind = whole + FUZZ_GUARD + fuzz_box_size[i];
        ASAN_UNPOISON_MEMORY_REGION(whole, sizeof fuzz_boxes[i].whole);
        for (int k = 0; k < FUZZ_GUARD; k++)
            MUST(whole[k] == 0xa5 && behind[k] == 0xa5, "a write %d bytes beyond box %d", k, i);
    }
    fuzz_boxes_used = 0;
}

/* ---- structs */
/* What may be done to a struct: its words of 8 bytes that are pointers, or say how much is behind
 * one, are only ever made zero. */
typedef struct fuzz_shape {
    size_t size;
    uint32_t kept; /* bit i: word i */
} fuzz_shape;

static inline uint32_t fuzz_struct_size(fuzz_bytes *b, size_t size)
{
    static const uint32_t strange[] = {0, 1, 4, 7, 8, 512, 65544, 0x80000000u, 0xfffffff8u, ~0u};
    const uint8_t kind = fuzz_byte(b);
    if (kind < 200) return (uint32_t)size;
    if (kind < 220) return (uint32_t)size + 8 * (kind % 8u);
    if (kind < 236) return (uint32_t)size - 8 + kind % 8u;
    return strange[kind % (sizeof strange / sizeof *strange)];
}

/* All versions so far have the same sizes. */
static inline int fuzz_is_valid_size(uint32_t claimed, size_t size)
{
    return claimed >= size && claimed % 8 == 0 && claimed <= 65536;
}

/* A newer caller has set what this version does not know. */
static inline int fuzz_sets_unknown(const void *of, size_t size)
{
    uint32_t claimed;
    memcpy(&claimed, of, sizeof claimed);
    if (!fuzz_is_valid_size(claimed, size)) return 0;
    for (size_t i = size; i < claimed; i++)
        if (((const unsigned char *)of)[i]) return 1;
    return 0;
}

static inline void fuzz_spoil_word(fuzz_bytes *b, unsigned char *at, int kept)
{
    const uint8_t kind = fuzz_byte(b);
    const double x = fuzz_double(b);
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    if (kind % 4 == 1) word = kind / 4 % 8;                         /* small */
    if (kind % 4 == 2) word = ~(uint64_t)0 >> (kind / 4);           /* huge */
    if (kind % 4 == 3) word = (uint64_t)(-(int64_t)(kind / 4 % 8)); /* below zero */
    if (kept) word = 0;
    if (kind < 128) memcpy(at, &word, 8);
    else if (!kept) memcpy(at + (kind % 8 < 4 ? 0 : 4), &word, 4);
}

/* Structs in a box of exactly the size that they claim to have, each with up to three words spoilt;
 * `good` has as many, of this version's size. */
static inline void *fuzz_structs(fuzz_bytes *b, const void *good, size_t count, fuzz_shape shape)
{
    const uint32_t size = fuzz_struct_size(b, shape.size);
    const size_t step = size < 4 ? 4 : size > FUZZ_LARGEST ? shape.size : size;
    const size_t known = step < shape.size ? step : shape.size;
    unsigned char *box = fuzz_box_take(step * count, 0);
    for (size_t i = 0; i < count; i++) {
        unsigned char *at = box + i * step;
        memcpy(at, (const unsigned char *)good + i * shape.size, known);
        for (int words = fuzz_byte(b) % 4; words; words--) {
            const size_t word = fuzz_byte(b) % (step / 8 + 1);
            const int kept = word < 32 && shape.kept >> word & 1;
            if (8 * word + 8 <= step) fuzz_spoil_word(b, at + 8 * word, kept);
        }
    }
    memcpy(box, &size, sizeof size);
    return box;
}

/* An output struct: full of rubbish, of a size of its own. */
static inline void *fuzz_output(uint32_t size, size_t count)
{
    const size_t room = size < 4 ? 4 : size > FUZZ_LARGEST ? FUZZ_GUARD : size * count;
    unsigned char *at = fuzz_box_take(room, 0x5a);
    memcpy(at, &size, sizeof size);
    return at;
}

/* ---- what has to hold */
static inline void fuzz_check_error(const certreg_error *error, certreg_status status,
                                    const char *call)
{
    MUST(status >= CERTREG_OK && status <= CERTREG_E_BUSY, "%s: %d", call, (int)status);
    if (!error) return;
    MUST(error->status == status, "%s: %d, but the error has %d: %s", call, (int)status,
         (int)error->status, error->text);
    MUST(memchr(error->text, 0, sizeof error->text) != NULL, "%s: text without end", call);
    MUST(!status == !error->text[0], "%s: status %d, text \"%s\"", call, (int)status, error->text);
    MUST(!status || strchr(error->text, ' ') != NULL, "%s: no sentence: %s", call, error->text);
}

static inline int fuzz_claims_nothing(const certreg_certificate *c)
{
    return c->radius == 0 && c->radius_l1 == 0 && c->radius_l2 == 0 && c->radius_linf == 0 &&
           c->outcome == CERTREG_OUTCOME_ABSTAINED && c->output_lo == -INFINITY &&
           c->output_hi == INFINITY;
}

static inline void fuzz_check_certificate(const certreg_certificate *c, const char *call)
{
    MUST(c->radius >= 0 && c->radius < INFINITY, "%s: radius %g", call, c->radius);
    MUST(c->outcome >= CERTREG_OUTCOME_ABSTAINED && c->outcome <= CERTREG_OUTCOME_CAPPED,
         "%s: outcome %d", call, (int)c->outcome);
    MUST(c->stop >= CERTREG_STOP_ALL && c->stop <= CERTREG_STOP_CANCELLED, "%s: stop %d", call,
         (int)c->stop);
    MUST(c->output_lo <= c->output_hi, "%s: %g to %g", call, c->output_lo, c->output_hi);
    MUST(!c->status || fuzz_claims_nothing(c), "%s: status %d claims radius %g, %g to %g", call,
         (int)c->status, c->radius, c->output_lo, c->output_hi);
    const int unasked = c->stop == CERTREG_STOP_CANCELLED && isnan(c->alpha); /* a later level */
    MUST((c->outcome == CERTREG_OUTCOME_ABSTAINED && !c->status && !unasked) == (c->reason != 0),
         "%s: outcome %d, reason %d", call, (int)c->outcome, (int)c->reason);
    MUST(c->outcome != CERTREG_OUTCOME_ABSTAINED || fuzz_claims_nothing(c),
         "%s: an abstention claims radius %g, %g to %g", call, c->radius, c->output_lo,
         c->output_hi);
}

#endif
