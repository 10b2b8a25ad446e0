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
enum { HOPPER = 9, BLAS_ROOM = 4 << 20, BLAS_ROOM_HOPPER = 32 << 20 };

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
    cr_cuda *me = cr_cuda_of(backend);
    const int inside = me->context.held && !cr_cuda_context_enter(&me->context);
    if (me->blas) cublasDestroy(me->blas);
    if (me->blas_room) cudaFree(me->blas_room);
    if (me->stream && me->owns_stream) cudaStreamDestroy(me->stream);
    if (me->drawn) cudaEventDestroy(me->drawn);
    if (me->side) cudaStreamDestroy(me->side);
    if (inside) cr_cuda_context_leave(&me->context);
    cr_cuda_context_close(&me->context);
    free(me);
}

/* The stream on which the model waits has priority over the noise of the next batch. */
static certreg_status open_streams(cr_cuda *me)
{
    int least = 0, most = 0;
    certreg_status status =
        cr_cuda_of_runtime(me, (int)cudaDeviceGetStreamPriorityRange(&least, &most));
    if (!status && me->owns_stream)
        status = cr_cuda_of_runtime(
            me, (int)cudaStreamCreateWithPriority(&me->stream, cudaStreamNonBlocking, most));
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaStreamCreateWithPriority(&me->side, cudaStreamNonBlocking, least));
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaEventCreateWithFlags(&me->drawn, cudaEventDisableTiming));
    return status;
}

static certreg_status open_blas(cr_cuda *me)
{
    int major = 0;
    certreg_status status = cr_cuda_of_blas(me, cublasCreate(&me->blas));
    if (!status) status = cr_cuda_of_blas(me, cublasSetStream(me->blas, me->stream));
    /* no reduced precision */
    if (!status) status = cr_cuda_of_blas(me, cublasSetMathMode(me->blas, CUBLAS_PEDANTIC_MATH));
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, me->device));
    const size_t room = major >= HOPPER ? BLAS_ROOM_HOPPER : BLAS_ROOM;
    if (!status) status = cr_cuda_of_runtime(me, (int)cudaMalloc(&me->blas_room, room));
    /* after cublasSetStream, which resets the work space */
    if (!status) status = cr_cuda_of_blas(me, cublasSetWorkspace(me->blas, me->blas_room, room));
    return status;
}

static certreg_status start(cr_cuda *me, void *stream)
{
    me->stream = stream;
    me->owns_stream = stream == NULL;
    certreg_status status = cr_cuda_of_runtime(me, cr_cuda_context_open(&me->context, me->device));
    if (!status) status = cr_cuda_enter(me);
    if (!status) status = cr_cuda_of_runtime(me, cr_cuda_load_kernels());
    if (!status) status = cr_cuda_of_runtime(me, cr_cuda_draw_threads(me->device, &me->threads));
    if (!status) status = open_streams(me);
    if (!status) status = open_blas(me);
    return cr_cuda_leave(me, status);
}

static certreg_status count_devices(int32_t device, certreg_error *why)
{
    int count = 0;
    const int code = (int)cudaGetDeviceCount(&count);
    if (code) {
        cr_error_set(why, cr_cuda_status(code), "no CUDA device can be used: %s",
                     cudaGetErrorString((cudaError_t)code));
        why->model_code = code;
        return why->status;
    }
    if (device < count) return CERTREG_OK;
    cr_error_set(why, CERTREG_E_NO_DEVICE, "CUDA device %d does not exist; there are %d",
                 (int)device, count);
    why->model_code = cudaErrorInvalidDevice;
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
    } *made = calloc(1, sizeof *made);
    if (!made) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for a backend");
    made->ops = ops_of(device);
    made->backend.base.ops = &made->ops;
    made->backend.device = device;
    status = start(&made->backend, stream);
    if (status) {
        cr_error_set(why, status, "CUDA device %d cannot be used: %s", (int)device,
                     made->backend.text);
        why->model_code = made->backend.code;
        op_close(&made->backend.base);
        return status;
    }
    *out = &made->backend.base;
    return CERTREG_OK;
}
