/* Opening and closing the CUDA backend, a shared object that the library opens by name.
 * noise_kernels.cu has the device's code. After an estimator is created, its calls wait only for
 * their own stream.
 */
#include "backend/cuda/error_codes.h"
#include "backend/cuda/op_guard.h"
#include "backend/cuda/kernels.h"
#include "backend/module_loader.h"
#include "base/error.h"
#include <stdlib.h>

/* Bytes of cuBLAS's work space, as NVIDIA recommends. Without one, cuBLAS allocates at any call. */
enum { HOPPER = 9, BLAS_WORKSPACE = 4 << 20, BLAS_WORKSPACE_HOPPER = 32 << 20 };

static void *op_stream(certreg_backend *backend)
{
    return cr_cuda_of(backend)->stream;
}

static int32_t op_last_code(certreg_backend *backend, const char **text)
{
    *text = cr_cuda_of(backend)->text ? cr_cuda_of(backend)->text : "no error";
    return cr_cuda_of(backend)->code;
}

static void op_close(certreg_backend *backend)
{
    cr_cuda *self = cr_cuda_of(backend);
    const int is_entered = self->context.is_retained && !cr_cuda_context_enter(&self->context);
    if (self->blas) cublasDestroy(self->blas);
    if (self->blas_workspace) cudaFree(self->blas_workspace);
    if (self->stream && self->owns_stream) cudaStreamDestroy(self->stream);
    if (self->ahead_done) cudaEventDestroy(self->ahead_done);
    if (self->ahead_stream) cudaStreamDestroy(self->ahead_stream);
    if (is_entered) cr_cuda_context_leave(&self->context);
    cr_cuda_context_close(&self->context);
    free(self);
}

/* The stream on which the model waits has priority over the noise of the next batch. */
static certreg_status open_streams(cr_cuda *self)
{
    int low_priority = 0, high_priority = 0;
    certreg_status status = cr_cuda_runtime_status(
        self, (int)cudaDeviceGetStreamPriorityRange(&low_priority, &high_priority));
    if (!status && self->owns_stream)
        status = cr_cuda_runtime_status(
            self,
            (int)cudaStreamCreateWithPriority(&self->stream, cudaStreamNonBlocking, high_priority));
    if (!status)
        status = cr_cuda_runtime_status(
            self, (int)cudaStreamCreateWithPriority(&self->ahead_stream, cudaStreamNonBlocking,
                                                    low_priority));
    if (!status)
        status = cr_cuda_runtime_status(
            self, (int)cudaEventCreateWithFlags(&self->ahead_done, cudaEventDisableTiming));
    return status;
}

static certreg_status open_blas(cr_cuda *self)
{
    int major = 0;
    certreg_status status = cr_cuda_blas_status(self, cublasCreate(&self->blas));
    if (!status) status = cr_cuda_blas_status(self, cublasSetStream(self->blas, self->stream));
    /* no reduced precision */
    if (!status)
        status = cr_cuda_blas_status(self, cublasSetMathMode(self->blas, CUBLAS_PEDANTIC_MATH));
    if (!status)
        status = cr_cuda_runtime_status(
            self,
            (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, self->device));
    const size_t workspace_bytes = major >= HOPPER ? BLAS_WORKSPACE_HOPPER : BLAS_WORKSPACE;
    if (!status)
        status =
            cr_cuda_runtime_status(self, (int)cudaMalloc(&self->blas_workspace, workspace_bytes));
    /* after cublasSetStream, which resets the work space */
    if (!status)
        status = cr_cuda_blas_status(
            self, cublasSetWorkspace(self->blas, self->blas_workspace, workspace_bytes));
    return status;
}

static certreg_status init(cr_cuda *self, void *stream)
{
    self->stream = stream;
    self->owns_stream = stream == NULL;
    certreg_status status =
        cr_cuda_runtime_status(self, cr_cuda_context_open(&self->context, self->device));
    if (!status) status = cr_cuda_enter(self);
    if (!status) status = cr_cuda_runtime_status(self, cr_cuda_load_kernels());
    if (!status)
        status = cr_cuda_runtime_status(self, cr_cuda_draw_threads(self->device, &self->threads));
    if (!status) status = open_streams(self);
    if (!status) status = open_blas(self);
    return cr_cuda_leave(self, status);
}

static certreg_status count_devices(int32_t device, certreg_error *why)
{
    int count = 0;
    const int code = (int)cudaGetDeviceCount(&count);
    if (code) {
        cr_error_set(why, cr_cuda_status(code), "no CUDA device can be used: %s",
                     cudaGetErrorString((cudaError_t)code));
        why->code = code;
        return why->status;
    }
    if (device < count) return CERTREG_OK;
    cr_error_set(why, CERTREG_E_NO_DEVICE, "CUDA device %d does not exist; there are %d",
                 (int)device, count);
    why->code = cudaErrorInvalidDevice;
    return why->status;
}

static cr_backend_ops ops_of(int32_t device)
{
    cr_backend_ops ops = {.api_version = CR_BACKEND_API,
                          .device = device,
                          .close = op_close,
                          .stream = op_stream,
                          .last_code = op_last_code};
    cr_cuda_memory_ops(&ops);
    cr_cuda_noise_ops(&ops);
    return ops;
}

__attribute__((visibility("default"))) certreg_status certreg_module_open(
    uint32_t api, int32_t device, void *stream, certreg_error *why, certreg_backend **out);
certreg_status certreg_module_open(uint32_t api, int32_t device, void *stream, certreg_error *why,
                                   certreg_backend **out)
{
    *out = NULL;
    if (api != CR_BACKEND_API)
        return cr_error_set(
            why, CERTREG_E_VERSION,
            "the CUDA module has internal version %u, and this library needs %u: install the one "
            "that came with it",
            CR_BACKEND_API, api);
    certreg_status status = count_devices(device, why);
    if (status) return status;
    struct { /* the ops contain the number of the device, so each backend has its own */
        cr_cuda backend;
        cr_backend_ops ops;
    } *handle = calloc(1, sizeof *handle);
    if (!handle) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for a backend");
    handle->ops = ops_of(device);
    handle->backend.base.ops = &handle->ops;
    handle->backend.device = device;
    status = init(&handle->backend, stream);
    if (status) {
        cr_error_set(why, status, "CUDA device %d cannot be used: %s", (int)device,
                     handle->backend.text);
        why->code = handle->backend.code;
        op_close(&handle->backend.base);
        return status;
    }
    *out = &handle->backend.base;
    return CERTREG_OK;
}
