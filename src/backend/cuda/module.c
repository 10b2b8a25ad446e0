/* The CUDA backend: memory, copies, errors. A shared object of its own, which the library opens by name; what happens on the device is in
 * kernels.cu, Gram matrices are cuBLAS's. No call waits for more than its own stream. */
#include "backend/cuda/kernels.h"
#include "backend/cuda/status.h"
#include "backend/module.h"
#include "base/error.h"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20 }; /* bytes of scratch: a Gram matrix of 362 blocks */

typedef struct cuda {
    certreg_backend base;
    int device, owns_stream, code; /* code: of the op that failed last; a sticky one stays */
    const char *text;
    cudaStream_t stream, side; /* side: for the noise of the next batch */
    cudaEvent_t drawn;
    cublasHandle_t blas;
    unsigned char *room; /* on the device, ROOM bytes */
} cuda;

static cuda *of(certreg_backend *backend)
{
    return (cuda *)(void *)backend;
}

static certreg_status note(cuda *me, int code, const char *text)
{
    me->code = code;
    me->text = text;
    return cr_cuda_is_sticky(code) ? CERTREG_DEVICE_FAILED : cr_cuda_status(code);
}

static certreg_status of_runtime(cuda *me, int code)
{
    return code ? note(me, code, cudaGetErrorString((cudaError_t)code)) : CERTREG_OK;
}

static certreg_status of_blas(cuda *me, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CERTREG_OK;
    me->code = (int)status;
    me->text = cublasGetStatusString(status);
    return status == CUBLAS_STATUS_ALLOC_FAILED ? CERTREG_NO_MEMORY : CERTREG_DEVICE_FAILED;
}

/* Every op begins here: the calling thread may have another device current, and a context that is lost stays lost. */
static certreg_status enter(cuda *me)
{
    if (cr_cuda_is_sticky(me->code)) return CERTREG_DEVICE_FAILED;
    return of_runtime(me, (int)cudaSetDevice(me->device));
}

static certreg_status wait(cuda *me)
{
    return of_runtime(me, (int)cudaStreamSynchronize(me->stream));
}

/* ---- memory --------------------------------------------------------------------------------------------------------------------- */
static certreg_status op_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    cuda *me = of(backend);
    *out = NULL;
    const certreg_status status = enter(me);
    return status ? status : of_runtime(me, (int)cudaMalloc(out, bytes));
}

static void op_free(certreg_backend *backend, void *memory)
{
    if (memory && !enter(of(backend))) cudaFree(memory);
}

static certreg_status copy(cuda *me, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    certreg_status status = enter(me);
    if (!status && bytes) status = of_runtime(me, (int)cudaMemcpyAsync(to, from, bytes, kind, me->stream));
    return status ? status : wait(me);
}

static certreg_status op_store(certreg_backend *backend, void *device, const void *host, size_t bytes)
{
    return copy(of(backend), device, host, bytes, cudaMemcpyHostToDevice);
}

static certreg_status op_fetch(certreg_backend *backend, void *host, const void *device, size_t bytes)
{
    return copy(of(backend), host, device, bytes, cudaMemcpyDeviceToHost);
}

static certreg_status op_blank(certreg_backend *backend, float *device, size_t count)
{
    cuda *me = of(backend);
    const certreg_status status = enter(me);
    return status ? status : of_runtime(me, (int)cudaMemsetAsync(device, 0xff, count * sizeof *device, me->stream)); /* all ones is a NaN */
}

/* Host memory where the device's is promised would be a lost context. */
static int is_ours(const cuda *me, const void *memory)
{
    struct cudaPointerAttributes at;
    if (cudaPointerGetAttributes(&at, memory) != cudaSuccess) return cudaGetLastError(), 0;
    return at.type == cudaMemoryTypeManaged || (at.type == cudaMemoryTypeDevice && at.device == me->device);
}

/* ---- noise ------------------------------------------------------------------------------------------------------------------------ */
static certreg_status draw_on(cuda *me, cudaStream_t stream, const cr_noise *noise, const float *z, const float *step, uint64_t first, size_t count,
                              float *x)
{
    const certreg_status status = enter(me);
    if (!status && !is_ours(me, x)) return CERTREG_INVALID;
    return status ? status : of_runtime(me, cr_cuda_draw(stream, noise, z, step, first, count, x));
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const float *z, const float *step, uint64_t first, size_t count,
                              float *x)
{
    return draw_on(of(backend), of(backend)->stream, noise, z, step, first, count, x);
}

static certreg_status op_draw_ahead(certreg_backend *backend, const cr_noise *noise, const float *z, const float *step, uint64_t first,
                                    size_t count, float *x)
{
    cuda *me = of(backend);
    const certreg_status status = draw_on(me, me->side, noise, z, step, first, count, x);
    return status ? status : of_runtime(me, (int)cudaEventRecord(me->drawn, me->side));
}

static certreg_status op_join(certreg_backend *backend)
{
    cuda *me = of(backend);
    const certreg_status status = enter(me);
    return status ? status : of_runtime(me, (int)cudaStreamWaitEvent(me->stream, me->drawn, 0));
}

