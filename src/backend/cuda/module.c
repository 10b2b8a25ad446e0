/* The CUDA backend: memory, copies, errors. A shared object of its own, which the library opens by
 * name; what happens on the device is in kernels.cu and second.cu, products of matrices are
 * cuBLAS's. No call after the estimator's creation waits for more than its own stream. */
#include "backend/cuda/context.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/status.h"
#include "backend/module.h"
#include "base/error.h"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdlib.h>

/* Bytes of cuBLAS's work space, as NVIDIA recommends them; left alone, it takes its own when it
 * likes. */
enum { HOPPER = 9, BLAS_ROOM = 4 << 20, BLAS_ROOM_HOPPER = 32 << 20 };
enum { BLAS_CODES = 10000 }; /* what its statuses are raised by, among CUDA's numbers */

typedef struct cuda {
    certreg_backend base;
    int device, owns_stream, code; /* code: of the op that failed last; a sticky one stays */
    cr_cuda_context context;
    int inside; /* an op, so that there is something to leave */
    const char *text;
    cudaStream_t stream, side; /* side: for the noise of the next batch */
    cudaEvent_t drawn;
    cublasHandle_t blas;
    void *blas_room;
} cuda;

static cuda *of(certreg_backend *backend)
{
    return (cuda *)(void *)backend;
}

static certreg_status of_runtime(cuda *me, int code)
{
    if (code) me->code = code, me->text = cudaGetErrorString((cudaError_t)code);
    return cr_cuda_status(code);
}

static certreg_status of_blas(cuda *me, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CERTREG_OK;
    me->code = BLAS_CODES + (int)status;
    me->text = cublasGetStatusString(status);
    return status == CUBLAS_STATUS_ALLOC_FAILED ? CERTREG_E_NO_MEMORY : CERTREG_E_DEVICE_FAILED;
}

/* Work on a capturing stream would go into the caller's graph instead of being done, and waiting
 * for it would spoil the capture. */
static certreg_status check_capture(cuda *me)
{
    enum cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
    const int code = (int)cudaStreamIsCapturing(me->stream, &now);
    if (code == cudaErrorStreamCaptureImplicit)
        cudaGetLastError(); /* another stream's, which the legacy stream would wait for */
    else if (code) return of_runtime(me, code);
    if (!code && now == cudaStreamCaptureStatusNone) return CERTREG_OK;
    me->code = cudaErrorStreamCaptureUnsupported;
    me->text =
        "the stream is capturing a graph; end the capture before the library is to work on it";
    return CERTREG_E_WRONG_STATE;
}

/* Every op begins with enter and ends with leave. A context that is lost stays lost. */
static certreg_status enter(cuda *me)
{
    if (cr_cuda_is_sticky(me->code)) return CERTREG_E_DEVICE_FAILED;
    const certreg_status status = of_runtime(me, cr_cuda_context_enter(&me->context));
    me->inside = !status;
    return status || !me->stream ? status : check_capture(me);
}

/* What ends memory, streams and the like: also where the context is lost, or it would be looked for
 * in the caller's. */
static void enter_to_end(cuda *me)
{
    me->inside = !cr_cuda_context_enter(&me->context);
}

static certreg_status leave(cuda *me, certreg_status status)
{
    if (me->inside) cr_cuda_context_leave(&me->context);
    me->inside = 0;
    return status;
}

/* ---- memory */
static certreg_status op_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    *out = NULL;
    if (!status) status = of_runtime(me, (int)cudaMalloc(out, bytes));
    return leave(me, status);
}

static void op_free(certreg_backend *backend, void *memory)
{
    cuda *me = of(backend);
    enter_to_end(me);
    if (memory) cudaFree(memory); /* a lost context refuses, and that is all */
    leave(me, CERTREG_OK);
}

static certreg_status op_store(certreg_backend *backend, void *device, const void *host,
                               size_t bytes)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status && bytes)
        status = of_runtime(
            me, (int)cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, me->stream));
    return leave(me, status);
}

static certreg_status op_fetch(certreg_backend *backend, void *host, const void *device,
                               size_t bytes)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status)
        status = of_runtime(
            me, (int)cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, me->stream));
    if (!status) status = of_runtime(me, (int)cudaStreamSynchronize(me->stream));
    return leave(me, status);
}

