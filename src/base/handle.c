#include "base/handle.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

certreg_status cr_handle_take(void *memory, size_t bytes, size_t need, int *owned, void **out)
{
    *out = NULL;
    *owned = !memory;
    if (memory && (uintptr_t)memory % CR_ALIGN) return CERTREG_E_INVALID;
    if (memory && bytes < need) return CERTREG_E_SMALL_MEMORY;
    void *taken = memory ? memory : malloc(need);
    if (!taken) return CERTREG_E_NO_MEMORY;
    *out = memset(taken, 0, need);
    return CERTREG_OK;
}

void cr_handle_release(void *memory)
{
    free(memory);
}
