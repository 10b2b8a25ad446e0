/* The CUDA backend on the host: the device's context, the frame of an operation, operations on
 * memory and on noise, and opening and closing. */
#include "backend/backend.h"
#include "backend/cuda/error_codes.h"
#include "backend/cuda/kernels.h"
#include "base/error.h"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ======== The context of the device, current only during an op: afterwards the calling thread
 * has the current context from before, or none. Entering and leaving a device's context
 * by the driver's functions, which the runtime finds. Why not cudaSetDevice:
 * restoring the old device would create a context on device 0 in threads that never chose a
 * device. */
typedef struct cr_cuda_context {
    int device, is_retained;
    void *context; /* the device's primary one */
    int (*push)(void *);
    int (*pop)(void **);
    int (*release)(int);
} cr_cuda_context;

/* Sets the pointer at `function` to a function of the driver, in its version of CUDA 12.0. */
static int find_function(const char *name, void *function)
{
    void *address = NULL;
    enum cudaDriverEntryPointQueryResult query_result;
#if CUDART_VERSION >= 12050
    const int code = (int)cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault,
                                                           &query_result);
#else
    const int code = (int)cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &query_result);
#endif
    /* ISO C has no conversion to a function's address. */
    memcpy(function, &address, sizeof address);
    return code || address ? code : (int)cudaErrorInsufficientDriver;
}

/* Retains the primary context of a device. Returns 0 or CUDA's error number. */
static int cr_cuda_context_open(cr_cuda_context *c, int device)
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

/* Makes the context current. Returns 0 or CUDA's error number; only after 0 leave must follow. */
static int cr_cuda_context_enter(const cr_cuda_context *c)
{
    return c->push(c->context);
}

/* Makes the context from before cr_cuda_context_enter current. */
static void cr_cuda_context_leave(const cr_cuda_context *c)
{
    void *popped;
    c->pop(&popped);
}

/* Releases the context; after a failed open it does nothing. */
static void cr_cuda_context_close(cr_cuda_context *c)
{
    if (c->is_retained) c->release(c->device);
    c->is_retained = 0;
}

/* ======== The beginning and the end of every op of the CUDA backend, and its errors as
 * statuses. */
typedef struct cr_cuda {
    certreg_backend base;
    int device, owns_stream;
    int code; /* of the last failed op; a sticky code stays */
    const char *text;
    cr_cuda_context context;
    int is_entered;                    /* non-zero: cr_cuda_leave must leave the context */
    cudaStream_t stream, ahead_stream; /* ahead_stream: for the noise of the next batch */
    cudaEvent_t ahead_done;            /* on ahead_stream */
    uint64_t threads;                  /* of a draw */
    cublasHandle_t blas;
    void *blas_workspace;
} cr_cuda;

/* Returns the handle of a CUDA backend. */
static inline cr_cuda *cr_cuda_of(certreg_backend *backend)
{
    return (cr_cuda *)(void *)backend;
}

enum { BLAS_CODE_OFFSET = 10000 }; /* added to cuBLAS's statuses, to separate them from CUDA's */

/* Returns a number of CUDA's runtime as a status, and keeps it for last_code if it is an error. */
static certreg_status cr_cuda_runtime_status(cr_cuda *self, int code)
{
    if (!code) return CERTREG_OK;
    self->code = code;
    self->text = cudaGetErrorString((cudaError_t)code);
    const certreg_status status = cr_cuda_status(code);
    return status ? status : CERTREG_E_DEVICE_FAILED; /* never success */
}

/* Does the same for a status of cuBLAS. */
static certreg_status cr_cuda_blas_status(cr_cuda *self, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CERTREG_OK;
    self->code = BLAS_CODE_OFFSET + (int)status;
    self->text = cublasGetStatusString(status);
    return status == CUBLAS_STATUS_ALLOC_FAILED ? CERTREG_E_NO_MEMORY : CERTREG_E_DEVICE_FAILED;
}

/* Refuses a capturing stream: work would be added to the caller's graph instead of being done, and
 * waiting for it would invalidate the capture. */
static certreg_status check_capture(cr_cuda *self)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const int code = (int)cudaStreamIsCapturing(self->stream, &capture);
    if (code == cudaErrorStreamCaptureImplicit)
        cudaGetLastError(); /* of another stream, for which the legacy stream would wait */
    else if (code) return cr_cuda_runtime_status(self, code);
    if (!code && capture == cudaStreamCaptureStatusNone) return CERTREG_OK;
    self->code = cudaErrorStreamCaptureUnsupported;
    self->text =
        "the stream is capturing a graph; end the capture before the library is to work on it";
    return CERTREG_E_WRONG_STATE;
}

/* Begins an op; fails if the context is lost, since it stays lost. Every op except free and close
 * calls it and cr_cuda_leave. These two must run in a lost context too, and free may run beside
 * another thread's op, so that it must not write to the handle. */
static certreg_status cr_cuda_enter(cr_cuda *self)
{
    if (cr_cuda_is_sticky(self->code)) return CERTREG_E_DEVICE_FAILED;
    const certreg_status status =
        cr_cuda_runtime_status(self, cr_cuda_context_enter(&self->context));
    self->is_entered = !status;
    return status || !self->stream ? status : check_capture(self);
}

/* Ends an op, also after a failed cr_cuda_enter, and returns the status. */
static certreg_status cr_cuda_leave(cr_cuda *self, certreg_status status)
{
    if (self->is_entered) cr_cuda_context_leave(&self->context);
    self->is_entered = 0;
    return status;
}