static certreg_status op_fill(certreg_backend *backend, void *device, size_t bytes, int byte)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status) status = of_runtime(me, (int)cudaMemsetAsync(device, byte, bytes, me->stream));
    return leave(me, status);
}

/* Host memory where the device's is promised would be a lost context. */
static certreg_status check_ours(cuda *me, const void *memory)
{
    struct cudaPointerAttributes at;
    const int code = (int)cudaPointerGetAttributes(&at, memory);
    if (code == cudaErrorInvalidValue) return cudaGetLastError(), CERTREG_E_INVALID;
    if (code) return of_runtime(me, code);
    const int ours = at.type == cudaMemoryTypeManaged ||
                     (at.type == cudaMemoryTypeDevice && at.device == me->device);
    return ours ? CERTREG_OK : CERTREG_E_INVALID;
}

/* ---- noise */
static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const float *z,
                              const float *step, uint64_t first, size_t count, float *x)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status) status = check_ours(me, x);
    if (!status) status = of_runtime(me, cr_cuda_draw(me->stream, noise, z, step, first, count, x));
    return leave(me, status);
}

static certreg_status op_draw_ahead(certreg_backend *backend, const cr_noise *noise, const float *z,
                                    const float *step, uint64_t first, size_t count, float *x)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status) status = of_runtime(me, cr_cuda_draw(me->side, noise, z, step, first, count, x));
    if (!status) status = of_runtime(me, (int)cudaEventRecord(me->drawn, me->side));
    return leave(me, status);
}

static certreg_status op_join(certreg_backend *backend)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status) status = of_runtime(me, (int)cudaStreamWaitEvent(me->stream, me->drawn, 0));
    return leave(me, status);
}

static certreg_status op_wait(certreg_backend *backend)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status) status = of_runtime(me, (int)cudaStreamSynchronize(me->stream));
    return leave(me, status);
}

/* ---- replay */
static certreg_status sum_blocks(cuda *me, const cr_noise *noise, uint64_t first, size_t length,
                                 size_t blocks, size_t functions, const float *weights,
                                 size_t stride, const float *mask, int add, double *sums)
{
    certreg_status status = enter(me);
    if (!status && (functions < 1 || functions > 2)) status = CERTREG_E_INVALID;
    if (!status)
        status = of_runtime(me, cr_cuda_block_sums(me->stream, noise, first, length, blocks,
                                                   functions, weights, stride, mask, add, sums));
    return leave(me, status);
}

static certreg_status op_replay(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                                size_t count, size_t functions, const float *weights, size_t stride,
                                double *sums)
{
    return sum_blocks(of(backend), noise, first, count, 1, functions, weights, stride, NULL, 1,
                      sums);
}

static certreg_status op_block_sums(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                                    size_t length, size_t blocks, size_t functions,
                                    const float *weights, size_t stride, const float *mask,
                                    double *sums)
{
    return sum_blocks(of(backend), noise, first, length, blocks, functions, weights, stride, mask,
                      0, sums);
}

static certreg_status op_project(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                                 size_t count, const float *direction, const float *mask,
                                 double *dots, double *norms)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status)
        status = of_runtime(
            me, cr_cuda_project(me->stream, noise, first, count, direction, mask, dots, norms));
    return leave(me, status);
}

static certreg_status op_aim(certreg_backend *backend, const double *sums, const float *mask,
                             size_t inputs, float *direction, double lengths[2])
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status)
        status = of_runtime(me, cr_cuda_aim(me->stream, sums, mask, inputs, direction, lengths));
    return leave(me, status);
}

