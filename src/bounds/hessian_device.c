/* Sums over pairs on a device, tile by tile: all ordered pairs, as nothing is gained there by
 * meeting each pair once; only what is known of each sample comes back, and the matrix. Products
 * are float, as on the CPU, sums double. */
#include "bounds/hessian_sums.h"

/* The tile of samples from `at` on, its noise in rows[which]. */
static certreg_status load(cr_hessian_sums *s, size_t at, int which, cr_tile *t)
{
    const certreg_estimator *e = s->e;
    const cr_hessian_device *room = &e->device.second;
    const size_t left = s->job->count - at;
    if (cr_watch_late(e->clock.watch)) return CERTREG_E_DEADLINE;
    *t = (cr_tile){room->rows[which], room->weights + at, room->norms + at,
                   left < s->room->tile ? left : s->room->tile};
    return e->backend->ops->tile(e->backend, &e->input.noise, s->job->first + at, t->count,
                                 room->features, s->d, room->rows[which], room->norms + at);
}

/* Products of the tile from p on with the one from q on. */
static certreg_status meet(cr_hessian_sums *s, size_t p, const cr_tile *a, const cr_tile *b)
{
    const certreg_estimator *e = s->e;
    const cr_hessian_device *room = &e->device.second;
    s->pairs += a->rows == b->rows ? (double)(a->count * (a->count - 1))
                                   : (double)(a->count * b->count);
    return e->backend->ops->pairs(e->backend, a, b, s->d, room->products, room->sums + p,
                                  room->squares + p);
}

static certreg_status sum_pairs(cr_hessian_sums *s)
{
    certreg_status status = CERTREG_OK;
    cr_tile a, b;
    for (size_t p = 0; p < s->job->count && !status; p += s->room->tile) {
        status = load(s, p, 0, &a);
        if (!status) status = meet(s, p, &a, &a);
        for (size_t q = 0; q < s->job->count && !status; q += s->room->tile) {
            if (q == p) continue;
            status = load(s, q, 1, &b);
            if (!status) status = meet(s, p, &a, &b);
        }
    }
    return status;
}

/* The matrix of all w e e', squares of products within tiles, then e' matrix e in place of the
 * sums. */
static certreg_status sum_matrix(cr_hessian_sums *s)
{
    const certreg_estimator *e = s->e;
    const cr_backend_ops *ops = e->backend->ops;
    const cr_hessian_device *room = &e->device.second;
    cr_tile t;
    certreg_status status =
        ops->fill(e->backend, room->matrix, s->d * s->d * sizeof *room->matrix, 0);
    for (size_t p = 0; p < s->job->count && !status; p += s->room->tile) {
        status = load(s, p, 0, &t);
        if (!status) status = meet(s, p, &t, &t);
        if (!status) status = ops->outer(e->backend, &t, s->d, room->rows[1], room->matrix);
    }
    for (size_t p = 0; p < s->job->count && !status; p += s->room->tile) {
        status = load(s, p, 0, &t);
        if (!status)
            status = ops->forms(e->backend, &t, s->d, room->matrix, room->rows[1], room->sums + p);
    }
    return status ? status
                  : ops->fetch(e->backend, s->room->matrix, room->matrix,
                               s->d * s->d * sizeof *room->matrix);
}

/* sums[i] = w_i <A_i, sum of w A> without sample i's own part, where the sums hold the forms; the
 * identity is taken off the matrix. */
static void finish_matrix(cr_hessian_sums *s)
{
    const size_t d = s->d;
    double trace = 0;
    for (size_t j = 0; j < d; j++) {
        trace += (double)s->room->matrix[j * d + j] - s->weights;
        s->room->matrix[j * d + j] -= (float)s->weights;
    }
    for (size_t i = 0; i < s->job->count; i++) {
        const double form = s->room->sums[i] - s->weights * s->room->norms[i] - trace;
        s->room->sums[i] =
            (double)s->room->weights[i] * form / 2 - cr_hessian_self(s, i, s->room->norms[i]);
    }
}

static certreg_status run(cr_hessian_sums *s, int way)
{
    const certreg_estimator *e = s->e;
    const cr_backend_ops *ops = e->backend->ops;
    const cr_hessian_device *room = &e->device.second;
    const size_t bytes = s->job->count * sizeof(double);
    certreg_status status = ops->store(e->backend, room->weights, s->room->weights,
                                       s->job->count * sizeof *room->weights);
    if (!status) status = ops->fill(e->backend, room->sums, bytes, 0);
    if (!status) status = ops->fill(e->backend, room->squares, bytes, 0);
    if (!status) status = way == CR_HESSIAN_PAIRS ? sum_pairs(s) : sum_matrix(s);
    if (!status) status = ops->fetch(e->backend, s->room->sums, room->sums, bytes);
    if (!status) status = ops->fetch(e->backend, s->room->norms, room->norms, bytes);
    if (!status) status = ops->fetch(e->backend, s->room->squares, room->squares, bytes);
    return status;
}

certreg_status cr_hessian_on_device(cr_hessian_sums *s, int way)
{
    const certreg_status status = run(s, way);
    if (status == CERTREG_E_DEADLINE) return status;
    if (status) return cr_estimator_backend_failed(s->e, status, "sum over pairs of samples");
    for (size_t i = 0; i < s->job->count; i++) {
        s->self += cr_hessian_self(s, i, s->room->norms[i]);
        s->squares += s->room->squares[i];
    }
    if (way == CR_HESSIAN_MATRIX) finish_matrix(s);
    return CERTREG_OK;
}
