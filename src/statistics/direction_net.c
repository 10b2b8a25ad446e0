/* The directions themselves: axes of regular polygons and orbits of the icosahedron's group, how
 * outputs are divided into blocks, and the tolerances of directions (theory 7.3). */
#include "statistics/direction_net.h"
#include "base/constants.h"
#include <math.h>
#include <stdint.h>

/* An axis in every cyclic order of its numbers and with every sign, each line through the origin
 * once. */
typedef struct axes {
    double number[CR_NET_BLOCK];
    size_t orders, signs; /* different cyclic orders, different signs */
    int nets;             /* the sets that have it */
} axes;

enum { MEANS = 1, PROJECTIONS = 2, BOTH = 3 };

/* Every 15 degrees; for projections every 30. */
static const axes plane[] = {{{1, 0}, 2, 1, BOTH},
                             {{0.86602540378443865, 0.5}, 2, 2, BOTH},
                             {{0.96592582628906829, 0.25881904510252076}, 2, 2, MEANS},
                             {{0.70710678118654752, 0.70710678118654752}, 1, 2, MEANS}};

/* Orbits of the icosahedron's group: its corners, the centers of its faces, and 60 points on its
 * planes of symmetry, placed so that the least distance from the center to a face of their common
 * hull is greatest. For projections the middles of its edges. */
static const axes space[] = {
    {{0, 0.52573111211913361, 0.85065080835203993}, 3, 2, MEANS},
    {{0, 0.93417235896271570, 0.35682208977308993}, 3, 2, MEANS},
    {{0.57735026918962576, 0.57735026918962576, 0.57735026918962576}, 1, 4, MEANS},
    {{0.97943208558962844, 0, 0.20177410566658635}, 3, 2, MEANS},
    {{0.85472882975406146, 0.32647736228580536, 0.40354821211616787}, 3, 4, MEANS},
    {{0.73002557440232583, 0.65295472330388902, 0.20177410645000010}, 3, 4, MEANS},
    {{1, 0, 0}, 3, 1, PROJECTIONS},
    {{0.5, 0.80901699437494742, 0.30901699437494742}, 3, 4, PROJECTIONS}};

/* The directions of a block of one, two or three outputs, and its cr_direction_net_part;
 * tests/unit_direction_net.c proves these numbers by corners of polytopes. */
typedef struct set {
    const axes *from;
    size_t lines, directions;
    double part;
} set;

enum { PLANE = sizeof plane / sizeof *plane, SPACE = sizeof space / sizeof *space };
static const set coordinate = {NULL, 0, 1, 1};
static const set means[] = {
    {NULL, 0, 1, 1}, {plane, PLANE, 12, 0.991444}, {space, SPACE, 46, 0.971647}};
static const set projections[] = {
    {NULL, 0, 1, 1}, {plane, PLANE, 6, 0.776457}, {space, SPACE, 15, 0.657480}};

static const set *set_of(cr_net net, size_t outputs)
{
    return net == CR_NET_COORDINATES ? &coordinate
           : net == CR_NET_MEANS     ? means + outputs - 1
                                     : projections + outputs - 1;
}

double cr_direction_net_part(cr_net net, size_t outputs)
{
    return set_of(net, outputs)->part;
}

/* ---- blocks: of three outputs, then of two or one; for coordinates of one */
typedef struct blocks {
    size_t threes, others, size; /* of three outputs; smaller ones, and their outputs */
} blocks;

static blocks blocks_of(cr_net net, size_t outputs)
{
    if (net == CR_NET_COORDINATES) return (blocks){0, outputs, 1};
    const size_t threes = outputs / 3 - (outputs % 3 == 1 && outputs > 1),
                 left = outputs - 3 * threes, size = left == 1 ? 1 : 2;
    return (blocks){threes, left / size, size};
}

size_t cr_direction_net_blocks(cr_net net, size_t outputs)
{
    const blocks b = blocks_of(net, outputs);
    return b.threes + b.others;
}

size_t cr_direction_net_block(cr_net net, size_t outputs, size_t block, size_t *first)
{
    const blocks b = blocks_of(net, outputs);
    *first = block < b.threes ? 3 * block : 3 * b.threes + b.size * (block - b.threes);
    return block < b.threes ? 3 : b.size;
}

