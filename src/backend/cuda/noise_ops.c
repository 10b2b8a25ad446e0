/* The ops on a device's noise, and the products of its sums. */
#include "backend/cuda/op_guard.h"
#include "backend/cuda/kernels.h"
#include <limits.h>

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
    return cr_cuda_draw(stream, self->threads, noise, d->z, d->noise_deviation, d->first, d->count,
                        d->x);
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

void cr_cuda_noise_ops(cr_backend_ops *ops)
{
    ops->locate = op_locate;
    ops->draw = op_draw;
    ops->draw_ahead = op_draw_ahead;
    ops->replay = op_replay;
    ops->project = op_project;
    ops->set_directions = op_set_directions;
    ops->gram = op_gram;
}
