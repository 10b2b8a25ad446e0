/* Memory of handles (handle_memory.h): checks the caller's memory, or allocates. */
#include "base/handle_memory.h"
#include "base/arena.h"
#include "base/os.h"
#include <string.h>

certreg_status cr_handle_alloc(void *memory, size_t bytes, size_t need, int32_t *owned, void **out,
                               certreg_error *why)
{
    *out = NULL;
    *owned = !memory;
    if (memory && (uintptr_t)memory % CR_ALIGN)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.memory is not aligned to 64 bytes");
    if (memory && bytes < need)
        return cr_error_set(why, CERTREG_E_SMALL_MEMORY,
                            "plan.memory_bytes is %zu; it must be at least %zu", bytes, need);
    void *taken = memory ? memory : cr_os_take(need);
    if (!taken) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for %zu bytes", need);
    *out = memset(taken, 0, need);
    return CERTREG_OK;
}

void cr_handle_release(void *memory)
{
    cr_os_release(memory);
}
