/* The ops on a device's memory, and on the order of its work. */
#include "backend/cuda/op_guard.h"

static certreg_status op_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    *out = NULL;
    if (!status) status = cr_cuda_runtime_status(self, (int)cudaMalloc(out, bytes));
    return cr_cuda_leave(self, status);
}

static void op_free(certreg_backend *backend, void *memory)
{
    const cr_cuda_context *context = &cr_cuda_of(backend)->context;
    const int is_entered = !cr_cuda_context_enter(context);
    if (memory) cudaFree(memory); /* fails if the context is lost, which is harmless */
    if (is_entered) cr_cuda_context_leave(context);
}

static certreg_status op_store(certreg_backend *backend, void *device, const void *host,
                               size_t bytes)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status && bytes)
        status = cr_cuda_runtime_status(
            self, (int)cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, self->stream));
    return cr_cuda_leave(self, status);
}

static certreg_status op_fetch(certreg_backend *backend, void *host, const void *device,
                               size_t bytes)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status)
        status = cr_cuda_runtime_status(
            self, (int)cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, self->stream));
    if (!status) status = cr_cuda_runtime_status(self, (int)cudaStreamSynchronize(self->stream));
    return cr_cuda_leave(self, status);
}

static certreg_status op_fill(certreg_backend *backend, void *device, size_t bytes, int byte)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status)
        status =
            cr_cuda_runtime_status(self, (int)cudaMemsetAsync(device, byte, bytes, self->stream));
    return cr_cuda_leave(self, status);
}

static certreg_status op_join(certreg_backend *backend)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status)
        status = cr_cuda_runtime_status(
            self, (int)cudaStreamWaitEvent(self->stream, self->ahead_done, 0));
    return cr_cuda_leave(self, status);
}

static certreg_status op_wait(certreg_backend *backend)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status) status = cr_cuda_runtime_status(self, (int)cudaStreamSynchronize(self->stream));
    return cr_cuda_leave(self, status);
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
