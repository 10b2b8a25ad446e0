/* The built-in directions: their constants by all corners of polytopes and all signs, and the
 * blocks of larger vectors. */
#include "statistics/direction_net.h"
#include "support/suite.h"

enum { MOST = 64 };

static double random_number(void)
{
    return 2 * ((double)rand() / RAND_MAX) - 1;
}

/* ---- the constants */
typedef long double vector[CR_NET_MAX_BLOCK];

static size_t read(cr_net net, size_t outputs, vector *v)
{
    const size_t count = cr_direction_net_size(net, outputs);
    ck_assert_uint_le(count, MOST);
    for (size_t i = 0; i < count; i++) {
        const cr_direction d = cr_direction_net_direction(net, outputs, i);
        ck_assert_uint_eq(d.outputs, outputs);
        for (size_t k = 0; k < CR_NET_MAX_BLOCK; k++) v[i][k] = k < outputs ? d.unit_vector[k] : 0;
    }
    return count;
}

static long double dot(const long double *a, const long double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static long double largest(vector *v, size_t count, const long double *x)
{
    long double most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxl(most, fabsl(dot(v[i], x)));
    return most;
}

/* x with a.x = b.x = c.x = 1, by Cramer's rule; 0 where there is none. */
static int corner(const long double *a, const long double *b, const long double *c, vector x)
{
    const vector bc = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                       b[0] * c[1] - b[1] * c[0]},
                 ca = {c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2],
                       c[0] * a[1] - c[1] * a[0]},
                 ab = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0]};
    const long double volume = dot(a, bc);
    if (fabsl(volume) < 1e-9L) return 0;
    for (int k = 0; k < 3; k++) x[k] = (bc[k] + ca[k] + ab[k]) / volume;
    return 1;
}

/* The largest norm of a corner of {x : |v.x| <= 1}, and how many corners there are; in the plane a
 * third direction across it makes them corners in space. */
static long double farthest_corner(vector *v, size_t count, size_t outputs, size_t *corners)
{
    const vector across = {0, 0, 1};
    long double farthest = 0;
    *corners = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t l = 0; l < (outputs == 3 ? j : 1); l++)
                for (int signs = 0; signs < (outputs == 3 ? 4 : 2); signs++) {
                    vector b, c, x;
                    for (int k = 0; k < 3; k++) {
                        b[k] = signs & 1 ? -v[j][k] : v[j][k];
                        c[k] = outputs == 2 ? across[k] : signs & 2 ? -v[l][k] : v[l][k];
                    }
                    if (!corner(v[i], b, c, x) || largest(v, count, x) > 1 + 1e-12L) continue;
                    if (outputs == 2) x[2] = 0;
                    farthest = fmaxl(farthest, sqrtl(dot(x, x)));
                    ++*corners;
                }
    return farthest;
}

TEST_RANGE(direction_net_part_of_means_is_that_of_the_worst_vector, 2, 4)
{
    const size_t outputs = (size_t)_i;
    vector v[MOST];
    size_t corners;
    const size_t count = read(CR_NET_MEANS, outputs, v);
    const long double c = 1 / farthest_corner(v, count, outputs, &corners);
    ck_assert_uint_ge(corners, count);
    ck_assert_double_le(cr_direction_net_fraction(CR_NET_MEANS, outputs),
                        (double)(c * (1 - 1e-12L)));
    ck_assert_double_ge(cr_direction_net_fraction(CR_NET_MEANS, outputs), (double)c - 1e-6);
    ck_assert_double_ge((double)c, outputs == 2 ? 0.99 : 0.97);
    for (int i = 0; i < 20000; i++) {
        vector x = {random_number(), random_number(), outputs == 3 ? random_number() : 0};
        ck_assert_double_ge((double)(largest(v, count, x) / sqrtl(dot(x, x))), (double)c - 1e-12);
    }
}

TEST_RANGE(direction_net_part_of_projections_is_that_of_all_signs, 2, 4)
{
    const size_t outputs = (size_t)_i;
    vector v[MOST];
    const size_t count = read(CR_NET_PROJECTIONS, outputs, v);
    const double weight = cr_direction_net_direction(CR_NET_PROJECTIONS, outputs, 0).weight;
    for (size_t a = 0; a < outputs; a++)
        for (size_t b = 0; b < outputs; b++) { /* the sum of w v v' */
            long double sum = 0;
            for (size_t i = 0; i < count; i++) sum += weight * v[i][a] * v[i][b];
            ck_assert_double_eq_tol((double)sum, a == b, 1e-15);
        }
    long double greatest = 0;
    for (uint32_t signs = 0; signs < UINT32_C(1) << (count - 1); signs++) {
        vector sum = {0};
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) sum[k] += (signs >> i & 1 ? -weight : weight) * v[i][k];
        greatest = fmaxl(greatest, sqrtl(dot(sum, sum)));
    }
    const double part = cr_direction_net_fraction(CR_NET_PROJECTIONS, outputs);
    ck_assert_double_le(part, (double)(1 / greatest * (1 - 1e-12L)));
    ck_assert_double_ge(part, (double)(1 / greatest) - 1e-6);
    ck_assert_double_eq_tol((double)greatest, outputs == 2 ? 1.28790 : 1.52096, 1e-5);
}