/* Sums and direction at the border that was reached last, in the room. */
static certreg_status op_walk(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                              size_t count, size_t blocks, const float *weights, const float *mask,
                              double *room, double *lengths, double *dots, double *norms,
                              cr_watch *watch)
{
    if (cr_watch_late(watch)) return CERTREG_E_DEADLINE;
    cuda *me = of(backend);
    float *direction = (float *)(void *)(room + noise->inputs);
    certreg_status status = enter(me);
    if (!status)
        status =
            of_runtime(me, (int)cudaMemsetAsync(room, 0, noise->inputs * sizeof *room, me->stream));
    for (size_t b = 0, from = 0; b <= blocks && !status; b++) {
        const size_t to = b < blocks ? cr_walk_border(count, blocks, b + 1) : from, n = to - from;
        status = of_runtime(
            me, cr_cuda_aim(me->stream, room, mask, noise->inputs, direction, lengths + 2 * b));
        if (!status)
            status = of_runtime(me, cr_cuda_project(me->stream, noise, first + from, n, direction,
                                                    mask, dots + from, norms + from));
        if (!status && n)
            status = of_runtime(me, cr_cuda_block_sums(me->stream, noise, first + from, n, 1, 1,
                                                       weights + from, 0, NULL, 1, room));
        from = to;
    }
    return leave(me, status);
}

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch,
                              size_t blocks, size_t inputs, double *gram)
{
    cuda *me = of(backend);
    const double one = 1, zero = 0;
    if (pitch > INT_MAX || blocks > INT_MAX) return CERTREG_E_INVALID; /* cuBLAS counts in int */
    certreg_status status = enter(me);
    if (!status)
        status = of_runtime(
            me, (int)cudaMemsetAsync(gram, 0, blocks * blocks * sizeof *gram, me->stream));
    if (!status) /* columns there, rows here */
        status =
            of_blas(me, cublasDsyrk(me->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, (int)blocks,
                                    (int)inputs, &one, sums, (int)pitch, &zero, gram, (int)blocks));
    return leave(me, status);
}

/* ---- the second order */
/* A matrix of cuBLAS, columns first, is the transpose of ours: c, n rows of m here, becomes op(a)
 * op(b) there, and `beta` of what it was. */
static certreg_status multiply(cuda *me, cublasOperation_t of_a, cublasOperation_t of_b, size_t m,
                               size_t n, size_t k, const float *a, size_t lda, const float *b,
                               size_t ldb, float beta, float *c)
{
    const float one = 1;
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX || lda > INT_MAX || ldb > INT_MAX)
        return CERTREG_E_INVALID;
    return of_blas(me, cublasSgemm(me->blas, of_a, of_b, (int)m, (int)n, (int)k, &one, a, (int)lda,
                                   b, (int)ldb, &beta, c, (int)m));
}

static certreg_status op_tile(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                              size_t count, const int32_t *features, size_t active, float *rows,
                              double *norms)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status)
        status =
            of_runtime(me, cr_cuda_tile(me->stream, noise, first, count, features, active, rows));
    if (!status)
        status = of_runtime(me, cr_cuda_row_dots(me->stream, rows, rows, count, active, norms));
    return leave(me, status);
}

static certreg_status op_pairs(certreg_backend *backend, const cr_tile *a, const cr_tile *b,
                               size_t active, float *products, double *sums, double *squares)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status)
        status = multiply(me, CUBLAS_OP_T, CUBLAS_OP_N, b->count, a->count, active, b->rows, active,
                          a->rows, active, 0, products);
    if (!status)
        status = of_runtime(me, cr_cuda_pairs(me->stream, a, b, a->rows == b->rows, active,
                                              products, sums, squares));
    return leave(me, status);
}

static certreg_status op_outer(certreg_backend *backend, const cr_tile *tile, size_t active,
                               float *scaled, float *matrix)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status) status = of_runtime(me, cr_cuda_scale(me->stream, tile, active, scaled));
    if (!status)
        status = multiply(me, CUBLAS_OP_N, CUBLAS_OP_T, active, active, tile->count, tile->rows,
                          active, scaled, active, 1, matrix);
    return leave(me, status);
}

static certreg_status op_forms(certreg_backend *backend, const cr_tile *tile, size_t active,
                               const float *matrix, float *product, double *forms)
{
    cuda *me = of(backend);
    certreg_status status = enter(me);
    if (!status)
        status = multiply(me, CUBLAS_OP_N, CUBLAS_OP_N, active, tile->count, active, matrix, active,
                          tile->rows, active, 0, product);
    if (!status)
        status = of_runtime(
            me, cr_cuda_row_dots(me->stream, tile->rows, product, tile->count, active, forms));
    return leave(me, status);
}

/* ---- life */
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
    if (me->context.held) enter_to_end(me);
    if (me->blas) cublasDestroy(me->blas);
    if (me->blas_room) cudaFree(me->blas_room);
    if (me->stream && me->owns_stream) cudaStreamDestroy(me->stream);
    if (me->drawn) cudaEventDestroy(me->drawn);
    if (me->side) cudaStreamDestroy(me->side);
    leave(me, CERTREG_OK);
    cr_cuda_context_close(&me->context);
    free(me);
}