static certreg_status op_block_sums(certreg_backend *backend, const cr_noise *noise, uint64_t first, size_t length, size_t blocks,
                                    size_t functions, const float *weights, size_t stride, const float *mask, double *sums)
{
    cuda *me = of(backend);
    const certreg_status status = enter(me);
    if (status || functions < 1 || functions > 2) return status ? status : CERTREG_INVALID;
    return of_runtime(me, cr_cuda_block_sums(me->stream, noise, first, length, blocks, functions, weights, stride, mask, sums));
}

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch, size_t blocks, size_t inputs, double *gram)
{
    cuda *me = of(backend);
    const double one = 1, zero = 0;
    const size_t bytes = blocks * blocks * sizeof *gram;
    void *out = me->room;
    certreg_status status = enter(me);
    if (pitch > INT_MAX || blocks > INT_MAX) return CERTREG_INVALID; /* cuBLAS counts in int */
    if (!status && bytes > ROOM) status = op_alloc(backend, bytes, &out);
    if (!status) status = of_blas(me, cublasDsyrk(me->blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, (int)blocks, (int)inputs, &one, sums, (int)pitch,
                                                  &zero, out, (int)blocks));
    if (!status) status = op_fetch(backend, gram, out, bytes);
    if (out != me->room) op_free(backend, out);
    for (size_t p = 0; !status && p < blocks; p++) /* columns there, rows here: the upper triangle came as the lower one */
        for (size_t q = 0; q < p; q++) gram[q * blocks + p] = gram[p * blocks + q];
    return status;
}

/* ---- life ----------------------------------------------------------------------------------------------------------------------------- */
static void *op_stream(certreg_backend *backend)
{
    return of(backend)->stream;
}

static int32_t op_last_code(certreg_backend *backend, const char **text)
{
    *text = of(backend)->text ? of(backend)->text : "no error";
    return of(backend)->code;
}

static void op_close(certreg_backend *backend)
{
    cuda *me = of(backend);
    if (!enter(me)) {
        cudaFree(me->room);
        if (me->blas) cublasDestroy(me->blas);
        if (me->stream && me->owns_stream) cudaStreamDestroy(me->stream);
        if (me->drawn) cudaEventDestroy(me->drawn);
        if (me->side) cudaStreamDestroy(me->side);
    }
    free(me);
}

/* The paper's interval, gradients without normality and the second order replay noise on the host, which has the same bits: they
 * are sequential, or BLAS's, and need no row of x. */
static const cr_backend_ops device_ops = {.api_version = CR_BACKEND_API,
                                          .close = op_close,
                                          .draw = op_draw,
                                          .alloc = op_alloc,
                                          .free = op_free,
                                          .store = op_store,
                                          .fetch = op_fetch,
                                          .blank = op_blank,
                                          .draw_ahead = op_draw_ahead,
                                          .join = op_join,
                                          .block_sums = op_block_sums,
                                          .gram = op_gram,
                                          .stream = op_stream,
                                          .last_code = op_last_code};

static certreg_status start(cuda *me, void *stream)
{
    certreg_status status = of_runtime(me, (int)cudaSetDevice(me->device));
    if (!status) status = of_runtime(me, (int)cudaMalloc((void **)&me->room, ROOM)); /* makes the context */
    me->stream = stream;
    me->owns_stream = stream == NULL;
    if (!status && me->owns_stream) status = of_runtime(me, (int)cudaStreamCreateWithFlags(&me->stream, cudaStreamNonBlocking));
    if (!status) status = of_runtime(me, (int)cudaStreamCreateWithFlags(&me->side, cudaStreamNonBlocking));
    if (!status) status = of_runtime(me, (int)cudaEventCreateWithFlags(&me->drawn, cudaEventDisableTiming));
    if (!status) status = of_blas(me, cublasCreate(&me->blas));
    if (!status) status = of_blas(me, cublasSetStream(me->blas, me->stream));
    return status;
}

static certreg_status count_devices(int32_t device, certreg_error *why)
{
    int count = 0;
    const int code = (int)cudaGetDeviceCount(&count);
    if (code) {
        cr_fail(why, cr_cuda_status(code), "no CUDA device can be used: %s", cudaGetErrorString((cudaError_t)code));
        return why->model_code = code, why->status;
    }
    if (device < count) return CERTREG_OK;
    return cr_fail(why, CERTREG_NO_DEVICE, "CUDA device %d does not exist; there are %d", (int)device, count);
}

__attribute__((visibility("default"))) certreg_status certreg_module_open(uint32_t api, int32_t device, void *stream, certreg_error *why,
                                                                          certreg_backend **out);
certreg_status certreg_module_open(uint32_t api, int32_t device, void *stream, certreg_error *why, certreg_backend **out)
{
    *out = NULL;
    if (api != CR_BACKEND_API)
        return cr_fail(why, CERTREG_VERSION, "the CUDA module speaks version %u of the library's inner language, not %u", CR_BACKEND_API, api);
    certreg_status status = count_devices(device, why);
    if (status) return status;
    struct { /* the ops carry the ordinal, so each backend has its own */
        cuda backend;
        cr_backend_ops ops;
    } *made = calloc(1, sizeof *made);
    if (!made) return cr_fail(why, CERTREG_NO_MEMORY, "no memory for a backend");
    made->ops = device_ops;
    made->ops.device = device;
    made->backend.base.ops = &made->ops;
    made->backend.device = device;
    status = start(&made->backend, stream);
    if (status) {
        cr_fail(why, status, "CUDA device %d cannot be used: %s", (int)device, made->backend.text);
        why->model_code = made->backend.code;
        op_close(&made->backend.base);
        return status;
    }
    *out = &made->backend.base;
    return CERTREG_OK;
}