TEST(direction_net_has_unit_vectors_all_different)
{
    const cr_net nets[] = {CR_NET_MEANS, CR_NET_PROJECTIONS};
    for (int n = 0; n < 2; n++)
        for (size_t outputs = 2; outputs <= 3; outputs++) {
            vector v[MOST];
            const size_t count = read(nets[n], outputs, v);
            for (size_t i = 0; i < count; i++) {
                ck_assert_double_eq_tol((double)dot(v[i], v[i]), 1, 1e-15);
                for (size_t j = 0; j < i; j++)
                    ck_assert_double_lt(fabs((double)dot(v[i], v[j])), 0.99);
            }
        }
}

/* Where the tolerances differ widely, too. */
TEST_RANGE(direction_net_scale_is_that_of_all_signs_rounded_down, 2, 4)
{
    const size_t outputs = (size_t)_i;
    vector v[MOST];
    const size_t count = read(CR_NET_PROJECTIONS, outputs, v);
    for (int turn = 0; turn < 20; turn++) {
        double t[MOST];
        long double greatest = 0;
        for (size_t k = 0; k < count; k++) t[k] = turn ? exp(6 * random_number()) : 1;
        for (uint32_t signs = 0; signs < UINT32_C(1) << count; signs++) {
            vector sum = {0};
            for (size_t k = 0; k < count; k++)
                for (size_t j = 0; j < outputs; j++)
                    sum[j] += (signs >> k & 1 ? -t[k] : t[k]) * v[k][j] * outputs / count;
            greatest = fmaxl(greatest, dot(sum, sum));
        }
        const double scale = cr_direction_net_scale(outputs, t, NULL),
                     reached = (double)(scale * sqrtl(greatest) - 1);
        if (turn == 0)
            ck_assert_double_eq_tol(scale, cr_direction_net_fraction(CR_NET_PROJECTIONS, outputs),
                                    2e-6);
        ck_assert_double_lt(reached, -1e-13);
        ck_assert_double_gt(reached, -3e-12);
    }
}

static double count_looks(void *looks)
{
    return ++*(double *)looks;
}

TEST(direction_net_scale_stops_at_the_deadline)
{
    double t[MOST], looks = 0;
    cr_deadline deadline = {.now = count_looks, .clock_context = &looks, .expires_at = 1e9};
    for (size_t k = 0; k < 15; k++) t[k] = 1 + 0.1 * (double)k;
    ck_assert_double_eq(cr_direction_net_scale(3, t, &deadline),
                        cr_direction_net_scale(3, t, NULL));
    ck_assert_double_ge(looks, 64);
    looks = 0, deadline.expires_at = 4;
    cr_direction_net_scale(3, t, &deadline);
    ck_assert_int_eq(deadline.expired, 1);
    ck_assert_double_eq(looks, 5);
}

/* ---- blocks */
TEST(direction_net_blocks_cover_every_output_once)
{
    const cr_net nets[] = {CR_NET_COORDINATES, CR_NET_MEANS, CR_NET_PROJECTIONS};
    for (int n = 0; n < 3; n++)
        for (size_t outputs = 1; outputs < 40; outputs++) {
            size_t next = 0, directions = 0, first = 0;
            for (size_t b = 0; b < cr_direction_net_blocks(nets[n], outputs); b++) {
                const size_t size = cr_direction_net_block(nets[n], outputs, b, &first);
                ck_assert_uint_eq(first, next);
                if (nets[n] == CR_NET_COORDINATES || outputs == 1) ck_assert_uint_eq(size, 1);
                else ck_assert(size == 2 || size == 3);
                for (size_t i = 0; i < cr_direction_net_size(nets[n], size == 1 ? 1 : size); i++) {
                    if (nets[n] == CR_NET_COORDINATES && i > 0) break;
                    const cr_direction d = cr_direction_net_direction(nets[n], outputs,
                                                                      directions++),
                                       alone = cr_direction_net_direction(nets[n], size, i);
                    ck_assert_uint_eq(d.block, b);
                    ck_assert_uint_eq(d.first, first);
                    ck_assert_uint_eq(d.outputs, size);
                    ck_assert_mem_eq(d.unit_vector, alone.unit_vector, sizeof d.unit_vector);
                    ck_assert_double_eq(d.weight, alone.weight);
                }
                next += size;
            }
            ck_assert_uint_eq(next, outputs);
            ck_assert_uint_eq(directions, cr_direction_net_size(nets[n], outputs));
        }
}

TEST_MAIN("direction_net")
