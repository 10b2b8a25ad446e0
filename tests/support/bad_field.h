/* One field of a struct set to a bad value, and the refusal that has to name it. */
#ifndef SUPPORT_BAD_FIELD_H
#define SUPPORT_BAD_FIELD_H
#include "support/api_kit.h"

/* What the message must contain, the status, the field and the value that goes there. */
typedef struct spoil {
    const char *word;
    certreg_status status;
    size_t offset;
    char kind; /* i: 32 bits, z: size_t, d: double, p: pointer */
    double number;
    size_t size;
    const void *pointer;
} spoil;

static inline void apply(void *target, const spoil *s)
{
    unsigned char *at = (unsigned char *)target + s->offset;
    const uint32_t word = s->number < 0 ? (uint32_t)(int32_t)s->number : (uint32_t)s->number;
    switch (s->kind) {
    case 'i': memcpy(at, &word, sizeof word); break;
    case 'z': memcpy(at, &s->size, sizeof s->size); break;
    case 'd': memcpy(at, &s->number, sizeof s->number); break;
    default: memcpy(at, &s->pointer, sizeof s->pointer); break;
    }
}

static inline void check_sentence(const certreg_error *error, const spoil *s)
{
    ck_assert_msg(error->status == s->status, "%s: %s", s->word, error->text);
    KIT_SAYS(error, s->word);
    ck_assert_ptr_nonnull(memchr(error->text, 0, sizeof error->text));
}

#endif