/* ======== The ops on a device's memory, and on the order of its work. */
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

/* Sets the ops on memory. */
static void cr_cuda_memory_ops(cr_backend_ops *ops)
{
    ops->alloc = op_alloc;
    ops->free = op_free;
    ops->store = op_store;
    ops->fetch = op_fetch;
    ops->fill = op_fill;
    ops->join = op_join;
    ops->wait = op_wait;
}

/* ======== The ops on a device's noise, and the products of its sums. */
static certreg_status locate(cr_cuda *self, const void *memory, int *is_device)
{
    struct cudaPointerAttributes attributes;
    const int code = (int)cudaPointerGetAttributes(&attributes, memory);
    *is_device = 0;
    if (code == cudaErrorInvalidValue) { /* host memory, for old drivers */
        cudaGetLastError();
        return CERTREG_OK;
    }
    if (code) return cr_cuda_runtime_status(self, code);
    const int has_device = attributes.type == cudaMemoryTypeDevice;
    *is_device = has_device || attributes.type == cudaMemoryTypeManaged;
    return has_device && attributes.device != self->device ? CERTREG_E_INVALID : CERTREG_OK;
}

/* Refuses memory that is not the device's: a kernel would lose the context. */
static certreg_status check_device_memory(cr_cuda *self, const void *memory)
{
    int is_device;
    const certreg_status status = locate(self, memory, &is_device);
    return status || is_device ? status : CERTREG_E_INVALID;
}

static certreg_status op_locate(certreg_backend *backend, const void *memory, int *is_device)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    *is_device = 0;
    if (!status) status = locate(self, memory, is_device);
    return cr_cuda_leave(self, status);
}

static int draw_on(cr_cuda *self, cudaStream_t stream, const cr_noise *noise, const cr_draw *d)
{
    const int code = cr_cuda_draw(stream, self->threads, noise, d->z, d->noise_deviation, d->first,
                                  d->count, d->x);
    return code || !d->masks ? code : cr_cuda_hide(stream, noise, d);
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const cr_draw *draw)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status) status = check_device_memory(self, draw->x);
    if (!status) status = cr_cuda_runtime_status(self, draw_on(self, self->stream, noise, draw));
    return cr_cuda_leave(self, status);
}

static certreg_status op_draw_ahead(certreg_backend *backend, const cr_noise *noise,
                                    const cr_draw *draw)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status)
        status = cr_cuda_runtime_status(self, draw_on(self, self->ahead_stream, noise, draw));
    if (!status)
        status = cr_cuda_runtime_status(self,
                                        (int)cudaEventRecord(self->ahead_done, self->ahead_stream));
    return cr_cuda_leave(self, status);
}

static certreg_status op_replay(certreg_backend *backend, const cr_noise *noise,
                                const cr_weighted_blocks *w, const float *mask, double *sums,
                                cr_deadline *deadline)
{
    cr_cuda *self = cr_cuda_of(backend);
    if (cr_deadline_expired(deadline)) return CERTREG_E_DEADLINE;
    certreg_status status = cr_cuda_enter(self);
    if (!status && (w->functions < 1 || w->functions > 2)) status = CERTREG_E_INVALID;
    if (!status)
        status = cr_cuda_runtime_status(self, cr_cuda_replay(self->stream, noise, w, mask, sums));
    return cr_cuda_leave(self, status);
}

static certreg_status op_project(certreg_backend *backend, const cr_noise *noise,
                                 const cr_projection *p, cr_deadline *deadline)
{
    cr_cuda *self = cr_cuda_of(backend);
    if (cr_deadline_expired(deadline)) return CERTREG_E_DEADLINE;
    certreg_status status = cr_cuda_enter(self);
    if (!status) status = cr_cuda_runtime_status(self, cr_cuda_project(self->stream, noise, p));
    return cr_cuda_leave(self, status);
}

static certreg_status op_set_directions(certreg_backend *backend, const cr_direction_rows *to)
{
    cr_cuda *self = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(self);
    if (!status) status = cr_cuda_runtime_status(self, cr_cuda_set_directions(self->stream, to));
    return cr_cuda_leave(self, status);
}

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch,
                              size_t blocks, size_t inputs, double *gram)
{
    cr_cuda *self = cr_cuda_of(backend);
    const double one = 1, zero = 0;
    if (pitch > INT_MAX || blocks > INT_MAX) return CERTREG_E_INVALID; /* cuBLAS has int */
    certreg_status status = cr_cuda_enter(self);
    if (!status)
        status = cr_cuda_runtime_status(
            self, (int)cudaMemsetAsync(gram, 0, blocks * blocks * sizeof *gram, self->stream));
    if (!status) /* cuBLAS has columns for rows */
        status = cr_cuda_blas_status(self, cublasDsyrk(self->blas, CUBLAS_FILL_MODE_LOWER,
                                                       CUBLAS_OP_T, (int)blocks, (int)inputs, &one,
                                                       sums, (int)pitch, &zero, gram, (int)blocks));
    return cr_cuda_leave(self, status);
}

/* Sets the ops on noise. */
static void cr_cuda_noise_ops(cr_backend_ops *ops)
{
    ops->locate = op_locate;
    ops->draw = op_draw;
    ops->draw_ahead = op_draw_ahead;
    ops->replay = op_replay;
    ops->project = op_project;
    ops->set_directions = op_set_directions;
    ops->gram = op_gram;
}

/* ======== Opening and closing the CUDA backend, a shared object that the library opens by name.
 * noise_kernels.cu has the device's code. After an estimator is created, its calls wait only for
 * their own stream.
 */
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
