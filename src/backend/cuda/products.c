/* Products of matrices on a device: cuBLAS's. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/kernels.h"
#include <limits.h>

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch,
                              size_t blocks, size_t inputs, double *gram)
{
    cr_cuda *me = cr_cuda_of(backend);
    const double one = 1, zero = 0;
    if (pitch > INT_MAX || blocks > INT_MAX) return CERTREG_E_INVALID; /* cuBLAS counts in int */
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(
            me, (int)cudaMemsetAsync(gram, 0, blocks * blocks * sizeof *gram, me->stream));
    if (!status) /* columns there, rows here */
        status = cr_cuda_of_blas(me, cublasDsyrk(me->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                                                 (int)blocks, (int)inputs, &one, sums, (int)pitch,
                                                 &zero, gram, (int)blocks));
    return cr_cuda_leave(me, status);
}

/* ---- the second order */
/* A matrix of cuBLAS, columns first, is the transpose of ours: c, n rows of m here, becomes op(a)
 * op(b) there, and `beta` of what it was. */
static certreg_status multiply(cr_cuda *me, cublasOperation_t of_a, cublasOperation_t of_b,
                               size_t m, size_t n, size_t k, const float *a, size_t lda,
                               const float *b, size_t ldb, float beta, float *c)
{
    const float one = 1;
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX || lda > INT_MAX || ldb > INT_MAX)
        return CERTREG_E_INVALID;
    return cr_cuda_of_blas(me, cublasSgemm(me->blas, of_a, of_b, (int)m, (int)n, (int)k, &one, a,
                                           (int)lda, b, (int)ldb, &beta, c, (int)m));
}

static certreg_status op_tile(certreg_backend *backend, const cr_noise *noise,
                              const cr_pair_room *room, const cr_tile *t)
{
    cr_cuda *me = cr_cuda_of(backend);
    const size_t d = room->active;
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = cr_cuda_of_runtime(
            me, cr_cuda_tile(me->stream, noise, t->first, t->count, room->features, d, t->rows));
    if (!status)
        status = cr_cuda_of_runtime(
            me, cr_cuda_row_dots(me->stream, t->rows, t->rows, t->count, d, NULL, t->norms));
    return cr_cuda_leave(me, status);
}

static certreg_status op_pairs(certreg_backend *backend, const cr_pair_room *room, const cr_tile *a,
                               const cr_tile *b)
{
    cr_cuda *me = cr_cuda_of(backend);
    const size_t d = room->active;
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = multiply(me, CUBLAS_OP_T, CUBLAS_OP_N, b->count, a->count, d, b->rows, d, a->rows,
                          d, 0, room->products);
    if (!status)
        status = cr_cuda_of_runtime(
            me, cr_cuda_pairs(me->stream, a, b, d, room->products, room->squares));
    return cr_cuda_leave(me, status);
}

static certreg_status op_outer(certreg_backend *backend, const cr_pair_room *room, const cr_tile *t)
{
    cr_cuda *me = cr_cuda_of(backend);
    const size_t d = room->active;
    float *scaled = room->rows[1];
    certreg_status status = cr_cuda_enter(me);
    if (!status) status = cr_cuda_of_runtime(me, cr_cuda_scale(me->stream, t, d, scaled));
    if (!status)
        status = multiply(me, CUBLAS_OP_N, CUBLAS_OP_T, d, d, t->count, t->rows, d, scaled, d, 1,
                          room->matrix);
    return cr_cuda_leave(me, status);
}

static certreg_status op_take_identity(certreg_backend *backend, const cr_pair_room *room,
                                       double weight)
{
    cr_cuda *me = cr_cuda_of(backend);
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status =
            cr_cuda_of_runtime(me, cr_cuda_take_identity(me->stream, room->matrix, room->active,
                                                         (float)weight, room->trace));
    return cr_cuda_leave(me, status);
}

static certreg_status op_forms(certreg_backend *backend, const cr_pair_room *room, const cr_tile *t)
{
    cr_cuda *me = cr_cuda_of(backend);
    const size_t d = room->active;
    float *product = room->rows[1];
    certreg_status status = cr_cuda_enter(me);
    if (!status)
        status = multiply(me, CUBLAS_OP_N, CUBLAS_OP_N, d, t->count, d, room->matrix, d, t->rows, d,
                          0, product);
    if (!status)
        status = cr_cuda_of_runtime(
            me, cr_cuda_row_dots(me->stream, t->rows, product, t->count, d, room->trace, t->sums));
    return cr_cuda_leave(me, status);
}

void cr_cuda_product_ops(cr_backend_ops *ops)
{
    static const cr_pair_ops pairs = {.tile = op_tile,
                                      .pairs = op_pairs,
                                      .outer = op_outer,
                                      .take_identity = op_take_identity,
                                      .forms = op_forms};
    ops->gram = op_gram, ops->pairs = &pairs;
}
