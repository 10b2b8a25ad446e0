/* The ops on a device's noise, and the products of its sums. */
#include "backend/cuda/op_guard.h"
#include "backend/cuda/kernels.h"
#include <limits.h>

/* Refuses memory that is not the device's: a kernel would lose the context. */
static certreg_status check_ours(cr_cuda *me, const void *memory)
{
    struct cudaPointerAttributes at;
    const int code = (int)cudaPointerGetAttributes(&at, memory);
    if (code == cudaErrorInvalidValue) {
        cudaGetLastError();
        return CERTREG_E_INVALID;
    }
    if (code) return cr_cuda_of_runtime(me, code);
    const int ours = at.type == cudaMemoryTypeManaged ||
                     (at.type == cudaMemoryTypeDevice && at.device == me->device);
    return ours ? CERTREG_OK : CERTREG_E_INVALID;
}

static int draw_on(cr_cuda *me, cudaStream_t stream, const cr_noise *noise, const cr_draw *d)
{
    return cr_cuda_draw(stream, me->threads, noise, d->z, d->noise_deviation, d->first, d->count,
                        d->x);
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const cr_draw *draw)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status) status = check_ours(me, draw->x);
    if (!status) status = cr_cuda_of_runtime(me, draw_on(me, me->stream, noise, draw));
    return cr_cuda_leave(me, status);
}

static certreg_status op_draw_ahead(certreg_backend *backend, const cr_noise *noise,
                                    const cr_draw *draw)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status) status = cr_cuda_of_runtime(me, draw_on(me, me->side, noise, draw));
    if (!status) status = cr_cuda_of_runtime(me, (int)cudaEventRecord(me->drawn, me->side));
    return cr_cuda_leave(me, status);
}

static certreg_status op_replay(certreg_backend *backend, const cr_noise *noise,
                                const cr_weighted_blocks *w, const float *mask, double *sums,
                                cr_deadline *deadline)
{
    cr_cuda *me = cr_cuda_of(backend);
    if (cr_deadline_late(deadline)) return CERTREG_E_DEADLINE;
    certreg_status status = cr_cuda_enter(me);
    if (!status && (w->functions < 1 || w->functions > 2)) status = CERTREG_E_INVALID;
    if (!status) status = cr_cuda_of_runtime(me, cr_cuda_replay(me->stream, noise, w, mask, sums));
    return cr_cuda_leave(me, status);
}

static certreg_status op_project(certreg_backend *backend, const cr_noise *noise,
                                 const cr_projection *p, cr_deadline *deadline)
{
    cr_cuda *me = cr_cuda_of(backend);
    if (cr_deadline_late(deadline)) return CERTREG_E_DEADLINE;
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(me, cr_cuda_project(me->stream, noise, p->first, p->count,
                                                        p->direction, p->mask, p->dots,
                                                        p->squared_norms));
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

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch,
                              size_t blocks, size_t inputs, double *gram)
{
    cr_cuda *me = cr_cuda_of(backend);
    const double one = 1, zero = 0;
    if (pitch > INT_MAX || blocks > INT_MAX) return CERTREG_E_INVALID; /* cuBLAS has int */
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaMemsetAsync(gram, 0, blocks * blocks * sizeof *gram, me->stream));
    if (!status) /* cuBLAS has columns for rows */
        status = cr_cuda_of_blas(me, cublasDsyrk(me->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                                                 (int)blocks, (int)inputs, &one, sums, (int)pitch,
                                                 &zero, gram, (int)blocks));
    return cr_cuda_leave(me, status);
}

void cr_cuda_noise_ops(cr_backend_ops *ops)
{
    ops->draw = op_draw;
    ops->draw_ahead = op_draw_ahead;
    ops->replay = op_replay;
    ops->project = op_project;
    ops->set_direction = op_aim;
    ops->gram = op_gram;
}
