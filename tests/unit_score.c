/* Scores to the last bit: which outputs are out along a direction or for an attack, and their
 * range; the built-in directions, by all corners of polytopes and all signs; the points that many
 * intervals contain, by counting; and the rows of statistics. */
#include "attack/attack.h"
#include "conformal/conformal.h"
#include "estimator/estimator.h"
#include "statistics/direction_net.h"
#include "statistics/score.h"
#include "support/api_kit.h"
#include "support/simulate.h"

static simulate_source source;

static void start(void)
{
    simulate_seed(&source, 3);
}

/* Between 0 and n, and of both signs. */
static double below(double n)
{
    return n * simulate_uniform(&source);
}

static double random_number(void)
{
    return below(2) - 1;
}

/* ======== along a direction */
static cr_score along(enum cr_score_kind kind, int32_t side, const double *center, double tolerance)
{
    const cr_direction d = cr_direction_net_direction(CR_NET_MEANS, 3, (size_t)below(46));
    cr_score s = {
        .kind = kind, .side = side, .tolerance = tolerance, .center = center, .outputs = 3};
    for (int k = 0; k < 3; k++) s.unit_vector[k] = d.unit_vector[k];
    return s;
}

/* t of an output in long double, before the side. */
static long double place_of(const cr_score *s, const float *y)
{
    long double t = 0;
    for (int k = 0; k < 3; k++)
        t += (long double)s->unit_vector[k] * ((long double)y[k] - (long double)s->center[k]);
    return s->side * t;
}

/* Outputs with large parts that cancel: no rounding lets in what is out, whether they lie next to
 * the end of the interval, or beyond it by less than the last bit of the tolerance. */
TEST(score_along_a_direction_is_never_in_beyond_the_tolerance)
{
    size_t in = 0, tried = 0;
    for (int i = 0; i < 100000; i++) {
        const double center[3] = {random_number() * 100, random_number(), random_number()};
        cr_score s = along(CR_SCORE_SIGN, i % 2 ? 1 : -1, center, 1e-3);
        const float y[3] = {(float)(center[0] + random_number() * 0.01),
                            (float)(center[1] + random_number() * 1e-3), (float)center[2]};
        const long double t = place_of(&s, y);
        const int is_in = cr_score_value(&s, y) > 0;
        if (is_in) ck_assert(t > -(long double)s.tolerance);
        else ck_assert(t < -(long double)s.tolerance * (1 - 1e-9L));
        in += is_in != 0;
        if (t > -1e-5L) continue;
        s.tolerance = (double)-t;
        while (-(long double)s.tolerance <= t) s.tolerance = nextafter(s.tolerance, 0);
        ck_assert_double_eq(cr_score_value(&s, y), -1);
        tried++;
    }
    ck_assert(in > 10000 && in < 90000 && tried > 10000);
}

/* Exactly at the end in real arithmetic: out, on both sides. */
TEST(score_along_a_direction_is_out_at_the_end)
{
    const double center[2] = {0, 0};
    for (int side = -1; side <= 1; side += 2) {
        const cr_score s = {.kind = CR_SCORE_SIGN,
                            .side = side,
                            .tolerance = 0.25,
                            .center = center,
                            .outputs = 2,
                            .unit_vector = {0.5, 0.86602540378443865}};
        ck_assert_double_eq(cr_score_value(&s, (float[]){-0.5f * (float)side, 0}), -1);
        ck_assert_double_eq(cr_score_value(&s, (float[]){-0.4999f * (float)side, 0}), 1);
        ck_assert_double_eq(cr_score_value(&s, (float[]){NAN, 0}), -1);
        ck_assert_double_eq(cr_score_value(&s, (float[]){0, NAN}), -1);
    }
}

