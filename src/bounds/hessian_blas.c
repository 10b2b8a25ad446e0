/* The statistics of pairs, through BLAS: by the d x d matrix of weighted sums, or by the products
 * of all pairs, tile by tile.
 *
 * Work in multiply-adds: n d^2 3/2 by the matrix (sums, then projections on them), n^2 d/2 by
 * pairs. Float serves: rounding is some 1e-6 of |sum|^2, the noise of the statistic about 2/d of
 * it. This library allocates nothing here; OpenBLAS takes work space of its own inside a call (and
 * keeps it), and uses as many threads as the program has set for it. */
#include "bounds/hessian_sums.h"
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct tile {                   /* consecutive samples */
    float *rows;                        /* noise of the active features */
    double norms[CR_HESSIAN_MOST_ROWS]; /* |e|^2 */
    size_t at, count;                   /* the first, counted from the job's first */
} tile;

/* Rows of all features become rows of the active ones, in place: no row is written beyond where it
 * was read. */
static void leave_out_masked(const certreg_estimator *e, float *rows, size_t count)
{
    if (e->input.active == e->model.inputs) return;
    float *to = rows;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < e->model.inputs; j++)
            if (e->input.mask[j] > 0) *to++ = rows[i * e->model.inputs + j];
}

static certreg_status load(cr_hessian_sums *s, size_t at, tile *t)
{
    const size_t left = s->job->count - at;
    if (cr_watch_late(s->e->clock.watch)) return CERTREG_E_DEADLINE;
    t->at = at;
    t->count = left < s->room->tile ? left : s->room->tile;
    const certreg_status status = s->e->backend->ops->draw(s->e->backend, &s->e->input.noise,
                                                           s->room->zero, s->e->input.mask,
                                                           s->job->first + at, t->count, t->rows);
    if (status) return cr_estimator_backend_failed(s->e, status, "replay the noise");
    leave_out_masked(s->e, t->rows, t->count);
    for (size_t i = 0; i < t->count; i++) {
        t->norms[i] = 0;
        for (size_t j = 0; j < s->d; j++)
            t->norms[i] += (double)t->rows[i * s->d + j] * (double)t->rows[i * s->d + j];
    }
    return CERTREG_OK;
}

/* ---- by pairs */
/* Products of the samples of two tiles; those of a tile with itself are met once, above the
 * diagonal. With `keep`, each is added to the sums of its two samples. */
static void add_products(cr_hessian_sums *s, const tile *a, const tile *b, int keep)
{
    const float *w = s->room->weights;
    const int m = (int)a->count, n = (int)b->count, d = (int)s->d;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, d, 1, a->rows, d, b->rows, d, 0,
                s->room->products, n);
    for (size_t i = 0; i < a->count; i++) {
        const float *products = s->room->products + i * b->count;
        double row = 0, squares = 0;
        for (size_t j = a->at == b->at ? i + 1 : 0; j < b->count; j++) {
            const double g = (double)products[j];
            const double k = (double)w[a->at + i] * (double)w[b->at + j] *
                             (g * g - a->norms[i] - b->norms[j] + (double)d) / 2;
            squares += k * k;
            row += k;
            if (keep) s->room->sums[b->at + j] += k;
        }
        if (keep) s->room->sums[a->at + i] += row;
        s->squares += 2 * squares;
    }
    s->pairs += a->at == b->at ? (double)(a->count * (a->count - 1))
                               : 2 * (double)(a->count * b->count);
}

static certreg_status sum_pairs(cr_hessian_sums *s)
{
    tile a = {.rows = s->room->rows[0]}, b = {.rows = s->room->rows[1]};
    memset(s->room->sums, 0, s->job->count * sizeof *s->room->sums);
    for (size_t p = 0; p < s->job->count; p += s->room->tile) {
        certreg_status status = load(s, p, &a);
        if (status) return status;
        for (size_t i = 0; i < a.count; i++) s->self += cr_hessian_self(s, p + i, a.norms[i]);
        add_products(s, &a, &a, 1);
        for (size_t q = p + s->room->tile; q < s->job->count; q += s->room->tile) {
            if ((status = load(s, q, &b))) return status;
            add_products(s, &a, &b, 1);
        }
    }
    return CERTREG_OK;
}

