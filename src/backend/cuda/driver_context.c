/* Entering and leaving a device's context (driver_context.h) by the driver's functions, which the
 * runtime finds. Why not cudaSetDevice: restoring the old device would create a context on device 0
 * in threads that never chose a device. */
#include "backend/cuda/driver_context.h"
#include <cuda_runtime_api.h>
#include <string.h>

/* Sets the pointer at `function` to a function of the driver, in its version of CUDA 12.0. */
static int find(const char *name, void *function)
{
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult how;
#if CUDART_VERSION >= 12050
    const int code =
        (int)cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &how);
#else
    const int code = (int)cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#endif
    /* ISO C has no conversion to a function's address. */
    memcpy(function, &found, sizeof found);
    return code || found ? code : (int)cudaErrorInsufficientDriver;
}

int cr_cuda_context_open(cr_cuda_context *c, int device)
{
    int (*retain)(void **, int) = NULL;
    int (*get)(int *, int) = NULL;
    int code;
    *c = (cr_cuda_context){0};
    if ((code = find("cuDeviceGet", &get)) || (code = find("cuDevicePrimaryCtxRetain", &retain)) ||
        (code = find("cuDevicePrimaryCtxRelease", &c->release)) ||
        (code = find("cuCtxPushCurrent", &c->push)) || (code = find("cuCtxPopCurrent", &c->pop)) ||
        (code = get(&c->device, device)) || (code = retain(&c->context, c->device)))
        return code;
    c->held = 1;
    return 0;
}

int cr_cuda_context_enter(const cr_cuda_context *c)
{
    return c->push(c->context);
}

void cr_cuda_context_leave(const cr_cuda_context *c)
{
    void *ours;
    c->pop(&ours);
}

void cr_cuda_context_close(cr_cuda_context *c)
{
    if (c->held) c->release(c->device);
    c->held = 0;
}
