/* A backend module whose device is host memory under addresses that do not exist: whoever touches them outside an op crashes, as on a
 * real device. Its kernels are the bodies of the CUDA ones in plain loops. The device's number says how it behaves. */
#include "backend/cuda/body.h"
#include "backend/module.h"
#include "base/error.h"
#include "modules/host_device.h"
#include <stdlib.h>
#include <string.h>

typedef struct device {
    certreg_backend base;
    cr_backend_ops ops;
    int number, ops_left; /* until a failing device fails */
    int lost;
    size_t taken;
    void *stream;
} device;

static device *of(certreg_backend *backend)
{
    return (device *)(void *)backend;
}

static certreg_status enter(device *me)
{
    if (me->number == HOST_DEVICE_FAILING && me->ops_left-- <= 0) me->lost = 1;
    return me->lost ? CERTREG_DEVICE_FAILED : CERTREG_OK;
}

static certreg_status op_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    device *me = of(backend);
    const certreg_status status = enter(me);
    *out = NULL;
    if (status) return status;
    if (me->number == HOST_DEVICE_SMALL && me->taken + bytes > HOST_DEVICE_SMALL_BYTES) return CERTREG_NO_MEMORY;
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) return CERTREG_NO_MEMORY;
    me->taken += bytes;
    memset(memory, 0x55, bytes);
    *out = host_device_address(memory);
    return CERTREG_OK;
}

static void op_free(certreg_backend *backend, void *memory)
{
    (void)backend;
    free(memory ? host_device_address(memory) : NULL);
}

static certreg_status op_store(certreg_backend *backend, void *to, const void *host, size_t bytes)
{
    const certreg_status status = enter(of(backend));
    if (!status) memcpy(host_device_address(to), host, bytes);
    return status;
}

static certreg_status op_fetch(certreg_backend *backend, void *host, const void *from, size_t bytes)
{
    const certreg_status status = enter(of(backend));
    if (!status) memcpy(host, host_device_address((void *)(uintptr_t)from), bytes);
    return status;
}

static certreg_status op_blank(certreg_backend *backend, float *to, size_t count)
{
    const certreg_status status = enter(of(backend));
    if (!status) memset(host_device_address(to), 0xff, count * sizeof *to);
    return status;
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const float *z, const float *step, uint64_t first, size_t count, float *x)
{
    const certreg_status status = enter(of(backend));
    if (status) return status;
    if (!host_device_has(x)) return CERTREG_INVALID;
    const float *from = host_device_address((void *)(uintptr_t)z), *by = host_device_address((void *)(uintptr_t)step);
    float *to = host_device_address(x), four[4];
    for (size_t i = 0; i < count; i++)
        for (uint64_t quad = 0; quad < cr_body_row(noise); quad++) {
            const size_t n = cr_body_draw(noise, from, by, first + i, quad, four);
            memcpy(to + i * noise->inputs + 4 * quad, four, n * sizeof *four);
        }
    return CERTREG_OK;
}

static certreg_status op_join(certreg_backend *backend)
{
    return enter(of(backend));
}

static void sum_block(const cr_noise *noise, uint64_t first, size_t length, uint64_t quad, size_t functions, const float *weights, size_t stride,
                      const float *mask, double *sums)
{
    double total[2][4] = {{0}, {0}};
    for (size_t from = 0; from < length; from += CR_REPLAY_CHUNK) {
        float part[2][4];
        cr_body_chunk(noise, first + from, length - from < CR_REPLAY_CHUNK ? length - from : CR_REPLAY_CHUNK, quad, functions, weights + from, stride, part);
        for (size_t f = 0; f < functions; f++)
            for (int k = 0; k < 4; k++) total[f][k] += (double)part[f][k];
    }
    for (size_t f = 0; f < functions; f++)
        for (size_t k = 0, j = 4 * quad; k < 4 && j < noise->inputs; k++, j++) sums[f * noise->inputs + j] = !mask || mask[j] > 0 ? total[f][k] : 0;
}

static certreg_status op_block_sums(certreg_backend *backend, const cr_noise *noise, uint64_t first, size_t length, size_t blocks, size_t functions,
                                    const float *weights, size_t stride, const float *mask, double *sums)
{
    const certreg_status status = enter(of(backend));
    if (status) return status;
    const float *w = host_device_address((void *)(uintptr_t)weights), *m = mask ? host_device_address((void *)(uintptr_t)mask) : NULL;
    double *s = host_device_address(sums);
    for (size_t b = 0; b < blocks; b++)
        for (uint64_t quad = 0; quad < cr_body_row(noise); quad++)
            sum_block(noise, first + b * length, length, quad, functions, w + b * length, stride, m, s + b * functions * noise->inputs);
    return CERTREG_OK;
}

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch, size_t blocks, size_t inputs, double *gram)
{
    const certreg_status status = enter(of(backend));
    const double *s = host_device_address((void *)(uintptr_t)sums);
    for (size_t p = 0; !status && p < blocks; p++)
        for (size_t q = 0; q < blocks; q++) {
            double sum = 0;
            for (size_t j = 0; j < inputs; j++) sum += s[p * pitch + j] * s[q * pitch + j];
            gram[p * blocks + q] = sum;
        }
    return status;
}

static void *op_stream(certreg_backend *backend)
{
    return of(backend)->stream;
}

static int32_t op_last_code(certreg_backend *backend, const char **text)
{
    *text = of(backend)->lost ? "an illegal memory access was encountered" : "out of memory";
    return of(backend)->lost ? 700 : 2;
}

static void op_close(certreg_backend *backend)
{
    free(backend);
}

__attribute__((visibility("default"))) certreg_status certreg_module_open(uint32_t api, int32_t number, void *stream, certreg_error *why,
                                                                          certreg_backend **out);
certreg_status certreg_module_open(uint32_t api, int32_t number, void *stream, certreg_error *why, certreg_backend **out)
{
    *out = NULL;
    if (api != CR_BACKEND_API) return cr_fail(why, CERTREG_VERSION, "this module speaks version %u", CR_BACKEND_API);
    if (number >= HOST_DEVICES) {
        cr_fail(why, CERTREG_NO_DEVICE, "device %d does not exist", (int)number);
        return why->model_code = 101, why->status;
    }
    static device old; /* nobody may close what is of another version */
    device *me = number == HOST_DEVICE_OLD ? &old : calloc(1, sizeof *me);
    if (!me) return cr_fail(why, CERTREG_NO_MEMORY, "no memory for a backend");
    me->ops = (cr_backend_ops){number == HOST_DEVICE_OLD ? CR_BACKEND_API - 1 : CR_BACKEND_API, number, op_close, op_draw, NULL, NULL, op_alloc, op_free, op_store,
                               op_fetch, op_blank, op_draw, op_join, op_block_sums, op_gram, op_stream, op_last_code};
    me->base.ops = &me->ops;
    me->number = number;
    me->ops_left = HOST_DEVICE_FAILING_OPS;
    me->stream = stream;
    *out = &me->base;
    return CERTREG_OK;
}
