/* How much stack a piece of work takes: it runs on a thread whose stack was filled with a pattern
 * before. */
#ifndef SUPPORT_STACK_H
#define SUPPORT_STACK_H
#include <pthread.h>
#include <stddef.h>
#include <string.h>

enum { STACK_ROOM = 1 << 20, STACK_PATTERN = 0xA7 };

static inline void *stack_run(void *work)
{
    (*(void (**)(void))work)();
    return NULL;
}

static inline size_t stack_touched(void (*work)(void))
{
    static _Alignas(1 << 16) unsigned char stack[STACK_ROOM];
    pthread_t thread;
    pthread_attr_t how;
    size_t untouched = 0;
    memset(stack, STACK_PATTERN, STACK_ROOM);
    ck_assert(!pthread_attr_init(&how) && !pthread_attr_setstack(&how, stack, STACK_ROOM));
    ck_assert(!pthread_create(&thread, &how, stack_run, &work) && !pthread_join(thread, NULL));
    pthread_attr_destroy(&how);
    while (untouched < STACK_ROOM && stack[untouched] == STACK_PATTERN) untouched++;
    return STACK_ROOM - untouched;
}

static inline void stack_idle(void)
{
}

/* Without what the C library has of a thread's stack itself. */
static inline size_t stack_of(void (*work)(void))
{
    const size_t all = stack_touched(work), own = stack_touched(stack_idle);
    return all > own ? all - own : 0;
}

#endif
