/* Which device a thread works on: as the runtime has it set, or on top of that what was pushed by
 * the driver's functions, which go by name. A context is its device's number and one. */
#include "emulated.h"
#include <string.h>

static _Thread_local int chosen, pushed[8], depth;

int emulated_current(void)
{
    return depth ? pushed[depth - 1] : chosen;
}

/* ---- the runtime's */
cudaError_t cudaGetDevice(int *device)
{
    *device = emulated_current();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= EMULATED_DEVICES) return cudaErrorInvalidDevice;
    if (depth) pushed[depth - 1] = device;
    else chosen = device;
    emulated_count_context(device); /* since CUDA 12 */
    return emulated_enter();
}

/* ---- the driver's */
static int device_get(int *device, int ordinal)
{
    *device = ordinal;
    return emulated_enter();
}

static int primary_retain(void **context, int device)
{
    const cudaError_t code = emulated_enter();
    if (code) return code;
    *context = (void *)(uintptr_t)(device + 1);
    emulated_count_context(device);
    emulated_count_object(1);
    return cudaSuccess;
}

static int primary_release(int device)
{
    (void)device;
    emulated_count_object(-1);
    return cudaSuccess;
}

/* A lost context is no hindrance; the next call finds it. */
static int push_current(void *context)
{
    if (depth == 8) emulated_broken("contexts are pushed and not popped");
    pushed[depth++] = (int)(uintptr_t)context - 1;
    const cudaError_t code = emulated_enter();
    if (!code || code >= EMULATED_LOST) return cudaSuccess;
    depth--;
    return code;
}

static int pop_current(void **context)
{
    if (!depth) emulated_broken("a context is popped that was not pushed");
    *context = (void *)(uintptr_t)(pushed[--depth] + 1);
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *how)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } table[] = {{"cuDeviceGet", (void (*)(void))device_get},
                 {"cuDevicePrimaryCtxRetain", (void (*)(void))primary_retain},
                 {"cuDevicePrimaryCtxRelease", (void (*)(void))primary_release},
                 {"cuCtxPushCurrent", (void (*)(void))push_current},
                 {"cuCtxPopCurrent", (void (*)(void))pop_current}};
    (void)version, (void)flags;
    *how = cudaDriverEntryPointSuccess;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name)) memcpy(function, &table[i].function, sizeof *function);
    return emulated_enter();
}