static const cr_backend_ops device_ops = {.api_version = CR_BACKEND_API,
                                          .close = op_close,
                                          .draw = op_draw,
                                          .replay = op_replay,
                                          .project = op_project,
                                          .aim = op_aim,
                                          .walk = op_walk,
                                          .alloc = op_alloc,
                                          .free = op_free,
                                          .store = op_store,
                                          .fetch = op_fetch,
                                          .fill = op_fill,
                                          .draw_ahead = op_draw_ahead,
                                          .join = op_join,
                                          .wait = op_wait,
                                          .block_sums = op_block_sums,
                                          .gram = op_gram,
                                          .tile = op_tile,
                                          .pairs = op_pairs,
                                          .outer = op_outer,
                                          .forms = op_forms,
                                          .stream = op_stream,
                                          .last_code = op_last_code};

/* What the model waits for goes before the noise of the next batch. */
static certreg_status open_streams(cuda *me)
{
    int least = 0, most = 0;
    certreg_status status = of_runtime(me, (int)cudaDeviceGetStreamPriorityRange(&least, &most));
    if (!status && me->owns_stream)
        status = of_runtime(
            me, (int)cudaStreamCreateWithPriority(&me->stream, cudaStreamNonBlocking, most));
    if (!status)
        status = of_runtime(
            me, (int)cudaStreamCreateWithPriority(&me->side, cudaStreamNonBlocking, least));
    if (!status)
        status = of_runtime(me, (int)cudaEventCreateWithFlags(&me->drawn, cudaEventDisableTiming));
    return status;
}

static certreg_status open_blas(cuda *me)
{
    int major = 0;
    certreg_status status = of_blas(me, cublasCreate(&me->blas));
    if (!status) status = of_blas(me, cublasSetStream(me->blas, me->stream));
    if (!status)
        status = of_blas(me, cublasSetMathMode(me->blas, CUBLAS_PEDANTIC_MATH)); /* float is float
                                                                                  */
    if (!status)
        status = of_runtime(
            me, (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, me->device));
    const size_t room = major >= HOPPER ? BLAS_ROOM_HOPPER : BLAS_ROOM;
    if (!status) status = of_runtime(me, (int)cudaMalloc(&me->blas_room, room));
    if (!status)
        status = of_blas(me, cublasSetWorkspace(me->blas, me->blas_room, room)); /* after the
                                                                                    stream, which
                                                                                    resets it */
    return status;
}

static certreg_status start(cuda *me, void *stream)
{
    me->stream = stream;
    me->owns_stream = stream == NULL;
    certreg_status status = of_runtime(me, cr_cuda_context_open(&me->context, me->device));
    if (!status) status = enter(me);
    if (!status) status = of_runtime(me, cr_cuda_load_kernels());
    if (!status) status = of_runtime(me, cr_cuda_load_hessian_kernels());
    if (!status) status = open_streams(me);
    if (!status) status = open_blas(me);
    return leave(me, status);
}

static certreg_status count_devices(int32_t device, certreg_error *why)
{
    int count = 0;
    const int code = (int)cudaGetDeviceCount(&count);
    if (code) {
        cr_fail(why, cr_cuda_status(code), "no CUDA device can be used: %s",
                cudaGetErrorString((cudaError_t)code));
        return why->model_code = code, why->status;
    }
    if (device < count) return CERTREG_OK;
    cr_fail(why, CERTREG_E_NO_DEVICE, "CUDA device %d does not exist; there are %d", (int)device,
            count);
    return why->model_code = cudaErrorInvalidDevice, why->status;
}

__attribute__((visibility("default"))) certreg_status certreg_module_open(
    uint32_t api, int32_t device, void *stream, certreg_error *why, certreg_backend **out);
certreg_status certreg_module_open(uint32_t api, int32_t device, void *stream, certreg_error *why,
                                   certreg_backend **out)
{
    *out = NULL;
    if (api != CR_BACKEND_API)
        return cr_fail(why, CERTREG_E_VERSION,
                       "the CUDA module speaks version %u of the library's inner language, not %u",
                       CR_BACKEND_API, api);
    certreg_status status = count_devices(device, why);
    if (status) return status;
    struct { /* the ops carry the ordinal, so each backend has its own */
        cuda backend;
        cr_backend_ops ops;
    } *made = calloc(1, sizeof *made);
    if (!made) return cr_fail(why, CERTREG_E_NO_MEMORY, "no memory for a backend");
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
