/* The directions themselves: axes of regular polygons and orbits of the icosahedron's group, how
 * outputs are divided into blocks, and the tolerances of directions (theory 7.3). */
#include "statistics/direction_net.h"
#include "base/constants.h"
#include <math.h>
#include <stdint.h>

/* An axis in every cyclic order of its numbers and with every sign, each line through the origin
 * once. */
typedef struct axis_orbit {
    double coordinates[CR_NET_MAX_BLOCK];
    size_t order_count, sign_count; /* different cyclic orders, different signs */
    int nets;                       /* the sets that have it */
} axis_orbit;

enum { MEANS = 1, PROJECTIONS = 2, BOTH = 3 };

/* Every 15 degrees; for projections every 30. */
static const axis_orbit plane[] = {{{1, 0}, 2, 1, BOTH},
                                   {{0.86602540378443865, 0.5}, 2, 2, BOTH},
                                   {{0.96592582628906829, 0.25881904510252076}, 2, 2, MEANS},
                                   {{0.70710678118654752, 0.70710678118654752}, 1, 2, MEANS}};

/* Orbits of the icosahedron's group: its corners, the centers of its faces, and 60 points on its
 * planes of symmetry, placed so that the minimum distance from the center to a face of their common
 * hull is maximal. For projections the middles of its edges. */
static const axis_orbit space[] = {
    {{0, 0.52573111211913361, 0.85065080835203993}, 3, 2, MEANS},
    {{0, 0.93417235896271570, 0.35682208977308993}, 3, 2, MEANS},
    {{0.57735026918962576, 0.57735026918962576, 0.57735026918962576}, 1, 4, MEANS},
    {{0.97943208558962844, 0, 0.20177410566658635}, 3, 2, MEANS},
    {{0.85472882975406146, 0.32647736228580536, 0.40354821211616787}, 3, 4, MEANS},
    {{0.73002557440232583, 0.65295472330388902, 0.20177410645000010}, 3, 4, MEANS},
    {{1, 0, 0}, 3, 1, PROJECTIONS},
    {{0.5, 0.80901699437494742, 0.30901699437494742}, 3, 4, PROJECTIONS}};

/* The directions of a block of one, two or three outputs, and its cr_direction_net_fraction;
 * tests/unit_score.c proves these numbers by corners of polytopes. */
typedef struct direction_set {
    const axis_orbit *orbits;
    size_t orbit_count, direction_count;
    double fraction;
} direction_set;

enum { PLANE = sizeof plane / sizeof *plane, SPACE = sizeof space / sizeof *space };
static const direction_set coordinate = {NULL, 0, 1, 1};
static const direction_set means[] = {
    {NULL, 0, 1, 1}, {plane, PLANE, 12, 0.991444}, {space, SPACE, 46, 0.971647}};
static const direction_set projections[] = {
    {NULL, 0, 1, 1}, {plane, PLANE, 6, 0.776457}, {space, SPACE, 15, 0.657480}};

static const direction_set *direction_set_of(cr_net net, size_t outputs)
{
    return net == CR_NET_COORDINATES ? &coordinate
           : net == CR_NET_MEANS     ? means + outputs - 1
                                     : projections + outputs - 1;
}

double cr_direction_net_fraction(cr_net net, size_t outputs)
{
    return direction_set_of(net, outputs)->fraction;
}

/* ---- blocks: of three outputs, then of two or one; for coordinates of one */
typedef struct blocks {
    size_t threes, smaller, smaller_size; /* of three outputs; smaller ones, and their outputs */
} blocks;

static blocks blocks_of(cr_net net, size_t outputs)
{
    if (net == CR_NET_COORDINATES) return (blocks){0, outputs, 1};
    const size_t threes = outputs / 3 - (outputs % 3 == 1 && outputs > 1),
                 remaining = outputs - 3 * threes, size = remaining == 1 ? 1 : 2;
    return (blocks){threes, remaining / size, size};
}

size_t cr_direction_net_blocks(cr_net net, size_t outputs)
{
    const blocks b = blocks_of(net, outputs);
    return b.threes + b.smaller;
}

size_t cr_direction_net_block(cr_net net, size_t outputs, size_t block, size_t *first)
{
    const blocks b = blocks_of(net, outputs);
    *first = block < b.threes ? 3 * block : 3 * b.threes + b.smaller_size * (block - b.threes);
    return block < b.threes ? 3 : b.smaller_size;
}

/* ---- directions */
size_t cr_direction_net_size(cr_net net, size_t outputs)
{
    const blocks b = blocks_of(net, outputs);
    return b.threes * direction_set_of(net, 3)->direction_count +
           b.smaller * direction_set_of(net, b.smaller_size)->direction_count;
}

/* Rotates the coordinates of an axis. The bits of `sign` are the signs of the coordinates after the
 * first that is not 0. */
