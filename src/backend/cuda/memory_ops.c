/* The ops on a device's memory, and on the order of its work. */
#include "backend/cuda/op_guard.h"

static certreg_status op_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    *out = NULL;
    if (!status) status = cr_cuda_of_runtime(me, (int)cudaMalloc(out, bytes));
    return cr_cuda_leave(me, status);
}

static void op_free(certreg_backend *backend, void *memory)
{
    const cr_cuda_context *ours = &cr_cuda_of(backend)->context;
    const int inside = !cr_cuda_context_enter(ours);
    if (memory) cudaFree(memory); /* fails if the context is lost, which is harmless */
    if (inside) cr_cuda_context_leave(ours);
}

static certreg_status op_store(certreg_backend *backend, void *device, const void *host,
                               size_t bytes)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status && bytes)
        status = cr_cuda_of_runtime(
            me, (int)cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, me->stream));
    return cr_cuda_leave(me, status);
}

static certreg_status op_fetch(certreg_backend *backend, void *host, const void *device,
                               size_t bytes)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, me->stream));
    if (!status) status = cr_cuda_of_runtime(me, (int)cudaStreamSynchronize(me->stream));
    return cr_cuda_leave(me, status);
}

static certreg_status op_fill(certreg_backend *backend, void *device, size_t bytes, int byte)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(me, (int)cudaMemsetAsync(device, byte, bytes, me->stream));
    return cr_cuda_leave(me, status);
}

static certreg_status op_join(certreg_backend *backend)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(me, (int)cudaStreamWaitEvent(me->stream, me->drawn, 0));
    return cr_cuda_leave(me, status);
}

static certreg_status op_wait(certreg_backend *backend)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status) status = cr_cuda_of_runtime(me, (int)cudaStreamSynchronize(me->stream));
    return cr_cuda_leave(me, status);
}

void cr_cuda_memory_ops(cr_backend_ops *ops)
{
    ops->alloc = op_alloc;
    ops->free = op_free;
    ops->store = op_store;
    ops->fetch = op_fetch;
    ops->fill = op_fill;
    ops->join = op_join;
    ops->wait = op_wait;
}
