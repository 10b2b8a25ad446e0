/* Cells of the grid that float, and mostly double as well, cannot tell: words at the ends of the
 * interval, and noise that ends next to the middle between two points. data/make_cells.py knows
 * them from 60 digits. */
#ifndef SUPPORT_SPECIAL_CELLS_H
#define SUPPORT_SPECIAL_CELLS_H
#include "backend/backend.h"
#include "support/suite.h"
/* after the types that it needs */
#include "data/special_cells.inc"

enum { SPECIAL_CELLS = 2 * KIT_ROWS(special_pairs) };
typedef struct special_cell {
    uint64_t block;
    unsigned number;
    float z, s;
    int32_t n;
} special_cell;

static inline special_cell special_cell_of(int i)
{
    const struct special_pair *p = &special_pairs[i / 2];
    const int k = i % 2;
    return (special_cell){p->block, p->number + (unsigned)k, p->z[k], p->s[k], p->n[k]};
}

/* On a backend with memory of its own, or the host's. */
static inline void special_draw(certreg_backend *b, const special_cell *c, float x[4])
{
    const cr_noise noise = {.seed = SPECIAL_SEED, .inputs = 4};
    const float all[8] = {c->z, c->z, c->z, c->z, c->s, c->s, c->s, c->s};
    float *there;
    ck_assert_int_eq(b->ops->alloc(b, 12 * sizeof *there, (void **)&there), CERTREG_OK);
    ck_assert_int_eq(b->ops->store(b, there, all, sizeof all), CERTREG_OK);
    ck_assert_int_eq(
        b->ops->draw(b, &noise, &(cr_draw){there, there + 4, c->block, 1, there + 8, NULL}),
        CERTREG_OK);
    ck_assert_int_eq(b->ops->fetch(b, x, there + 8, 4 * sizeof *x), CERTREG_OK);
    b->ops->free(b, there);
}

/* What a backend draws. */
static inline void special_expect(certreg_backend *b, const char *who)
{
    for (int i = 0; i < SPECIAL_CELLS; i++) {
        const special_cell c = special_cell_of(i);
        float x[4];
        special_draw(b, &c, x);
        const double n = ldexp((double)x[c.number], 8 - ilogbf(c.s));
        ck_assert_msg(n == c.n, "%s, special cell %d is %g, not %d", who, i, n, c.n);
    }
}

#endif
