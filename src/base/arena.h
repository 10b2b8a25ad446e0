/* Memory for many arrays in one block. A layout function runs twice, with base NULL to count the
 * bytes and with the memory to place the arrays, so that size and use cannot disagree. */
#ifndef CR_BASE_ARENA_H
#define CR_BASE_ARENA_H
#include <stddef.h>
#include <stdint.h>

#define CR_ALIGN 64u

typedef struct cr_arena {
    unsigned char *base; /* NULL: only count */
    size_t used;
    int overflow; /* a size did not fit into size_t */
    size_t align; /* alignment of every array, a power of two; 0: CR_ALIGN */
} cr_arena;

/* Returns a*b, or SIZE_MAX if that overflows: a wrapped product could be allocated. */
static inline size_t cr_arena_product(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

/* Places `count` elements of `size` bytes; returns NULL while counting. */
static inline void *cr_arena_alloc(cr_arena *arena, size_t count, size_t size)
{
    const size_t align = arena->align ? arena->align : CR_ALIGN,
                 at = (arena->used + align - 1) & ~(align - 1);
    if (size && count > (SIZE_MAX / 2 - at) / size) {
        arena->overflow = 1;
        return NULL;
    }
    arena->used = at + count * size;
    return arena->base ? arena->base + at : NULL;
}

#endif
