#include "support/grid_counting_models.h"
#include "support/grid.h"
#include "support/simulate.h"
#include <math.h>
#include <stdlib.h>

/* Radii of pairs in the first group, in cells. Beyond TAIL words of 32 bits never tell the cell,
 * and the stream has to give more of them. */
enum { CENTER = 4, NEAR = 12, TAIL = 1087 };

/* ---- counts: of features, of pairs (both from one radius and angle), of features `lag` apart */
#define COUNTS_EACH(name, step, condition)                           \
    static uint32_t name(const int32_t *m, size_t n, size_t lag)     \
    {                                                                \
        uint32_t count = 0;                                          \
        (void)lag;                                                   \
        for (size_t j = 0; j < n; j += (step)) count += (condition); \
        return count;                                                \
    }
#define COUNTS_APART(name, condition)                                  \
    static uint32_t name(const int32_t *m, size_t n, size_t lag)       \
    {                                                                  \
        uint32_t count = 0;                                            \
        for (size_t j = 0; j < n; j += 2 * lag)                        \
            for (size_t k = j; k < j + lag; k++) count += (condition); \
        return count;                                                  \
    }

static int32_t square(const int32_t *m)
{
    return m[0] * m[0] + m[1] * m[1];
}

static uint32_t is_flat(const int32_t *m) /* nearer to the first axis than to the second */
{
    return m[0] * m[0] > m[1] * m[1];
}

COUNTS_EACH(odd, 1, m[j] & 1)
COUNTS_EACH(sixteenth, 1, (m[j] & 15) == 0)
COUNTS_EACH(zeros, 1, m[j] == 0)
COUNTS_EACH(above, 1, m[j] > 0)
/* lag: from so many cells on, on either side. */
COUNTS_EACH(far_out, 1, m[j] >= (int32_t)lag || m[j] <= -(int32_t)lag)
COUNTS_EACH(centers, 2, square(m + j) <= CENTER * CENTER)
COUNTS_EACH(tails, 2, square(m + j) > TAIL * TAIL)
COUNTS_EACH(diagonals, 2, m[j] * m[j] == m[j + 1] * m[j + 1])
COUNTS_EACH(octants, 2, is_flat(m + j))
/* The second pair of a block, where the first needed more bits. */
COUNTS_EACH(beside_centers, 4, square(m + j) <= NEAR * NEAR && is_flat(m + j + 2))
COUNTS_APART(equals, m[k] == m[k + lag])
COUNTS_APART(same_sides, (m[k] > 0) == (m[k + lag] > 0))
COUNTS_APART(odd_sums, (m[k] + m[k + lag]) & 1)

/* ---- their probabilities */
typedef struct binomial {
    double events, probability;
} binomial;

static double share_of(const cells_group *g, double lo, double hi)
{
    return grid_share(g->ratio, g->part, lo, hi);
}

/* P(m^2 + m'^2 <= r^2) of a pair. */
static double disc(const cells_group *g, int r)
{
    double sum = 0;
    for (int m = -r; m <= r; m++) {
        const double most = floor(sqrt((double)(r * r - m * m)));
        sum += share_of(g, m, m) * share_of(g, -most, most);
    }
    return sum;
}

/* P(m = m') of independent features. */
static double meeting(const cells_group *g)
{
    const int most = (int)(9 * g->ratio);
    double sum = 0;
    for (int m = -most; m <= most; m++) sum += share_of(g, m, m) * share_of(g, m, m);
    return sum;
}

static double octant(const cells_group *g)
{
    const double zero = share_of(g, 0, 0);
    return 0.5 * (1 - (2 * meeting(g) - zero * zero));
}

static binomial law_of(const cells_statistic *s)
{
    const cells_group *g = s->group;
    const double n = (double)g->count, up = share_of(g, 1, INFINITY);
    if (s->count == odd) return (binomial){n, 0.5};
    if (s->count == sixteenth) return (binomial){n, 1.0 / 16};
    if (s->count == zeros) return (binomial){n, share_of(g, 0, 0)};
    if (s->count == above) return (binomial){n, up};
    if (s->count == far_out)
        return (binomial){n, share_of(g, (double)s->lag, INFINITY) +
                                 share_of(g, -INFINITY, -(double)s->lag)};
    if (s->count == centers) return (binomial){n / 2, disc(g, CENTER)};
    if (s->count == tails) return (binomial){n / 2, 1 - disc(g, TAIL)};
    if (s->count == diagonals) return (binomial){n / 2, 1 - 2 * octant(g)};
    if (s->count == octants) return (binomial){n / 2, octant(g)};
    if (s->count == beside_centers) return (binomial){n / 4, disc(g, NEAR) * octant(g)};
    if (s->count == odd_sums) return (binomial){n / 2, 0.5};
    if (s->count == equals) return (binomial){n / 2, meeting(g)};
    return (binomial){n / 2, up * up + (1 - up) * (1 - up)};
}

