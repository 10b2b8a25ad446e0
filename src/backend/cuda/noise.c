/* Drawing and replaying noise on a device. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/kernels.h"

/* Host memory where the device's is promised would be a lost context. */
static certreg_status check_ours(cr_cuda *me, const void *memory)
{
    struct cudaPointerAttributes at;
    const int code = (int)cudaPointerGetAttributes(&at, memory);
    if (code == cudaErrorInvalidValue) return cudaGetLastError(), CERTREG_E_INVALID;
    if (code) return cr_cuda_of_runtime(me, code);
    const int ours = at.type == cudaMemoryTypeManaged ||
                     (at.type == cudaMemoryTypeDevice && at.device == me->device);
    return ours ? CERTREG_OK : CERTREG_E_INVALID;
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const float *z,
                              const float *step, uint64_t first, size_t count, float *x)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status) status = check_ours(me, x);
    if (!status)
        status = cr_cuda_of_runtime(me, cr_cuda_draw(me->stream, noise, z, step, first, count, x));
    return cr_cuda_leave(me, status);
}

static certreg_status op_draw_ahead(certreg_backend *backend, const cr_noise *noise, const float *z,
                                    const float *step, uint64_t first, size_t count, float *x,
                                    int *ahead)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    *ahead = 1;
    if (!status)
        status = cr_cuda_of_runtime(me, cr_cuda_draw(me->side, noise, z, step, first, count, x));
    if (!status) status = cr_cuda_of_runtime(me, (int)cudaEventRecord(me->drawn, me->side));
    return cr_cuda_leave(me, status);
}

/* ---- replay */
static certreg_status sum_blocks(cr_cuda *me, const cr_noise *noise, uint64_t first, size_t length,
                                 size_t blocks, size_t functions, const float *weights,
                                 size_t stride, const float *mask, int add, double *sums)
{
    certreg_status status = cr_cuda_enter(me);
    if (!status && (functions < 1 || functions > 2)) status = CERTREG_E_INVALID;
    if (!status)
        status =
            cr_cuda_of_runtime(me, cr_cuda_block_sums(me->stream, noise, first, length, blocks,
                                                      functions, weights, stride, mask, add, sums));
    return cr_cuda_leave(me, status);
}

static certreg_status op_replay(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                                size_t count, size_t functions, const float *weights, size_t stride,
                                double *sums)
{
    return sum_blocks(cr_cuda_of(backend), noise, first, count, 1, functions, weights, stride, NULL,
                      1, sums);
}

static certreg_status op_block_sums(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                                    size_t length, size_t blocks, size_t functions,
                                    const float *weights, size_t stride, const float *mask,
                                    double *sums, cr_watch *watch)
{
    if (cr_watch_late(watch)) return CERTREG_E_DEADLINE;
    return sum_blocks(cr_cuda_of(backend), noise, first, length, blocks, functions, weights, stride,
                      mask, 0, sums);
}

static certreg_status op_project(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                                 size_t count, const float *direction, const float *mask,
                                 double *dots, double *norms)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(
            me, cr_cuda_project(me->stream, noise, first, count, direction, mask, dots, norms));
    return cr_cuda_leave(me, status);
}

static certreg_status op_aim(certreg_backend *backend, const double *sums, const float *mask,
                             size_t inputs, float *direction, double lengths[2])
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status =
            cr_cuda_of_runtime(me, cr_cuda_aim(me->stream, sums, mask, inputs, direction, lengths));
    return cr_cuda_leave(me, status);
}

/* Sums and direction at the border that was reached last, in the room. */
static certreg_status op_walk(certreg_backend *backend, const cr_noise *noise, uint64_t first,
                              size_t count, size_t blocks, const float *weights, const float *mask,
                              double *room, double *lengths, double *dots, double *norms,
                              cr_watch *watch)
{
    if (cr_watch_late(watch)) return CERTREG_E_DEADLINE;
    cr_cuda *me = cr_cuda_of(backend);
    float *direction = (float *)(void *)(room + noise->inputs);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaMemsetAsync(room, 0, noise->inputs * sizeof *room, me->stream));
    for (size_t b = 0, from = 0; b <= blocks && !status; b++) {
        const size_t to = b < blocks ? cr_walk_border(count, blocks, b + 1) : from, n = to - from;
        status = cr_cuda_of_runtime(
            me, cr_cuda_aim(me->stream, room, mask, noise->inputs, direction, lengths + 2 * b));
        if (!status)
            status =
                cr_cuda_of_runtime(me, cr_cuda_project(me->stream, noise, first + from, n,
                                                       direction, mask, dots + from, norms + from));
        if (!status && n)
            status =
                cr_cuda_of_runtime(me, cr_cuda_block_sums(me->stream, noise, first + from, n, 1, 1,
                                                          weights + from, 0, NULL, 1, room));
        from = to;
    }
    return cr_cuda_leave(me, status);
}

void cr_cuda_noise_ops(cr_backend_ops *ops)
{
    ops->replay_step = SIZE_MAX / CR_REPLAY_CHUNK * CR_REPLAY_CHUNK;
    ops->draw = op_draw, ops->draw_ahead = op_draw_ahead;
    ops->replay = op_replay, ops->block_sums = op_block_sums;
    ops->project = op_project, ops->aim = op_aim, ops->walk = op_walk;
}
