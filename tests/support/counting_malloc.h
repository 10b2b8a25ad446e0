/* A malloc family that counts, and fails on demand, for the one program that includes it. Memory
 * checkers bring a family of their own. Then this one is not in use, and the program has nothing
 * to test. */
#ifndef SUPPORT_COUNTING_MALLOC_H
#define SUPPORT_COUNTING_MALLOC_H
#include <errno.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define INTERPOSED 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#undef INTERPOSED
#endif
#endif

/* ---- the malloc family */
static volatile int watching; /* whether what follows counts */
static volatile long taken;   /* calls so far */
static volatile long live;    /* blocks not yet freed */
static volatile long fail_at; /* number of the call that fails; 0: none */

static void watch(long which)
{
    taken = live = 0;
    fail_at = which;
    watching = 1;
}

static void unwatch(void)
{
    watching = 0;
}

#ifdef INTERPOSED
#define PUBLIC __attribute__((visibility("default")))
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static int refused(void)
{
    if (!watching) return 0;
    if (++taken != fail_at) return live++, 0;
    errno = ENOMEM;
    return 1;
}

PUBLIC void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

PUBLIC void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

PUBLIC void *realloc(void *block, size_t size)
{
    if (block && watching) live--;
    return refused() ? NULL : __libc_realloc(block, size);
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? NULL : __libc_memalign(alignment, size);
}

PUBLIC int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (refused()) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

PUBLIC void free(void *block)
{
    if (block && watching) live--;
    __libc_free(block);
}
#endif

/* Whether the family above is the one in use. */
static inline int interposed(void)
{
    watch(0);
    void *volatile block = malloc(1);
    free(block);
    unwatch();
    return taken == 1 && live == 0;
}

#endif
