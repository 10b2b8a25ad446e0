#if !defined(_DEFAULT_SOURCE) && !defined(_GNU_SOURCE)
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "base/handle.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory of this size and more is on huge pages where the system has them: the first touch of every
 * page, which is here, would take five times as long with small ones. */
#define LARGE ((size_t)16 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

static void *take(size_t bytes)
{
    const size_t align = bytes < LARGE ? CR_ALIGN : HUGE_PAGE;
    if (bytes > SIZE_MAX - align) return NULL;
    const size_t whole = (bytes + align - 1) / align * align;
    void *taken = aligned_alloc(align, whole);
#if defined(MADV_HUGEPAGE)
    if (taken && bytes >= LARGE) madvise(taken, whole, MADV_HUGEPAGE); /* or not */
#endif
    return taken;
}

certreg_status cr_handle_take(void *memory, size_t bytes, size_t need, int32_t *owned, void **out,
                              certreg_error *why)
{
    *out = NULL;
    *owned = !memory;
    if (memory && (uintptr_t)memory % CR_ALIGN)
        return cr_fail(why, CERTREG_E_INVALID, "plan.memory is not aligned to 64 bytes");
    if (memory && bytes < need)
        return cr_fail(why, CERTREG_E_SMALL_MEMORY,
                       "plan.memory_bytes is %zu; it must be at least %zu", bytes, need);
    void *taken = memory ? memory : take(need);
    if (!taken) return cr_fail(why, CERTREG_E_NO_MEMORY, "no memory for %zu bytes", need);
    *out = memset(taken, 0, need);
    return CERTREG_OK;
}

void cr_handle_release(void *memory)
{
    free(memory);
}