/* ---- by the matrix */
/* Adds sum w e e': rows times sqrt |w|, those of positive weight from the front of the scratch
 * rows, the others from its end. */
static void add_outer(cr_hessian_sums *s, const tile *t)
{
    const size_t d = s->d;
    size_t front = 0, back = t->count;
    float *scaled = s->room->rows[1];
    for (size_t i = 0; i < t->count; i++) {
        const float w = s->room->weights[t->at + i], factor = sqrtf(fabsf(w));
        float *row = scaled + (w > 0 ? front++ : --back) * d;
        for (size_t j = 0; j < d; j++) row[j] = factor * t->rows[i * d + j];
    }
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)front, 1, scaled, (int)d, 1,
                s->room->matrix, (int)d);
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)(t->count - back), -1,
                scaled + back * d, (int)d, 1, s->room->matrix, (int)d);
}

/* Squares of products are taken from pairs within a tile only: a mean over n tile/2 of the n^2/2
 * pairs. */
static certreg_status sum_matrix(cr_hessian_sums *s)
{
    tile t = {.rows = s->room->rows[0]};
    memset(s->room->matrix, 0, s->d * s->d * sizeof *s->room->matrix);
    for (size_t p = 0; p < s->job->count; p += s->room->tile) {
        const certreg_status status = load(s, p, &t);
        if (status) return status;
        for (size_t i = 0; i < t.count; i++) s->self += cr_hessian_self(s, p + i, t.norms[i]);
        add_products(s, &t, &t, 0);
        add_outer(s, &t);
    }
    for (size_t j = 0; j < s->d; j++) s->room->matrix[j * s->d + j] -= (float)s->weights;
    return CERTREG_OK;
}

/* sums[i] = w_i <A_i, sum of w A> without sample i's own part; N is the matrix, sqrt 2 sum w A. */
static certreg_status project(cr_hessian_sums *s)
{
    const size_t d = s->d;
    tile t = {.rows = s->room->rows[0]};
    float *product = s->room->rows[1];
    double trace = 0;
    for (size_t j = 0; j < d; j++) trace += (double)s->room->matrix[j * d + j];
    for (size_t p = 0; p < s->job->count; p += s->room->tile) {
        const certreg_status status = load(s, p, &t);
        if (status) return status;
        cblas_ssymm(CblasRowMajor, CblasRight, CblasUpper, (int)t.count, (int)d, 1, s->room->matrix,
                    (int)d, t.rows, (int)d, 0, product, (int)d);
        for (size_t i = 0; i < t.count; i++) {
            double form = -trace;
            for (size_t j = 0; j < d; j++)
                form += (double)t.rows[i * d + j] * (double)product[i * d + j];
            s->room->sums[p + i] =
                (double)s->room->weights[p + i] * form / 2 - cr_hessian_self(s, p + i, t.norms[i]);
        }
    }
    return CERTREG_OK;
}

double cr_hessian_top(cr_hessian_sums *s)
{
    const lapack_int d = (lapack_int)s->d, room = d * (lapack_int)(CR_HESSIAN_EIGEN_ROOM - 1);
    float *values = s->room->eigen, *work = values + s->d;
    /* Its upper half by rows is its lower half by columns. */
    if (LAPACKE_ssyev_work(LAPACK_COL_MAJOR, 'N', 'L', d, s->room->matrix, d, values, work, room))
        return NAN;
    return fmax(fabs((double)values[0]), fabs((double)values[s->d - 1])) /
           (sqrt(2) * (double)s->job->count);
}

certreg_status cr_hessian_by_blas(cr_hessian_sums *s, int way)
{
    if (way == CR_HESSIAN_PAIRS) return sum_pairs(s);
    const certreg_status status = sum_matrix(s);
    return status ? status : project(s);
}