/* Counts that are at most low, or at least high, each with a probability just below a half. */
static void halve(cells_statistic *s)
{
    const binomial b = law_of(s);
    const uint64_t n = (uint64_t)b.events;
    double high = floor(b.events * b.probability);
    while (high > 0 && simulate_at_least((uint64_t)high, n, b.probability) < 0.499) high--;
    while (simulate_at_least((uint64_t)high, n, b.probability) >= 0.499) high++;
    s->high = high, s->low = high - 1;
    while (s->low >= 0 && simulate_at_least((uint64_t)s->low + 1, n, b.probability) <= 0.501)
        s->low--;
}

/* ---- models */
static void add(cells_models *c, const char *name, int group,
                uint32_t (*count)(const int32_t *, size_t, size_t), size_t lag)
{
    cells_statistic *s = c->statistic + c->statistics++;
    *s = (cells_statistic){.name = name, .group = c->group + group, .count = count, .lag = lag};
    halve(s);
}

/* The least and the greatest noise of a grid, a center between two of its points, one as far out as
 * it may be, and the least and the greatest noise of floats. */
static void add_groups(cells_models *c)
{
    static const cells_group like[CELLS_GROUPS] = {
        {.scale = 1, .ratio = 256},
        {.scale = 0x1.fffffep0f, .ratio = 512 * (1 - 0x1p-24)},
        {.scale = 1.25f, .z = 2.5f * 0x1p-8f, .ratio = 320, .part = 0.5},
        {.scale = 1, .z = -65504, .ratio = 256},
        {.scale = 0x1.8p-118f, .z = 0x1.5p-118f, .ratio = 384},
        {.scale = 0x1.4p100f, .z = -0x1.5p110f, .ratio = 320}};
    const size_t part = c->inputs / 8,
                 size[CELLS_GROUPS] = {3 * part, part, part, part, part, part};
    for (size_t g = 0, first = 0; g < CELLS_GROUPS; first += size[g++]) {
        c->group[g] = like[g], c->group[g].first = first, c->group[g].count = size[g];
        for (size_t j = first; j < first + size[g]; j++)
            c->z[j] = like[g].z, c->scale[j] = like[g].scale;
    }
}

void cells_make(cells_models *c, size_t inputs)
{
    *c = (cells_models){.inputs = inputs};
    c->z = malloc(inputs * sizeof *c->z), c->scale = malloc(inputs * sizeof *c->scale);
    c->cell = malloc(inputs * sizeof *c->cell);
    if (!c->z || !c->scale || !c->cell) abort();
    add_groups(c);
    for (int g = 0; g < CELLS_GROUPS; g++) {
        add(c, "odd cells", g, odd, 1);
        add(c, "every sixteenth cell", g, sixteenth, 1);
        add(c, "the cell of the center", g, zeros, 1);
        add(c, "cells above the center", g, above, 1);
        add(c, "cells far out", g, far_out, (size_t)(1.5 * c->group[g].ratio));
    }
    for (int g = 0; g < 2; g++) {
        add(c, "pairs in the center", g, centers, 1);
        add(c, "pairs on a diagonal", g, diagonals, 1);
        add(c, "pairs in four octants", g, octants, 1);
    }
    add(c, "pairs in the tail", 0, tails, 1);
    add(c, "pairs beside those in the center", 0, beside_centers, 1);
    for (size_t lag = 1; lag <= 128; lag *= 2) {
        add(c, "equal cells, apart", 0, equals, lag);
        add(c, "same sides, apart", 0, same_sides, lag);
        add(c, "odd sums of cells, apart", 0, odd_sums, lag);
    }
    c->outputs = 2 * c->statistics;
}

void cells_free(cells_models *c)
{
    free(c->z), free(c->scale), free(c->cell);
}

/* Noise that is on no grid is rounded to it. */
static void read_cells(const cells_models *c, const float *x)
{
    for (int g = 0; g < CELLS_GROUPS; g++) {
        const cells_group *in = c->group + g;
        const float by = (float)(in->ratio / (double)in->scale), center = floorf(in->z * by);
        for (size_t j = in->first; j < in->first + in->count; j++)
            c->cell[j] = (int32_t)(rintf(x[j] * by) - center);
    }
}

int cells_evaluate(void *user, const certreg_batch *b)
{
    const cells_models *c = user;
    for (size_t i = b->used_first; i < b->used_first + b->used_count; i++) {
        read_cells(c, b->x + i * b->inputs);
        for (size_t k = 0; k < c->statistics; k++) {
            const cells_statistic *s = c->statistic + k;
            const double count =
                (double)s->count(c->cell + s->group->first, s->group->count, s->lag);
            b->y[i * b->columns + 2 * k] = count <= s->low ? 0 : 10;
            b->y[i * b->columns + 2 * k + 1] = count >= s->high ? 0 : 10;
        }
    }
    return 0;
}
