/* A mark that one thread holds. */
#ifndef CR_BASE_FLAG_H
#define CR_BASE_FLAG_H
#include <stdint.h>

#ifdef __cplusplus
typedef int32_t cr_flag; /* the same bytes; C++ only looks past them */
#else
#include <stdatomic.h>
typedef _Atomic int32_t cr_flag;

/* Whether it is ours now; else it was taken already. */
static inline int cr_flag_take(cr_flag *flag)
{
    return !atomic_exchange_explicit(flag, 1, memory_order_acquire);
}

static inline void cr_flag_release(cr_flag *flag)
{
    atomic_store_explicit(flag, 0, memory_order_release);
}
#endif
#endif