static void rotate_axis(const axis_orbit *orbit, size_t outputs, size_t order, size_t sign,
                        double *unit_vector)
{
    size_t first = 1;
    for (size_t k = 0; k < outputs; k++) {
        const double component = orbit->coordinates[k];
        double *target = unit_vector + (k + order) % outputs;
        *target = component;
        if (component == 0) continue;
        if (!first) {
            if (sign & 1) *target = -component;
            sign >>= 1;
        }
        first = 0;
    }
}

static void set_axis(const direction_set *set, int nets, size_t outputs, size_t index,
                     double *unit_vector)
{
    for (size_t i = 0; i < set->orbit_count; i++) {
        const axis_orbit *orbit = set->orbits + i;
        const size_t count = orbit->order_count * orbit->sign_count;
        if (!(orbit->nets & nets)) continue;
        if (index < count) {
            rotate_axis(orbit, outputs, index / orbit->sign_count, index % orbit->sign_count,
                        unit_vector);
            return;
        }
        index -= count;
    }
}

cr_direction cr_direction_net_direction(cr_net net, size_t outputs, size_t index)
{
    cr_direction d = {.block = 0, .unit_vector = {1}};
    const blocks b = blocks_of(net, outputs);
    const size_t directions_of_threes = b.threes * direction_set_of(net, 3)->direction_count;
    const int is_three = index < directions_of_threes;
    const size_t directions_per_block =
        direction_set_of(net, is_three ? 3 : b.smaller_size)->direction_count;
    if (!is_three) {
        index -= directions_of_threes;
        d.block = b.threes;
    }
    d.block += index / directions_per_block;
    d.outputs = cr_direction_net_block(net, outputs, d.block, &d.first);
    d.weight = (double)d.outputs / (double)directions_per_block;
    if (d.outputs > 1)
        set_axis(direction_set_of(net, d.outputs), net == CR_NET_MEANS ? MEANS : PROJECTIONS,
                 d.outputs, index % directions_per_block, d.unit_vector);
    return d;
}

/* ---- different tolerances */
typedef double net_vector[CR_NET_MAX_BLOCK];

enum {
    GRAY_CODE_STEPS = 256
}; /* between two sums from scratch: rounding stays far below CR_ROUNDING_MARGIN */

static double square_norm(const net_vector v)
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static void signed_sum(net_vector *term, size_t count, uint32_t negative_bits, net_vector sum)
{
    sum[0] = sum[1] = sum[2] = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < CR_NET_MAX_BLOCK; k++)
            sum[k] += negative_bits >> i & 1 ? -term[i][k] : term[i][k];
}

/* The maximum square norm of the sums from `first` on; number n has the signs of the bits of the
 * Gray code of n, so that one sign changes in each step. */
static double max_square_norm(net_vector *term, size_t count, uint32_t first, uint32_t steps)
{
    net_vector sum;
    signed_sum(term, count, first ^ first >> 1, sum);
    double max_norm = square_norm(sum);
    for (uint32_t n = first + 1; n < first + steps; n++) {
        size_t flipped = 0;
        while (!(n >> flipped & 1)) flipped++;
        const double twice = (n ^ n >> 1) >> flipped & 1 ? -2 : 2;
        for (size_t k = 0; k < CR_NET_MAX_BLOCK; k++) sum[k] += twice * term[flipped][k];
        max_norm = fmax(max_norm, square_norm(sum));
    }
    return max_norm;
}

/* With the proportion t, the weight w and the unit vector v of each direction, returns 1 over the
 * largest norm of the sum of s w t v over all signs s. The last sign is +, since all signs reversed
 * give the same norm. */
double cr_direction_net_scale(size_t outputs, const double *proportions, cr_deadline *deadline)
{
    const size_t count = cr_direction_net_size(CR_NET_PROJECTIONS, outputs);
    net_vector term[CR_NET_MAX_PROJECTIONS * CR_NET_MAX_BLOCK] = {{0}};
    double max_norm = 0;
    for (size_t i = 0; i < count; i++) {
        const cr_direction d = cr_direction_net_direction(CR_NET_PROJECTIONS, outputs, i);
        for (size_t k = 0; k < outputs; k++)
            term[i][k] = d.weight * proportions[i] * d.unit_vector[k];
    }
    const uint32_t sign_patterns = count ? UINT32_C(1) << (count - 1) : 0,
                   steps = sign_patterns < GRAY_CODE_STEPS ? sign_patterns : GRAY_CODE_STEPS;
    for (uint32_t first = 0; first < sign_patterns && !cr_deadline_expired(deadline);
         first += steps)
        max_norm = fmax(max_norm, max_square_norm(term, count, first, steps));
    return (1 - CR_ROUNDING_MARGIN) / sqrt(max_norm);
}