TEST(score_range_contains_linear_scores)
{
    for (int i = 0; i < 50000; i++) {
        const double center[3] = {random_number(), random_number(), random_number()};
        double lo[3], hi[3], least, greatest;
        float y[3];
        for (int k = 0; k < 3; k++) {
            const float a = (float)(random_number() * 5), b = (float)(random_number() * 5);
            lo[k] = (double)fminf(a, b), hi[k] = (double)fmaxf(a, b);
            y[k] = below(1) < 0.5 ? a : b; /* corners of the box, where the ends are attained */
        }
        const cr_score s = along(i % 2 ? CR_SCORE_LINEAR : CR_SCORE_OUTPUT, i % 4 < 2 ? 1 : -1,
                                 i % 2 ? center : NULL, 0.3);
        cr_score_range(&s, lo, hi, &least, &greatest);
        const double u = cr_score_value(&s, y), error = cr_score_rounding_error(&s, lo, hi);
        ck_assert(u >= least && u <= greatest && error > 0 && error < 1e-13);
    }
}

/* What rounding may change is measured at the farther end of the range; 0 times an infinite end is
 * 0. */
TEST(score_range_and_rounding_error_at_far_ends)
{
    const double lo[3] = {-1, -1, -1}, hi[3] = {1e6, 1, 1}, mirrored[3] = {-1e6, -1, -1},
                 center[3] = {0}, ones[3] = {1, 1, 1}, endless_lo[3] = {-INFINITY, -1, -2},
                 endless_hi[3] = {INFINITY, 3, 5};
    cr_score s = {.kind = CR_SCORE_LINEAR, .side = 1, .outputs = 3, .unit_vector = {0.6, 0, 0.8}},
             t = {.kind = CR_SCORE_OUTPUT, .side = 1, .outputs = 3, .unit_vector = {0, 0.6, -0.8}};
    double least, greatest;
    s.center = center;
    ck_assert_double_ge(cr_score_rounding_error(&s, lo, hi), 0.6e6 * DBL_EPSILON);
    ck_assert_double_ge(cr_score_rounding_error(&s, mirrored, ones), 0.6e6 * DBL_EPSILON);
    cr_score_range(&t, endless_lo, endless_hi, &least, &greatest);
    ck_assert_double_eq_tol(least, -0.6 - 4, 1e-13);
    ck_assert_double_eq_tol(greatest, 1.8 + 1.6, 1e-13);
    t.unit_vector[0] = 1e-300;
    cr_score_range(&t, endless_lo, endless_hi, &least, &greatest);
    ck_assert(least == -INFINITY && greatest == INFINITY);
    ck_assert_double_eq(cr_score_rounding_error(&t, endless_lo, endless_hi), 0);
}

