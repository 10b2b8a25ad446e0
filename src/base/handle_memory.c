/* Memory of handles (handle_memory.h): checks libm and the caller's memory, or allocates. */
#include "base/handle_memory.h"
#include "base/arena.h"
#include "base/libm_check.h"
#include "base/os.h"
#include <string.h>

certreg_status cr_handle_alloc(void *memory, size_t bytes, size_t required, int32_t *owned,
                               void **out, certreg_error *why)
{
    *out = NULL;
    *owned = !memory;
    if (memory && (uintptr_t)memory % CR_ALIGN)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.memory is not aligned to 64 bytes");
    if (memory && bytes < required)
        return cr_error_set(why, CERTREG_E_SMALL_MEMORY,
                            "plan.memory_bytes is %zu; it must be at least %zu", bytes, required);
    const certreg_status status = cr_libm_check(why);
    if (status) return status;
    void *block = memory ? memory : cr_os_alloc(required);
    if (!block) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for %zu bytes", required);
    *out = memset(block, 0, required);
    return CERTREG_OK;
}

void cr_handle_release(void *memory)
{
    cr_os_free(memory);
}
