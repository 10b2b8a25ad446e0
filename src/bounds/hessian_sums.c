/* Tile by tile, wherever the backend's memory is: only what is known of each sample comes back, and
 * the matrix. */
#include "bounds/hessian_sums.h"
#include <math.h>

/* The tile of samples from number `at` on, its noise in rows[which]. */
static certreg_status load(const cr_hessian_sums *s, size_t at, int which, cr_tile *t)
{
    const cr_replay *r = s->replay;
    const cr_replay_device *device = &r->device;
    const size_t left = s->samples->count - at;
    if (cr_watch_late(r->view->watch)) return CERTREG_E_DEADLINE;
    *t = (cr_tile){.first = s->samples->first + at,
                   .count = left < device->tile ? left : device->tile,
                   .rows = device->pairs.rows[which],
                   .weights = device->pair_weights + at,
                   .norms = device->pair_norms + at,
                   .sums = device->pair_sums + at};
    return r->backend->ops->pairs->tile(r->backend, &r->view->input.noise, &device->pairs, t);
}

static certreg_status add_pairs(cr_hessian_sums *s, const cr_tile *a, const cr_tile *b)
{
    const cr_replay *r = s->replay;
    s->pairs += a == b ? (double)(a->count * (a->count - 1)) : 2 * (double)(a->count * b->count);
    return r->backend->ops->pairs->pairs(r->backend, &r->device.pairs, a, b);
}

static certreg_status sum_pairs(cr_hessian_sums *s)
{
    const size_t count = s->samples->count, tile = s->replay->device.tile;
    certreg_status status = CERTREG_OK;
    cr_tile a, b;
    for (size_t p = 0; p < count && !status; p += tile) {
        status = load(s, p, 0, &a);
        if (!status) status = add_pairs(s, &a, &a);
        for (size_t q = p + tile; q < count && !status; q += tile) {
            status = load(s, q, 1, &b);
            if (!status) status = add_pairs(s, &a, &b);
        }
    }
    return status;
}

/* Squares of products are taken from pairs within a tile only: a mean over n tile/2 of the n^2/2
 * pairs. Their sums are put out by those with the matrix, e' N e - tr N = 2 <A, sum of w A>. */
static certreg_status sum_matrix(cr_hessian_sums *s)
{
    const cr_replay *r = s->replay;
    const cr_backend_ops *ops = r->backend->ops;
    const cr_pair_room *room = &r->device.pairs;
    const size_t count = s->samples->count, bytes = room->active * room->active * sizeof(float);
    cr_tile t;
    certreg_status status = ops->fill(r->backend, room->matrix, bytes, 0);
    for (size_t p = 0; p < count && !status; p += r->device.tile) {
        status = load(s, p, 0, &t);
        if (!status) status = add_pairs(s, &t, &t);
        if (!status) status = ops->pairs->outer(r->backend, room, &t);
    }
    if (!status) status = ops->pairs->take_identity(r->backend, room, s->weights);
    for (size_t p = 0; p < count && !status; p += r->device.tile) {
        status = load(s, p, 0, &t);
        if (!status) status = ops->pairs->forms(r->backend, room, &t);
    }
    return status ? status : ops->fetch(r->backend, r->host.matrix, room->matrix, bytes);
}

static certreg_status run(cr_hessian_sums *s, int way)
{
    const cr_replay *r = s->replay;
    const cr_backend_ops *ops = r->backend->ops;
    const cr_replay_device *device = &r->device;
    const size_t n = s->samples->count, bytes = n * sizeof(double),
                 squares = device->tile * sizeof(double);
    certreg_status status =
        ops->store(r->backend, device->pair_weights, r->host.pair_weights, n * sizeof(float));
    if (!status) status = ops->fill(r->backend, device->pair_sums, bytes, 0);
    if (!status) status = ops->fill(r->backend, device->pairs.squares, squares, 0);
    if (!status) status = way == CR_HESSIAN_PAIRS ? sum_pairs(s) : sum_matrix(s);
    if (!status) status = ops->fetch(r->backend, r->host.pair_sums, device->pair_sums, bytes);
    if (!status) status = ops->fetch(r->backend, r->host.pair_norms, device->pair_norms, bytes);
    if (!status) status = ops->fetch(r->backend, r->host.squares, device->pairs.squares, squares);
    return status;
}

/* w^2 |A|^2 of a sample. */
static double self_of(const cr_hessian_sums *s, size_t i)
{
    const double w = (double)s->replay->host.pair_weights[i], norm = s->replay->host.pair_norms[i];
    return w * w * (norm * norm - 2 * norm + (double)s->replay->view->input.active) / 2;
}

certreg_status cr_hessian_sums_add(cr_hessian_sums *s, int way)
{
    const cr_replay_host *host = &s->replay->host;
    const certreg_status status = run(s, way);
    if (status) return status;
    for (size_t i = 0; i < s->samples->count; i++) s->self += self_of(s, i);
    for (size_t i = 0; i < s->replay->device.tile; i++) s->squares += host->squares[i];
    /* Without sample i's own part. */
    for (size_t i = 0; way == CR_HESSIAN_MATRIX && i < s->samples->count; i++)
        host->pair_sums[i] = (double)host->pair_weights[i] * host->pair_sums[i] / 2 - self_of(s, i);
    return CERTREG_OK;
}

double cr_hessian_sums_top(const cr_hessian_sums *s)
{
    const size_t d = s->replay->view->input.active;
    float *values = s->replay->host.eigen;
    if (s->replay->device.pairs.blas->eigenvalues(d, s->replay->host.matrix, values, values + d,
                                                  d * (CR_HESSIAN_EIGEN_ROOM - 1)))
        return NAN;
    return fmax(fabs((double)values[0]), fabs((double)values[d - 1])) /
           (sqrt(2) * (double)s->samples->count);
}
