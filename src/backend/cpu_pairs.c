/* Sums over pairs of samples on the CPU: products of matrices are float (blas.h), sums double. */
#include "backend/blas.h"
#include "backend/cpu.h"
#include <math.h>

/* Rows of all features become rows of the active ones, in place: none is written beyond where it
 * was read. */
static void leave_out_still(const cr_pair_room *room, size_t inputs, float *rows, size_t count)
{
    if (room->active == inputs) return;
    float *to = rows;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < room->active; k++)
            *to++ = rows[i * inputs + (size_t)room->features[k]];
}

void cr_cpu_tile(const cr_pair_room *room, size_t inputs, const cr_tile *t)
{
    leave_out_still(room, inputs, t->rows, t->count);
    for (size_t i = 0; i < t->count; i++) {
        const float *row = t->rows + i * room->active;
        t->norms[i] = 0;
        for (size_t k = 0; k < room->active; k++) t->norms[i] += (double)row[k] * (double)row[k];
    }
}

/* Pairs of a tile with itself are taken once, above the diagonal. */
certreg_status cr_cpu_pairs(certreg_backend *backend, const cr_pair_room *room, const cr_tile *a,
                            const cr_tile *b)
{
    (void)backend;
    const float *w = b->weights;
    const double *norms = b->norms, active = (double)room->active;
    room->blas->multiply(a->count, b->count, room->active, a->rows, b->rows, room->products);
    for (size_t i = 0; i < a->count; i++) {
        const float *products = room->products + i * b->count;
        double row = 0, squares = 0;
        for (size_t j = a->rows == b->rows ? i + 1 : 0; j < b->count; j++) {
            const double g = (double)products[j];
            const double k = (double)a->weights[i] * (double)w[j] *
                             (g * g - a->norms[i] - norms[j] + active) / 2;
            squares += k * k;
            row += k;
            b->sums[j] += k;
        }
        a->sums[i] += row;
        *room->squares += 2 * squares;
    }
    return CERTREG_OK;
}

/* Rows times sqrt |w|: those of positive weight from the front of the scratch, the others from its
 * end. */
certreg_status cr_cpu_outer(certreg_backend *backend, const cr_pair_room *room, const cr_tile *t)
{
    (void)backend;
    const size_t d = room->active;
    size_t front = 0, back = t->count;
    float *scaled = room->rows[1];
    for (size_t i = 0; i < t->count; i++) {
        const float w = t->weights[i], factor = sqrtf(fabsf(w));
        float *row = scaled + (w > 0 ? front++ : --back) * d;
        for (size_t k = 0; k < d; k++) row[k] = factor * t->rows[i * d + k];
    }
    room->blas->add_square(d, front, 1, scaled, room->matrix);
    room->blas->add_square(d, t->count - back, -1, scaled + back * d, room->matrix);
    return CERTREG_OK;
}

certreg_status cr_cpu_take_identity(certreg_backend *backend, const cr_pair_room *room,
                                    double weight)
{
    (void)backend;
    *room->trace = 0;
    for (size_t k = 0; k < room->active; k++) {
        float *entry = room->matrix + k * room->active + k;
        *entry -= (float)weight;
        *room->trace += (double)*entry;
    }
    return CERTREG_OK;
}

certreg_status cr_cpu_forms(certreg_backend *backend, const cr_pair_room *room, const cr_tile *t)
{
    (void)backend;
    const size_t d = room->active;
    const float *product = room->rows[1];
    room->blas->multiply_symmetric(t->count, d, t->rows, room->matrix, room->rows[1]);
    for (size_t i = 0; i < t->count; i++) {
        double form = -*room->trace;
        for (size_t k = 0; k < d; k++)
            form += (double)t->rows[i * d + k] * (double)product[i * d + k];
        t->sums[i] = form;
    }
    return CERTREG_OK;
}