/* ======== for an attack */
static cr_violation_score violation_of(certreg_model m, double prediction, double tolerance,
                                       int32_t side)
{
    const certreg_plan p = kit_plan(10);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    cr_conditions c = {.prediction = prediction, .question = {.given = {.tolerance = tolerance}}};
    cr_question_resolve(&e->record, &c.question);
    return cr_violation_score_of(&e->record, &c,
                                 side > 0 ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
}

static const struct {
    double prediction, tolerance;
    float in, out;                            /* the last float that is in, and the next one */
} edges[] = {{0.25, 0.5, 0.74999994f, 0.75f}, /* the edge itself is out */
             {1, 0x1p-60, 1, 1.00000012f},    /* the sum rounds down to 1, which is in */
             {1, 0.25 + 0x1p-54, 1.25f, 1.25000012f}, /* it rounds down to 1.25, in */
             {1, 0.25 - 0x1p-55, 1.24999988f, 1.25f}, /* and up to 1.25, out */
             {0, 1e-30, 9.9999995e-31f, 1.00000003e-30f},
             {1e9, 3, 1000000000.0f, 1000000064.0f}};

TEST_ROWS(violation_score_is_out_from_the_exact_edge_on, edges)
{
    for (int side = -1; side <= 1; side += 2) {
        const cr_violation_score x = violation_of(kit_model(kit_identity, NULL, 1, 1),
                                                  side * edges[_i].prediction, edges[_i].tolerance,
                                                  side);
        const float in = (float)side * edges[_i].in, out = (float)side * edges[_i].out,
                    failed = NAN;
        ck_assert_msg(cr_violation_score_value(&x, &in) == -1, "%g is out", (double)in);
        ck_assert_msg(cr_violation_score_value(&x, &out) == 1, "%g is in", (double)out);
        ck_assert_double_lt(cr_violation_score_smooth(&x, &in), 1e-6);
        ck_assert_double_eq(cr_violation_score_value(&x, &failed), -1);
        ck_assert_double_eq(cr_violation_score_smooth(&x, &failed), -1);
    }
}

/* A turn far from 0, where the middle of the arc of what is out is rounded. */
TEST(violation_score_of_an_angle_begins_at_the_tolerance)
{
    const int32_t angle = CERTREG_OUTPUT_ANGLE;
    const double middle = 1e6, lo = middle - 180, hi = middle + 180 + 0x1p-23;
    certreg_model m = KIT_MODEL(kit_identity, NULL, 1, 1, .kind = &angle, .lo = &lo, .hi = &hi);
    for (int side = -1; side <= 1; side += 2)
        for (int k = 1; k < 200; k++) {
            const cr_violation_score x = violation_of(m, middle, 0.125 + k * 1e-9, side);
            const float in = (float)(middle + side * 0.125), /* outputs are recorded within this */
                out = (float)(middle + side * 0.3125);
            ck_assert_msg(cr_violation_score_value(&x, &in) == -1, "in by %d nano, called out", k);
            ck_assert_double_eq(cr_violation_score_value(&x, &out), 1);
            kit_close_all();
        }
}

static const struct {
    double level;
    unsigned pairs; /* 2^-pairs is the least level that they, all out, can reach */
} least_pairs[] = {{0.5, 2}, {0.49, 2}, {0.2, 3}, {0.03, 6}, {1e-300, 997}};

TEST_ROWS(violation_test_least_number_of_pairs_is_exact, least_pairs)
{
    ck_assert_uint_eq(cr_violation_test_min_pairs(least_pairs[_i].level), least_pairs[_i].pairs);
}

/* ======== directions */
enum { MOST = 64 };
typedef long double vector[CR_NET_MAX_BLOCK];

static long double dot(const long double *a, const long double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Unit vectors, all different. */
static size_t read(cr_net net, size_t outputs, vector *v)
{
    const size_t count = cr_direction_net_size(net, outputs);
    ck_assert_uint_le(count, MOST);
    for (size_t i = 0; i < count; i++) {
        const cr_direction d = cr_direction_net_direction(net, outputs, i);
        ck_assert_uint_eq(d.outputs, outputs);
        for (size_t k = 0; k < CR_NET_MAX_BLOCK; k++) v[i][k] = k < outputs ? d.unit_vector[k] : 0;
        ck_assert_double_eq_tol((double)dot(v[i], v[i]), 1, 1e-15);
        for (size_t j = 0; j < i; j++) ck_assert_double_lt(fabs((double)dot(v[i], v[j])), 0.99);
    }
    return count;
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

static int is_beyond(vector *v, size_t count, const long double *x)
{
    long double most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxl(most, fabsl(dot(v[i], x)));
    return most > 1 + 1e-12L;
}

/* The largest norm of a corner of {x : |v.x| <= 1}, of which there are at least as many as
 * directions; in the plane a third direction across it makes them corners in space. */
static long double farthest_corner(vector *v, size_t count, size_t outputs)
{
    const vector across = {0, 0, 1};
    long double farthest = 0;
    size_t corners = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t l = 0; l < (outputs == 3 ? j : 1); l++)
                for (int signs = 0; signs < (outputs == 3 ? 4 : 2); signs++) {
                    vector b, c, x;
                    for (int k = 0; k < 3; k++) {
                        b[k] = signs & 1 ? -v[j][k] : v[j][k];
                        c[k] = outputs == 2 ? across[k] : signs & 2 ? -v[l][k] : v[l][k];
                    }
                    if (!corner(v[i], b, c, x) || is_beyond(v, count, x)) continue;
                    if (outputs == 2) x[2] = 0;
                    farthest = fmaxl(farthest, sqrtl(dot(x, x)));
                    corners++;
                }
    ck_assert_uint_ge(corners, count);
    return farthest;
}

TEST_RANGE(direction_net_part_of_means_is_that_of_the_worst_vector, 2, 4)
{
    const size_t outputs = (size_t)_i;
    vector v[MOST];
    const size_t count = read(CR_NET_MEANS, outputs, v);
    const double c = (double)(1 / farthest_corner(v, count, outputs)),
                 part = cr_direction_net_fraction(CR_NET_MEANS, outputs);
    ck_assert(part <= c * (1 - 1e-12) && part >= c - 1e-6);
    ck_assert_double_ge(c, outputs == 2 ? 0.99 : 0.97);
}

/* The sum of w v v' is the identity. */
static void check_weights(vector *v, size_t count, size_t outputs)
{
    const double weight = cr_direction_net_direction(CR_NET_PROJECTIONS, outputs, 0).weight;
    ck_assert_double_eq_tol(weight, (double)outputs / (double)count, 1e-15);
    for (size_t a = 0; a < outputs; a++)
        for (size_t b = 0; b < outputs; b++) {
            long double sum = 0;
            for (size_t i = 0; i < count; i++) sum += weight * v[i][a] * v[i][b];
            ck_assert_double_eq_tol((double)sum, a == b, 1e-15);
        }
}

/* Where the tolerances differ widely, too; where they are equal, the constant is the scale. */
TEST_RANGE(direction_net_scale_of_projections_is_that_of_all_signs, 2, 4)
{
    const size_t outputs = (size_t)_i;
    vector v[MOST];
    const size_t count = read(CR_NET_PROJECTIONS, outputs, v);
    check_weights(v, count, outputs);
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
        const double norm = (double)sqrtl(greatest),
                     reached =
                         (double)(cr_direction_net_scale(outputs, t, NULL) * sqrtl(greatest)) - 1;
        ck_assert(reached < -1e-13 && reached > -3e-12); /* rounded down */
        if (turn) continue;
        const double part = cr_direction_net_fraction(CR_NET_PROJECTIONS, outputs);
        ck_assert(part <= 1 / norm * (1 - 1e-12) && part >= 1 / norm - 1e-6);
        ck_assert_double_eq_tol(norm, outputs == 2 ? 1.28790 : 1.52096, 1e-5);
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

static const cr_net nets[] = {CR_NET_COORDINATES, CR_NET_MEANS, CR_NET_PROJECTIONS};

TEST_ROWS(direction_net_blocks_cover_every_output_once, nets)
{
    const cr_net net = nets[_i];
    for (size_t outputs = 1; outputs < 40; outputs++) {
        size_t next = 0, directions = 0, first = 0;
        for (size_t b = 0; b < cr_direction_net_blocks(net, outputs); b++) {
            const size_t size = cr_direction_net_block(net, outputs, b, &first);
            ck_assert_uint_eq(first, next);
            if (net == CR_NET_COORDINATES || outputs == 1) ck_assert_uint_eq(size, 1);
            else ck_assert(size == 2 || size == 3);
            for (size_t i = 0; i < cr_direction_net_size(net, size); i++) {
                const cr_direction d = cr_direction_net_direction(net, outputs, directions++),
                                   alone = cr_direction_net_direction(net, size, i);
                ck_assert(d.block == b && d.first == first && d.outputs == size);
                ck_assert_mem_eq(d.unit_vector, alone.unit_vector, sizeof d.unit_vector);
                ck_assert_double_eq(d.weight, alone.weight);
            }
            next += size;
        }
        ck_assert_uint_eq(next, outputs);
        ck_assert_uint_eq(directions, cr_direction_net_size(net, outputs));
    }
}

/* ======== intervals, on the line and on the circle */
enum { INTERVALS = 40, RUNS = 2000 };

/* How many contain y; turns of the period, 0 on the line, count once. */
static size_t depth_at(const double *lo, const double *hi, size_t count, double y, double period)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        int in = 0;
        for (int turn = -2; turn <= 2; turn++)
            in |= lo[i] <= y + turn * period && y + turn * period <= hi[i];
        depth += in != 0;
    }
    return depth;
}

/* Ends on a grid of quarters, so that many are equal; points between and on them are tried. */
TEST_TIMES(interval_depth_has_the_points_covered_often_enough, 2)
{
    const double period = _i ? 8 : 0;
    for (int run = 0; run < RUNS; run++) {
        double lo[2 * INTERVALS], hi[2 * INTERVALS], from[2 * INTERVALS], to[2 * INTERVALS];
        const double half = 0.25 * (1 + floor(below(15))), spread = 0.5 + below(8);
        const size_t count = 1 + (size_t)below(INTERVALS - 1),
                     depth = 1 + (size_t)below((double)count);
        for (size_t i = 0; i < count; i++) {
            const double at = floor(4 * (_i ? fmod(below(spread), 8) : below(10))) / 4;
            lo[i] = at - (_i ? half : 0), hi[i] = at + (_i ? half : floor(below(12)) / 4);
        }
        memcpy(from, lo, sizeof from), memcpy(to, hi, sizeof to);
        const size_t pieces = _i ? cr_interval_depth_circle(from, to, count, depth, period)
                                 : cr_interval_depth_line(from, to, count, depth);
        for (size_t i = 1; i < pieces; i++) ck_assert_double_gt(from[i], to[i - 1]);
        for (double y = -1; y < 15; y += 0.125)
            ck_assert_int_eq(depth_at(from, to, pieces, y, period) > 0,
                             depth_at(lo, hi, count, y, period) >= depth);
    }
}

/* ======== rows of statistics, methods and centers */
TEST(registry_counts_are_the_numbers_of_rows)
{
    ck_assert(cr_statistic_of(CR_STATISTIC_COUNT - 1) && !cr_statistic_of(CR_STATISTIC_COUNT));
    ck_assert(cr_method_of(CR_METHOD_COUNT - 1) && !cr_method_of(CR_METHOD_COUNT));
    ck_assert(cr_center_of(CR_CENTER_COUNT - 1) && !cr_center_of(CR_CENTER_COUNT));
}

/* The gate of an attack, order statistics, the balanced prediction, published certificates and the
 * projections of a vector are about a median. */
static int offers_what_assumes_a_half(const cr_statistic *s)
{
    return s->row.supports & CR_SUPPORTS_ATTACK || s->bounds == CR_BOUNDS_BY_ORDER ||
           s->prediction == CR_PREDICT_BALANCED || s->net == CR_NET_PROJECTIONS ||
           s->methods & CR_ONE_OF(CERTREG_METHOD_BASELINE);
}

TEST(registry_offers_quantiles_nothing_that_assumes_a_half)
{
    for (int32_t value = 0; value < CR_STATISTIC_COUNT; value++) {
        const cr_statistic *s = cr_statistic_of(value);
        const cr_score_traits traits = cr_score_traits_of(s->score);
        if (traits.two_valued && traits.sides && s->level != 0.5)
            ck_assert_msg(!offers_what_assumes_a_half(s), "%s", s->row.name);
    }
    ck_assert(offers_what_assumes_a_half(cr_statistic_of(CERTREG_STATISTIC_MEDIAN)));
}

FIXTURE(start, NULL)
KIT_MAIN("scores, directions and intervals")
