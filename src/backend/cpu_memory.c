/* Memory of the CPU backend is the host's: what goes over to it is there already, or is copied, and
 * all work is done when an op returns. */
#include "backend/cpu.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

certreg_status cr_cpu_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    (void)backend;
    *out = bytes > SIZE_MAX - CR_ALIGN
               ? NULL
               : aligned_alloc(CR_ALIGN, (bytes + CR_ALIGN - 1) / CR_ALIGN * CR_ALIGN);
    return *out ? CERTREG_OK : CERTREG_E_NO_MEMORY;
}

void cr_cpu_free(certreg_backend *backend, void *memory)
{
    (void)backend;
    free(memory);
}

certreg_status cr_cpu_copy(certreg_backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (to != from && bytes) memcpy(to, from, bytes);
    return CERTREG_OK;
}

certreg_status cr_cpu_fill(certreg_backend *backend, void *there, size_t bytes, int byte)
{
    (void)backend;
    if (bytes) memset(there, byte, bytes);
    return CERTREG_OK;
}

certreg_status cr_cpu_wait(certreg_backend *backend)
{
    (void)backend;
    return CERTREG_OK;
}

void *cr_cpu_stream(certreg_backend *backend)
{
    (void)backend;
    return NULL;
}

int32_t cr_cpu_last_code(certreg_backend *backend, const char **text)
{
    (void)backend;
    *text = NULL;
    return 0;
}