/* ---- directions */
size_t cr_direction_net_size(cr_net net, size_t outputs)
{
    const blocks b = blocks_of(net, outputs);
    return b.threes * set_of(net, 3)->directions + b.others * set_of(net, b.size)->directions;
}

/* Rotates the numbers of an axis. The bits of `sign` are the signs of the numbers after the first
 * that is not 0. */
static void turn(const axes *line, size_t outputs, size_t order, size_t sign, double *along)
{
    size_t first = 1;
    for (size_t k = 0; k < outputs; k++) {
        const double number = line->number[k];
        double *to = along + (k + order) % outputs;
        *to = number;
        if (number == 0) continue;
        if (!first) {
            if (sign & 1) *to = -number;
            sign >>= 1;
        }
        first = 0;
    }
}

static void axis(const set *s, int nets, size_t outputs, size_t index, double *along)
{
    for (size_t i = 0; i < s->lines; i++) {
        const axes *line = s->from + i;
        const size_t count = line->orders * line->signs;
        if (!(line->nets & nets)) continue;
        if (index < count) {
            turn(line, outputs, index / line->signs, index % line->signs, along);
            return;
        }
        index -= count;
    }
}

cr_direction cr_direction_net_direction(cr_net net, size_t outputs, size_t index)
{
    cr_direction d = {.block = 0, .along = {1}};
    const blocks b = blocks_of(net, outputs);
    const size_t of_threes = b.threes * set_of(net, 3)->directions;
    const int is_three = index < of_threes;
    const size_t of_block = set_of(net, is_three ? 3 : b.size)->directions;
    if (!is_three) {
        index -= of_threes;
        d.block = b.threes;
    }
    d.block += index / of_block;
    d.outputs = cr_direction_net_block(net, outputs, d.block, &d.first);
    d.weight = (double)d.outputs / (double)of_block;
    if (d.outputs > 1)
        axis(set_of(net, d.outputs), net == CR_NET_MEANS ? MEANS : PROJECTIONS, d.outputs,
             index % of_block, d.along);
    return d;
}

/* ---- different tolerances */
typedef double net_vector[CR_NET_BLOCK];

enum {
    STEPS = 256
}; /* between two sums from scratch: rounding stays far below CR_ROUNDING_MARGIN */

static double square_of(const net_vector v)
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static void add_all(net_vector *term, size_t count, uint32_t minus, net_vector sum)
{
    sum[0] = sum[1] = sum[2] = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < CR_NET_BLOCK; k++)
            sum[k] += minus >> i & 1 ? -term[i][k] : term[i][k];
}

/* The greatest square of the sums from `first` on; number n has the signs of the bits of the Gray
 * code of n, so that one sign changes in each step. */
static double greatest_of(net_vector *term, size_t count, uint32_t first, uint32_t steps)
{
    net_vector sum;
    add_all(term, count, first ^ first >> 1, sum);
    double greatest = square_of(sum);
    for (uint32_t n = first + 1; n < first + steps; n++) {
        size_t flipped = 0;
        while (!(n >> flipped & 1)) flipped++;
        const double twice = (n ^ n >> 1) >> flipped & 1 ? -2 : 2;
        for (size_t k = 0; k < CR_NET_BLOCK; k++) sum[k] += twice * term[flipped][k];
        greatest = fmax(greatest, square_of(sum));
    }
    return greatest;
}

/* Returns 1 over the largest norm of the sum of +-w t v over all signs, the last of them +. */
double cr_direction_net_scale(size_t outputs, const double *proportions, cr_deadline *watch)
{
    const size_t count = cr_direction_net_size(CR_NET_PROJECTIONS, outputs);
    net_vector term[CR_NET_PROJECTED * CR_NET_BLOCK] = {{0}};
    double greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const cr_direction d = cr_direction_net_direction(CR_NET_PROJECTIONS, outputs, i);
        for (size_t k = 0; k < outputs; k++) term[i][k] = d.weight * proportions[i] * d.along[k];
    }
    const uint32_t all = count ? UINT32_C(1) << (count - 1) : 0, steps = all < STEPS ? all : STEPS;
    for (uint32_t first = 0; first < all && !cr_deadline_late(watch); first += steps)
        greatest = fmax(greatest, greatest_of(term, count, first, steps));
    return (1 - CR_ROUNDING_MARGIN) / sqrt(greatest);
}
