/* Entering and leaving a device's context (driver_context.h) by the driver's functions, which the
 * runtime finds. Why not cudaSetDevice: restoring the old device would create a context on device 0
 * in threads that never chose a device. */
#include "backend/cuda/driver_context.h"
#include <cuda_runtime_api.h>
#include <string.h>

/* Sets the pointer at `function` to a function of the driver, in its version of CUDA 12.0. */
static int find_function(const char *name, void *function)
{
    void *address = NULL;
    enum cudaDriverEntryPointQueryResult query_result;
#if CUDART_VERSION >= 12050
    const int code = (int)cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault,
                                                           &query_result);
#else
    const int code = (int)cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#endif
    /* ISO C has no conversion to a function's address. */
    memcpy(function, &address, sizeof address);
    return code || address ? code : (int)cudaErrorInsufficientDriver;
}

int cr_cuda_context_open(cr_cuda_context *c, int device)
{
    int (*retain)(void **, int) = NULL;
    int (*get)(int *, int) = NULL;
    int code;
    *c = (cr_cuda_context){0};
    if ((code = find_function("cuDeviceGet", &get)) ||
        (code = find_function("cuDevicePrimaryCtxRetain", &retain)) ||
        (code = find_function("cuDevicePrimaryCtxRelease", &c->release)) ||
        (code = find_function("cuCtxPushCurrent", &c->push)) ||
        (code = find_function("cuCtxPopCurrent", &c->pop)) || (code = get(&c->device, device)) ||
        (code = retain(&c->context, c->device)))
        return code;
    c->is_retained = 1;
    return 0;
}

int cr_cuda_context_enter(const cr_cuda_context *c)
{
    return c->push(c->context);
}

void cr_cuda_context_leave(const cr_cuda_context *c)
{
    void *popped;
    c->pop(&popped);
}

void cr_cuda_context_close(cr_cuda_context *c)
{
    if (c->is_retained) c->release(c->device);
    c->is_retained = 0;
}
